"""`roughly truth`: every pair of documents at or above a threshold, with no approximation."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from roughly.console.common_options import Printing
from roughly.declarations import argument, group, option
from roughly.errors import Interrupted
from roughly.tools.truth.request import TruthRun

_TOLD = 5  # rejects named one by one


@dataclass(frozen=True, kw_only=True)
class TruthOptions:
    """Options of the command `truth`."""

    inputs: list[str] = argument(help="Files, folders, globs, URLs, or - for standard input.")
    output: Path | None = option(None, "File to write, .parquet or .csv; else CSV is printed.", "-o", "--output")
    run: TruthRun = group(
        TruthRun, "measure", "threshold", "shingle_size", "weights", "lexicon", "main_text", "empty", "pairs_limit",
        "text_column", "id_column", "format", "markup", "batch_size", "memory", "threads", "temp",
    )  # fmt: skip
    printing: Printing = group(Printing)


def truth(options: TruthOptions) -> None:
    """Find every pair of documents at or above a threshold, exactly."""
    from roughly.console.progress import Progress
    from roughly.tools.truth.api import run_truth

    try:
        with Progress(options.printing.quiet) as progress:
            found = run_truth(
                None,
                options.inputs,
                options.run,
                output=options.output,
                overwrite=options.printing.overwrite,
                listener=progress,
            )
    except Interrupted as stop:
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    facts = found.summary()
    for reject in found.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if options.printing.as_json:
        json.dump(
            {"output": str(options.output) if options.output else None} | facts,
            sys.stdout,
            indent=1,
            ensure_ascii=False,
        )
        sys.stdout.write("\n")
    else:
        if options.output is None:
            import pyarrow.csv as pa_csv

            sys.stdout.flush()
            pa_csv.write_csv(found.table, sys.stdout.buffer)
        if not options.printing.quiet:
            _tell(facts, options.output, sys.stdout if options.output else sys.stderr)
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
    message = ", ".join(f"{stage} {took:.1f} s" for stage, took in seconds.items())
    say("took", f"{message}, peak memory {float(str(facts['peak_memory'])) / 1e6:.0f} MB")
