"""The collections of what is served, opened once and closed with the service, and which of them is meant."""

from __future__ import annotations

import threading
from typing import Literal

from fastapi import Request

from roughly.errors import InputMissing, SettingsError
from roughly.service.collection.collection_types import Collection
from roughly.service.collection.index_collection import IndexCollection
from roughly.service.collection.replay import Replay
from roughly.service.collection.run_collection import RunCollection
from roughly.service.served_data import ServedData


class Collections:
    """A run, an index, or both, to be looked at."""

    def __init__(self, holdings: ServedData) -> None:
        self._holdings = holdings
        self.index = None if holdings.index is None else IndexCollection(holdings.index)
        self._run: RunCollection | None = None
        self._replay: Replay | None = None
        self._opening = threading.RLock()

    @property
    def run(self) -> RunCollection | None:
        """The run, opened when it is first asked for."""
        with self._opening:
            if self._run is None and self._holdings.run is not None:
                self._run = RunCollection(self._holdings.run, self._holdings.inputs)
            return self._run

    def named(self, name: str | None, default: Literal["run", "index"] = "run") -> Collection:
        """`run` or `index`, or where nothing is said the default, or what there is."""
        if name not in (None, "", "run", "index"):
            raise SettingsError(f"`in` must be run or index, not {name!r}")
        asked: Collection | None = self.run if (name or default) == "run" else self.index
        if asked is None and not name:
            asked = self.run or self.index
        if asked is None:
            raise InputMissing(f"no {name} is served here; start `roughly serve` with one")
        return asked

    def of_run(self) -> RunCollection:
        """The run; refused where none is served."""
        if (run := self.run) is None:
            raise InputMissing("this page is about a run, and none is served; give `roughly serve` the folder of one")
        return run

    def replay(self) -> Replay:
        """The run at other thresholds."""
        with self._opening:
            if self._replay is None:
                self._replay = Replay(self.of_run())
            return self._replay

    def close(self) -> None:
        """Let go of what was opened; the holdings are their owner's."""
        with self._opening:
            if self._run is not None:
                self._run.close()
            self._run = self._replay = None


def collections_of(request: Request) -> Collections:
    """The collections of the service that was asked."""
    found: Collections = request.app.state.collections
    return found
