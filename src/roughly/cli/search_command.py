"""`roughly index search-index|search`: full-text search over the documents of an index."""

from __future__ import annotations

import sys
import time

from roughly.amounts import counted
from roughly.cli.index_app import app, open_index
from roughly.console.commands import register
from roughly.console.common_options import IndexPlace, Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import argument, group, option
from roughly.fast_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class SearchIndexOptions:
    """Options of the command `search-index`."""

    index: IndexPlace = group(IndexPlace)
    drop: bool = option(False, "Remove the search index instead.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, SearchIndexOptions, name="search-index")
def search_index(options: SearchIndexOptions) -> None:
    """Make the texts of an index searchable by their words; repeat the command after an interruption."""
    start = time.perf_counter()
    with open_index(options.index) as index:
        before = index.stats().bytes
        if options.drop:
            index.forget_search()
        texts = 0 if options.drop else index.make_searchable()
        summary = {"texts": texts, "bytes": index.stats().bytes - before, "seconds": time.perf_counter() - start}
    if options.printing.as_json:
        print_json(summary)
    elif not options.printing.quiet:
        done = "removed" if options.drop else f"{texts:,} texts added"
        print(f"search      {done}, {summary['bytes'] / 1e6:+,.1f} MB, {summary['seconds']:.1f} s")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of the command `search`."""

    index: IndexPlace = group(IndexPlace)
    query: str = argument(help='Words that all occur; "a phrase", -without, begin*.')
    limit: int = option(10, "Most documents to list.")
    offset: int = option(0, "Number of documents to skip.")
    printing: Printing = group(Printing, "as_json")


@register(app, SearchOptions)
def search(options: SearchOptions) -> None:
    """Find documents by words of their texts and titles, the best first; exit code 3 if there are none."""
    from roughly.report.visible import flow

    with open_index(options.index) as index:
        found = index.search(options.query, limit=options.limit, offset=options.offset)
    if options.printing.as_json:
        print_json(found.to_dict())
    else:
        print("score\tdoc_id\tcluster_id\tdate\ttitle")
        for hit in found.hits:
            cells = (flow(hit.doc_id), hit.cluster_id, flow(hit.date or "-"), flow(hit.title or "-"))
            print(f"{hit.score:.3g}", *cells, sep="\t")
        print(f"found       {counted(found.total, 'document')}", file=sys.stderr)
    if not found.total:
        raise SystemExit(3)
