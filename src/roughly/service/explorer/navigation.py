"""The navigation: only pages that the served data can fill."""

from __future__ import annotations

from typing import Literal

from fastapi import Request

from roughly.errors import RoughlyError
from roughly.fast_dataclass import dataclass
from roughly.service.collection.collection_types import CollectionFacts
from roughly.service.collection.served_collections import collections_of
from roughly.service.served_data import ServedData

Shown = Literal["run", "index"]


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A page in the navigation."""

    path: str
    name: str
    current: bool


@dataclass(frozen=True, slots=True)
class Navigation:
    """The pages of the served data."""

    entries: tuple[NavigationEntry, ...]
    search: bool  # there is an index to search in
    documents: bool  # there is a run or an index whose documents can be found
    both: bool  # a run and an index are served
    shown: Shown | None  # which of the two this page shows; None if it can show only one
    facts: CollectionFacts | None  # about the run or index that this page shows


_RUN = (("/threshold", "Threshold"), ("/judge", "Judge"), ("/tune", "Tune"), ("/decisions", "Decisions"))
_EITHER = (("/", "Overview"), ("/clusters", "Clusters"), ("/documents", "Documents"))
_INDEX = (("/search", "Search"), ("/ask", "Ask"), ("/copies", "Copies"))
_SWEPT = (("/lost", "Lost"), ("/changes", "Changes"))
_PASSAGES = ("/passages", "Passages")
_SWITCHABLE = ("/", "/clusters", "/documents", "/compare")


def navigation(request: Request) -> Navigation:
    """The navigation of a page."""
    served: ServedData = request.app.state.served
    documents = served.run is not None or served.index is not None
    pages = list(_EITHER) if documents else []
    pages += _RUN if served.run is not None else ()
    pages += _INDEX if served.index is not None else ()
    pages += _SWEPT if _has_sweeps(request, served) else ()
    pages += [_PASSAGES] if served.passages is not None else []
    path = request.scope["path"].removesuffix(".json")
    entries = tuple(NavigationEntry(address, name, _is_at(path, address)) for address, name in pages)
    both = served.run is not None and served.index is not None
    switched = both and any(_is_at(path, address) for address in _SWITCHABLE)
    return Navigation(
        entries,
        served.index is not None,
        documents,
        both,
        shown_by(request) if switched else None,
        _facts(request, path),
    )


def _facts(request: Request, path: str) -> CollectionFacts | None:
    """What the page is about; None if that cannot be read, which the page itself says."""
    about_index = any(_is_at(path, address) for address, _ in (*_INDEX, *_SWEPT))
    try:
        if _is_at(path, _PASSAGES[0]):
            return collections_of(request).require_passages().facts()
        return collections_of(request).choose("index" if about_index else shown_by(request)).facts()
    except (RoughlyError, OSError):
        return None


def shown_by(request: Request) -> Shown:
    """Whether a page that can show either shows the run or the index: `?in=`, or the run if there is one."""
    served: ServedData = request.app.state.served
    if served.run is None:
        return "index"
    return "index" if served.index is not None and request.query_params.get("in") == "index" else "run"


def _is_at(path: str, address: str) -> bool:
    return path == address or (address != "/" and path.startswith(address + "/"))


def _has_sweeps(request: Request, served: ServedData) -> bool:
    """Whether the index contains a sweep. Once it does, it is not checked again."""
    from roughly.index.sweeps.sweep import sweeps_of

    state = request.app.state
    if served.index is not None and not getattr(state, "has_sweeps", False):
        try:
            state.has_sweeps = bool(sweeps_of(served.index))
        except RoughlyError:
            return False  # the database is unreachable: the page itself says so
    return bool(getattr(state, "has_sweeps", False))
