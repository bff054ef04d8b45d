"""`/`: what was found, in one sentence, figures and plots."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.report.data import RunData
from roughly.report.headline import overview as report_overview
from roughly.report.plots import cluster_sizes, resemblances
from roughly.report.wording import NBSP, count, counted, share, size
from roughly.service.collection import Collection, Figures, collections_of
from roughly.service.collection.run_collection import RunCollection
from roughly.service.explorer.drawings import months
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
SOURCES = 20


@router.get("/")
@router.get("/index.json")
def overview(request: Request) -> Response:
    """The whole of a run or an index."""
    looked = collections_of(request).named(request.query_params.get("in"), "run")
    figures = looked.figures()
    shown = {
        "in": looked.kind,
        "name": looked.name,
        "counts": figures.counts,
        "measure": looked.measure,
        "threshold": looked.threshold,
        "cluster_sizes": [list(row) for row in figures.cluster_sizes],
        "resemblance": {"edges": list(figures.resemblance[0]), "documents": list(figures.resemblance[1])},
        "kinds": [list(row) for row in figures.kinds],
        "sources": [list(row) for row in figures.by_source],
        "months": [list(row) for row in figures.months],
        "suspicious": figures.suspicious,
    }
    return show(request, "overview.html", shown, drawn=_drawn(looked, figures))


def _drawn(looked: Collection, figures: Figures) -> dict[str, Any]:
    from roughly.report.collection_section import kinds as kind_rows
    from roughly.report.collection_section import sources as source_rows

    sizes, (edges, numbers) = figures.cluster_sizes, figures.resemblance
    drawn: dict[str, Any] = {
        "sizes": cluster_sizes(sizes) if sizes else None,
        "likeness": resemblances(edges, numbers, looked.threshold if looked.measure == "resemblance" else None)
        if edges
        else None,
        "time": months(figures.months, looked.kind == "run") if len(figures.months) > 1 else None,
        "kind_rows": [],
        "source_rows": [],
        "told": None,
    }
    if isinstance(looked, RunCollection):
        data = RunData(run=looked.told, kinds=figures.kinds, by_source=figures.by_source)
        drawn |= {"kind_rows": kind_rows(data), "source_rows": source_rows(data), "told": report_overview(looked.told)}
        return drawn
    drawn["headline"], drawn["figures"] = _of_index(figures.counts)
    most = max((row[1] for row in figures.by_source), default=1)
    drawn["index_sources"] = [(row[0], row[1], row[2], row[1] / most) for row in figures.by_source[:SOURCES]]
    return drawn


def _of_index(counts: dict[str, int]) -> tuple[str, list[tuple[str, str, str, str]]]:
    documents, again = counts["documents"], counts["duplicates"]
    headline = (
        f"{counted(documents, 'document')} stored, {count(again)} ({share(again, documents)}) like earlier ones."
        if documents
        else "The index is empty."
    )
    if documents and not again:
        headline = f"{counted(documents, 'document')} stored, and no two are duplicates."
    return headline, [
        (count(documents), "documents", f"{size(counts['bytes'])} on disk", ""),
        (count(counts["contents"]), "different texts", share(counts["contents"], documents), ""),
        (count(counts["groups"]), "clusters", "of two or more", "stay"),
        (count(again), "duplicates", f"{count(counts['revoked'])}{NBSP}revoked", "go"),
    ]
