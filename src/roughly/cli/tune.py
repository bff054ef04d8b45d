"""`roughly tune`: sampling ratios that keep a precision, measured on a sample of the documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from roughly.errors import Interrupted, SettingsError
from roughly.settings import MARKUP, Resources


def tune(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs or URLs: a sample to learn from.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Settings file to write.")] = None,
    precision: Annotated[float, typer.Option("--precision", help="Least share of found pairs to be true.")] = 0.95,
    recall: Annotated[float, typer.Option("--recall", help="Least share of true pairs to be found.")] = 0.8,
    threshold: Annotated[float, typer.Option("--threshold", help="Resemblance of duplicates.")] = 0.85,
    shingle_size: Annotated[int, typer.Option("--shingle-size", help="Words in a shingle.")] = 10,
    groups: Annotated[
        str, typer.Option("--groups", help="Most tokens of each group but the last, as in 100,200,400.")
    ] = "",
    common: Annotated[int, typer.Option("--common", help="Shingles in more documents form no pairs.")] = 1000,
    curves: Annotated[Path | None, typer.Option("--curves", help="Folder to draw curves in.")] = None,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the settings file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no table.")] = False,
) -> None:
    """Find the smallest sampling ratio for each length of document that keeps a precision."""
    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    from roughly.cli.progress import Progress, compiled
    from roughly.errors import OutputExists
    from roughly.lab.settings_file import write_settings
    from roughly.lab.tune import Asked, table
    from roughly.lab.tune import tune as measure
    from roughly.sources.part import ReadOptions

    asked = Asked(
        precision=precision, recall=recall, threshold=threshold, shingle_size=shingle_size, common=common,
        bounds=_bounds(groups), main_text=main_text,
    )  # fmt: skip
    if output is not None and output.exists() and not overwrite:
        raise OutputExists(f"{output} exists; add --overwrite to replace it, or choose another name")
    reading = ReadOptions(text_column=text_column, id_column=id_column, markup=markup, format=format)  # type: ignore[arg-type]
    if not quiet:
        compiled()
    try:
        with Progress(quiet) as progress:
            tuned = measure(
                None, inputs, asked, resources=Resources(threads=threads), reading=reading, listener=progress
            )
    except Interrupted as stop:
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    if output is not None:
        told = (
            f"roughly tune: precision {precision:g}, recall {recall:g} at threshold {threshold:g}\n"
            f"groups are [most tokens, ratio]; longer documents take the last ratio"
        )
        write_settings(output, tuned.settings(), told, overwrite)
    drawn = []
    if curves is not None:
        from roughly.lab.curves import draw

        drawn = draw(tuned.study, threshold, curves)
    if as_json:
        json.dump(tuned.to_dict() | {"curves": [str(path) for path in drawn]}, sys.stdout, indent=1)
        sys.stdout.write("\n")
    elif not quiet:
        print(f"precision/recall of sampled detection at threshold {threshold:g}, by sampling ratio; [chosen]")
        for row in table(tuned):
            print(row)
        done, uniform = tuned.checked, tuned.study.ratios[tuned.uniform]
        print(f"documents   {int(tuned.study.documents.sum()):,}; {tuned.study.collapsed:,} exact duplicates collapsed")
        print(f"shingles    {tuned.share:.1%} of them processed; one ratio for all would be {uniform:.1%}")
        print(f"as it runs  precision {done.overall_precision:.3f}, recall {done.overall_recall:.3f}")
        for path in [*([output] if output else []), *drawn]:
            print(f"written     {path}")
    if tuned.rejects:
        for reject in tuned.rejects[:5]:
            print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
        raise typer.Exit(3)


def _bounds(groups: str) -> tuple[int, ...]:
    try:
        return tuple(int(bound) for bound in groups.split(",") if bound.strip())
    except ValueError:
        raise SettingsError(
            f"groups must be numbers of tokens with commas, as in 100,200,400, not {groups!r}"
        ) from None
