"""`/compare?left=…&right=…`: two documents, their differences and scores, and why they were compared."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.cluster.verdict_reasons import explain_verdict
from roughly.errors import InputMissing, SettingsError
from roughly.report.visible import label
from roughly.service.collection.collection_types import Collection, DocumentRow, Edge
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.candidacy import candidacy
from roughly.service.explorer.decided_marks import decisions_by_id, may_decide
from roughly.service.explorer.links import to
from roughly.service.explorer.paging import whole_number
from roughly.service.explorer.rendering import show
from roughly.service.explorer.side_by_side import mark_pair
from roughly.verdict import COMPARISONS
from roughly.verify.scores import score_texts

router = APIRouter(include_in_schema=False)
VIEWS = ("differences", "passages")
MEASURED = 40_000_000  # characters of both texts together that are still compared whole


@router.get("/compare")
@router.get("/compare.json")
def compare(request: Request) -> Response:
    """Two documents of the run or the index."""
    collection = collection_of(request)
    names = [request.query_params.get(side) for side in ("left", "right")]
    if names[0] is None or names[1] is None:
        raise SettingsError("name two documents: /compare?left=…&right=…")
    view = request.query_params.get("view") or VIEWS[0]
    if view not in VIEWS:
        raise SettingsError(f"view must be one of {', '.join(VIEWS)}, not {view[:40]!r}")
    left, right = (_document(collection, name) for name in names if name is not None)
    texts = collection.texts([left.doc_id, right.doc_id])
    one, other = texts[left.doc_id], texts[right.doc_id]
    edge = collection.pair(left.doc_id, right.doc_id)
    sides = why = reasons = None
    measured = False
    if one.text is not None and other.text is not None:
        sides = mark_pair(one.text, other.text, view, _starts(request), collection.shingle_size)
        if (edge is None or edge.resemblance is None) and len(one.text) + len(other.text) <= MEASURED:
            edge, measured = _measured(left, right, one.text, other.text, collection.shingle_size), True
        if len(one.text) + len(other.text) <= MEASURED:
            scored = None if edge is None else getattr(edge, collection.measure)
            why = candidacy(collection, one.text, other.text, scored)
            if collection.learned is not None:
                known = left.to_dict(), right.to_dict()
                reasons = explain_verdict(one.text, other.text, collection.learned, known)
    cluster_id = request.query_params.get("cluster") or left.cluster_id
    before, after = (None, None) if cluster_id is None else collection.neighbours(cluster_id, left.doc_id)
    values: dict[str, Any] = {
        "in": collection.kind,
        "left": left.to_dict(),
        "right": right.to_dict(),
        "view": view,
        "scores": None if edge is None else _facing(edge, left.doc_id).to_dict(),
        "measured_now": measured,
        "text_missing": {"left": one.why, "right": other.why},
        "sides": None if sides is None else sides.to_dict(),
        "why": None if why is None else why.to_dict(),
        "verdict": None if reasons is None else reasons.to_dict(),
        "cluster_id": cluster_id,
        "before": before,
        "after": after,
        "threshold": collection.threshold,
        "measure": collection.measure,
    }

    def step(pair: tuple[str, str] | None) -> str | None:
        if pair is None:
            return None
        other_view = None if view == VIEWS[0] else view
        return to(request, "/compare", left=pair[0], right=pair[1], cluster=cluster_id, view=other_view)

    page_only: dict[str, Any] = {
        "marked": sides, "candidacy": why, "reasons": reasons, "meanings": COMPARISONS, "before_href": step(before),
        "after_href": step(after), "one": one, "other": other, "decided": decisions_by_id(request),
        "may_decide": may_decide(request),
    }  # fmt: skip
    return show(request, "compare.html", values, page_only=page_only)


def _document(collection: Collection, name: str) -> DocumentRow:
    found = collection.document(name)
    if found is None:
        raise InputMissing(f"the {collection.kind} has no document {label(name)}")
    return found


def _measured(left: DocumentRow, right: DocumentRow, one: str, other: str, shingle_size: int) -> Edge:
    found = score_texts(one, other, shingle_size)
    return Edge(left.doc_id, right.doc_id, found.resemblance, found.containment, found.contained_in, None, False)


def _facing(edge: Edge, left_id: str) -> Edge:
    """The same pair with this document on the left."""
    if edge.left_id == left_id:
        return edge
    swapped = (edge.right_id, edge.left_id, edge.resemblance, edge.contained_in, edge.containment)
    return Edge(*swapped, edge.kind, edge.witness)


def _starts(request: Request) -> tuple[int, int] | None:
    """`?l=&r=`: where the windows begin."""
    given = [name for name in ("l", "r") if name in request.query_params]
    if not given:
        return None
    if len(given) < 2:
        raise SettingsError("l and r say where the two windows begin; give both of them")
    return whole_number(request, "l"), whole_number(request, "r")
