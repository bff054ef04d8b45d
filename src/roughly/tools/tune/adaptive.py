"""Adaptive sampling: the smallest sampling ratio for each group of lengths that keeps a precision (Ye 2008).

The result of unsampled detection is the truth (§5). With P the pairs whose resemblance, on all shingles, reaches t, and
P_S those whose estimate from a sample does:

    precision = |P ∩ P_S| / |P_S|          recall = |P ∩ P_S| / |P|

At the ratio 1/2^l there are 2^l equivalent samples; precision and recall are those of all of them together. A
pair belongs to the group of its longer document, at whose ratio it is compared. Exact duplicates are collapsed
first (§4.2).

The adaptive strategy (§6) uses for each group the smallest ratio with the required precision, and here with a minimum
recall as well. Longer documents need less, so a group with fewer true pairs than `LEAST` has the ratio of the next
shorter group that has more; if there is none, the ratio is 1.

Departures: the paper's sizes of groups are unreadable in our copy, so groups double from 100 tokens on, as V_i of
Broder 1997; trials are ranges of the hash and not remainders; ratios are powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Candidates
from roughly.cluster.common_keys import CommonLimit
from roughly.cluster.in_memory import candidates_of, equivalent, longest_first, work_of
from roughly.cluster.scoring import slice_of
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.features.sampling import Groups, Sampling
from roughly.features.sketch import Ints, Sketch, estimate, reduce
from roughly.methods.method import Keys
from roughly.settings import Resources

LEVELS = 6
"""The finest ratio is 1/2^6."""
LEAST = 5
"""Number of true pairs that a group needs for a meaningful precision."""
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Study:
    """Pairs found by sampled detection, right and wrong, by group × level × threshold."""

    bounds: tuple[int, ...]  # most tokens of each group; the last group has no bound
    thresholds: tuple[float, ...]
    right: Ints  # (groups, levels + 1, thresholds), summed over all trials
    wrong: Ints
    true: Ints  # (groups, thresholds): found by unsampled detection
    documents: Ints  # by group
    shingles: Ints  # by group
    collapsed: int  # exact duplicates
    pairs: int  # pairs that share a shingle
    empty: int  # documents without words, which are left out

    @property
    def names(self) -> list[str]:
        """The groups, in tokens."""
        starts = [0, *self.bounds]
        return [f"{a + 1}–{b}" for a, b in zip(starts, self.bounds, strict=False)] + [f"over {starts[-1]}"]

    @property
    def ratios(self) -> list[float]:
        """1, 1/2, 1/4, …"""
        return [0.5**level for level in range(self.right.shape[1])]

    @cached_property
    def precision(self) -> Floats:
        """|P ∩ P_S| / |P_S|, NaN if nothing was found."""
        share: Floats = _share(self.right, self.right + self.wrong)
        return share

    @cached_property
    def recall(self) -> Floats:
        """|P ∩ P_S| / |P|, NaN if there is nothing to find."""
        trials = 2 ** np.arange(self.right.shape[1])
        share: Floats = _share(self.right, self.true[:, None, :] * trials[None, :, None])
        return share

    def overall(self, level: int) -> tuple[Floats, Floats]:
        """Precision and recall of all groups together at one ratio, by threshold."""
        right, wrong = self.right[:, level].sum(0), self.wrong[:, level].sum(0)
        return _share(right, right + wrong), _share(right, self.true.sum(0) * 2**level)

    def at(self, threshold: float) -> int:
        """The position of a threshold."""
        return self.thresholds.index(threshold)

    def keeps(self, group: int, level: int, at: int, precision: float, recall: float) -> bool:
        """Whether a ratio reaches the goal."""
        kept = self.precision[group, level, at] >= precision and self.recall[group, level, at] >= recall
        return bool(kept)

    def choose(self, threshold: float, precision: float, recall: float = 0.0) -> list[int]:
        """The level of each group: the finest ratio that reaches both goals, or that of the next shorter group."""
        at = self.at(threshold)
        levels: list[int] = []
        for group in range(len(self.true)):
            if self.true[group, at] < LEAST:
                levels.append(levels[-1] if levels else 0)
                continue
            kept = [n for n in range(len(self.ratios)) if self.keeps(group, n, at, precision, recall)]
            levels.append(max(kept, default=0))
        return levels

    def uniform(self, threshold: float, precision: float, recall: float = 0.0) -> int:
        """The finest level that reaches both goals in every group with enough pairs."""
        at = self.at(threshold)
        usable = [group for group in range(len(self.true)) if self.true[group, at] >= LEAST]
        for level in range(len(self.ratios) - 1, 0, -1):
            if usable and all(self.keeps(group, level, at, precision, recall) for group in usable):
                return level
        return 0

    def share(self, levels: Sequence[int]) -> float:
        """The fraction of all shingles that these ratios keep."""
        return float((self.shingles * 0.5 ** np.array(levels)).sum() / max(int(self.shingles.sum()), 1))

    def groups(self, levels: Sequence[int]) -> Groups:
        """The groups of a `Sampling`: bounds with ratios, neighbours of one ratio as one. The last has no bound."""
        bounds = [*self.bounds, 2 * self.bounds[-1] if self.bounds else 100]
        groups = [(bound, 0.5**level) for bound, level in zip(bounds, levels, strict=True)]
        return tuple(
            group for group, later in zip(groups, [*groups[1:], (0, 0.0)], strict=True) if group[1] != later[1]
        )


@dataclass(frozen=True)
class SamplingCheck:
    """Precision and recall of one sampling as it runs: one sample, pairs compared at the smaller limit."""

    precision: Floats  # by group, NaN if nothing was found
    recall: Floats
    overall_precision: float
    overall_recall: float
    share: float  # of all shingles


@dataclass(frozen=True)
class StudySample:
    """The documents of a study: full sets, lengths and pairs, exact duplicates collapsed."""

    sets: Sketch
    tokens: Ints
    sharing: Ints  # the documents that share a shingle which is not too common
    candidates: Candidates
    collapsed: int
    empty: int  # documents without words

    @classmethod
    def of(cls, sets: Sketch, tokens: Ints, common: int) -> StudySample:
        """From full shingle sets, one per document."""
        if len(tokens) < 2:
            raise InputError("a sample of fewer than two documents has no pairs to learn from; give more documents")
        first = equivalent(sets, longest_first(tokens))
        has_words = np.diff(sets.offsets) > 0
        leaders = np.flatnonzero((first == np.arange(len(tokens))) & has_words)
        leader_sets = slice_of(sets, leaders)
        sharing, candidates, _ = candidates_of(
            Keys(leader_sets.values, leader_sets.offsets),
            np.arange(len(leaders)),
            common=CommonLimit(common),
            work=work_of(Resources()),
        )
        empty = int((~has_words).sum())
        return cls(leader_sets, tokens[leaders], sharing, candidates, len(tokens) - empty - len(leaders), empty)

    def pairs(self) -> Iterator[Ints]:
        """Batches of pairs (document, other) that share a shingle which is not too common."""
        return (self.sharing[found] for found in self.candidates.pairs())

    def group_of(self, pairs: Ints, bounds: Sequence[int]) -> Ints:
        """The group of each pair: that of its longer document."""
        return np.searchsorted(np.array(bounds), np.maximum(self.tokens[pairs[:, 0]], self.tokens[pairs[:, 1]]))


def study(
    sample: StudySample, bounds: Sequence[int], thresholds: Sequence[float] = THRESHOLDS, levels: int = LEVELS
) -> Study:
    """Sampled against unsampled detection on the pairs of a sample."""
    from roughly.kernels.windows import tally

    groups = len(bounds) + 1
    right, wrong = np.zeros((2, groups, levels + 1, len(thresholds)), np.int64)
    true = np.zeros((groups, len(thresholds)), np.int64)
    count = 0
    for pairs in sample.pairs():
        group = sample.group_of(pairs, bounds)
        tally(
            sample.sets.values, sample.sets.offsets, pairs, group, levels, np.array(thresholds, np.float64), right,
            wrong, true,
        )  # fmt: skip
        count += len(pairs)
    of_each = np.searchsorted(np.array(bounds), sample.tokens)
    return Study(
        tuple(bounds), tuple(thresholds), right, wrong, true,
        np.bincount(of_each, minlength=groups),
        np.bincount(of_each, weights=np.diff(sample.sets.offsets), minlength=groups).astype(np.int64),
        sample.collapsed, count, sample.empty,
    )  # fmt: skip


def check(sample: StudySample, sampling: Sampling, bounds: Sequence[int], threshold: float) -> SamplingCheck:
    """The scores of a sampling on the sample, as `shingles` would run it."""
    from roughly.kernels.sets import intersections

    cut = reduce(sample.sets, sampling.limits(sample.tokens))
    groups = len(bounds) + 1
    right, found, true = np.zeros((3, groups), np.int64)
    sizes = np.diff(sample.sets.offsets)
    for pairs in sample.pairs():
        left, other = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        shared = intersections(sample.sets.values, sample.sets.offsets, left, other)
        is_true = shared / (sizes[left] + sizes[other] - shared) >= threshold
        guess = np.nan_to_num(estimate(cut, left, other).resemblance) >= threshold
        group = sample.group_of(pairs, bounds)
        right += np.bincount(group, weights=is_true & guess, minlength=groups).astype(np.int64)
        found += np.bincount(group, weights=guess, minlength=groups).astype(np.int64)
        true += np.bincount(group, weights=is_true, minlength=groups).astype(np.int64)
    whole = max(len(sample.sets.values), 1)
    return SamplingCheck(
        _share(right, found), _share(right, true),
        float(_share(right.sum(), found.sum())), float(_share(right.sum(), true.sum())),
        len(cut.values) / whole,
    )  # fmt: skip


def default_bounds(tokens: Ints) -> tuple[int, ...]:
    """100, 200, 400, … up to the longest documents of a sample."""
    longest = int(tokens.max(initial=0))
    return tuple(100 * 2**i for i in range(20) if 100 * 2**i < longest)


def _share(part: Any, whole: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(part, whole)
