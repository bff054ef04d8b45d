"""`/search?q=…`: full-text search over the stored documents, duplicates grouped and indented under the first.

Conrad 2003 §8: nothing is discarded; duplicates are listed under the first of their group. `show` chooses which result
is the first, and `group=off` lists every result separately. The best 500 results are grouped; the rest are reached
without grouping.
"""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import InputError, SettingsError
from roughly.index import Index
from roughly.index.document_list import named_like
from roughly.index.search.hits import Hits
from roughly.index.search.search_words import Query
from roughly.index.storage.document_rows import DocumentRow
from roughly.results import group_results
from roughly.results.group import SHOW
from roughly.service.collection.served_collections import collections_of
from roughly.service.error_responses import without_address
from roughly.service.explorer.highlights import found_words
from roughly.service.explorer.links import require_index, stored_url
from roughly.service.explorer.paging import page_number, pages
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
PER_PAGE = 20
GROUPED = 500
NAMED = 5  # documents found by their ids
_DEEPEST = 500  # pages
_WORDS = {"rank": "the best", "newest": "the newest", "oldest": "the oldest", "longest": "the longest"}


@router.get("/search")
@router.get("/search.json")
def search(request: Request) -> Response:
    """The results of a search."""
    index = require_index(request)
    q = request.query_params.get("q", "")
    rule = request.query_params.get("show") or "rank"
    if rule not in SHOW:
        raise SettingsError(f"show must be one of {', '.join(SHOW)}, not {rule[:40]!r}")
    grouped = request.query_params.get("group") != "off"
    page = page_number(request, _DEEPEST)
    start = time.perf_counter()
    error, hits, groups, scores, total_groups = "", Hits(q, 0, 0, ()), list[dict[str, Any]](), "none", 0
    if q.strip():
        try:
            if grouped:
                hits, groups, scores = _grouped(index, q, rule)
                total_groups = len(groups)
                groups = groups[(page - 1) * PER_PAGE : page * PER_PAGE]
            else:
                hits = index.search(q, limit=PER_PAGE, offset=(page - 1) * PER_PAGE)
                listed = enumerate(hits.hits, hits.offset + 1)
                groups = [{"shown": {"rank": n, **hit.to_dict()}, "duplicates": []} for n, hit in listed]
        except SettingsError as problem:
            error = without_address("; ".join(problem.problems))
    seconds = time.perf_counter() - start
    _excerpts(request, groups, Query.parse(q))
    values = {
        "q": q,
        "show": rule,
        "grouped": grouped,
        "total": hits.total,
        "looked_at": min(hits.total, GROUPED) if grouped else hits.total,
        "groups_total": total_groups if grouped else None,
        "page": page,
        "pages": min(_DEEPEST, pages(total_groups if grouped else hits.total, PER_PAGE)),
        "scores": scores,
        "groups": groups,
        "named": [_named(row) for row in named_like(index, q.strip(), NAMED)] if page == 1 else [],
        "trouble": error,
    }
    page_only = {
        "seconds": seconds,
        "rules": [(name, _WORDS[name]) for name in SHOW],
        "stored_url": stored_url,
        "understood": bool(Query.parse(q)),
    }
    return show(request, "search.html", values, page_only=page_only)


def _named(row: DocumentRow) -> dict[str, Any]:
    """A document whose id begins with the words that are searched for."""
    return {name: getattr(row, name) for name in ("doc_id", "title", "url", "date", "source", "tokens")}


def _grouped(index: Index, q: str, rule: str) -> tuple[Hits, list[dict[str, Any]], str]:
    hits = index.search(q, limit=GROUPED)
    there = hits.hits
    while there:
        try:
            found = group_results([{"doc_id": hit.doc_id} for hit in there], index=index, show=rule)
            break
        except InputError:  # a hit may have been deleted since the search
            before, there = there, tuple(hit for hit in there if index.get(hit.doc_id) is not None)
            if len(there) == len(before):
                raise
    else:
        return hits, [], "none"
    clusters = {hit.doc_id: hit.cluster_id for hit in there}
    groups = found.to_dict()["groups"]
    for group in groups:
        for one in (group["shown"], *group["duplicates"]):
            one["cluster_id"] = clusters[one["doc_id"]]
    return hits, groups, found.scores


def _excerpts(request: Request, groups: list[dict[str, Any]], query: Query) -> None:
    """Add an excerpt to the results that are shown."""
    texts = collections_of(request).choose("index").texts([group["shown"]["doc_id"] for group in groups])
    for group in groups:
        text = texts[group["shown"]["doc_id"]].text
        group["shown"]["excerpt"] = [] if text is None else found_words(text, query)
