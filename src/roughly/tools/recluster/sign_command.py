"""`roughly sign`: documents in, signatures out, for a database or a search engine to keep."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from roughly.console.method_options import NAMES, with_method_options
from roughly.settings import MARKUP, MEASURES, Resources, Settings, parse_size

_TOLD = 5  # rejects named one by one


@with_method_options
def sign(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Parquet file to write; must not exist.")],
    method: Annotated[str, typer.Option("--method", help=f"{NAMES}.")] = "imatch",
    threshold: Annotated[float, typer.Option("--threshold", help="Similarity to find.")] = 0.8,
    recall: Annotated[float, typer.Option("--recall", help="minhash: least share of such pairs to find.")] = 0.99,
    measure: Annotated[str, typer.Option("--measure", help=" or ".join(MEASURES) + ".")] = "resemblance",
    shingle_size: Annotated[int, typer.Option("--shingle-size", help="Words in a shingle.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Of the permutations.")] = 0,
    *,
    method_options: dict[str, Any],
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    date_column: Annotated[str | None, typer.Option("--date-column", help="Column that holds the date.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    memory: Annotated[str, typer.Option("--memory", help="For counting the collection, such as 1GB.")] = "1GB",
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    temp: Annotated[Path | None, typer.Option("--temp", help="Folder to work in.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Write the signatures of documents to a Parquet file."""
    from roughly.settings import ReadOptions

    settings = Settings.gather(
        {
            "method": method, "threshold": threshold, "recall": recall, "measure": measure,
            "shingle_size": shingle_size, "seed": seed, "markup": markup, "main_text": main_text,
        },
        method_options,
    )  # fmt: skip
    reading = ReadOptions(
        text_column=text_column, id_column=id_column, date_column=date_column, markup=markup, format=format  # type: ignore[arg-type]
    )  # fmt: skip
    from roughly.console.progress import Progress
    from roughly.signing.sign_files import run_sign

    start = time.perf_counter()
    with Progress(quiet) as progress:
        signed = run_sign(
            None, inputs, output=output, method=settings, overwrite=overwrite, main_text=main_text,
            resources=Resources(threads=threads, memory=parse_size(memory), temp=temp), reading=reading,
            listener=progress,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    for reject in signed.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if as_json:
        told = {
            "output": str(output), "documents": signed.documents, "unsigned": signed.unsigned,
            "rejected": len(signed.rejects), "text_bytes": signed.text_bytes, "seconds": seconds,
            "guesses": signed.notes, **signed.made.to_dict(),
        }  # fmt: skip
        json.dump(told, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not quiet:
        print(f"signatures  {output}, {signed.made.method}, fingerprint {signed.made.fingerprint}")
        print(f"documents   {signed.documents:,}, {signed.unsigned:,} of them without a signature")
        for note in signed.notes:
            print(f"guessed     {note}")
        speed = signed.text_bytes / max(seconds, 1e-9) / 1e6
        print(f"took        {seconds:.1f} s, {speed:,.0f} MB/s; {len(signed.rejects):,} records rejected")
    if signed.rejects:
        raise typer.Exit(3)
