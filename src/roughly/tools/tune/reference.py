"""What a trial is measured by, of three kinds with one face: rows with (both, found, true), and the set of each row.

| kind | a row is | true is |
|---|---|---|
| `TrueSets` | a document | its other documents of the set, by the labels |
| `LabelledPairs` | a labelled pair, or a document | whether it is labelled the same |
| `ExactPairs` | a document | the documents that resemble it at or above the threshold, by the exact join |

Rows are parted by set into those that settings are chosen on and those they are not (`unseen`); no set is on both
sides. A pair of documents from both sides that is wrongly found counts half on each.

With labels, whole sets are drawn. A sample of the share s of all sets has s of the true pairs but s² of the others, so
each wrong one stands for 1/s of them: without that, a sample would flatter every method's precision.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.meter import Meter
from roughly.settings import ReadOptions, Resources
from roughly.sources import open_data
from roughly.tools.metrics.intervals import Interval, bootstrap, f1_of, ratio
from roughly.tools.metrics.overlap import Flags, Overlap, components_of, numbered
from roughly.tools.metrics.pair_accuracy import harmonic
from roughly.tools.truth.find import find_pairs
from roughly.tools.truth.request import TruthRequest
from roughly.tools.tune.draw import DrawnSample, Ints, place_of
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.trial import TrialOutcome

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """Sums over rows. They need not be whole: where sets were drawn, a wrong pair stands for several."""

    both: float
    found: float
    true: float

    @property
    def precision(self) -> float | None:
        """both / found."""
        return self.both / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """both / true."""
        return self.both / self.true if self.true else None

    @property
    def f1(self) -> float:
        """2·P·R / (P + R); 0 where nothing was found."""
        return harmonic(self.precision, self.recall) or 0.0

    def to_dict(self) -> dict[str, float | None]:
        """As plain values."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


class Reference(Protocol):
    """What is true of a sample."""

    kind: str
    sets: Ints  # of each row, numbered from 0
    unseen: Flags  # of each row

    def columns(self, outcome: TrialOutcome) -> Floats:
        """(both, found, true) of each row."""
        ...

    def count(self) -> str:
        """What there is, in words."""
        ...


class TrueSets:
    """Sets of documents, by labels."""

    kind = "sets"

    def __init__(self, sample: DrawnSample, share: float, seed: int) -> None:
        self.sets = numbered(np.array(sample.sets, dtype=object))
        self._weight = 1.0 / sample.share
        self.unseen = _parted(sample.sets, share, seed)[self.sets]

    def columns(self, outcome: TrialOutcome) -> Floats:
        """Partners of each document."""
        overlap = Overlap.of_groups(outcome.group, self.sets)
        wrong = (overlap.found - overlap.both) * self._weight
        return np.column_stack((overlap.both, overlap.both + wrong, overlap.true)).astype(np.float64)

    def count(self) -> str:
        """What there is, in words."""
        sizes = np.bincount(self.sets)
        return f"{int((sizes > 1).sum()):,} sets of two or more, {int((sizes == 1).sum()):,} documents alone"


class LabelledPairs:
    """Pairs that are labelled. Where others are ignored, a row is a pair; where they are different, a document."""

    kind = "pairs"

    def __init__(self, sample: DrawnSample, labels: SampleLabels, share: float, seed: int) -> None:
        number = {name: at for at, name in enumerate(sample.ids)}
        listed = [(number[a], number[b], same) for a, b, same in labels.pairs or () if a in number and b in number]
        rows = np.array(listed, np.int64).reshape(-1, 3)
        self._pairs, self._same = rows[:, :2], rows[:, 2].astype(np.bool_)
        self._complete, self._weight = labels.unlisted == "different", 1.0 / sample.share
        names = numbered(np.array(sample.sets, dtype=object))
        held = _parted(sample.sets, share, seed)
        self.sets = names if self._complete else numbered(names[self._pairs[:, 0]])
        self.unseen = held[names] if self._complete else held[names[self._pairs[:, 0]]]

    def columns(self, outcome: TrialOutcome) -> Floats:
        """Partners of each document, or whether each pair was found and is true."""
        if self._complete:
            overlap = Overlap.of_groups_and_pairs(outcome.group, self._pairs[self._same])
            wrong = (overlap.found - overlap.both) * self._weight
            return np.column_stack((overlap.both, overlap.both + wrong, overlap.true)).astype(np.float64)
        found = outcome.group[self._pairs[:, 0]] == outcome.group[self._pairs[:, 1]]
        return np.column_stack((found & self._same, found, self._same)).astype(np.float64)

    def count(self) -> str:
        """What there is, in words."""
        same = int(self._same.sum())
        return f"{same:,} pairs labelled the same, {len(self._same) - same:,} labelled different"


class ExactPairs:
    """Pairs at or above a threshold, by the exact join. Nothing is held back: the truth of the sample is complete."""

    kind = "exact"

    def __init__(self, documents: int, pairs: Ints) -> None:
        self.pairs, self._documents = pairs, documents
        self.sets = components_of(documents, pairs)
        self.unseen = np.zeros(documents, np.bool_)

    def columns(self, outcome: TrialOutcome) -> Floats:
        """Partners of each document."""
        assert outcome.pairs is not None
        overlap = Overlap.of_pairs(self._documents, outcome.pairs, self.pairs, self.sets)
        return np.column_stack((overlap.both, overlap.found, overlap.true)).astype(np.float64)

    def count(self) -> str:
        """What there is, in words."""
        return f"{len(self.pairs):,} pairs, by the exact join"


def exact_pairs(sample: DrawnSample, threshold: float, shingle_size: int, resources: Resources) -> Ints:
    """Every pair (n, 2) of the sample's documents whose resemblance reaches the threshold."""
    found = [np.empty((0, 2), np.int64)]
    ids = pa.array([f"{number:010}" for number in range(len(sample))])

    def take(table: pa.Table) -> None:
        columns = (table[name].cast(pa.int64()).to_numpy() for name in ("left_id", "right_id"))
        found.append(np.column_stack(tuple(columns)))

    with tempfile.TemporaryDirectory(prefix="roughly-tune-", dir=resources.temp) as name:
        options = ReadOptions(text_column="text", id_column="id", markup="none")
        parts = open_data(pa.table({"id": ids, "text": sample.texts}), None, options, Path(name))
        find_pairs(
            parts,
            TruthRequest(threshold=threshold, shingle_size=shingle_size),
            resources=resources,
            scratch=Path(name),
            meter=Meter(),
            take=take,
        )
    return np.concatenate(found)


def score(columns: Floats, rows: Flags) -> Score:
    """The sums over some rows."""
    both, found, true = columns[rows].sum(axis=0).tolist() if rows.any() else (0.0, 0.0, 0.0)
    return Score(both, found, true)


def intervals(truth: Reference, columns: Floats, rows: Flags, seed: int) -> dict[str, Interval | None]:
    """95 % intervals of precision, recall and F1 over some rows, by bootstrap over sets."""
    precision, recall = ratio(0, 1), ratio(0, 2)
    if not rows.any():
        return dict.fromkeys(("precision", "recall", "f1"))
    return bootstrap(
        columns[rows], numbered(truth.sets[rows]),
        {"precision": precision, "recall": recall, "f1": f1_of(precision, recall)}, seed=seed,
    )  # fmt: skip


def _parted(sets: Sequence[str], share: float, seed: int) -> Flags:
    """Of each set, in the order of `numbered`, whether it is held back: the same share of sets of two or more and of
    documents alone."""
    names, sizes = np.unique(np.array(sets, dtype=object), return_counts=True)
    held = np.zeros(len(names), np.bool_)
    for many in (True, False):
        places = np.flatnonzero((sizes > 1) == many)
        order = sorted(places.tolist(), key=lambda at: (place_of(str(names[at]), seed, "unseen"), str(names[at])))
        for rank, at in enumerate(order):
            held[at] = int((rank + 1) * share) > int(rank * share)
    return held
