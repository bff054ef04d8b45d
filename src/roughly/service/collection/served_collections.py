"""The collections of the served data, opened once and closed with the service; `?in=` chooses one."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from fastapi import Request

from roughly.errors import InputMissing, RoughlyError, SettingsError
from roughly.service.collection.collection_types import Collection
from roughly.service.collection.index_collection import IndexCollection
from roughly.service.collection.passages_collection import PassagesCollection
from roughly.service.collection.replay import Replay
from roughly.service.collection.run_collection import RunCollection
from roughly.service.served_data import ServedData

_STOPPING = 10.0
"""Seconds that the end waits for pages of another run that are being prepared; they are interrupted."""


class ServedCollections:
    """A run, an index, or both, as collections."""

    def __init__(self, served: ServedData) -> None:
        self._served, self.first = served, served.run
        self.index = None if served.index is None else IndexCollection(served.index)
        self._run: RunCollection | None = None
        self._replay: Replay | None = None
        self._passages: PassagesCollection | None = None
        self._runs: dict[tuple[Path, int], RunCollection] = {}  # all that were shown, which pages may still be using
        self._preparing: list[threading.Thread] = []
        self._opening = threading.RLock()

    @property
    def run(self) -> RunCollection | None:
        """The run, opened when it is first used."""
        with self._opening:
            if self._run is None and self._served.run is not None:
                self._run = self._opened(self._served.run)
            return self._run

    def _opened(self, folder: Path) -> RunCollection:
        """A run, opened once for as long as no other takes its folder."""
        account = folder / "run.json"
        key = folder.resolve(), account.stat().st_mtime_ns if account.exists() else 0
        if key not in self._runs:
            self._runs[key] = RunCollection(folder, self._served.inputs)
        return self._runs[key]

    @property
    def first_name(self) -> str | None:
        """The name of the run that the service was started with."""
        return None if self.first is None else self.first.resolve().name

    def show_run(self, folder: Path) -> ServedData:
        """Show another run from now on, everywhere; returns what is served then."""
        with self._opening:
            self._run, self._replay = self._opened(folder), None
            self._served = replace(self._served, run=folder)
            thread = threading.Thread(target=self._prepare_run, name="prepare run", daemon=True)
            self._preparing.append(thread)
            thread.start()
            return self._served

    def choose(self, name: str | None, default: Literal["run", "index"] = "run") -> Collection:
        """The run or the index; without a name the default, or the one that is served."""
        if name not in (None, "", "run", "index"):
            raise SettingsError(f"`in` must be run or index, not {name!r}")
        chosen: Collection | None = self.run if (name or default) == "run" else self.index
        if chosen is None and not name:
            chosen = self.run or self.index
        if chosen is None:
            raise InputMissing(f"no {name or 'run or index'} is served here; start `roughly serve` with one")
        return chosen

    def require_run(self) -> RunCollection:
        """The run; an error if none is served."""
        if (run := self.run) is None:
            raise InputMissing("this page is about a run, and none is served; give `roughly serve` the folder of one")
        return run

    def require_passages(self) -> PassagesCollection:
        """The run of `passages`, opened when it is first used; an error if none is served."""
        with self._opening:
            if self._passages is None:
                if self._served.passages is None:
                    raise InputMissing(
                        "no passages are served; give `roughly serve` the folder that `roughly passages` wrote"
                    )
                self._passages = PassagesCollection(self._served.passages, self._served.inputs)
            return self._passages

    def replay(self) -> Replay:
        """The run at other thresholds."""
        with self._opening:
            if self._replay is None:
                self._replay = Replay(self.require_run())
            return self._replay

    def prepare(self) -> None:
        """Make later pages fast; called in the background."""
        if self.index is not None:
            self.index.prepare()
        self._prepare_run()

    def _prepare_run(self) -> None:
        with suppress(RoughlyError):
            if (run := self.run) is not None:
                run.prepare()
                self.replay().curve()

    def close(self) -> None:
        """Close what was opened; the served data belongs to the caller."""
        if self.index is not None:
            self.index.close()
        with self._opening:
            for run in self._runs.values():
                run.close()
            if self._passages is not None:
                self._passages.close()
            self._run = self._replay = self._passages = None
            threads, self._runs, self._preparing = self._preparing, {}, []
        for thread in threads:
            thread.join(_STOPPING)


def collections_of(request: Request) -> ServedCollections:
    """The collections of the service."""
    collections: ServedCollections = request.app.state.collections
    return collections


def collection_of(request: Request) -> Collection:
    """The collection that `?in=` chooses, by default the run."""
    return collections_of(request).choose(request.query_params.get("in"))
