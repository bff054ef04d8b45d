"""`/search?q=…`: full-text search over the stored documents, duplicates grouped and indented under the first.

Conrad 2003 §8: nothing is discarded; duplicates stand under the first of their group, and who that is can be switched
(`show`), as can the grouping itself (`group=off`). The best 500 results are grouped; the rest are reached without it.
"""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import SettingsError
from roughly.index.search.hits import Hits
from roughly.index.search.search_words import Query
from roughly.results import group_results
from roughly.results.group import SHOW
from roughly.service.collection import collections_of
from roughly.service.explorer.clusters import page_number
from roughly.service.explorer.rendering import show
from roughly.service.explorer.stored import found_words, index_of, stored_url

router = APIRouter(include_in_schema=False)
ON_PAGE = 20
GROUPED = 500
_DEEPEST = 500  # pages
_WORDS = {"rank": "the best", "newest": "the newest", "oldest": "the oldest", "longest": "the longest"}


@router.get("/search")
@router.get("/search.json")
def search(request: Request) -> Response:
    """The results of a search."""
    index = index_of(request)
    asked = request.query_params.get("q", "")
    rule = request.query_params.get("show") or "rank"
    if rule not in SHOW:
        raise SettingsError(f"show must be one of {', '.join(SHOW)}, not {rule[:40]!r}")
    grouped = request.query_params.get("group") != "off"
    page = page_number(request, _DEEPEST)
    begun = time.perf_counter()
    trouble, hits, groups, scores, total_groups = "", Hits(asked, 0, 0, ()), list[dict[str, Any]](), "none", 0
    if asked.strip():
        try:
            if grouped:
                hits, groups, scores = _grouped(request, asked, rule)
                total_groups = len(groups)
                groups = groups[(page - 1) * ON_PAGE : page * ON_PAGE]
            else:
                hits = index.search(asked, limit=ON_PAGE, offset=(page - 1) * ON_PAGE)
                listed = enumerate(hits.hits, hits.offset + 1)
                groups = [{"shown": {"rank": n, **hit.to_dict()}, "duplicates": []} for n, hit in listed]
        except SettingsError as problem:
            trouble = "; ".join(problem.problems)
    seconds = time.perf_counter() - begun
    _excerpts(request, groups, Query.parse(asked))
    listed_in_all = total_groups if grouped else hits.total
    shown = {
        "q": asked,
        "show": rule,
        "grouped": grouped,
        "total": hits.total,
        "looked_at": min(hits.total, GROUPED) if grouped else hits.total,
        "groups_total": total_groups if grouped else None,
        "page": page,
        "pages": min(_DEEPEST, max(1, -(-listed_in_all // ON_PAGE))),
        "scores": scores,
        "groups": groups,
        "trouble": trouble,
    }
    drawn = {
        "seconds": seconds,
        "rules": [(name, _WORDS[name]) for name in SHOW],
        "stored_url": stored_url,
        "understood": bool(Query.parse(asked)),
    }
    return show(request, "search.html", shown, drawn=drawn)


def _grouped(request: Request, asked: str, rule: str) -> tuple[Hits, list[dict[str, Any]], str]:
    index = index_of(request)
    hits = index.search(asked, limit=GROUPED)
    if not hits.hits:
        return hits, [], "none"
    clusters = {hit.doc_id: hit.cluster_id for hit in hits.hits}
    found = group_results([{"doc_id": hit.doc_id} for hit in hits.hits], index=index, show=rule)
    groups = found.to_dict()["groups"]
    for group in groups:
        for one in (group["shown"], *group["duplicates"]):
            one["cluster_id"] = clusters[one["doc_id"]]
    return hits, groups, found.scores


def _excerpts(request: Request, groups: list[dict[str, Any]], query: Query) -> None:
    """Put what was found of the texts beside those that are shown."""
    looked = collections_of(request).named("index")
    texts = looked.texts([group["shown"]["doc_id"] for group in groups])
    for group in groups:
        text = texts[group["shown"]["doc_id"]].text
        group["shown"]["excerpt"] = [] if text is None else found_words(text, query)
