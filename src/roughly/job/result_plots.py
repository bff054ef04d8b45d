"""Plots of a result, for notebooks and files: `result.plot.thresholds()`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.result_table import ResultTable, table_html

POINTS = 20


class PlottedResult(Protocol):
    """What plots need of a result."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """The content of run.json."""
        ...

    @property
    def documents(self) -> ResultTable:
        """Every document with its verdict."""
        ...

    @property
    def kept(self) -> ResultTable:
        """The kept documents."""
        ...

    @property
    def removed(self) -> ResultTable:
        """The removed documents."""
        ...

    @property
    def equal_ids(self) -> Sequence[str]:
        """The ids of documents that are equal to one before them."""
        ...

    def rethreshold(self, threshold: float) -> PlottedResult:
        """The result at another threshold."""
        ...


@dataclass(frozen=True)
class ThresholdCurve:
    """How many documents are kept by threshold: `points` are (threshold, kept). A notebook shows the plot.

    An estimate counts documents whose witness is less similar than the threshold as kept; `exact` figures decide
    again.
    """

    points: tuple[tuple[float, int], ...]
    documents: int
    threshold: float  # of the run
    exact: bool

    def to_list(self) -> list[dict[str, float]]:
        """The points as dictionaries, one per threshold."""
        return [{"threshold": t, "kept": kept, "removed": self.documents - kept} for t, kept in self.points]

    def to_svg(self) -> str:
        """The plot as SVG."""
        from roughly.report.threshold_curve import draw_kept

        return draw_kept(self.points, self.threshold, exact=self.exact)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plot to an SVG file."""
        Path(path).write_text(self.to_svg() + "\n", encoding="utf-8")

    def _repr_html_(self) -> str:
        rows = self.to_list()
        return f"{self.to_svg()}<details>{table_html(list(rows[0]), rows, len(rows))}</details>"

    def __repr__(self) -> str:
        (low, fewest), (high, most) = self.points[0], self.points[-1]
        how = "exact" if self.exact else "estimated"
        return f"<ThresholdCurve: {fewest:,} kept at {low:g}, {most:,} at {high:g}; {how}>"


class ResultPlots:
    """The plots of a result."""

    def __init__(self, result: PlottedResult) -> None:
        self._result = result

    def thresholds(self, thresholds: Sequence[float] | None = None, *, exact: bool = False) -> ThresholdCurve:
        """How many documents would be kept at other thresholds, from the run's own to 1.

        Estimated from the scores of removed documents, at once; with `exact` the run is decided again at each
        threshold, as by `rethreshold`.
        """
        run = self._result.summary
        own, measure = run["judged"]["threshold"], run["judged"]["measure"]
        if own is None or measure not in ("resemblance", "containment"):
            raise SettingsError("this run compared no pair with a threshold, so no other can be tried")
        steps = sorted(set(thresholds or np.linspace(own, 1.0, 5 if exact else POINTS + 1).round(4).tolist()) | {own})
        if not own <= steps[0] <= steps[-1] <= 1:
            raise SettingsError(f"thresholds must be from {own:g}, this run's, to 1; for lower ones run dedupe again")
        documents = len(self._result.documents)
        if exact:
            kept = [len(self._result.rethreshold(step).kept) for step in steps]
        else:
            removed = self._result.removed
            scores = removed[measure].to_numpy().copy()
            scores[pc.is_in(removed["doc_id"], pa.array(self._result.equal_ids, pa.string())).to_numpy()] = 1
            kept = [documents - int((scores >= step).sum()) for step in steps]
        return ThresholdCurve(tuple(zip(steps, kept, strict=True)), documents, own, exact)
