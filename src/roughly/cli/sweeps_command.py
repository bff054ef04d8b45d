"""`roughly index sweep|lost|copies|changes`: dated sweeps of pages, and what changed between them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.amounts import counted, share
from roughly.cli.index_app import app, open_index
from roughly.console.commands import register
from roughly.console.common_options import IndexPlace, Printing
from roughly.console.terminal_output import end, print_json
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources

if TYPE_CHECKING:
    from roughly.index.sweeps.changes import Changes
    from roughly.index.sweeps.copies import Copies
    from roughly.index.sweeps.lifetimes import Lifetimes
    from roughly.index.sweeps.lost import Lost


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Options of the command `sweep`."""

    index: IndexPlace = group(IndexPlace)
    inputs: list[str] = argument(help="WARC files, or any files whose documents have urls.")
    date: str = option(REQUIRED, "Day of the sweep, such as 2024-03-31.")
    redo: bool = option(False, "First remove the pages of this day.")
    reading: ReadOptions = group(ReadOptions, "text_column", "url_column", "title_column", "format", "markup")
    resources: Resources = group(Resources, "temp")
    printing: Printing = group(Printing, "as_json")


@register(app, SweepOptions)
def sweep(options: SweepOptions) -> None:
    """Add the pages of a crawl under its day; repeat the command after an interruption."""
    from roughly.index.sweeps.api import run_sweep

    with open_index(options.index) as index:
        done, rejects = run_sweep(
            index,
            None,
            options.inputs,
            date=options.date,
            redo=options.redo,
            reading=options.reading,
            temp=options.resources.temp,
        )
    if options.printing.as_json:
        print_json(done.to_dict())
    else:
        print(f"sweep       {done.date}, {counted(done.pages, 'page')}")
        if done.left_out:
            print(f"left out    {counted(done.left_out, 'answer')} without a page: errors and redirections")
        if done.revisits:
            print(
                f"unchanged   {done.revisits:,} pages that the crawler did not store again, {done.unresolved:,} unknown"
            )
        if done.rejected:
            print(f"rejected    {counted(done.rejected, 'record')}")
    end(rejects)


@dataclass(frozen=True, kw_only=True)
class LostOptions:
    """Options of the command `lost`."""

    index: IndexPlace = group(IndexPlace)
    url: str = argument(help="The address that no longer answers.")
    limit: int = option(10, "Most pages to list.")
    printing: Printing = group(Printing, "as_json")


@register(app, LostOptions)
def lost(options: LostOptions) -> None:
    """Find where a page of an earlier sweep is now; exit code 3 if it is not found."""
    from roughly.index.sweeps.lost import lost as find

    with open_index(options.index) as index:
        answer = find(index, options.url, limit=options.limit)
    if options.printing.as_json:
        print_json(answer.to_dict())
    else:
        _print_lost(answer)
    if not answer.here and not answer.found:
        raise SystemExit(3)


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
    if not answer.complete:
        print(
            "note: the last sweep has too many pages to measure each; longer pages that hold this one may be missing. "
            "For them make an index with --method shingles or --measure containment",
            file=sys.stderr,
        )


@dataclass(frozen=True, kw_only=True)
class CopiesOptions:
    """Options of the command `copies`."""

    index: IndexPlace = group(IndexPlace)
    document: str = argument(help="Its id or url in the index; with --file, a file.")
    file: bool = option(False, "The document is a file of text or HTML.")
    minimum: float = option(0.1, "Lowest share of either text that the other contains.")
    limit: int | None = option(None, "Most copies to list.")
    printing: Printing = group(Printing, "as_json")


@register(app, CopiesOptions)
def copies(options: CopiesOptions) -> None:
    """List whole and partial copies of a document, with their urls and both containments."""
    from roughly.index.sweeps.copies import copies as find

    document: Any = _read_file(options.document) if options.file else options.document
    with open_index(options.index) as index:
        answer = find(index, document, minimum=options.minimum, limit=options.limit)
    if answer.left_out:
        print(
            f"note: {answer.left_out:,} shingles of this document are in too many others to be looked up; "
            "passages of them may be missing",
            file=sys.stderr,
        )
    elif not answer.complete:
        print(
            "note: this index may miss passages; one made with --method shingles --sketch all, or with --measure "
            "containment, finds all of them",
            file=sys.stderr,
        )
    if options.printing.as_json:
        print_json(answer.to_dict())
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


@register(app, ChangesOptions)
def changes(options: ChangesOptions) -> None:
    """For each interval between sweeps: how many pages changed and by how much, moved, appeared, disappeared."""
    from roughly.index.sweeps.changes import changes as find
    from roughly.signing.signature_file import check_output

    if options.plot is not None:
        check_output(options.plot, options.printing.overwrite)
    with open_index(options.index) as index:
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
        print_json(answer.to_dict())
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
    print(f"addresses   {answer.addresses:,} seen, {answer.gone:,} of them gone")
    print(f"lifetime    {_lifetime(answer.lifetimes)}")


def _lifetime(found: Lifetimes) -> str:
    """How long pages live, in words."""
    pages = f"{counted(found.pages, 'page')}, {found.died:,} died, {counted(found.moved, 'move')}"
    if found.median_days is not None:
        most = "?" if found.median_high is None else f"{found.median_high:,}"
        return f"{pages}; median {found.median_days:,} days (95 % interval {found.median_low or 0:,} to {most})"
    if not found.survival:
        return f"{pages}; followed for at most {found.longest_days:,} days"
    last = found.survival[-1]
    return (
        f"{pages}; {share(last.alive, digits=0)} live longer than {last.days:,} days "
        f"(95 % interval {share(last.low, digits=0)} to {share(last.high, digits=0)})"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
