"""Pairs that share a bucket, tallies of trials, keys of tuples: those of the twins."""

from __future__ import annotations

import kernel_twins as twins
import numpy as np
import pytest
import sketch_twins as plain
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels import pairs, tuples, windows

MASK = 2**64 - 1
SMALL = st.lists(st.integers(0, 12), max_size=10).map(lambda v: sorted(set(v)))


def incidence(groups: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Documents' buckets and buckets' documents, a bucket a value."""
    buckets, doc_offsets = twins.flat(groups)
    order = np.argsort(buckets, kind="stable")
    owners = np.repeat(np.arange(len(groups)), np.diff(doc_offsets))
    bucket_offsets = np.r_[0, np.cumsum(np.bincount(buckets.astype(np.int64), minlength=13))]
    return doc_offsets, buckets.astype(np.uint32), bucket_offsets, owners[order].astype(np.uint32)


@given(st.lists(SMALL, min_size=1, max_size=8), st.integers(1, 5))
def test_pairs_that_share_a_value_each_once(groups: list[list[int]], limit: int) -> None:
    arrays = incidence(groups)
    found: list[list[int]] = []
    d = 0
    while d < len(groups):
        some, d = pairs.pairs_sharing(d, *arrays, limit)
        found += some.tolist()
    wanted = [[d, k] for d in range(len(groups)) for k in range(d) if set(groups[d]) & set(groups[k])]
    assert sorted(found) == wanted


@given(st.lists(st.lists(st.integers(0, MASK), max_size=20), min_size=2, max_size=4), st.integers(0, 3))
def test_tallies_are_those_of_the_twin(groups: list[list[int]], levels: int) -> None:
    sets = [sorted({*group, *groups[0][: 5 + n]}) for n, group in enumerate(groups)]
    values, offsets = twins.flat(sets)
    listed = [(d, k) for d in range(len(sets)) for k in range(d)]
    thresholds = [0.1, 0.5, 0.9]
    right, wrong = np.zeros((2, levels + 1, 3), np.int64), np.zeros((2, levels + 1, 3), np.int64)
    true = np.zeros((2, 3), np.int64)
    windows.tally(
        values,
        offsets,
        np.array(listed),
        np.ones(len(listed), np.int64),
        levels,
        np.array(thresholds),
        right,
        wrong,
        true,
    )
    wanted = plain.tally([set(s) for s in sets], listed, levels, thresholds)
    assert (right[1].tolist(), wrong[1].tolist(), true[1].tolist()) == wanted
    assert not right[0].any() and not wrong[0].any() and not true[0].any()
    assert not wrong[1, 0].any()  # a sample of everything makes no mistake


@given(st.lists(st.lists(st.integers(0, MASK) | st.integers(0, 2), max_size=30), max_size=4), st.integers(1, 5))
def test_word_keys_are_those_of_the_twin(documents: list[list[int]], words: int) -> None:
    multipliers, increments = [1, 2**31 + 5, 77], [0, 9, 2**32 - 1]
    found = tuples.word_keys(
        *twins.flat(documents), words, np.array(multipliers, np.uint32), np.array(increments, np.uint32)
    )
    assert found.tolist() == [plain.word_keys(tokens, words, multipliers, increments) for tokens in documents]


@given(st.lists(st.lists(st.integers(0, MASK), min_size=4, max_size=4), min_size=1, max_size=3))
def test_pair_keys_are_those_of_the_twin(supers: list[list[int]]) -> None:
    assert tuples.pair_keys(np.array(supers, np.uint64)).tolist() == [plain.pair_keys(row) for row in supers]


def test_tables_that_make_no_pairs_are_refused() -> None:
    with pytest.raises(TypeError, match="two columns"):
        tuples.pair_keys(np.ones((3, 1), np.uint64))
    with pytest.raises(ValueError, match="at least 1 word, not 0"):
        tuples.word_keys(*twins.flat([[1]]), 0, np.ones(1, np.uint32), np.ones(1, np.uint32))
