"""Which pages there are: only those that what is served can fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastapi import Request

from roughly.errors import RoughlyError
from roughly.service.served_data import ServedData

Looked = Literal["run", "index"]


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A page in the navigation."""

    path: str
    name: str
    current: bool


@dataclass(frozen=True, slots=True)
class Navigation:
    """The pages of what is served."""

    entries: tuple[NavigationEntry, ...]
    search: bool  # there is something that full text can be searched in
    both: bool  # a run and an index are served
    looked: Looked | None  # which of the two this page is about; None where it is about one of them alone


_RUN = (("/threshold", "Threshold"), ("/judge", "Judge"))
_EITHER = (("/", "Overview"), ("/clusters", "Clusters"))
_INDEX = (("/search", "Search"), ("/ask", "Ask"), ("/copies", "Copies"))
_SWEPT = (("/lost", "Lost"), ("/changes", "Changes"))
_SWITCHED = ("/", "/clusters", "/documents", "/compare")


def navigation(request: Request) -> Navigation:
    """The navigation of a page."""
    held: ServedData = request.app.state.holdings
    pages = list(_EITHER)
    pages += _RUN if held.run is not None else ()
    pages += _INDEX if held.index is not None else ()
    pages += _SWEPT if _swept(request, held) else ()
    path = request.scope["path"].removesuffix(".json")
    entries = tuple(NavigationEntry(address, name, _is_at(path, address)) for address, name in pages)
    both = held.run is not None and held.index is not None
    switched = both and any(_is_at(path, address) for address in _SWITCHED)
    return Navigation(entries, held.index is not None, both, looked_at(request) if switched else None)


def looked_at(request: Request) -> Looked:
    """Whether a page that can show either is about the run or the index: `?in=`, or the run where there is one."""
    held: ServedData = request.app.state.holdings
    if held.run is None:
        return "index"
    return "index" if held.index is not None and request.query_params.get("in") == "index" else "run"


def _is_at(path: str, address: str) -> bool:
    return path == address or (address != "/" and path.startswith(address + "/"))


def _swept(request: Request, held: ServedData) -> bool:
    """Whether the index holds a sweep. One that held one is taken to hold it still."""
    from roughly.index.sweeps.sweep import sweeps_of

    state = request.app.state
    if held.index is not None and not getattr(state, "swept", False):
        try:
            state.swept = bool(sweeps_of(held.index))
        except RoughlyError:
            return False  # the database is away: the page itself says so
    return bool(getattr(state, "swept", False))
