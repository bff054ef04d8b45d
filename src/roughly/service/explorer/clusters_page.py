"""`/clusters`: all clusters, filtered, sorted and searched."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import SettingsError
from roughly.service.collection.collection_types import SORTS, ClusterQuery
from roughly.service.collection.page_limits import DEEPEST
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.cluster_page import cluster_page
from roughly.service.explorer.paging import page_number, pages
from roughly.service.explorer.rendering import counting_page, show
from roughly.verify import KINDS

router = APIRouter(include_in_schema=False)
PER_PAGE = 25
_NUMBERS = {"least": int, "most": int, "low": float, "high": float}
WORDS = {
    "size": "largest first", "smallest": "smallest first", "lowest": "lowest resemblance first",
    "mean": "lowest mean first", "bytes": "most bytes saved first", "sources": "most sources first",
    "newest": "newest first", "id": "by id",
}  # fmt: skip
SUSPICIOUS = {
    "any": "anything odd", "large": "very large", "loose": "loose", "chained": "chained", "sparse": "sparse",
    "sources": "many sources",
}  # fmt: skip


@router.get("/clusters")
@router.get("/clusters.json")
def clusters(request: Request) -> Response:
    """The list; `?id=` is the page of a cluster whose id cannot be part of a path."""
    if request.query_params.get("id"):
        return cluster_page(request, request.query_params["id"], twin=request.scope["path"].endswith(".json"))
    collection = collection_of(request)
    page, query = _parse_query(request)
    if (waiting := counting_page(request, collection)) is not None:
        return waiting
    found = collection.clusters(query)
    texts = collection.texts([row.first_id for row in found.rows if not row.title]) if found.rows else {}
    values = {
        "in": collection.kind,
        "total": found.total,
        "page": page,
        "pages": pages(min(found.total, DEEPEST), PER_PAGE),
        "clusters": [row.to_dict() for row in found.rows],
        "asked": {name: request.query_params.get(name, "") for name in (*_NUMBERS, "q", "kind", "source")}
        | {"suspicion": query.suspicion, "sort": query.sort},
    }
    page_only = {
        "rows": [
            (row, (texts[row.first_id].text or "")[:2_000] if row.first_id in texts else "") for row in found.rows
        ],
        "kinds": KINDS,
        "sorts": [(name, WORDS[name]) for name in SORTS if name in collection.sorts],
        "suspicions": SUSPICIOUS if collection.has_scores else {"large": "very large"},
        "has_scores": collection.has_scores,
        "by_beginning": collection.by_beginning,
        "measure": collection.measure,
    }
    return show(request, "clusters.html", values, page_only=page_only)


def _parse_query(request: Request) -> tuple[int, ClusterQuery]:
    """(the page, the query) of an address; all problems are reported together."""
    given: dict[str, Any] = {
        name: request.query_params[name] for name in ("q", "kind", "source", "suspicion", "sort")
        if request.query_params.get(name)
    }  # fmt: skip
    problems = []
    for name, kind in _NUMBERS.items():
        value = request.query_params.get(name)
        if value:
            try:
                given[name] = kind(value)
            except ValueError:
                problems.append(f"{name} must be a number, not {value[:40]!r}")
    page = page_number(request, DEEPEST // PER_PAGE)
    if problems:
        raise SettingsError("; ".join(problems))
    return page, ClusterQuery(**given, offset=(page - 1) * PER_PAGE, limit=PER_PAGE)
