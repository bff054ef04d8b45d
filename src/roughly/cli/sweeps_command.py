"""`roughly index sweep|lost|copies|changes`: dated sweeps of pages, and what they tell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roughly.settings import MARKUP

if TYPE_CHECKING:
    from roughly.index.sweeps.changes import Changes
    from roughly.index.sweeps.copies import Copies
    from roughly.index.sweeps.lost import Lost

_TOLD = 5  # rejects named one by one
Where = Annotated[str, typer.Argument(metavar="INDEX", help="An index: a file, or postgresql://…")]
KeyFile = Annotated[Path | None, typer.Option("--key-file", help="The key that the index was made with.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the group of index commands."""
    for command in (sweep, lost, copies, changes):
        app.command()(command)


def sweep(
    where: Where,
    inputs: Annotated[list[str], typer.Argument(help="WARC files, or any files whose documents have urls.")],
    date: Annotated[str, typer.Option("--date", help="Day of the sweep, such as 2024-03-31.")],
    redo: Annotated[bool, typer.Option("--redo", help="Take out what is there of this day first.")] = False,
    key_file: KeyFile = None,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    url_column: Annotated[str | None, typer.Option("--url-column", help="Column that holds the url.")] = None,
    title_column: Annotated[str | None, typer.Option("--title-column", help="Column that holds the title.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    temp: Annotated[Path | None, typer.Option("--temp", help="Folder to work in.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add the pages of a crawl under its day; run it again where it was interrupted."""
    from roughly.errors import SettingsError
    from roughly.index import Index
    from roughly.index.sweeps.api import run_sweep
    from roughly.settings import ReadOptions

    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    reading = ReadOptions(
        text_column=text_column, url_column=url_column, title_column=title_column, format=format,
        markup=markup,  # type: ignore[arg-type]
    )  # fmt: skip
    with Index.open(where, key_file=key_file) as index:
        done, rejects = run_sweep(index, None, inputs, date=date, redo=redo, reading=reading, temp=temp)
    for reject in rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if as_json:
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


def lost(
    where: Where,
    url: Annotated[str, typer.Argument(help="The address that no longer answers.")],
    limit: Annotated[int, typer.Option("--limit", help="Most pages to tell.")] = 10,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Find where a page lives now that some sweep had seen; exit code 3 where it is not found."""
    from roughly.index import Index
    from roughly.index.sweeps.lost import lost as find

    with Index.open(where, key_file=key_file) as index:
        answer = find(index, url, limit=limit)
    if as_json:
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


def copies(
    where: Where,
    document: Annotated[str, typer.Argument(help="Its id or url in the index; with --file, a file.")],
    file: Annotated[bool, typer.Option("--file", help="The document is a file of text or HTML.")] = False,
    minimum: Annotated[float, typer.Option("--minimum", help="Least share of either that the other holds.")] = 0.1,
    limit: Annotated[int | None, typer.Option("--limit", help="Most copies to tell.")] = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """List whole and partial copies of a document, with their urls and both containments."""
    from roughly.index import Index
    from roughly.index.sweeps.copies import copies as find

    asked: Any = _read_file(document) if file else document
    with Index.open(where, key_file=key_file) as index:
        answer = find(index, asked, minimum=minimum, limit=limit)
    if not answer.complete:
        print(
            "note: this index finds documents that are alike as wholes; for passages make one with --method shingles "
            "or --measure containment",
            file=sys.stderr,
        )
    if as_json:
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


def changes(
    where: Where,
    plot: Annotated[Path | None, typer.Option("--plot", help="SVG file to draw.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the plot where it exists.")] = False,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Tell, for each interval between sweeps, how many pages changed and how much, moved, were born, died."""
    from roughly.index import Index
    from roughly.index.sweeps.changes import changes as find
    from roughly.signing.signature_file import check_output

    if plot is not None:
        check_output(plot, overwrite)
    with Index.open(where, key_file=key_file) as index:
        answer = find(index)
    for date in answer.unfinished:
        print(f"note: the sweep of {date} is not finished, and left out; run it again", file=sys.stderr)
    if plot is not None:
        from roughly.lexicon.writer import room
        from roughly.report.changed_words import draw_changes
        from roughly.sources.streams import replacing

        with room(plot), replacing(plot) as target:
            target.write(draw_changes([interval.to_dict() for interval in answer.intervals]).encode())
    if as_json:
        _print_json(answer.to_dict())
    else:
        _print_changes(answer)
    if plot is not None and not as_json:
        print(f"plot        {plot}")


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
