"""Metrics: against plain definitions by enumeration, against values worked by hand; intervals against theory."""

from __future__ import annotations

import itertools
import random
import time

import numpy as np
import pytest

from roughly.errors import InputError, SettingsError
from roughly.tools.metrics.cluster_scores import score_clusters
from roughly.tools.metrics.intervals import bootstrap, ratio
from roughly.tools.metrics.measure import intervals_of, measure, measure_pairs
from roughly.tools.metrics.overlap import Overlap
from roughly.tools.metrics.pair_accuracy import recall_by_bin, score_documents, score_pairs
from roughly.tools.metrics.query_scores import score_matches, score_queries
from roughly.tools.metrics.utility import score_removal


def groupings(seed: int) -> tuple[np.ndarray, np.ndarray]:
    dice = random.Random(seed)
    count = dice.randint(1, 40)
    true = np.array([dice.randrange(12) for _ in range(count)])
    found = np.where([dice.random() < 0.3 for _ in range(count)], 50 + true % 5, true * 7)
    return found, true


def pairs_of(groups: np.ndarray) -> set[tuple[int, int]]:
    return {(i, j) for i, j in itertools.combinations(range(len(groups)), 2) if groups[i] == groups[j]}


@pytest.mark.parametrize("seed", range(25))
def test_pairs_and_documents_by_enumeration(seed: int) -> None:
    found, true = groupings(seed)
    one, other = pairs_of(found), pairs_of(true)
    by_groups = Overlap.of_groups(found, true)
    by_pairs = Overlap.of_pairs(len(found), np.array(sorted(one)), np.array(sorted(other)))
    for overlap in (by_groups, by_pairs):
        pairs = score_pairs(overlap)
        assert (pairs.both, pairs.found, pairs.true) == (len(one & other), len(one), len(other))
        documents = score_documents(overlap)
        assert documents.true == len({d for pair in other for d in pair})
        assert documents.found == len({d for pair in one for d in pair})
        assert documents.both == len({d for pair in one & other for d in pair})
    if one and other:
        assert pairs.precision == len(one & other) / len(one) and pairs.recall == len(one & other) / len(other)
    assert (pairs.precision is None) == (not one) and (pairs.recall is None) == (not other)


@pytest.mark.parametrize("seed", range(25))
def test_clusters_by_their_definitions(seed: int) -> None:
    found, true = groupings(seed)
    n = len(found)
    scores = score_clusters(found, true)
    share = [[np.mean(a[b == b[i]] == a[i]) for i in range(n)] for a, b in ((true, found), (found, true))]
    assert scores.bcubed_precision == pytest.approx(np.mean(share[0]))
    assert scores.bcubed_recall == pytest.approx(np.mean(share[1]))
    groups = [true[found == g] for g in np.unique(found) if (found == g).sum() > 1]
    if groups:
        pure = sum(np.unique(g, return_counts=True)[1].max() for g in groups) / sum(map(len, groups))
        assert scores.purity == pytest.approx(pure)
    sets = [found[true == s] for s in np.unique(true) if (true == s).sum() > 1]
    assert scores.sets == len(sets) and scores.clusters == len(groups)
    if sets:
        assert scores.clusters_per_set == pytest.approx(np.mean([len(np.unique(s)) for s in sets]))
    both, one, other = len(pairs_of(found) & pairs_of(true)), len(pairs_of(found)), len(pairs_of(true))
    every = n * (n - 1) / 2
    expected = one * other / every if every else 0
    rand = 1.0 if (one + other) / 2 == expected else (both - expected) / ((one + other) / 2 - expected)
    assert scores.adjusted_rand == pytest.approx(rand)


def test_adjusted_rand_by_hand_and_by_scikit_learn() -> None:
    # scikit-learn's documentation has these two
    assert score_clusters(np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1])).adjusted_rand == pytest.approx(0.5714285714)
    assert score_clusters(np.array([0, 0, 0, 0]), np.array([0, 1, 2, 3])).adjusted_rand == 0.0
    same = score_clusters(np.array([5, 5, 9, 9, 9]), np.array([1, 1, 0, 0, 0]))
    assert (same.adjusted_rand, same.bcubed_f1, same.purity, same.clusters_per_set, same.whole) == (1, 1, 1, 1, 2)


def test_against_scikit_learn() -> None:
    from sklearn import metrics

    for seed in range(20):
        found, true = groupings(seed)
        assert score_clusters(found, true).adjusted_rand == pytest.approx(metrics.adjusted_rand_score(true, found))


def test_nothing_to_measure_is_none() -> None:
    nothing = np.empty(0, np.int64)
    figures = measure(nothing, nothing)
    assert figures.pairs.precision is figures.pairs.recall is figures.pairs.f1 is None
    assert figures.clusters is not None and figures.clusters.purity is None
    assert set(figures.intervals.values()) == {None}
    alone = measure(np.arange(5), np.arange(5))
    assert alone.pairs.f1 is None and alone.clusters is not None and alone.clusters.adjusted_rand == 1.0
    with pytest.raises(InputError, match="3 documents in groups and 2 in true sets"):
        Overlap.of_groups(np.zeros(3, np.int64), np.zeros(2, np.int64))
    with pytest.raises(InputError, match="0 to 2"):
        Overlap.of_pairs(3, np.array([[0, 3]]), np.array([[0, 1]]))


def test_a_pair_listed_twice_or_turned_round_counts_once() -> None:
    overlap = Overlap.of_pairs(4, np.array([[0, 1], [1, 0], [0, 1], [2, 2]]), np.array([[1, 0], [2, 3]]))
    pairs = score_pairs(overlap)
    assert (pairs.both, pairs.found, pairs.true) == (1, 1, 2)


def test_recall_by_resemblance() -> None:
    resemblance = np.array([0.49, 0.5, 0.59999, 0.6, 0.8, 0.95, 1.0, 1.0])
    found = np.array([True, True, False, True, False, True, True, False])
    bins = {(b.low, b.high): (b.true, b.found, b.recall) for b in recall_by_bin(resemblance, found)}
    assert bins == {
        (0.5, 0.6): (2, 1, 0.5), (0.6, 0.7): (1, 1, 1.0), (0.7, 0.8): (0, 0, None), (0.8, 0.9): (1, 0, 0.0),
        (0.9, 1.0): (3, 2, 2 / 3),
    }  # fmt: skip


def test_matches_as_arrays_and_as_sets() -> None:
    spam = np.array([True] * 5 + [False] * 3)
    results = [({1, 2, 5}, {1, 2, 3, 4}), (set(), {3}), ({4}, set())]
    rows = [
        np.array([(q, d) for q, pair in enumerate(results) for d in pair[side]] * 2, np.int64) for side in (0, 1)
    ]  # each twice: counted once
    scores = score_matches(rows[0], rows[1], 3, spam)
    assert scores == score_queries(results, spam)
    assert scores.utility == pytest.approx(((2 - 100) + 0 + 1) / 3) and scores.legitimate == 1
    assert score_queries(results, spam, cost=1).utility == pytest.approx((1 + 0 + 1) / 3)


def test_what_removal_was_worth() -> None:
    kept, witness = np.array([True, False, False, True]), np.array([0, 0, 3, 3])
    by_sets = score_removal(kept, witness, sets=np.array([7, 7, 7, 8]))
    by_pairs = score_removal(kept, witness, pairs=np.array([[1, 0], [0, 2]]))
    assert by_sets == by_pairs and (by_sets.right, by_sets.wrong, by_sets.utility) == (1, 1, -99.0)


def test_an_interval_is_the_same_for_one_seed_and_near_what_theory_says() -> None:
    stream = np.random.default_rng(1)
    count, share = 4000, 0.3
    columns = np.column_stack((stream.random(count) < share, np.ones(count))).astype(np.float64)
    sets = np.arange(count)
    first, again, other = (bootstrap(columns, sets, {"x": ratio(0, 1)}, seed=s)["x"] for s in (1, 1, 2))
    assert first == again != other and first is not None
    mean = columns[:, 0].mean()
    half = 1.96 * np.sqrt(mean * (1 - mean) / count)
    assert first.low == pytest.approx(mean - half, abs=0.1 * half)
    assert first.high == pytest.approx(mean + half, abs=0.1 * half)


def test_sets_are_drawn_whole() -> None:
    """Forty documents to a set, all alike: the interval is that of the sets, √40 times as wide as of the documents."""
    stream = np.random.default_rng(2)
    value = np.repeat(stream.random(300) < 0.5, 40).astype(np.float64)
    columns = np.column_stack((value, np.ones(len(value))))
    whole = bootstrap(columns, np.repeat(np.arange(300), 40), {"x": ratio(0, 1)})["x"]
    single = bootstrap(columns, np.arange(len(value)), {"x": ratio(0, 1)})["x"]
    assert whole is not None and single is not None
    assert (whole.high - whole.low) / (single.high - single.low) == pytest.approx(np.sqrt(40), rel=0.1)
    with pytest.raises(SettingsError, match="draws must be a whole number from 1"):
        bootstrap(columns, np.arange(len(value)), {}, draws=0)


def test_intervals_hold_the_figures_and_are_quick_for_a_million() -> None:
    stream = np.random.default_rng(3)
    true = np.arange(1_000_000)
    true[:200_000] = stream.integers(0, 60_000, 200_000)
    found = np.where(stream.random(len(true)) < 0.1, np.arange(len(true)) + 2_000_000, true)
    started = time.process_time()
    figures = measure(found, true)
    assert time.process_time() - started < 20
    values = figures.to_dict()
    for name, interval in figures.intervals.items():
        part, key = name.split(".")
        assert interval is not None and interval.low <= values[part][key] <= interval.high, name
    assert figures.pairs.precision == 1.0 and 0.8 < (figures.pairs.recall or 0) < 0.82


def test_pairs_that_are_not_transitive() -> None:
    found, true = np.array([[0, 1], [2, 3]]), np.array([[0, 1], [1, 2]])
    figures = measure_pairs(
        5, found, true, resemblance=np.array([0.95, 0.82]), groups=np.array([0, 0, 2, 2, 4]), draws=50
    )
    assert (figures.pairs.both, figures.pairs.found, figures.pairs.true) == (1, 2, 2)
    assert figures.clusters is not None and figures.clusters.clusters_per_set == 2.0
    assert [b.recall for b in figures.bins if b.true] == [0.0, 1.0]
    overlap = Overlap.of_pairs(5, found, true)
    assert "clusters.bcubed_f1" not in intervals_of(overlap, clusters=False, draws=10)
