"""The outcome of a run at another threshold, from the pairs that it stored.

The kept documents are the lexicographically first maximal independent set of the graph of pairs at or above the
threshold, in order of rank (`cluster/star.py`). The order among all documents is not stored and not needed: in every
pair `left` ranks below `right`, so a document is removed if one of its `right` partners is kept, and kept if all of
them are removed. Each round decides the documents whose partners are all decided.

With `pairs="all"` every verified pair is stored, and the outcome is exact: what this run's candidates give at the other
threshold. By default a run stores for each removed document the kept ones it resembles most (`evidence`). At a higher
threshold some removed documents would be kept, and their pairs with others were never compared: the outcome is then an
estimate.
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
_CACHED = 200  # outcomes


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """How many documents would be kept and removed."""

    threshold: float
    kept: int
    removed: int
    removed_bytes: int | None
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


class Replay:
    """The pairs of one run, as arrays in memory from the first use on."""

    def __init__(self, run: RunCollection) -> None:
        if run.threshold is None:
            raise SettingsError(
                "this run compared no pair with a threshold, so no other can be tried; run dedupe with one"
            )
        self.run, self.lowest = run, run.threshold
        self.exact = run.run_json["settings"].get("pairs") == "all"
        self._counts = run.run_json["counts"]
        self._graph: Graph | None = None
        self._outcomes: dict[float, ReplayOutcome] = {}
        self._lock = threading.Lock()

    def at(self, threshold: float) -> ReplayOutcome:
        """The outcome at a threshold from the run's own to 1; nothing is known below it."""
        if not self.lowest <= threshold <= 1:
            raise SettingsError(
                f"t must be from {self.lowest:g}, the threshold of the run, to 1, not {threshold:g}; pairs below it "
                "were not looked for: run dedupe again with a lower one"
            )
        with self._lock:
            if threshold not in self._outcomes:
                if len(self._outcomes) >= _CACHED:
                    self._outcomes.clear()
                self._outcomes[threshold] = self._decide(threshold)
            return self._outcomes[threshold]

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
        is_kept = decide(graph, threshold)
        kept = int(is_kept.sum())
        alone = self._counts["documents"] - graph.documents
        saved = graph.all_bytes - int(graph.bytes[is_kept].sum()) if self.run.tables.has_known else None
        return ReplayOutcome(threshold, alone + kept, graph.documents - kept, saved, self.exact)


def decide(graph: Graph, threshold: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which of the distinct texts are kept."""
    use = graph.score >= threshold
    left, right = graph.left[use], graph.right[use]
    undecided = np.ones(len(graph.bytes), np.bool_)
    kept = np.zeros(len(graph.bytes), np.bool_)
    while undecided.any():
        waiting = np.zeros(len(kept), np.bool_)
        waiting[left] = True  # for a partner that is not decided
        now = undecided & ~waiting
        kept |= now
        undecided &= ~now
        removed = np.zeros(len(kept), np.bool_)
        removed[left[kept[right]]] = True
        undecided &= ~removed
        open_pairs = undecided[left] & undecided[right]
        left, right = left[open_pairs], right[open_pairs]
    return kept
