"""`/`: what was found, in one sentence, numbers and plots."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from roughly.report.collection_section import BarRow
from roughly.report.data import RunData
from roughly.report.headline import build_overview
from roughly.report.plots import Bar, plot_cluster_sizes, plot_resemblances
from roughly.report.wording import NBSP, count, counted, share, size
from roughly.service.collection.collection_types import Collection, CollectionStatistics
from roughly.service.collection.run_collection import RunCollection
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.drawings import MonthPlot, draw_months
from roughly.service.explorer.links import to
from roughly.service.explorer.rendering import counting_page, fragment, show
from roughly.settings import Settings
from roughly.verdict import COMPARISONS, Verdict

router = APIRouter(include_in_schema=False)
SOURCES = 20
LATER = 200_000
"""In a larger collection, documents over time are loaded after the page."""


@router.get("/")
@router.get("/index.json")
def overview(request: Request) -> Response:
    """A run or an index as a whole; where only passages are served, their page."""
    served = request.app.state.served
    if served.run is None and served.index is None:
        return RedirectResponse("/passages.json" if request.scope["path"].endswith(".json") else "/passages", 303)
    collection = collection_of(request)
    if (waiting := counting_page(request, collection)) is not None:
        return waiting
    statistics = collection.statistics()
    is_large = statistics.counts["documents"] > LATER and not request.query_params.get("time")
    later = is_large and not request.scope["path"].endswith(".json")
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
        "months": None if later else [list(row) for row in collection.months()],
        "suspicious": statistics.suspicious,
        "verdict": _verdict(collection.learned),
    }
    return show(
        request,
        "overview.html",
        values,
        page_only=_page_only(request, collection, statistics)
        | {"later": later, "time": None if later else _time(request, collection)},
    )


@router.get("/overview/time")
def over_time(request: Request) -> Response:
    """The plot of documents over time alone: reading the dates of millions of documents takes a moment."""
    collection = collection_of(request)
    return fragment(request, "over_time.html", {"time": _time(request, collection), "in": collection.kind})


def _time(request: Request, collection: Collection) -> MonthPlot | None:
    months = [] if collection.counting() else collection.months()

    def link(when: str) -> str:
        return to(request, "/documents", since=when, until=when)

    return draw_months(months, collection.kind == "run", link) if len(months) > 1 else None


def _page_only(request: Request, collection: Collection, statistics: CollectionStatistics) -> dict[str, Any]:
    from roughly.report.collection_section import kinds as kind_rows
    from roughly.report.collection_section import sources as source_rows

    sizes, (edges, numbers) = statistics.cluster_sizes, statistics.resemblance
    threshold = collection.threshold if collection.measure == "resemblance" else None

    def of_size(bar: Bar) -> str:
        return to(request, "/clusters", least=int(bar.start), most=int(bar.end) - 1)

    def of_score(bar: Bar) -> str:
        return to(request, "/documents", low=round(bar.start, 4), high=round(bar.end, 4), sort="resemblance")

    page_only: dict[str, Any] = {
        "sizes": plot_cluster_sizes(sizes, of_size) if sizes else None,
        "similarity": plot_resemblances(edges, numbers, threshold, of_score) if edges else None,
        "weight_rows": _weight_rows(_verdict(collection.learned)),
        "kind_rows": [],
        "source_rows": [],
        "overview": None,
    }
    if isinstance(collection, RunCollection):
        data = RunData(run=collection.run_json, kinds=statistics.kinds, by_source=statistics.by_source)
        overview = build_overview(collection.run_json)
        page_only["links"] = _links(request, statistics)
        return page_only | {"kind_rows": kind_rows(data), "source_rows": source_rows(data), "overview": overview}
    page_only["headline"], page_only["figures"] = _index_headline(statistics.counts)
    most = max((row[1] for row in statistics.by_source), default=1)
    page_only["index_sources"] = [(row[0], row[1], row[2], row[1] / most) for row in statistics.by_source[:SOURCES]]
    return page_only


def _verdict(settings: Settings | None) -> dict[str, Any] | None:
    """A learned verdict: what is needed, and what each comparison adds at most, the most first."""
    if settings is None or settings.verdict is None:
        return None
    found = Verdict.parse(settings.verdict)
    weights = sorted(((name, a + b) for name, a, b in found.weights), key=lambda row: -row[1])
    needed = math.log(found.probability / (1 - found.probability))
    return {
        "prior": found.prior, "probability": found.probability, "needed": needed, "threshold": settings.threshold,
        "shingle_size": settings.shingle_size, "weights": dict(weights),
    }  # fmt: skip


def _weight_rows(verdict: dict[str, Any] | None) -> list[BarRow]:
    weights = {} if verdict is None else verdict["weights"]
    most = max(weights.values(), default=1.0)
    return [BarRow(COMPARISONS[name], (f"{adds:+.2f}",), adds / most, True) for name, adds in weights.items()]


def _links(request: Request, statistics: CollectionStatistics) -> dict[str, Any]:
    """Where the rows of the tables and the figures lead, in the order in which they are shown."""
    kinds = [kind for kind, n in sorted(statistics.kinds, key=lambda row: (-row[1], row[0] or "")) if n]
    sources = [row[0] for row in sorted(statistics.by_source, key=lambda row: (-row[2], -row[1], row[0] or ""))]
    return {
        "kinds": [None if kind is None else to(request, "/documents", kind=kind) for kind in kinds],
        "sources": [None if name is None else to(request, "/documents", source=name) for name in sources[:SOURCES]]
        + [None],
        "figures": {
            "documents in": to(request, "/documents"), "kept": to(request, "/documents", kept="yes"),
            "removed": to(request, "/documents", kept="no"), "clusters": to(request, "/clusters"),
        },
    }  # fmt: skip


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
