"""Shingle sets: those of the twin, sorted and distinct, with no slow case."""

from __future__ import annotations

import time

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.features.shingle_sets import Sets
from roughly.features.shingle_sets import shingle_sets as sets_of
from roughly.kernels import shingles, sorting
from roughly.text.canonical import Tokens

TOKEN = st.integers(0, 2**64 - 1) | st.integers(0, 3)
DOCUMENTS = st.lists(st.lists(TOKEN, max_size=80), max_size=5)


@given(DOCUMENTS, st.integers(1, 64))
def test_sets_are_those_of_the_twin(documents: list[list[int]], size: int) -> None:
    values, offsets = shingles.shingle_sets(*twins.flat(documents), size)
    assert twins.split(values, offsets) == [twins.shingle_set(tokens, size) for tokens in documents]


def test_a_short_document_is_one_shingle_and_an_empty_one_none() -> None:
    found = sets_of(Tokens(*twins.flat([[1, 2, 3], [], [7], [1, 2, 3, 4, 5]])), 5)
    assert isinstance(found, Sets)
    assert len(found) == 4
    assert np.diff(found.offsets).tolist() == [1, 0, 1, 1]


def test_order_counts_and_repeats_do_not() -> None:
    a, b, c = 11, 22, 33
    sets = twins.split(*shingles.shingle_sets(*twins.flat([[a, b, c], [c, b, a], [a, b, c, a, b, c, a, b, c]]), 3))
    assert sets[0] != sets[1]
    assert len(sets[2]) == 3
    assert sets[0][0] in sets[2]


@given(st.lists(TOKEN, min_size=70, max_size=90))
def test_offsets_need_not_start_at_zero(tokens: list[int]) -> None:
    values, _ = shingles.shingle_sets(np.array(tokens, np.uint64), np.array([3, 60], np.int64), 5)
    assert values.tolist() == twins.shingle_set(tokens[3:60], 5)


def test_golden_sets() -> None:
    values, offsets = shingles.shingle_sets(*twins.flat([[1, 2, 3, 4], [1]]), 2)
    assert ([f"{v:016x}" for v in values.tolist()], offsets.tolist()) == (
        ["0000000000000000", "78f358922fbc3434", "a753b60096c64a45", "3c79ac4917de1a1a"],
        [0, 3, 4],
    )


@pytest.mark.parametrize("kind", ["uniform", "equal", "two", "one bucket", "rising", "falling"])
@pytest.mark.parametrize("n", [0, 1, 2, 24, 25, 1000, 100_000])
def test_sorting_has_no_bad_case(kind: str, n: int) -> None:
    random = np.random.default_rng(n)
    values = {
        "uniform": random.integers(0, 2**64, n, dtype=np.uint64),
        "equal": np.full(n, 7, np.uint64),
        "two": random.integers(0, 2, n, dtype=np.uint64) * np.uint64(3),
        "one bucket": random.integers(0, 2**40, n, dtype=np.uint64),
        "rising": np.arange(n, dtype=np.uint64),
        "falling": np.arange(n, dtype=np.uint64)[::-1].copy(),
    }[kind]
    started = time.thread_time()
    out = sorting.sort_hashes(values)
    assert time.thread_time() - started < 0.5  # a quadratic sort of 100,000 takes seconds
    assert out.tolist() == sorted(values.tolist())


def test_sizes_that_no_shingle_has_are_refused() -> None:
    for size in (0, -1, 129):
        with pytest.raises(ValueError, match=f"1 to 128 tokens, not {size}"):
            shingles.shingle_sets(*twins.flat([[1]]), size)
