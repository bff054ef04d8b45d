"""`roughly index sweep|lost|copies|changes`: dated sweeps of pages, and what they tell."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from roughly.console.commands import command
from roughly.console.common_options import IndexPlace, Printing
from roughly.declarations import REQUIRED, argument, group, option
from roughly.settings import ReadOptions, Resources

if TYPE_CHECKING:
    from roughly.index.sweeps.changes import Changes
    from roughly.index.sweeps.copies import Copies
    from roughly.index.sweeps.lost import Lost

_TOLD = 5  # rejects named one by one


def register(app: typer.Typer) -> None:
    """Add the commands to the group of index commands."""
    for kind, run in (
        (SweepOptions, sweep), (LostOptions, lost), (CopiesOptions, copies), (ChangesOptions, changes),
    ):  # fmt: skip
        app.command()(command(kind, run))


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Options of the command `sweep`."""

    index: IndexPlace = group(IndexPlace)
    inputs: list[str] = argument(help="WARC files, or any files whose documents have urls.")
    date: str = option(REQUIRED, "Day of the sweep, such as 2024-03-31.")
    redo: bool = option(False, "Take out what is there of this day first.")
    reading: ReadOptions = group(ReadOptions, "text_column", "url_column", "title_column", "format", "markup")
    resources: Resources = group(Resources, "temp")
    printing: Printing = group(Printing, "as_json")


def sweep(options: SweepOptions) -> None:
    """Add the pages of a crawl under its day; run it again where it was interrupted."""
    from roughly.index import Index
    from roughly.index.sweeps.api import run_sweep

    reading = options.reading  # fmt: skip
    with Index.open(options.index.where, key_file=options.index.key_file) as index:
        done, rejects = run_sweep(
            index,
            None,
            options.inputs,
            date=options.date,
            redo=options.redo,
            reading=reading,
            temp=options.resources.temp,
        )
    for reject in rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if options.printing.as_json:
        _print_json(done.to_dict())
    else:
        print(f"sweep       {done.date}, {done.pages:,} pages")
        if done.left_out:
            print(f"left out    {done.left_out:,} answers without a page: errors and redirections")
        if done.revisits:
            print(
                f"unchanged   {done.revisits:,} pages that the crawler did not store again, {done.unresolved:,} unknown"
            )
        if done.rejected:
            print(f"rejected    {done.rejected:,} records")
    if rejects:
        raise typer.Exit(3)


@dataclass(frozen=True, kw_only=True)
class LostOptions:
    """Options of the command `lost`."""

    index: IndexPlace = group(IndexPlace)
    url: str = argument(help="The address that no longer answers.")
    limit: int = option(10, "Most pages to tell.")
    printing: Printing = group(Printing, "as_json")


def lost(options: LostOptions) -> None:
    """Find where a page lives now that some sweep had seen; exit code 3 where it is not found."""
    from roughly.index import Index
    from roughly.index.sweeps.lost import lost as find

    with Index.open(options.index.where, key_file=options.index.key_file) as index:
        answer = find(index, options.url, limit=options.limit)
    if options.printing.as_json:
        _print_json(answer.to_dict())
    else:
        _print_lost(answer)
    if not answer.here and not answer.found:
        raise typer.Exit(3)


def _print_lost(answer: Lost) -> None:
    if answer.here:
        print(f"here        {answer.url}: the sweep of {answer.last_sweep} has it")
        return
    print(f"lost        {answer.url}, seen from {answer.first_seen} to {answer.last_seen}")
    for one in answer.found:
        scores = f"resemblance {_share(one.resemblance)}  holds {_share(one.containment)} of it"
        via = f"  by way of {', '.join(one.via)}" if one.via else ""
        print(f"{'now at' if one.current else 'was at':<11} {one.url}  {one.date}  {scores}{via}")
    if not answer.found:
        print(f"not found   nothing in later sweeps, up to {answer.last_sweep}, is like it")


@dataclass(frozen=True, kw_only=True)
class CopiesOptions:
    """Options of the command `copies`."""

    index: IndexPlace = group(IndexPlace)
    document: str = argument(help="Its id or url in the index; with --file, a file.")
    file: bool = option(False, "The document is a file of text or HTML.")
    minimum: float = option(0.1, "Least share of either that the other holds.")
    limit: int | None = option(None, "Most copies to tell.")
    printing: Printing = group(Printing, "as_json")


def copies(options: CopiesOptions) -> None:
    """List whole and partial copies of a document, with their urls and both containments."""
    from roughly.index import Index
    from roughly.index.sweeps.copies import copies as find

    request: Any = _read_file(options.document) if options.file else options.document
    with Index.open(options.index.where, key_file=options.index.key_file) as index:
        answer = find(index, request, minimum=options.minimum, limit=options.limit)
    if not answer.complete:
        print(
            "note: this index finds documents that are alike as wholes; for passages make one with --method shingles "
            "or --measure containment",
            file=sys.stderr,
        )
    if options.printing.as_json:
        _print_json(answer.to_dict())
    else:
        _print_copies(answer)


def _read_file(path: str) -> dict[str, Any]:
    """The one document of a file."""
    import tempfile

    from roughly.errors import InputError
    from roughly.sources import ReadOptions, open_parts

    documents: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="roughly-copies-") as spool:
        for part in open_parts([path], ReadOptions(), Path(spool)):
            for chunk in part.chunks():
                documents += part.parse(chunk).batch.to_pylist()
    if len(documents) != 1:
        raise InputError(f"{path} holds {len(documents):,} documents; give a file that is one")
    return documents[0]


def _print_copies(answer: Copies) -> None:
    from roughly.report.visible import flow

    print("kind\tholds\theld\tdoc_id\turl")
    for copy in answer.found:
        columns = (copy.kind, _share(copy.containment), _share(copy.contained_in), flow(copy.doc_id), copy.url or "-")
        print("\t".join(columns))


@dataclass(frozen=True, kw_only=True)
class ChangesOptions:
    """Options of the command `changes`."""

    index: IndexPlace = group(IndexPlace)
    plot: Path | None = option(None, "SVG file to draw.")
    printing: Printing = group(Printing, "overwrite", "as_json")


def changes(options: ChangesOptions) -> None:
    """Tell, for each interval between sweeps, how many pages changed and how much, moved, were born, died."""
    from roughly.index import Index
    from roughly.index.sweeps.changes import changes as find
    from roughly.signing.signature_file import check_output

    if options.plot is not None:
        check_output(options.plot, options.printing.overwrite)
    with Index.open(options.index.where, key_file=options.index.key_file) as index:
        answer = find(index)
    for date in answer.unfinished:
        print(f"note: the sweep of {date} is not finished, and left out; run it again", file=sys.stderr)
    if options.plot is not None:
        from roughly.lexicon.lexicon_writer import room
        from roughly.report.change_plot import draw_changes
        from roughly.sources.streams import replacing

        with room(options.plot), replacing(options.plot) as target:
            target.write(draw_changes([interval.to_dict() for interval in answer.intervals]).encode())
    if options.printing.as_json:
        _print_json(answer.to_dict())
    else:
        _print_changes(answer)
    if options.plot is not None and not options.printing.as_json:
        print(f"plot        {options.plot}")


def _print_changes(answer: Changes) -> None:
    head = ("from", "to", "pages", "same", "changed", "alike", "within", "between", "died", "born", "returned")
    rows: list[tuple[str, ...]] = [head]
    for i in answer.intervals:
        numbers = (i.pages_before, i.unchanged, i.changed)
        rows.append(
            (i.before, i.after, *(f"{n:,}" for n in numbers), _share(i.mean_resemblance),
             *(f"{n:,}" for n in (i.moved_within, i.moved_between, i.died, i.born, i.returned)))
        )  # fmt: skip
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"addresses   {answer.addresses:,} seen, {answer.gone:,} of them gone", end="")
    print("" if answer.median_days is None else f" after {answer.median_days:g} days (median)")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
