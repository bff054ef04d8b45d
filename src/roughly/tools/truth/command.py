"""`roughly truth`: every pair of documents at or above a threshold, with no approximation."""

from __future__ import annotations

import sys
from pathlib import Path

from roughly.console.common_options import INPUTS, Printing
from roughly.console.terminal_output import end, print_json
from roughly.declarations import argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.tools.truth.request import TruthRun


@dataclass(frozen=True, kw_only=True)
class TruthOptions:
    """Options of the command `truth`."""

    inputs: list[str] = argument(help=INPUTS)
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

    with Progress(options.printing.quiet, options.printing.verbose) as progress:
        found = run_truth(
            None,
            options.inputs,
            options.run,
            output=options.output,
            overwrite=options.printing.overwrite,
            listener=progress,
        )
    facts = found.summary()
    if options.printing.as_json:
        print_json({"output": str(options.output) if options.output else None} | facts)
    else:
        if options.output is None:
            import pyarrow.csv as pa_csv

            sys.stdout.flush()
            pa_csv.write_csv(found.table, sys.stdout.buffer)
        if not options.printing.quiet:
            _print_summary(facts, options.output, sys.stdout if options.output else sys.stderr)
    end(found.rejects)


def _print_summary(facts: dict[str, object], output: Path | None, stream: object) -> None:
    def say(name: str, text: str) -> None:
        print(f"{name:<11} {text}", file=stream)  # type: ignore[call-overload]

    if output is not None:
        say("pairs in", str(output))
    say("documents", f"{facts['documents']:,}; {facts['distinct']:,} distinct, {facts['empty']:,} without a word")
    say("pairs", f"{facts['pairs']:,} with {facts['measure']} at or above {facts['threshold']}")
    say("compared", f"{facts['compared']:,} of {facts['met']:,} pairs that share a rare feature")
    seconds = facts["seconds"]
    assert isinstance(seconds, dict)
    stages = ", ".join(f"{stage} {took:.1f} s" for stage, took in seconds.items())
    say("took", f"{stages}, peak memory {float(str(facts['peak_memory'])) / 1e6:.0f} MB")
