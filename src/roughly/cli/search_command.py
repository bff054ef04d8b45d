"""`roughly index search-index|search`: full-text search over the documents of an index."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

Where = Annotated[str, typer.Argument(metavar="INDEX", help="An index: a file, or postgresql://…")]
KeyFile = Annotated[Path | None, typer.Option("--key-file", help="The key that the index was made with.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the group of index commands."""
    app.command("search-index")(search_index)
    app.command()(search)


def search_index(
    where: Where,
    drop: Annotated[bool, typer.Option("--drop", help="Take it away instead.")] = False,
    key_file: KeyFile = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No summary.")] = False,
) -> None:
    """Make the texts of an index searchable by their words; repeat the command after an interruption."""
    from roughly.index import Index

    start = time.perf_counter()
    with Index.open(where, key_file=key_file) as index:
        before = index.stats().bytes
        if drop:
            index.forget_search()
        texts = 0 if drop else index.make_searchable()
        told = {"texts": texts, "bytes": index.stats().bytes - before, "seconds": time.perf_counter() - start}
    if as_json:
        _print(told)
    elif not quiet:
        said = "taken away" if drop else f"{texts:,} texts put in"
        print(f"search      {said}, {told['bytes'] / 1e6:+,.1f} MB, {told['seconds']:.1f} s")


def search(
    where: Where,
    query: Annotated[str, typer.Argument(help='Words that all occur; "a phrase", -without, begin*.')],
    limit: Annotated[int, typer.Option("--limit", help="Most documents to tell.")] = 10,
    offset: Annotated[int, typer.Option("--offset", help="Pass over so many.")] = 0,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Find documents by words of their texts and titles, the best first; exit code 3 where there are none."""
    from roughly.index import Index
    from roughly.report.visible import flow

    with Index.open(where, key_file=key_file) as index:
        found = index.search(query, limit=limit, offset=offset)
    if as_json:
        _print(found.to_dict())
    else:
        print("score\tdoc_id\tcluster_id\tdate\ttitle")
        for hit in found.hits:
            cells = (flow(hit.doc_id), hit.cluster_id, flow(hit.date or "-"), flow(hit.title or "-"))
            print(f"{hit.score:.3g}", *cells, sep="\t")
        print(f"found       {found.total:,} documents", file=sys.stderr)
    if not found.total:
        raise typer.Exit(3)


def _print(told: dict[str, Any]) -> None:
    json.dump(told, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
