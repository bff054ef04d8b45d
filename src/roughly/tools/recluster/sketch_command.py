"""`roughly sketch`: sampled shingles of documents, stored to be clustered later without the documents."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from roughly.console.common_options import Printing
from roughly.declarations import REQUIRED, argument, group, option
from roughly.errors import Interrupted
from roughly.tools.recluster.request import SketchRequest

_OFFERED = (
    "sketch", "shingle_size", "text_column", "id_column", "format", "markup", "main_text", "batch_size", "threads",
)  # fmt: skip
_TOLD = 5  # rejects named one by one


@dataclass(frozen=True, kw_only=True)
class SketchOptions:
    """Options of the command `sketch`."""

    inputs: list[str] = argument(help="Files, folders, globs, URLs, or - for standard input.")
    output: Path = option(REQUIRED, "Folder to write; must not hold a run.", "-o", "--output")
    request: SketchRequest = group(SketchRequest, *_OFFERED)
    settings: Path | None = option(None, "Take sketch and size from a file that `roughly tune --sampling` wrote.")
    printing: Printing = group(Printing)


def sketch(options: SketchOptions) -> None:
    """Sample the shingles of documents and store them."""
    from roughly.console.progress import Progress
    from roughly.features.sketch_store import FILE
    from roughly.tools.recluster.sketching_api import run_sketch

    request = options.request
    if options.settings is not None:
        from roughly.job.settings_file import read_sampling

        sampling, shingle_size = read_sampling(options.settings)
        request = replace(request, sketch=sampling, shingle_size=shingle_size)
    try:
        with Progress(options.printing.quiet) as progress:
            done = run_sketch(
                None,
                options.inputs,
                request,
                output=options.output,
                overwrite=options.printing.overwrite,
                listener=progress,
            )
    except Interrupted as stop:  # a KeyboardInterrupt, which typer would turn into a bare "Aborted"
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    for reject in done.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if options.printing.as_json:
        json.dump({"output": str(options.output)} | done.summary(), sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not options.printing.quiet:
        facts, size = done.facts, (options.output / FILE).stat().st_size
        print(f"sketches    {options.output / FILE}, {size / 1e6:.1f} MB, fingerprint {facts.fingerprint()}")
        print(f"documents   {done.documents:,}; of {done.empty:,} no shingle was sampled")
        print(f"shingles    {done.values:,} sampled ({facts.sampling}) of {done.tokens:,} tokens")
        for note in done.notes:
            print(f"guessed     {note}")
        speed = done.text_bytes / max(done.seconds, 1e-9) / 1e6
        print(f"took        {done.seconds:.1f} s, {speed:,.0f} MB/s; {len(done.rejects):,} records rejected")
    if done.rejects:
        raise typer.Exit(3)
