"""The collections of what is served, opened once, and which of them is meant."""

from __future__ import annotations

import threading
import weakref
from typing import Literal

from roughly.errors import InputMissing, SettingsError
from roughly.service.collection.index import IndexCollection
from roughly.service.collection.run import RunCollection
from roughly.service.collection.shapes import Collection
from roughly.service.holdings import Holdings


class Collections:
    """A run, an index, or both, to be looked at."""

    def __init__(self, holdings: Holdings) -> None:
        self.run = None if holdings.run is None else RunCollection(holdings.run, holdings.inputs)
        self.index = None if holdings.index is None else IndexCollection(holdings.index)

    def named(self, name: str | None, default: Literal["run", "index"] = "run") -> Collection:
        """`run` or `index`, or where nothing is said the default, or what there is."""
        if name not in (None, "", "run", "index"):
            raise SettingsError(f"`in` must be run or index, not {name!r}")
        asked: Collection | None = {"run": self.run, "index": self.index}.get(name or default)
        if asked is None and not name:
            asked = self.run or self.index
        if asked is None:
            raise InputMissing(f"no {name} is served here; start `roughly serve` with one")
        return asked

    def of_run(self) -> RunCollection:
        """The run; refused where none is served."""
        if self.run is None:
            raise InputMissing("this page is about a run, and none is served; give `roughly serve` the folder of one")
        return self.run

    def close(self) -> None:
        """Let go of all."""
        if self.run is not None:
            self.run.close()


_OPEN: weakref.WeakKeyDictionary[object, Collections] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


def collections_of(holdings: Holdings) -> Collections:
    """The collections of these holdings; they are closed when the holdings go."""
    with _LOCK:
        if (found := _OPEN.get(holdings)) is None:
            found = _OPEN[holdings] = Collections(holdings)
            weakref.finalize(holdings, found.close)
        return found
