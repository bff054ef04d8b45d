"""`roughly index create|add|query|show|remove|revoke|expire`: an index made, filled and queried."""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from roughly.cli.index_app import app, open_index
from roughly.console.commands import Given, register
from roughly.console.common_options import COLUMNS, INPUTS, IndexPlace, Printing, SettingsLayers
from roughly.console.terminal_output import LISTED, end, print_json, print_json_line
from roughly.declarations import argument, group, option, values
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.measures import FOR_QUERY, listed
from roughly.settings import ReadOptions, Settings

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SETTINGS = (
    "threshold", "recall", "measure", "method", "shingle_size", "shingle_unit", "bands", "rows", "seed", "verify",
    "keep", "markup", "main_text", "tokens", "date_format", "features",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CreateOptions:
    """Options of the command `create`."""

    where: str = argument(help="A file, or postgresql://user@host/database.", metavar="INDEX")
    store: str = option(
        "text", "What is stored of a text: text, shingles, sketch, or packed (184 bytes of term-vector)."
    )
    settings: dict[str, Any] = values(Settings, *_SETTINGS)
    layers: SettingsLayers = group(SettingsLayers)
    text_column: str | None = option(None, "What its texts are made of, such as title,text; by default found by name.")
    search: bool = option(False, "Make its texts searchable by words.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, CreateOptions, methods=True)
def create(options: CreateOptions, given: Given) -> None:
    """Make an empty index with these settings."""
    from roughly.job.gathered_settings import merge_settings

    layers = options.layers
    typed = given.settings()
    if options.text_column is not None:
        typed["text_column"] = options.text_column
    settings = merge_settings(typed, preset=layers.preset, file=layers.settings_file)
    from roughly.index import Index

    with Index.create(options.where, settings, store=options.store, search=options.search) as index:
        summary = {
            "index": index.name,
            "method": settings.method,
            "fingerprint": index.fingerprint,
            "store": options.store,
        }
    if options.printing.as_json:
        print_json(summary)
    elif not options.printing.quiet:
        print(f"index       {summary['index']}, {settings.method}, fingerprint {summary['fingerprint']}")


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """Options of the command `add`."""

    index: IndexPlace = group(IndexPlace)
    inputs: list[str] = argument(help=INPUTS)
    reading: ReadOptions = group(ReadOptions, *COLUMNS)
    id_prefix: str | None = option(
        None, "Name documents without an id by this and their place (file:line), instead of by their content."
    )
    at_once: int = option(10_000, "Documents per transaction.")
    each: bool = option(False, "Print a line of JSON per document.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, AddOptions)
def add(options: AddOptions) -> None:
    """Add documents; unchanged ones are left as they are, and changed ones replace the old version."""
    from roughly.sources.content_ids import with_own_ids

    counts = {"added": 0, "updated": 0, "unchanged": 0, "matched": 0}
    rejects: list[Any] = []
    unread: list[str] = []
    start = time.perf_counter()
    with open_index(options.index) as index:
        named = partial(with_own_ids, prefix=options.id_prefix)
        batches = _batches(options.inputs, options.reading, index.settings, rejects, unread, named)
        for some in index.adding(batches, at_once=options.at_once):
            for added in some:
                counts[added.status] += 1
                counts["matched"] += added.match is not None
                if options.each:
                    print_json_line(added.to_dict())
    summary = {**counts, "rejected": len(rejects), "unread_dates": len(unread), "seconds": time.perf_counter() - start}
    if options.printing.as_json:
        print_json(summary)
    elif not options.printing.quiet and not options.each:
        print(f"added       {counts['added']:,}, {counts['updated']:,} updated, {counts['unchanged']:,} unchanged")
        are = "is a duplicate" if counts["matched"] == 1 else "are duplicates"
        print(f"matched     {counts['matched']:,} of them {are} of what was there before")
        if unread:
            print(f"dates       {len(unread):,} unread, such as {'; '.join(unread[:3])}")
    end(rejects)


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """Options of the command `query`."""

    index: IndexPlace = group(IndexPlace)
    inputs: list[str] = argument(help=INPUTS)
    limit: int = option(10, "Most matches per document.")
    minimum: float | None = option(None, "Lowest score of a match.")
    measure: str | None = option(None, f"Measure to order by: {listed(FOR_QUERY)}.")
    since: str | None = option(None, "Only documents dated on this day or later.")
    until: str | None = option(None, "Only documents dated on this day or before.")
    match_empty: bool = option(False, "Documents without words match each other; otherwise they match nothing.")
    reading: ReadOptions = group(ReadOptions, *COLUMNS)
    printing: Printing = group(Printing, "as_json")


@register(app, QueryOptions)
def query(options: QueryOptions) -> None:
    """Query with documents: which documents of the index they duplicate; the index is not changed."""
    from roughly.index.queries import idle_minimum

    rejects: list[Any] = []
    with open_index(options.index) as index:
        if note := idle_minimum(index.config, options.minimum, options.measure):
            print(note, file=sys.stderr)
        if not options.printing.as_json:
            print("asked\tdoc_id\tcluster_id\tresemblance\tcontainment\tcontained_in\testimated")
        for batch in _batches(options.inputs, options.reading, index.settings, rejects):
            found = index.queries(
                batch,
                limit=options.limit,
                minimum=options.minimum,
                since=options.since,
                until=options.until,
                measure=options.measure,
                match_empty=options.match_empty,
            )
            for doc_id, matches in zip(batch.column("doc_id").to_pylist(), found, strict=True):
                if options.printing.as_json:
                    line = {"asked": doc_id, "matches": [match.to_dict() for match in matches]}
                    print_json_line(line)
                    continue
                for match in matches:
                    scores = (match.resemblance, match.containment, match.contained_in)
                    shown = ("–" if score is None else f"{score:.4f}" for score in scores)
                    estimated = "yes" if match.estimated else "no"
                    print(doc_id, match.doc_id, match.cluster_id, *shown, estimated, sep="\t")
    end(rejects)


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of the command `show`."""

    index: IndexPlace = group(IndexPlace)
    document: str = argument(help="Its id or url in the index.")
    printing: Printing = group(Printing, "as_json")


@register(app, ShowOptions)
def show(options: ShowOptions) -> None:
    """Show the documents with an id or url, and the cluster of each; exit code 3 if there is none."""
    with open_index(options.index) as index:
        entry = index.get(options.document)
        entries = [entry] if entry is not None else index.by_url(options.document)
        clusters = {entry.cluster_id: index.cluster(entry.cluster_id) for entry in entries}
    if options.printing.as_json:
        members_of = {str(name): [member.to_dict() for member in members] for name, members in clusters.items()}
        print_json({"documents": [entry.to_dict() for entry in entries], "clusters": members_of})
    elif entries:
        named = {entry.doc_id for entry in entries}
        print("cluster_id\tasked\tdoc_id\turl\tdate")
        for name, members in clusters.items():
            for member in members:
                asked = "yes" if member.doc_id in named else "no"
                print(name, asked, member.doc_id, member.url or "-", member.date or "-", sep="\t")
    if not entries:
        print(f"no document has the id or the url {options.document!r}", file=sys.stderr)
        raise SystemExit(3)


@dataclass(frozen=True, kw_only=True)
class RemoveOptions:
    """Options of the command `remove`."""

    index: IndexPlace = group(IndexPlace)
    ids: list[str] = argument(help="Ids of documents, or - to read them, one per line.", metavar="DOC_ID")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, RemoveOptions)
def remove(options: RemoveOptions) -> None:
    """Remove documents; they never match again."""
    with open_index(options.index) as index:
        _print_removed("removed", index.remove, _ids(options.ids), options.printing.as_json, options.printing.quiet)


@dataclass(frozen=True, kw_only=True)
class RevokeOptions:
    """Options of the command `revoke`."""

    index: IndexPlace = group(IndexPlace)
    ids: list[str] = argument(help="Ids of documents, or - to read them, one per line.", metavar="DOC_ID")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, RevokeOptions)
def revoke(options: RevokeOptions) -> None:
    """Declare that the texts of documents match nothing, now and whenever they are added again."""
    with open_index(options.index) as index:
        _print_removed("revoked", index.revoke, _ids(options.ids), options.printing.as_json, options.printing.quiet)


@dataclass(frozen=True, kw_only=True)
class ExpireOptions:
    """Options of the command `expire`."""

    index: IndexPlace = group(IndexPlace)
    before: str | None = option(None, "Remove documents dated before this day.")
    older_than: str | None = option(None, "Remove documents added longer ago, such as 42d, 36h or 90m.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, ExpireOptions)
def expire(options: ExpireOptions) -> None:
    """Remove documents that are too old, by their date or by when they were added."""
    seconds = None if options.older_than is None else _seconds(options.older_than)
    with open_index(options.index) as index:
        expired = index.expire(before=options.before, older_than=seconds)
    if options.printing.as_json:
        print_json({"expired": expired})
    elif not options.printing.quiet:
        print(f"expired     {expired:,}")


def _batches(
    inputs: list[str], reading: Any, settings: Settings, rejects: list[Any], unread: list[str] | None = None,
    named: Callable[[Any, Any], Any] = lambda part, batch: batch,
) -> Iterator[Any]:  # fmt: skip
    """Documents of files, batch by batch; records and dates that could not be read are collected.

    `named` gives ids to documents that have none. A note says what the verdict compares and none of them has.
    """
    from roughly import dates
    from roughly.sources import open_parts

    documents, missing = 0, set(settings.compared_fields)
    with tempfile.TemporaryDirectory(prefix="roughly-index-") as spool:
        for part in open_parts(inputs, settings.reading(reading), Path(spool)):
            for chunk in part.chunks():
                parsed = part.parse(chunk)
                rejects += parsed.rejects
                if unread is not None:
                    found, row = parsed.batch.column("date"), parsed.batch.column("row")
                    for place in dates.unread(found, dates.timestamps(found, settings.date_format)):
                        unread.append(f"{found[place].as_py()!r} ({part.name}, {part.locate(row[place].as_py())})")
                if parsed.batch.num_rows:
                    documents += parsed.batch.num_rows
                    missing = {name for name in missing if not parsed.batch.column(name).is_valid().true_count}
                    yield named(part, parsed.batch)
    for name in sorted(missing) if documents else ():
        print(
            f"note: the verdict of this index compares each document's {name}, and none of these has one; name the "
            f"column with --{name}-column",
            file=sys.stderr,
        )


def _ids(given: list[str]) -> list[str]:
    if given != ["-"]:
        return given
    return [line.rstrip("\r\n") for line in sys.stdin if line.strip()]


def _print_removed(what: str, work: Any, ids: list[str], as_json: bool, quiet: bool) -> None:
    removed = set(work(ids))
    missing = [doc_id for doc_id in dict.fromkeys(ids) if doc_id not in removed]
    if as_json:
        print_json({what: len(removed), "missing": missing})
    elif not quiet:
        print(f"{what:<12}{len(removed):,}")
    for doc_id in missing[:LISTED]:
        print(f"not in the index: {doc_id}", file=sys.stderr)
    if missing:
        raise SystemExit(3)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    if not match:
        raise SettingsError(f"--older-than must be a time such as 42d, 36h or 90m, not {text!r}")
    return float(match[1]) * _UNITS[match[2]]
