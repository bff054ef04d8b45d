"""Intersections: the sizes that Python's own sets give, by merging and by galloping, and the early stop."""

from __future__ import annotations

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels import sets

VALUES = st.integers(0, 300) | st.integers(0, 2**64 - 1)
SETS = st.lists(st.sets(VALUES, max_size=150).map(sorted), min_size=1, max_size=5)


@given(SETS)
def test_sizes_are_those_of_python_sets(groups: list[list[int]]) -> None:
    values, offsets = twins.flat(groups)
    left, right = (side.ravel() for side in np.mgrid[0 : len(groups), 0 : len(groups)].astype(np.int64))
    found = sets.intersections(values, offsets, left, right)
    assert found.dtype == np.int64
    assert found.tolist() == [len(set(groups[i]) & set(groups[j])) for i, j in zip(left, right, strict=True)]


@pytest.mark.parametrize("ratio", [1, 2, 15, 16, 17, 200])
@pytest.mark.parametrize("small", [1, 7, 100])
def test_sizes_of_unequal_sets(small: int, ratio: int) -> None:
    random = np.random.default_rng(ratio)
    large = np.unique(random.integers(0, 2**64, small * ratio, dtype=np.uint64))
    picked = random.choice(large, (small + 1) // 2, replace=False)
    mixed = np.unique(np.concatenate([picked, random.integers(0, 2**64, small // 2, dtype=np.uint64)]))
    values, offsets = twins.flat([mixed.tolist(), large.tolist()])
    expected = len(set(mixed.tolist()) & set(large.tolist()))
    assert sets.intersections(values, offsets, np.array([0, 1]), np.array([1, 0])).tolist() == [expected] * 2


@given(SETS, st.integers(-2, 160))
def test_the_early_stop_is_right(groups: list[list[int]], need: int) -> None:
    values, offsets = twins.flat(groups)
    truth = len(set(groups[0]) & set(groups[-1]))
    bounds = (int(offsets[0]), int(offsets[1]), int(offsets[-2]), int(offsets[-1]))
    assert int(sets.intersect(values, *bounds)) == truth
    found = sets.intersect_at_least(values, *bounds, need)
    assert int(found) == (truth if truth >= need else -1)


def test_the_early_stop_takes_galloping_too() -> None:
    values, offsets = twins.flat([[5, 10, 2**64 - 1], list(range(1000))])
    bounds = (*offsets[:2].tolist(), *offsets[1:].tolist())
    assert [int(sets.intersect_at_least(values, *bounds, need)) for need in (0, 2, 3, 4)] == [2, 2, -1, -1]


def test_no_pairs_and_empty_sets() -> None:
    values, offsets = twins.flat([[], [1, 2]])
    none = np.empty(0, np.int64)
    assert sets.intersections(values, offsets, none, none).tolist() == []
    assert sets.intersections(values, offsets, np.array([0, 0, 1]), np.array([0, 1, 1])).tolist() == [0, 0, 2]


def test_numbers_of_sets_that_do_not_exist_are_refused() -> None:
    values, offsets = twins.flat([[1], [2]])
    one = np.array([1])
    for wrong in (-1, 2):
        with pytest.raises(ValueError, match="right must contain numbers of sets, 0 to 1"):
            sets.intersections(values, offsets, one, np.array([wrong]))
    with pytest.raises(ValueError, match="do not pair up"):
        sets.intersections(values, offsets, one, np.array([0, 1]))
