"""`/clusters/{id}`: a cluster: which documents are kept and removed, how similar they are, what looks odd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from roughly.errors import InputMissing
from roughly.report.visible import label
from roughly.service.collection.collection_types import Collection, DocumentRow, DocumentText
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.cluster_similarity import MOST, ClusterSimilarity, measure
from roughly.service.explorer.decided_marks import decisions_by_id, may_decide
from roughly.service.explorer.drawings import Node, draw_cluster
from roughly.service.explorer.links import to
from roughly.service.explorer.paging import page_number, pages
from roughly.service.explorer.readable_text import readable
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
PER_PAGE = 50
SHOWN = 1_500  # characters of the kept text
EXCERPT = 1_200


@router.get("/clusters/{cluster_id:path}")
def cluster(request: Request, cluster_id: str) -> Response:
    """A cluster by its id, which may contain any character; the twin is at the id plus `.json`."""
    return cluster_page(request, cluster_id.removesuffix(".json"), twin=cluster_id.endswith(".json"))


def cluster_page(request: Request, cluster_id: str, twin: bool) -> Response:
    """The page of a cluster, or its twin."""
    collection = collection_of(request)
    page = page_number(request, 20_000)
    first_number = (page - 1) * PER_PAGE + 1
    found = collection.cluster(cluster_id, first_number - 1, PER_PAGE)
    if found is None:
        raise InputMissing(f"the {collection.kind} has no cluster {label(cluster_id)}; the list shows all clusters")
    row = replace(found.row, empty=found.row.empty or all(member.tokens == 0 for member in found.members))
    ids = [member.doc_id for member in found.members]
    texts = collection.texts(ids)
    similarity = measure(ids[:MOST], texts, found.edges, collection.shingle_size)
    on_resemblance = collection.threshold if collection.measure == "resemblance" else None
    warnings = [*found.row.warnings, *similarity.warnings(on_resemblance)]
    reach, pairs = similarity.reach(collection.threshold)
    values = {
        "in": collection.kind,
        "cluster": row.to_dict(),
        "warnings": [one.to_dict() for one in warnings],
        "page": page,
        "pages": pages(found.row.size, PER_PAGE),
        "members": [one.to_dict() for one in found.members],
        "edges": [one.to_dict() for one in found.edges],
        "compared": {
            "documents": similarity.measured, "pairs": pairs, "reach": reach, "core": similarity.core,
            "own": similarity.own,
        },
        "threshold": collection.threshold,
        "measure": collection.measure,
    }  # fmt: skip
    first = found.row.first_id
    first_text = texts.get(first) or collection.texts([first])[first]
    page_only = {
        "row": row,
        "documents": [
            (number, one, (texts[one.doc_id].text or "")[:EXCERPT])
            for number, one in enumerate(found.members, first_number)
        ],
        "picture": None if row.empty else _picture(request, collection, found.members, similarity, first_number),
        "first": DocumentText(None if first_text.text is None else first_text.text[:SHOWN], first_text.why),
        "first_blocks": readable((first_text.text or "")[:SHOWN]),
        "decided": decisions_by_id(request),
        "may_decide": may_decide(request),
        "more_of_first": first_text.text is not None and len(first_text.text) > SHOWN,
    }
    return show(request, "cluster.html", values, page_only=page_only, twin=twin)


def _picture(
    request: Request, collection: Collection, members: Sequence[DocumentRow], similarity: ClusterSimilarity, first: int
) -> tuple[Markup, Markup] | None:
    if len(similarity.ids) < 3:
        return None
    nodes = [
        Node(number, label(member.title or member.doc_id, 60), to(request, "document", member.doc_id), member.kept)
        for number, member in enumerate(members[: len(similarity.ids)], first)
    ]
    limit = collection.threshold if collection.measure == "resemblance" else 0.5
    return draw_cluster(nodes, similarity.matrix, limit)
