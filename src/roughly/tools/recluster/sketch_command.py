"""`roughly sketch`: sampled shingles of documents, stored to be clustered later without the documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from roughly.console.common_options import INPUTS, Printing
from roughly.console.terminal_output import end, print_json, print_speed
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.tools.recluster.request import SketchRequest

_OFFERED = (
    "sketch", "shingle_size", "seed", "text_column", "id_column", "format", "markup", "main_text", "batch_size",
    "threads",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SketchOptions:
    """Options of the command `sketch`."""

    inputs: list[str] = argument(help=INPUTS)
    output: Path = option(REQUIRED, "Folder to write; must not contain a run.", "-o", "--output")
    request: SketchRequest = group(SketchRequest, *_OFFERED)
    settings: Path | None = option(None, "Read sketch and size from a file that `roughly tune --sampling` wrote.")
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
    with Progress(options.printing.quiet, options.printing.verbose) as progress:
        done = run_sketch(
            None,
            options.inputs,
            request,
            output=options.output,
            overwrite=options.printing.overwrite,
            listener=progress,
        )
    if options.printing.as_json:
        print_json({"output": str(options.output)} | done.summary())
    elif not options.printing.quiet:
        facts, size = done.facts, (options.output / FILE).stat().st_size
        print(f"sketches    {options.output / FILE}, {size / 1e6:.1f} MB, fingerprint {facts.fingerprint()}")
        print(f"documents   {done.documents:,}; of {done.empty:,} no shingle was sampled")
        print(f"shingles    {done.values:,} sampled ({facts.sampling}) of {done.tokens:,} tokens")
        for note in done.notes:
            print(f"guessed     {note}")
        print_speed(done.text_bytes, done.seconds, done.rejects)
    end(done.rejects)
