"""Every figure of one evaluation, with its interval: what `roughly evaluate` prints and `tune` compares."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.cluster_scores import ClusterScores, score_clusters
from roughly.tools.metrics.defaults import DRAWS, LEVEL
from roughly.tools.metrics.intervals import Interval, Statistic, bootstrap, f1_of, ratio
from roughly.tools.metrics.overlap import Flags, Ints, Overlap, components_of, pair_numbers
from roughly.tools.metrics.pair_accuracy import EDGES, Bin, Shares, recall_by_bin, score_documents, score_pairs
from roughly.tools.metrics.utility import Removal

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EvaluationFigures:
    """All figures. `intervals` are by the name of the figure, as in `to_dict`."""

    documents: int
    pairs: Shares
    of_documents: Shares
    clusters: ClusterScores | None
    bins: list[Bin] = field(default_factory=list)
    removal: Removal | None = None
    ignored: int | None = None  # documents that the method could not process
    ignored_true: int | None = None  # of those, documents that have a true duplicate
    intervals: dict[str, Interval | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        own = self.of_documents
        values: dict[str, Any] = {
            "documents": self.documents,
            "pairs": {**asdict(self.pairs), **self.pairs.to_dict()},
            "by_document": {"found": own.found, "right": own.both, "true": own.true, **own.to_dict()},
            "clusters": None if self.clusters is None else asdict(self.clusters),
            "bins": [{**asdict(one), "recall": one.recall} for one in self.bins],
            "removal": None if self.removal is None else {**asdict(self.removal), "utility": self.removal.utility},
            "ignored": self.ignored, "ignored_true": self.ignored_true,
            "intervals": {n: None if i is None else [i.low, i.high] for n, i in self.intervals.items()},
        }  # fmt: skip
        return values


def measure(
    found: Ints,
    true: Ints,
    *,
    ignored: Flags | None = None,
    removal: Removal | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> EvaluationFigures:
    """Everything about two groupings: the found group and the true set of each document."""
    overlap = Overlap.of_groups(found, true)
    return EvaluationFigures(
        len(overlap), score_pairs(overlap), score_documents(overlap), score_clusters(found, true), [], removal,
        None if ignored is None else int(ignored.sum()),
        None if ignored is None else int((ignored & (overlap.true > 0)).sum()),
        intervals_of(overlap, clusters=True, draws=draws, level=level, seed=seed),
    )  # fmt: skip


def measure_pairs(
    documents: int,
    found: Ints,
    true: Ints,
    *,
    resemblance: Floats | None = None,
    groups: Ints | None = None,
    removal: Removal | None = None,
    draws: int = DRAWS,
) -> EvaluationFigures:
    """Everything about two lists of pairs. Cluster measures need the found `groups`; true sets are then the components
    of the true pairs. With the `resemblance` of each true pair, recall by resemblance."""
    sets = components_of(documents, true)
    overlap = Overlap.of_pairs(documents, found, true, sets)
    bins = []
    if resemblance is not None:
        true = np.asarray(true, np.int64).reshape(-1, 2)
        listed = true.min(axis=1) * documents + true.max(axis=1)
        bins = recall_by_bin(resemblance, np.isin(listed, pair_numbers(found, documents)), EDGES)
    return EvaluationFigures(
        documents, score_pairs(overlap), score_documents(overlap),
        None if groups is None else score_clusters(groups, sets), bins, removal,
        intervals=intervals_of(overlap, clusters=False, draws=draws),
    )  # fmt: skip


def intervals_of(
    overlap: Overlap, *, clusters: bool, draws: int = DRAWS, level: float = LEVEL, seed: int = 0
) -> dict[str, Interval | None]:
    """Intervals of precision, recall and F1 of pairs, documents and, with `clusters`, B-cubed."""
    both, found, true = overlap.both, overlap.found, overlap.true
    columns: list[npt.NDArray[Any]] = [both, found, true, both > 0, found > 0, true > 0]
    statistics: dict[str, Statistic] = {}
    for name, first in (("pairs", 0), ("by_document", 3)):
        precision, recall = ratio(first, first + 1), ratio(first, first + 2)
        statistics |= {
            f"{name}.precision": precision, f"{name}.recall": recall, f"{name}.f1": f1_of(precision, recall)
        }  # fmt: skip
    if clusters:
        columns += [(both + 1) / (found + 1), (both + 1) / (true + 1), np.ones(len(both))]
        precision, recall = ratio(6, 8), ratio(7, 8)
        statistics |= {
            "clusters.bcubed_precision": precision, "clusters.bcubed_recall": recall,
            "clusters.bcubed_f1": f1_of(precision, recall),
        }  # fmt: skip
    values = np.column_stack(columns).astype(np.float64)
    return bootstrap(values, overlap.sets, statistics, draws=draws, level=level, seed=seed)
