"""`roughly index search-index|search`: full-text search over the documents of an index."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import Any

import typer

from roughly.console.commands import command
from roughly.console.common_options import IndexPlace, Printing
from roughly.declarations import argument, group, option


def register(app: typer.Typer) -> None:
    """Add the commands to the group of index commands."""
    app.command("search-index")(command(SearchIndexOptions, search_index))
    app.command()(command(SearchOptions, search))


@dataclass(frozen=True, kw_only=True)
class SearchIndexOptions:
    """Options of the command `search-index`."""

    index: IndexPlace = group(IndexPlace)
    drop: bool = option(False, "Take it away instead.")
    printing: Printing = group(Printing, "as_json", "quiet")


def search_index(options: SearchIndexOptions) -> None:
    """Make the texts of an index searchable by their words; repeat the command after an interruption."""
    from roughly.index import Index

    start = time.perf_counter()
    with Index.open(options.index.where, key_file=options.index.key_file) as index:
        before = index.stats().bytes
        if options.drop:
            index.forget_search()
        texts = 0 if options.drop else index.make_searchable()
        summary = {"texts": texts, "bytes": index.stats().bytes - before, "seconds": time.perf_counter() - start}
    if options.printing.as_json:
        _print(summary)
    elif not options.printing.quiet:
        said = "taken away" if options.drop else f"{texts:,} texts put in"
        print(f"search      {said}, {summary['bytes'] / 1e6:+,.1f} MB, {summary['seconds']:.1f} s")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of the command `search`."""

    index: IndexPlace = group(IndexPlace)
    query: str = argument(help='Words that all occur; "a phrase", -without, begin*.')
    limit: int = option(10, "Most documents to tell.")
    offset: int = option(0, "Pass over so many.")
    printing: Printing = group(Printing, "as_json")


def search(options: SearchOptions) -> None:
    """Find documents by words of their texts and titles, the best first; exit code 3 where there are none."""
    from roughly.index import Index
    from roughly.report.visible import flow

    with Index.open(options.index.where, key_file=options.index.key_file) as index:
        found = index.search(options.query, limit=options.limit, offset=options.offset)
    if options.printing.as_json:
        _print(found.to_dict())
    else:
        print("score\tdoc_id\tcluster_id\tdate\ttitle")
        for hit in found.hits:
            cells = (flow(hit.doc_id), hit.cluster_id, flow(hit.date or "-"), flow(hit.title or "-"))
            print(f"{hit.score:.3g}", *cells, sep="\t")
        print(f"found       {found.total:,} documents", file=sys.stderr)
    if not found.total:
        raise typer.Exit(3)


def _print(summary: dict[str, Any]) -> None:
    json.dump(summary, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
