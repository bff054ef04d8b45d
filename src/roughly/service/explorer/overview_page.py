"""`/`: what was found, in one sentence, numbers and plots."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.report.data import RunData
from roughly.report.headline import build_overview
from roughly.report.plots import plot_cluster_sizes, plot_resemblances
from roughly.report.wording import NBSP, count, counted, share, size
from roughly.service.collection.collection_types import Collection, CollectionStatistics
from roughly.service.collection.run_collection import RunCollection
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.drawings import draw_months
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
SOURCES = 20


@router.get("/")
@router.get("/index.json")
def overview(request: Request) -> Response:
    """A run or an index as a whole."""
    collection = collection_of(request)
    statistics = collection.statistics()
    values = {
        "in": collection.kind,
        "name": collection.name,
        "counts": statistics.counts,
        "measure": collection.measure,
        "threshold": collection.threshold,
        "cluster_sizes": [list(row) for row in statistics.cluster_sizes],
        "resemblance": {"edges": list(statistics.resemblance[0]), "documents": list(statistics.resemblance[1])},
        "kinds": [list(row) for row in statistics.kinds],
        "sources": [list(row) for row in statistics.by_source],
        "months": [list(row) for row in statistics.months],
        "suspicious": statistics.suspicious,
    }
    return show(request, "overview.html", values, page_only=_page_only(collection, statistics))


def _page_only(collection: Collection, statistics: CollectionStatistics) -> dict[str, Any]:
    from roughly.report.collection_section import kinds as kind_rows
    from roughly.report.collection_section import sources as source_rows

    sizes, (edges, numbers) = statistics.cluster_sizes, statistics.resemblance
    threshold = collection.threshold if collection.measure == "resemblance" else None
    page_only: dict[str, Any] = {
        "sizes": plot_cluster_sizes(sizes) if sizes else None,
        "similarity": plot_resemblances(edges, numbers, threshold) if edges else None,
        "time": draw_months(statistics.months, collection.kind == "run") if len(statistics.months) > 1 else None,
        "kind_rows": [],
        "source_rows": [],
        "overview": None,
    }
    if isinstance(collection, RunCollection):
        data = RunData(run=collection.run_json, kinds=statistics.kinds, by_source=statistics.by_source)
        overview = build_overview(collection.run_json)
        return page_only | {"kind_rows": kind_rows(data), "source_rows": source_rows(data), "overview": overview}
    page_only["headline"], page_only["figures"] = _index_headline(statistics.counts)
    most = max((row[1] for row in statistics.by_source), default=1)
    page_only["index_sources"] = [(row[0], row[1], row[2], row[1] / most) for row in statistics.by_source[:SOURCES]]
    return page_only


def _index_headline(counts: dict[str, int]) -> tuple[str, list[tuple[str, str, str, str]]]:
    documents, duplicates = counts["documents"], counts["duplicates"]
    part = f"{count(duplicates)} ({share(duplicates, documents)}) are like earlier ones"
    headline = f"{counted(documents, 'document')} stored, {part if duplicates else 'and no two are duplicates'}."
    if not documents:
        headline = "The index is empty."
    return headline, [
        (count(documents), "documents", f"{size(counts['bytes'])} on disk", ""),
        (count(counts["contents"]), "different texts", share(counts["contents"], documents), ""),
        (count(counts["groups"]), "clusters", "of two or more", "kept"),
        (count(duplicates), "duplicates", f"{count(counts['revoked'])}{NBSP}revoked", "removed"),
    ]
