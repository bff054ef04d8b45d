"""What a trial is compared with, of three kinds with one interface: (both, found, true) of each true set.

| kind | true is | wrong is |
|---|---|---|
| `LabelledSets` | a pair within a set, or a listed pair | a pair of two sets; with others as `unlisted` says |
| `LabelledPairs` | a pair listed as the same | a pair listed as different |
| `ExactPairs` | a pair at or above the threshold, by the exact join | any other |

A pair counts at both of its ends, so sums over sets are twice the numbers of pairs.

With labels, whole sets are drawn. A sample of the share s of all sets has s of the true pairs but s² of the others, so
each wrong one has the weight 1/s: otherwise a sample would overestimate every method's precision. In the same way a
wrong pair with one of the unlabelled documents, of which the share u was drawn, has the weight 1/u.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.amounts import counted
from roughly.fast_dataclass import dataclass
from roughly.meter import Meter
from roughly.settings import ReadOptions, Resources
from roughly.sources import open_data
from roughly.tools.metrics.overlap import Flags, Overlap, components_of, numbered, pair_numbers
from roughly.tools.metrics.pair_accuracy import Shares
from roughly.tools.truth.find import find_pairs
from roughly.tools.truth.request import TruthRequest
from roughly.tools.tune.draw import DrawnSample, Ints
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.trial import TrialOutcome

Floats = npt.NDArray[np.floating[Any]]


class Score(Shares):
    """Sums over rows. If sets were drawn, a wrong pair has a weight above 1. F1 is 0 if nothing was found."""

    @property
    def f1(self) -> float:
        """2·P·R / (P + R)."""
        return super().f1 or 0.0


@dataclass(frozen=True)
class PairLabels:
    """What is known of pairs: whether they are the same, and how much each counts for the sets of its two documents."""

    same: Flags
    sets: Ints  # (n, 2): the set of either document; −1: none
    weights: Floats  # (n, 2): 0 where nothing is known
    sampled: bool = False  # each was drawn for as many pairs as its weight says


class Reference(Protocol):
    """The truth of a sample."""

    kind: str
    true_sets: int  # sets of two or more, or with a true pair

    def columns(self, outcome: TrialOutcome) -> Floats:
        """(both, found, true) of each set."""
        ...

    def count(self) -> str:
        """A description of the truth."""
        ...


class LabelledReference(Reference, Protocol):
    """A truth by labels."""

    def pair_labels(self, pairs: Ints) -> PairLabels:
        """What is known of each pair (n, 2)."""
        ...


class LabelledSets:
    """Sets of documents, or pairs that are the same; documents without a label are different from those with one."""

    def __init__(self, sample: DrawnSample, labels: SampleLabels) -> None:
        self.kind = "sets" if labels.pairs is None else "pairs"
        own = [f"document:{i}" if s is None else s for i, s in zip(sample.ids, sample.sets, strict=True)]
        self._sets = numbered(np.array(own, dtype=object))
        self._labelled = np.array([name is not None for name in sample.sets], np.bool_)
        self._complete, self._outside = labels.unlisted == "different", labels.unlisted != "ignore"
        self._pairs = None if labels.pairs is None else _listed(sample, labels)[0]
        self._weights = 1.0 / sample.share, 1.0 / sample.outside, sample.share / sample.outside**2
        rows = np.ones(len(own), np.bool_) if self._complete else self._labelled
        self._rows = np.full(int(self._sets.max(initial=-1)) + 1, -1)
        self._rows[np.unique(self._sets[rows])] = np.arange(len(np.unique(self._sets[rows])))
        self.true_sets = int((self.columns(TrialOutcome(np.arange(len(own)), None, 0.0, 0.0))[:, 2] > 0).sum())

    def columns(self, outcome: TrialOutcome) -> Floats:
        """Partners of the documents of each set."""
        group, sets, labelled = numbered(outcome.group), self._sets, self._labelled
        alike = Overlap.of_groups(group, sets)
        both, true, own = alike.both, alike.true, alike.both
        if self._pairs is not None:
            listed = Overlap.of_groups_and_pairs(group, self._pairs)
            both, true = listed.both, listed.true
            own = alike.both if not self._complete else listed.both  # partners in the set that are not wrong
        inside = np.bincount(group, weights=labelled)[group]
        outside = np.bincount(group)[group] - inside
        of_labels, of_outside, among_outside = self._weights
        wrong = np.where(labelled, (inside - own - 1) * of_labels, 0.0)
        if self._complete:
            wrong += np.where(labelled, outside * of_outside, inside * of_outside + (outside - 1) * among_outside)
        elif self._outside:
            wrong += np.where(labelled, 2 * outside * of_outside, 0.0)
        return self._by_set(both, both + wrong, true)

    def pair_labels(self, pairs: Ints) -> PairLabels:
        """Pairs of one set are the same, pairs of two are not; listed pairs as they are listed."""
        own, labelled = self._sets[pairs], self._labelled[pairs]
        inside = own[:, 0] == own[:, 1]
        same = inside
        weights = np.where(labelled, 1.0, 0.0)
        if self._pairs is not None:
            documents = len(self._sets)
            numbers = pairs.min(axis=1) * documents + pairs.max(axis=1)
            same = np.isin(numbers, pair_numbers(self._pairs, documents))
            weights[inside & ~same] = 0.0 if not self._complete else 1.0
        if self._complete:
            weights[:] = np.maximum(weights, 1.0)
        elif not self._outside:
            weights[~labelled.all(axis=1)] = 0.0
        return PairLabels(same, self._rows[own], weights)

    def _by_set(self, *columns: npt.NDArray[Any]) -> Floats:
        rows = self._rows[self._sets]
        use = rows >= 0
        count = int(rows.max(initial=-1)) + 1
        return np.column_stack([np.bincount(rows[use], weights=one[use], minlength=count) for one in columns])

    def count(self) -> str:
        """A description of the truth."""
        sizes = np.bincount(self._sets[self._labelled])
        sets = counted(int((sizes > 1).sum()), "set")
        alone = int((sizes == 1).sum()) if self._pairs is None else 0
        pairs = "" if self._pairs is None else f" from {counted(len(self._pairs), 'pair')}"
        return (
            f"{sets} of two or more{pairs}, {counted(alone, 'labelled document')} alone, "
            f"{int((~self._labelled).sum()):,} without a label"
        )


class NamedDocuments(Protocol):
    """Documents by their ids, with the name of the set of each."""

    ids: list[str]
    sets: list[str | None]


class LabelledPairs:
    """Labelled pairs, the same and different ones; nothing else counts."""

    kind = "pairs"

    def __init__(self, sample: NamedDocuments, labels: SampleLabels) -> None:
        same, different, weights = _listed(sample, labels)
        self._pairs = np.concatenate((same, different))
        self._same = np.arange(len(self._pairs)) < len(same)
        self._weights = 2 * weights  # a pair has two ends
        names = numbered(np.array([str(name) for name in sample.sets], dtype=object))
        self._sets = numbered(names[self._pairs[:, 0]])
        self.true_sets = len(np.unique(self._sets[self._same]))

    def columns(self, outcome: TrialOutcome) -> Floats:
        """Whether each pair was found and is true, by the set of its first document."""
        found = outcome.group[self._pairs[:, 0]] == outcome.group[self._pairs[:, 1]]
        columns = (found & self._same, found, self._same)
        return np.column_stack([np.bincount(self._sets, weights=one * self._weights) for one in columns])

    def pair_labels(self, pairs: Ints) -> PairLabels:
        """Listed pairs as they are listed; nothing is known of others."""
        documents = int(max(self._pairs.max(initial=0), pairs.max(initial=0))) + 1
        numbers = self._pairs[:, 0] * documents + self._pairs[:, 1]
        order = np.argsort(numbers)
        own = pairs.min(axis=1) * documents + pairs.max(axis=1)
        at = order[np.minimum(np.searchsorted(numbers, own, sorter=order), len(order) - 1)]
        known = numbers[at] == own
        sets = np.where(known, self._sets[at], -1)
        weights = np.where(known, self._weights[at] / 2, 0.0)
        ends = np.column_stack((sets, sets)), np.column_stack((weights, weights))
        return PairLabels(known & self._same[at], *ends, sampled=True)

    def count(self) -> str:
        """A description of the truth."""
        same = int(self._same.sum())
        return f"{same:,} pairs labelled the same, {len(self._same) - same:,} labelled different"


def truth_of(sample: DrawnSample, labels: SampleLabels) -> LabelledReference:
    """The truth by labels."""
    if labels.pairs is not None and labels.unlisted == "ignore":
        return LabelledPairs(sample, labels)
    return LabelledSets(sample, labels)


def _listed(sample: NamedDocuments, labels: SampleLabels) -> tuple[Ints, Ints, Floats]:
    """(pairs that are the same, pairs that are different, the weights of both) of documents in the sample."""
    number = {name: at for at, name in enumerate(sample.ids)}
    weights = labels.weights or [1.0] * len(labels.pairs or ())
    rows: dict[tuple[int, int], tuple[bool, float]] = {}
    for (left, right, same), weight in zip(labels.pairs or (), weights, strict=True):
        a, b = number.get(left, -1), number.get(right, -1)
        if min(a, b) >= 0 and a != b:
            rows[min(a, b), max(a, b)] = same, weight
    ordered = sorted(rows, key=lambda pair: (not rows[pair][0], pair))
    pairs = np.array(ordered, np.int64).reshape(-1, 2)
    count = sum(same for same, _ in rows.values())
    return pairs[:count], pairs[count:], np.array([rows[pair][1] for pair in ordered], np.float64)


class ExactPairs:
    """Pairs at or above a threshold, by the exact join."""

    kind = "exact"

    def __init__(self, documents: int, pairs: Ints) -> None:
        self.pairs, self._documents = pairs, documents
        self._sets = components_of(documents, pairs)
        self.true_sets = int((np.bincount(self._sets) > 1).sum())

    def columns(self, outcome: TrialOutcome) -> Floats:
        """Partners of the documents of each set."""
        assert outcome.pairs is not None
        overlap = Overlap.of_pairs(self._documents, outcome.pairs, self.pairs, self._sets)
        columns = (overlap.both, overlap.found, overlap.true)
        return np.column_stack([np.bincount(self._sets, weights=one) for one in columns])

    def count(self) -> str:
        """A description of the truth."""
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


def score(columns: Floats, sets: Flags | None = None) -> Score:
    """The sums over all sets, or over some."""
    both, found, true = (columns if sets is None else columns[sets]).sum(axis=0).tolist()
    return Score(both, found, true)
