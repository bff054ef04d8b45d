"""`/clusters`: all clusters, filtered, sorted and searched."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import SettingsError
from roughly.service.collection import ClusterQuery, collections_of
from roughly.service.collection.collection_types import DEEPEST, SORTS
from roughly.service.explorer.rendering import show
from roughly.verify import KINDS

router = APIRouter(include_in_schema=False)
ON_PAGE = 25
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
    """The list; `?id=` leads to a cluster whose id no path can hold."""
    if request.query_params.get("id"):
        from roughly.service.explorer.cluster import page_of

        return page_of(request, request.query_params["id"], twin=request.scope["path"].endswith(".json"))
    looked = collections_of(request).named(request.query_params.get("in"), "run")
    page, asked = asked_of(request)
    found = looked.clusters(asked)
    texts = looked.texts([row.first_id for row in found.rows if not row.title]) if found.rows else {}
    shown = {
        "in": looked.kind,
        "total": found.total,
        "page": page,
        "pages": max(1, -(-min(found.total, DEEPEST) // ON_PAGE)),
        "clusters": [row.to_dict() for row in found.rows],
        "asked": {name: request.query_params.get(name, "") for name in (*_NUMBERS, "q", "kind", "source")}
        | {"suspicion": asked.suspicion, "sort": asked.sort},
    }
    drawn = {
        "rows": [
            (row, (texts[row.first_id].text or "")[:2_000] if row.first_id in texts else "") for row in found.rows
        ],
        "kinds": KINDS,
        "sorts": [(name, WORDS[name]) for name in SORTS if name in looked.sorts],
        "suspicions": SUSPICIOUS if looked.has_scores else {"large": "very large"},
        "has_scores": looked.has_scores,
        "measure": looked.measure,
    }
    return show(request, "clusters.html", shown, drawn=drawn)


def asked_of(request: Request) -> tuple[int, ClusterQuery]:
    """(the page, what is asked) of the query; everything wrong with it is told together."""
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
    page = page_number(request, DEEPEST // ON_PAGE)
    if problems:
        raise SettingsError("; ".join(problems))
    return page, ClusterQuery(**given, offset=(page - 1) * ON_PAGE, limit=ON_PAGE)


def page_number(request: Request, most: int = 1_000_000) -> int:
    """`?page=`, from 1."""
    value = request.query_params.get("page") or "1"
    if not value.isascii() or not value.isdigit() or not 1 <= len(value) <= 9 or not 1 <= int(value) <= most:
        raise SettingsError(f"page must be a whole number from 1 to {most:,}, not {value[:40]!r}; filter instead")
    return int(value)
