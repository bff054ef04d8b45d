"""`/clusters/{id}`: a cluster, who stays, who goes and why, who resembles whom, and what looks wrong about it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import InputMissing
from roughly.report.visible import label
from roughly.service.collection import Collection, Text, collections_of
from roughly.service.explorer.clusters import page_number
from roughly.service.explorer.drawings import Node, resembling
from roughly.service.explorer.likeness import MOST, measure
from roughly.service.explorer.links import to
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
ON_PAGE = 50
SHOWN = 1_500  # characters of the text that stays


@router.get("/clusters/{cluster_id:path}")
def cluster(request: Request, cluster_id: str) -> Response:
    """A cluster by its id, which may hold any character; the twin is at the id plus `.json`."""
    return page_of(request, cluster_id.removesuffix(".json"), twin=cluster_id.endswith(".json"))


def page_of(request: Request, cluster_id: str, twin: bool) -> Response:
    """The page of a cluster, or its twin."""
    looked = collections_of(request).named(request.query_params.get("in"), "run")
    page = page_number(request, 20_000)
    found = looked.cluster(cluster_id, (page - 1) * ON_PAGE, ON_PAGE)
    if found is None:
        raise InputMissing(f"the {looked.kind} has no cluster {label(cluster_id)}; the list has all there are")
    ids = [member.doc_id for member in found.members]
    texts = looked.texts(ids)
    alike = measure(ids[:MOST], texts, found.edges, looked.shingle_size)
    warnings = [*found.row.warnings, *alike.warnings(looked.threshold if looked.measure == "resemblance" else None)]
    reach, pairs = alike.reach(looked.threshold)
    shown = {
        "in": looked.kind,
        "cluster": found.row.to_dict(),
        "warnings": [one.to_dict() for one in warnings],
        "page": page,
        "pages": -(-found.row.size // ON_PAGE),
        "members": [one.to_dict() for one in found.members],
        "edges": [one.to_dict() for one in found.edges],
        "compared": {"documents": alike.measured, "pairs": pairs, "reach": reach, "core": alike.core, "own": alike.own},
        "threshold": looked.threshold,
        "measure": looked.measure,
    }
    first = found.row.first_id
    first_text = texts.get(first) or looked.texts([first])[first]
    return show(
        request,
        "cluster.html",
        shown,
        drawn={
            "row": found.row,
            "documents": [
                (number, one, _excerpt(texts.get(one.doc_id)))
                for number, one in enumerate(found.members, (page - 1) * ON_PAGE + 1)
            ],
            "picture": _picture(request, looked, found.members, alike, (page - 1) * ON_PAGE + 1),
            "first": Text(None if first_text.text is None else first_text.text[:SHOWN], first_text.why),
            "more_of_first": first_text.text is not None and len(first_text.text) > SHOWN,
        },
        twin=twin,
    )


def _picture(request: Request, looked: Collection, members, alike, first: int):  # type: ignore[no-untyped-def]
    if len(alike.ids) < 3:
        return None
    nodes = [
        Node(number, label(member.title or member.doc_id, 60), to(request, "document", member.doc_id), member.kept)
        for number, member in enumerate(members[: len(alike.ids)], first)
    ]
    limit = looked.threshold if looked.measure == "resemblance" else 0.5
    return resembling(nodes, alike.matrix, limit)


def _excerpt(text: Text | None) -> str:
    return "" if text is None or text.text is None else text.text[:1_200]
