"""`roughly index …`: an index made, filled, asked and looked after."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from roughly.console.commands import Given, register
from roughly.console.common_options import IndexPlace, Printing, SettingsLayers
from roughly.console.method_options import Sectioned
from roughly.declarations import REQUIRED, argument, group, option, values
from roughly.errors import SettingsError
from roughly.measures import FOR_QUERY, listed
from roughly.settings import ReadOptions, Resources, Settings

if TYPE_CHECKING:
    from roughly.index import Index

app = typer.Typer(
    help="A store of documents that is asked for duplicates: create, add, query, remove, …",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_TOLD = 5  # rejects named one by one
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SETTINGS = (
    "threshold", "recall", "measure", "method", "shingle_size", "bands", "rows", "seed", "verify", "keep", "markup",
    "main_text", "date_format",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CreateOptions:
    """Options of the command `create`."""

    where: str = argument(help="A file, or postgresql://user@host/database.", metavar="INDEX")
    store: str = option("text", "What is kept of a text: text, shingles, or sketch.")
    settings: dict[str, Any] = values(Settings, *_SETTINGS)
    layers: SettingsLayers = group(SettingsLayers)
    search: bool = option(False, "Make its texts searchable by their words.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, CreateOptions, methods=True, cls=Sectioned)
def create(options: CreateOptions, given: Given) -> None:
    """Make an empty index with these settings."""
    from roughly.job.gathered_settings import settle

    settings = settle(given.settings(), preset=options.layers.preset, file=options.layers.settings_file)
    from roughly.index import Index

    with Index.create(options.where, settings, store=options.store, search=options.search) as index:
        summary = {
            "index": index.name,
            "method": settings.method,
            "fingerprint": index.fingerprint,
            "store": options.store,
        }
    if options.printing.as_json:
        _print(summary)
    elif not options.printing.quiet:
        print(f"index       {summary['index']}, {settings.method}, fingerprint {summary['fingerprint']}")


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """Options of the command `add`."""

    index: IndexPlace = group(IndexPlace)
    inputs: list[str] = argument(help="Files, folders, globs, URLs, or - for standard input.")
    reading: ReadOptions = group(
        ReadOptions, "text_column", "id_column", "title_column", "url_column", "date_column", "source_column", "format"
    )
    at_once: int = option(10_000, "Documents in one transaction.")
    each: bool = option(False, "Print a line of JSON for each document.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, AddOptions)
def add(options: AddOptions) -> None:
    """Put documents in; those that are there stay as they are, and changed ones replace what was there."""
    reading = options.reading
    counts = {"added": 0, "updated": 0, "unchanged": 0, "matched": 0}
    rejects: list[Any] = []
    unread: list[str] = []
    start = time.perf_counter()
    with _opened(options.index.where, options.index.key_file) as index:
        batches = _batches(options.inputs, reading, index.settings, rejects, unread)
        for some in index.adding(batches, at_once=options.at_once):
            for added in some:
                counts[added.status] += 1
                counts["matched"] += added.match is not None
                if options.each:
                    sys.stdout.write(json.dumps(added.to_dict(), ensure_ascii=False) + "\n")
    summary = {**counts, "rejected": len(rejects), "unread_dates": len(unread), "seconds": time.perf_counter() - start}
    if options.printing.as_json:
        _print(summary)
    elif not options.printing.quiet and not options.each:
        print(f"added       {counts['added']:,}, {counts['updated']:,} updated, {counts['unchanged']:,} unchanged")
        print(f"matched     {counts['matched']:,} of them are duplicates of what was there before")
        if unread:
            print(f"dates       {len(unread):,} unread, such as {'; '.join(unread[:3])}")
    _rejected(rejects)


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """Options of the command `query`."""

    index: IndexPlace = group(IndexPlace)
    inputs: list[str] = argument(help="Files, folders, globs, URLs, or - for standard input.")
    limit: int = option(10, "Most matches for each document.")
    minimum: float | None = option(None, "Least score of a match.")
    measure: str | None = option(None, f"To order by: {listed(FOR_QUERY)}.")
    since: str | None = option(None, "Documents dated on this day or later.")
    until: str | None = option(None, "Documents dated on this day or before.")
    reading: ReadOptions = group(ReadOptions, "text_column", "id_column", "date_column", "format")
    printing: Printing = group(Printing, "as_json")


@register(app, QueryOptions)
def query(options: QueryOptions) -> None:
    """Ask which documents of the index these are duplicates of; nothing is put in."""
    reading = options.reading
    rejects: list[Any] = []
    with _opened(options.index.where, options.index.key_file) as index:
        if not options.printing.as_json:
            print("asked\tdoc_id\tcluster_id\tresemblance\tcontainment\tcontained_in\testimated")
        for batch in _batches(options.inputs, reading, index.settings, rejects):
            found = index.queries(
                batch,
                limit=options.limit,
                minimum=options.minimum,
                since=options.since,
                until=options.until,
                measure=options.measure,
            )
            for request, matches in zip(batch.column("doc_id").to_pylist(), found, strict=True):
                if options.printing.as_json:
                    summary = {"asked": request, "matches": [match.to_dict() for match in matches]}
                    sys.stdout.write(json.dumps(summary, ensure_ascii=False) + "\n")
                    continue
                for match in matches:
                    scores = (match.resemblance, match.containment, match.contained_in)
                    shown = ("–" if score is None else f"{score:.4f}" for score in scores)
                    said = "yes" if match.estimated else "no"
                    print(request, match.doc_id, match.cluster_id, *shown, said, sep="\t")
    _rejected(rejects)


@dataclass(frozen=True, kw_only=True)
class RemoveOptions:
    """Options of the command `remove`."""

    index: IndexPlace = group(IndexPlace)
    ids: list[str] = argument(help="Ids of documents, or - to read them, one a line.", metavar="DOC_ID…")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, RemoveOptions)
def remove(options: RemoveOptions) -> None:
    """Take documents out; they never match again."""
    with _opened(options.index.where, options.index.key_file) as index:
        _gone("removed", index.remove, _ids(options.ids), options.printing.as_json, options.printing.quiet)


@dataclass(frozen=True, kw_only=True)
class RevokeOptions:
    """Options of the command `revoke`."""

    index: IndexPlace = group(IndexPlace)
    ids: list[str] = argument(help="Ids of documents, or - to read them, one a line.", metavar="DOC_ID…")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, RevokeOptions)
def revoke(options: RevokeOptions) -> None:
    """Declare that the texts of documents match nothing, now and whenever they are added again."""
    with _opened(options.index.where, options.index.key_file) as index:
        _gone("revoked", index.revoke, _ids(options.ids), options.printing.as_json, options.printing.quiet)


@dataclass(frozen=True, kw_only=True)
class ExpireOptions:
    """Options of the command `expire`."""

    index: IndexPlace = group(IndexPlace)
    before: str | None = option(None, "Documents dated before this day.")
    older_than: str | None = option(None, "Documents added longer ago, such as 42d, 36h or 90m.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, ExpireOptions)
def expire(options: ExpireOptions) -> None:
    """Take out documents that are too old, by their date or by when they were added."""
    seconds = None if options.older_than is None else _seconds(options.older_than)
    with _opened(options.index.where, options.index.key_file) as index:
        gone = index.expire(before=options.before, older_than=seconds)
    if options.printing.as_json:
        _print({"expired": gone})
    elif not options.printing.quiet:
        print(f"expired     {gone:,}")


@dataclass(frozen=True, kw_only=True)
class StatsOptions:
    """Options of the command `stats`."""

    index: IndexPlace = group(IndexPlace)
    printing: Printing = group(Printing, "as_json")


@register(app, StatsOptions)
def stats(options: StatsOptions) -> None:
    """Print how much an index holds."""
    with _opened(options.index.where, options.index.key_file, compile=False) as index:
        summary = index.stats()
    if options.printing.as_json:
        _print(summary.to_dict())
        return
    a_document = summary.bytes / max(summary.documents, 1)
    print(f"index       {summary.where}, format {summary.format}")
    print(f"method      {summary.method}, fingerprint {summary.fingerprint}, stores {summary.store}")
    print(f"documents   {summary.documents:,} of {summary.contents:,} texts in {summary.clusters:,} clusters")
    print(f"revoked     {summary.revoked:,} texts")
    print(f"dated       {summary.oldest} to {summary.newest}" if summary.oldest else "dated       none")
    print(f"size        {summary.bytes / 1e6:,.1f} MB, {a_document:,.0f} bytes a document; {summary.keys:,} keys")


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Options of the command `verify`."""

    index: IndexPlace = group(IndexPlace)
    sample: int | None = option(None, "Make the keys of so many texts again only.")
    printing: Printing = group(Printing, "as_json")


@register(app, VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Check that an index is whole: every row has what it needs, and keys are those of the texts."""
    with _opened(options.index.where, options.index.key_file) as index:
        check = index.verify(options.sample)
    if options.printing.as_json:
        _print(check.to_dict())
    else:
        print(f"looked at   {check.documents:,} documents, {check.contents:,} texts, {check.keys:,} keys")
        print(f"compared    {check.compared:,} texts with their keys")
        for problem in check.problems:
            print(f"wrong       {problem}")
        print("whole       yes" if check.whole else "whole       no: restore it from a copy, or import it again")
    if not check.whole:
        raise typer.Exit(3)


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of the command `export`."""

    index: IndexPlace = group(IndexPlace)
    output: Path = option(REQUIRED, "Parquet file of all documents to write.", "-o", "--output")
    pairs: Path | None = option(None, "Parquet file of all pairs to write.")
    printing: Printing = group(Printing)


@register(app, ExportOptions)
def export(options: ExportOptions) -> None:
    """Write all documents to a Parquet file, with their texts where these are stored."""
    from roughly.signing.signature_file import check_output

    with _opened(options.index.where, options.index.key_file) as index:
        if options.pairs is not None:
            check_output(options.pairs, options.printing.overwrite)
        count = index.export(options.output, overwrite=options.printing.overwrite)
        if options.pairs is not None:
            import pyarrow.parquet as pq

            from roughly.sources.streams import replacing

            with replacing(options.pairs) as target:
                pq.write_table(index.pairs(), target, compression="zstd")
    if options.printing.as_json:
        _print({"output": str(options.output), "documents": count})
    elif not options.printing.quiet:
        print(f"written     {count:,} documents to {options.output}")


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of the command `import`."""

    index: IndexPlace = group(IndexPlace)
    folder: Path = argument(help="The folder that `roughly dedupe` wrote.", metavar="OUT")
    inputs: list[str] | None = option(None, "The run's input, where it has moved.", "--input")
    store: str = option("text", "What is kept of a text: text, shingles, or sketch.")
    reading: ReadOptions = group(
        ReadOptions, "text_column", "id_column", "title_column", "url_column", "date_column", "source_column", "format"
    )
    resources: Resources = group(Resources, "threads", "temp")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, ImportOptions, name="import")
def import_(options: ImportOptions) -> None:
    """Make an index of a run, by bulk load: its settings, its documents, its clusters."""
    from dataclasses import replace

    from roughly.index.upkeep.import_run import import_run, read_run

    key = None if options.index.key_file is None else str(options.index.key_file)
    settings, _ = read_run(options.folder, key)
    reading = options.reading
    start = time.perf_counter()
    count = import_run(
        options.folder,
        options.index.where,
        inputs=options.inputs,
        store=options.store,
        key_file=key,
        reading=replace(reading, markup=settings.markup),
        resources=options.resources,
    )
    seconds = time.perf_counter() - start
    if options.printing.as_json:
        _print({"index": options.index.where, "documents": count, "seconds": seconds})
    elif not options.printing.quiet:
        print(f"imported    {count:,} documents in {seconds:.1f} s")


@dataclass(frozen=True, kw_only=True)
class UpgradeOptions:
    """Options of the command `upgrade`."""

    index: IndexPlace = group(IndexPlace)
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, UpgradeOptions)
def upgrade(options: UpgradeOptions) -> None:
    """Bring an index of an older version of roughly to this version's format."""
    from roughly.index import Index

    before, now = Index.upgrade(options.index.where, key_file=options.index.key_file)
    if options.printing.as_json:
        _print({"before": before, "now": now})
    elif not options.printing.quiet:
        print(f"format      {now}" + ("" if before != now else ", as it was"))


@dataclass(frozen=True, kw_only=True)
class RefreshOptions:
    """Options of the command `refresh`."""

    index: IndexPlace = group(IndexPlace)
    lexicon: Path = option(REQUIRED, "The new lexicon's file.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, RefreshOptions)
def refresh(options: RefreshOptions) -> None:
    """Sign all texts with another lexicon, while the index is in use; repeat the command after an interruption."""
    with _opened(options.index.where, options.index.key_file) as index:
        done = index.refresh(options.lexicon)
        summary = {
            "contents": done.contents, "changed": done.changed, "resumed": done.resumed,
            "fingerprint": index.fingerprint,
        }  # fmt: skip
    if options.printing.as_json:
        _print(summary)
    elif not options.printing.quiet:
        share = done.changed / max(done.contents, 1)
        print(f"signed      {done.contents:,} texts again; the keys of {done.changed:,} changed ({share:.1%})")
        print(f"fingerprint {summary['fingerprint']}")


def _opened(where: str, key_file: Path | None, compile: bool = True) -> Index:
    from roughly.index import Index

    index = Index.open(where, key_file=key_file)
    return index


def _batches(
    inputs: list[str], reading: Any, settings: Settings, rejects: list[Any], unread: list[str] | None = None
) -> Iterator[Any]:
    """Documents of files, a batch at a time; records and dates that could not be read are put aside."""
    from dataclasses import replace

    from roughly import dates
    from roughly.sources import open_parts

    with tempfile.TemporaryDirectory(prefix="roughly-index-") as spool:
        for part in open_parts(inputs, replace(reading, markup=settings.markup), Path(spool)):
            for chunk in part.chunks():
                parsed = part.parse(chunk)
                rejects += parsed.rejects
                if unread is not None:
                    found, row = parsed.batch.column("date"), parsed.batch.column("row")
                    for place in dates.unread(found, dates.moments(found, settings.date_format)):
                        unread.append(f"{found[place].as_py()!r} ({part.name}, {part.locate(row[place].as_py())})")
                if parsed.batch.num_rows:
                    yield parsed.batch


def _rejected(rejects: list[Any]) -> None:
    for reject in rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if rejects:
        print(f"{len(rejects):,} records were rejected", file=sys.stderr)
        raise typer.Exit(3)


def _ids(given: list[str]) -> list[str]:
    if given != ["-"]:
        return given
    return [line.rstrip("\r\n") for line in sys.stdin if line.strip()]


def _gone(what: str, work: Any, ids: list[str], as_json: bool, quiet: bool) -> None:
    there = work(ids)
    missing = [doc_id for doc_id in dict.fromkeys(ids) if doc_id not in set(there)]
    if as_json:
        _print({what: len(there), "missing": missing})
    elif not quiet:
        print(f"{what:<12}{len(there):,}")
    for doc_id in missing[:_TOLD]:
        print(f"not there: {doc_id}", file=sys.stderr)
    if missing:
        raise typer.Exit(3)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    if not match:
        raise SettingsError(f"older-than must be a time such as 42d, 36h or 90m, not {text!r}")
    return float(match[1]) * _UNITS[match[2]]


def _print(summary: dict[str, Any]) -> None:
    json.dump(summary, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
