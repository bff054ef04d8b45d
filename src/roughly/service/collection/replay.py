"""Another threshold for a run, from the pairs that it stored.

Who stays is the lexicographically first maximal independent set of the graph of pairs at or above the threshold, in
order of rank (`cluster/star.py`). The order among all documents is not stored, and is not needed: of every pair `left`
ranks below `right`, so a document goes when one of its `right` partners stays, and stays when all of them go. Documents
are decided in rounds, those whose partners are all decided in each.

With `pairs="all"` every verified pair is stored, and the answer is exact: what this run's candidates give at the other
threshold. By default a run stores for each removed document the kept ones it resembles most (`evidence`). At a higher
threshold some documents that went would stay, and pairs with those were never looked at: then it is an estimate.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from roughly.engines.local.run_browser import Graph
from roughly.errors import SettingsError
from roughly.service.collection.run_collection import RunCollection

POINTS = 20
_KEPT = 200  # answers remembered


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """What would stay and go."""

    threshold: float
    kept: int
    removed: int
    removed_bytes: int | None
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


class Replay:
    """The pairs of one run, held as arrays from the first question on."""

    def __init__(self, run: RunCollection) -> None:
        if run.threshold is None:
            raise SettingsError(
                "this run judged no pair by a threshold, so there is no other to try; run dedupe with one"
            )
        self.run, self.lowest = run, run.threshold
        self.exact = run.told["settings"].get("pairs") == "all"
        self._counts = run.told["counts"]
        self._graph: Graph | None = None
        self._known: dict[float, ReplayOutcome] = {}
        self._lock = threading.Lock()

    def at(self, threshold: float) -> ReplayOutcome:
        """The outcome at a threshold from the run's own to 1; below it, nothing is known."""
        if not self.lowest <= threshold <= 1:
            raise SettingsError(
                f"t must be from {self.lowest:g}, the threshold of the run, to 1, not {threshold:g}; pairs below it "
                "were not looked for: run dedupe again with a lower one"
            )
        with self._lock:
            if threshold not in self._known:
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[threshold] = self._decide(threshold)
            return self._known[threshold]

    def curve(self) -> list[ReplayOutcome]:
        """The outcome at some twenty thresholds from the run's own to 1."""
        steps = np.linspace(self.lowest, 1.0, POINTS + 1)
        return [self.at(round(float(step), 4)) for step in steps]

    def _decide(self, threshold: float) -> ReplayOutcome:
        if threshold == self.lowest:
            counts = self._counts
            return ReplayOutcome(threshold, counts["kept"], counts["removed"], counts["removed_bytes"], True)
        if self._graph is None:
            self._graph = self.run.tables.graph(self.run.measure)
        graph = self._graph
        stays = decide(graph, threshold)
        kept = int(stays.sum())
        alone = self._counts["documents"] - graph.documents
        saved = graph.all_bytes - int(graph.bytes[stays].sum()) if self.run.tables.has_known else None
        return ReplayOutcome(threshold, alone + kept, graph.documents - kept, saved, self.exact)


def decide(graph: Graph, threshold: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Who of the distinct texts stays."""
    use = graph.score >= threshold
    left, right = graph.left[use], graph.right[use]
    undecided = np.ones(len(graph.bytes), np.bool_)
    stays = np.zeros(len(graph.bytes), np.bool_)
    while undecided.any():
        waits = np.zeros(len(stays), np.bool_)
        waits[left] = True  # on a partner that is not decided
        now = undecided & ~waits
        stays |= now
        undecided &= ~now
        goes = np.zeros(len(stays), np.bool_)
        goes[left[stays[right]]] = True
        undecided &= ~goes
        live = undecided[left] & undecided[right]
        left, right = left[live], right[live]
    return stays
