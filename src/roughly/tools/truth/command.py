"""`roughly truth`: every pair of documents at or above a threshold, with no approximation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from roughly.errors import Interrupted, SettingsError
from roughly.settings import MARKUP, Resources, parse_size

_TOLD = 5  # rejects named one by one


def truth(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, .parquet or .csv; else CSV is printed.")
    ] = None,
    measure: Annotated[str, typer.Option("--measure", help="resemblance, containment or cosine.")] = "resemblance",
    threshold: Annotated[float, typer.Option("--threshold", help="Least score of a pair.")] = 0.8,
    shingle_size: Annotated[int, typer.Option("--shingle-size", "--shingle", help="Words in a shingle.")] = 5,
    weights: Annotated[str, typer.Option("--weights", help="Of terms, for cosine: tf or binary.")] = "tf",
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", help="For cosine: multiply weights by the idf of this lexicon.")
    ] = None,
    empty: Annotated[
        bool, typer.Option("--empty/--no-empty", help="Whether documents without a word are equal to each other.")
    ] = True,
    pairs_limit: Annotated[int, typer.Option("--pairs-limit", help="Refuse to find more pairs.")] = 20_000_000,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Documents read at a time.")] = None,
    memory: Annotated[str, typer.Option("--memory", help="For the whole process, as in 4GB or 512MB.")] = "4GB",
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    temp: Annotated[Path | None, typer.Option("--temp", help="Folder to spill to.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Find every pair of documents at or above a threshold, exactly."""
    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    from roughly.console.progress import Progress
    from roughly.settings import ReadOptions
    from roughly.tools.truth.api import run_truth
    from roughly.tools.truth.request import TruthRequest

    held = None
    if lexicon is not None:
        from roughly.lexicon import Lexicon

        held = Lexicon.open(lexicon)
    asked = TruthRequest(
        measure=measure, threshold=threshold, shingle_size=shingle_size, weights=weights, lexicon=held,
        main_text=main_text, empty=empty, pairs_limit=pairs_limit,
    )  # fmt: skip
    reading = ReadOptions(
        text_column=text_column, id_column=id_column, markup=markup, format=format, batch_size=batch_size,  # type: ignore[arg-type]
    )  # fmt: skip
    resources = Resources(threads=threads, memory=parse_size(memory), temp=temp)
    try:
        with Progress(quiet) as progress:
            found = run_truth(
                None, inputs, asked, resources=resources, reading=reading, output=output, overwrite=overwrite,
                listener=progress,
            )  # fmt: skip
    except Interrupted as stop:
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    facts = found.summary()
    for reject in found.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if as_json:
        json.dump({"output": str(output) if output else None} | facts, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        if output is None:
            import pyarrow.csv as pa_csv

            sys.stdout.flush()
            pa_csv.write_csv(found.table, sys.stdout.buffer)
        if not quiet:
            _tell(facts, output, sys.stdout if output else sys.stderr)
    if found.rejects:
        raise typer.Exit(3)


def _tell(facts: dict[str, object], output: Path | None, stream: object) -> None:
    def say(name: str, text: str) -> None:
        print(f"{name:<11} {text}", file=stream)  # type: ignore[call-overload]

    if output is not None:
        say("pairs in", str(output))
    say("documents", f"{facts['documents']:,}; {facts['distinct']:,} distinct, {facts['empty']:,} without a word")
    say("pairs", f"{facts['pairs']:,} with {facts['measure']} at or above {facts['threshold']}")
    say("compared", f"{facts['compared']:,} of {facts['met']:,} pairs that share a rare feature")
    seconds = facts["seconds"]
    assert isinstance(seconds, dict)
    told = ", ".join(f"{stage} {took:.1f} s" for stage, took in seconds.items())
    say("took", f"{told}, peak memory {float(str(facts['peak_memory'])) / 1e6:.0f} MB")
