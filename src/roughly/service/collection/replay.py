"""The outcome of a run at another threshold, from the pairs that it stored.

The kept documents are the lexicographically first maximal independent set of the graph of pairs at or above the
threshold, in order of rank (`cluster/star.py`). The order among all documents is not stored and not needed: in every
pair `left` ranks below `right`, so a document is removed if one of its `right` partners is kept, and kept if all of
them are removed. Each round decides the documents whose partners are all decided.

With `pairs="all"` every verified pair is stored, and the outcome is exact: what this run's candidates give at the other
threshold. By default a run stores for each removed document the kept ones it resembles most (`evidence`). At a higher
threshold some removed documents would be kept, and their pairs with others were never compared: the outcome is then an
estimate. Then all stored pairs lead from a removed document to a kept one, so that one pass over the best score of each
removed document gives every threshold.

Below the run's own threshold nothing was verified; near misses give an estimate (`near_pairs`).
"""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import Any

import numpy as np

from roughly.engines.local.run_browser import Graph
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.service.collection.near_pairs import Range, lowest_estimated, more_removed, near_ranges
from roughly.service.collection.run_collection import RunCollection

POINTS, POINTS_BELOW = 20, 8
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
        self._has_links = self.exact or run.run_json["settings"].get("cluster") == "components"
        self._counts = run.run_json["counts"]
        self._best: np.ndarray[Any, np.dtype[np.float64]] | None = None
        self._graph: Graph | None = None
        self._ranges: list[Range] | None = None
        self._looked_for: bool | None = None
        self._outcomes: dict[float, ReplayOutcome] = {}
        self._lock = threading.Lock()

    def at(self, threshold: float) -> ReplayOutcome:
        """The outcome at a threshold; below the run's own it is an estimate from near misses, if there are some."""
        if threshold < self.lowest and self.ranges is None:
            raise SettingsError(
                f"t must be from {self.lowest:g}, the threshold of the run, to 1, not {threshold:g}; pairs below it "
                "were not looked for: draw pairs on the page /judge for an estimate, or run dedupe with a lower one"
            )
        if not self.floor <= threshold <= 1:
            raise SettingsError(f"t must be from {self.floor:g} to 1, not {threshold:g}")
        with self._lock:
            if threshold not in self._outcomes:
                if len(self._outcomes) >= _CACHED:
                    self._outcomes.clear()
                self._outcomes[threshold] = self._decide(threshold)
            return self._outcomes[threshold]

    @property
    def ranges(self) -> list[Range] | None:
        """The near misses; looked for until there are some, since pairs may be drawn for judging meanwhile."""
        if self._ranges is None and self._looked_for != self.run.run.verdicts.exists():
            self._looked_for = self.run.run.verdicts.exists()
            self._ranges = near_ranges(self.run)
        return self._ranges

    @property
    def floor(self) -> float:
        """The lowest threshold that can be tried."""
        return self.lowest if self.ranges is None else lowest_estimated(self.lowest)

    def curve(self) -> list[ReplayOutcome]:
        """The outcome at some twenty thresholds from the run's own to 1, and at some below it if these are known."""
        steps = np.linspace(self.lowest, 1.0, POINTS + 1).tolist()
        if self.floor < self.lowest:
            steps = [*np.linspace(self.floor, self.lowest, POINTS_BELOW + 1).tolist()[:-1], *steps]
        return [self.at(round(float(step), 4)) for step in steps]

    def _decide(self, threshold: float) -> ReplayOutcome:
        if threshold == self.lowest:
            counts = self._counts
            return ReplayOutcome(threshold, counts["kept"], counts["removed"], counts["removed_bytes"], True)
        if threshold < self.lowest:
            more = min(self._counts["kept"], round(more_removed(self.ranges or (), threshold)))
            return ReplayOutcome(threshold, self._counts["kept"] - more, self._counts["removed"] + more, None, False)
        if not self._has_links:
            return self._by_best_scores(threshold)
        if self._graph is None:
            self._graph = self.run.tables.graph(self.run.measure)
        graph = self._graph
        is_kept = decide(graph, threshold)
        kept = int(is_kept.sum())
        alone = self._counts["documents"] - graph.documents
        saved = graph.all_bytes - int(graph.bytes[is_kept].sum()) if self.run.tables.has_known else None
        return ReplayOutcome(threshold, alone + kept, graph.documents - kept, saved, self.exact)

    def _by_best_scores(self, threshold: float) -> ReplayOutcome:
        """Without pairs among removed documents, one is removed if its best score reaches the threshold."""
        if self._best is None:
            self._best = self.run.tables.best_scores(self.run.measure)
            self._saved = np.concatenate(([0.0], np.cumsum(self._best[:, 1])))
        counts, reach = self._counts, int(np.searchsorted(-self._best[:, 0], -threshold, side="right"))
        back = len(self._best) - reach
        saved = (
            counts["removed_bytes"] - int(self._saved[-1] - self._saved[reach]) if self.run.tables.has_known else None
        )
        return ReplayOutcome(threshold, counts["kept"] + back, counts["removed"] - back, saved, False)


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
