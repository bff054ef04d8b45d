"""Pages about dated crawls: `/lost`, where a page is now; `/copies` of a document; `/changes` from sweep to sweep."""

from __future__ import annotations

import threading
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import InputMissing, SettingsError
from roughly.index import Index
from roughly.index.sweeps.changes import Changes
from roughly.index.sweeps.changes import changes as find_changes
from roughly.index.sweeps.copies import MINIMUM
from roughly.index.sweeps.copies import copies as find_copies
from roughly.index.sweeps.lost import lost as find_lost
from roughly.index.sweeps.sweep import Sweep, page_id, sweeps_of
from roughly.report.change_plot import KINDS, NAMES, plot_changes
from roughly.service.error_responses import without_address
from roughly.service.explorer.links import require_index, stored_url
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
COPIES = 200
MOVES = 100
_CACHE: dict[str, tuple[tuple[Sweep, ...], Changes]] = {}
_COUNTING = threading.Lock()


@router.get("/lost")
@router.get("/lost.json")
def lost(request: Request) -> Response:
    """Where the page of an address is now."""
    index = require_index(request)
    url = request.query_params.get("url", "").strip()
    values: dict[str, Any] = {"url": url, "lost": None, "trouble": "", "remedy": ""}
    status = 200
    sweeps = sweeps_of(index)
    if url and sweeps:
        try:
            values["lost"] = find_lost(index, url).to_dict()
        except InputMissing as problem:
            status = 404
            values["trouble"], _, values["remedy"] = without_address(str(problem)).partition("; ")
    values["sweeps"] = [sweep.to_dict() for sweep in sweeps]
    return show(request, "lost.html", values, status, page_only={"stored_url": stored_url, "page_id": page_id})


@router.get("/copies")
@router.get("/copies.json")
def copies(request: Request) -> Response:
    """Whole and partial copies of a document."""
    index = require_index(request)
    name = request.query_params.get("id", "").strip()
    minimum = _share(request.query_params.get("minimum"))
    values: dict[str, Any] = {"id": name, "minimum": minimum, "copies": None, "trouble": "", "remedy": ""}
    status = 200
    if name:
        try:
            values["copies"] = find_copies(index, name, minimum=minimum, limit=COPIES).to_dict()
        except InputMissing as problem:
            status = 404
            values["trouble"], _, values["remedy"] = without_address(str(problem)).partition("; ")
    return show(request, "copies.html", values, status, page_only={"stored_url": stored_url, "most": COPIES})


@router.get("/changes")
@router.get("/changes.json")
def changes(request: Request) -> Response:
    """What changed from sweep to sweep."""
    index = require_index(request)
    sweeps = sweeps_of(index)
    found = _changes(index, tuple(sweeps)) if any(sweep.state == "done" for sweep in sweeps) else None
    values = {"sweeps": [sweep.to_dict() for sweep in sweeps], "changes": None if found is None else found.to_dict()}
    intervals = [] if found is None else [interval.to_dict() for interval in found.intervals]
    page_only = {
        "plot": plot_changes(intervals) if intervals else None,
        "kinds": [(kind, NAMES.get(kind, kind)) for kind in KINDS],
        "stored_url": stored_url,
        "page_id": page_id,
        "most": MOVES,
    }
    return show(request, "changes.html", values, page_only=page_only)


def _changes(index: Index, sweeps: tuple[Sweep, ...]) -> Changes:
    """Computed once as long as the sweeps are the same, since it reads all of their pages."""
    with _COUNTING:
        cached = _CACHE.get(index.name)
        if cached is None or cached[0] != sweeps:
            cached = _CACHE[index.name] = (sweeps, find_changes(index))
        return cached[1]


def _share(given: str | None) -> float:
    try:
        value = MINIMUM if not given else float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise SettingsError(f"minimum must be a share from 0 to 1, such as 0.1, not {(given or '')[:40]!r}")
    return value
