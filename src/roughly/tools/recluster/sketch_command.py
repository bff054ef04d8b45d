"""`roughly sketch`: sampled shingles of documents, stored to be clustered later without the documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from roughly.errors import Interrupted, SettingsError
from roughly.settings import MARKUP, Resources

_TOLD = 5  # rejects named one by one


def sketch(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write; must not hold a run.")],
    sketch: Annotated[str, typer.Option("--sketch", help="all, mod:25, min:400 or adaptive.")] = "mod:25",
    shingle_size: Annotated[int, typer.Option("--shingle-size", help="Words in a shingle.")] = 10,
    settings: Annotated[
        Path | None, typer.Option("--settings", help="Take both from a file that `roughly tune --sampling` wrote.")
    ] = None,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Documents read at a time.")] = None,
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in the output folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Sample the shingles of documents and store them."""
    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    from roughly.console.progress import Progress
    from roughly.features.sampling import Sampling
    from roughly.features.sketch_store import FILE, SketchFacts
    from roughly.settings import ReadOptions
    from roughly.tools.recluster.sketching_api import run_sketch

    sampling = Sampling.parse(sketch)
    if settings is not None:
        from roughly.job.settings_file import read_sampling

        sampling, shingle_size = read_sampling(settings)
    facts = SketchFacts(sampling, shingle_size, main_text)
    reading = ReadOptions(
        text_column=text_column, id_column=id_column, markup=markup, format=format, batch_size=batch_size,  # type: ignore[arg-type]
    )  # fmt: skip
    try:
        with Progress(quiet) as progress:
            done = run_sketch(
                None, inputs, facts=facts, resources=Resources(threads=threads), reading=reading, output=output,
                overwrite=overwrite, listener=progress,
            )  # fmt: skip
    except Interrupted as stop:  # a KeyboardInterrupt, which typer would turn into a bare "Aborted"
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    for reject in done.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if as_json:
        json.dump({"output": str(output)} | done.summary(), sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not quiet:
        size = (output / FILE).stat().st_size
        print(f"sketches    {output / FILE}, {size / 1e6:.1f} MB, fingerprint {facts.fingerprint()}")
        print(f"documents   {done.documents:,}; of {done.empty:,} no shingle was sampled")
        print(f"shingles    {done.values:,} sampled ({facts.sampling}) of {done.tokens:,} tokens")
        for note in done.notes:
            print(f"guessed     {note}")
        speed = done.text_bytes / max(done.seconds, 1e-9) / 1e6
        print(f"took        {done.seconds:.1f} s, {speed:,.0f} MB/s; {len(done.rejects):,} records rejected")
    if done.rejects:
        raise typer.Exit(3)
