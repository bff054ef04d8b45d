"""Sketches: samples and estimates are those of the twin, for any documents, sizes and limits."""

from __future__ import annotations

import kernel_twins as twins
import numpy as np
import pytest
import sketch_twins as plain
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels import sketches

MASK = 2**64 - 1
TOKEN = st.integers(0, MASK) | st.integers(0, 3)
DOCUMENTS = st.lists(st.lists(TOKEN, max_size=80), max_size=5)
LIMIT = st.sampled_from([MASK, MASK // 2, MASK // 25, MASK >> 5, 2**64 // 3 - 1, 1, 0]) | st.integers(0, MASK)


@given(DOCUMENTS, st.integers(1, 64), st.data())
def test_samples_are_those_of_the_twin(documents: list[list[int]], size: int, data: st.DataObject) -> None:
    limits = [data.draw(LIMIT) for _ in documents]
    found = sketches.samples(*twins.flat(documents), size, np.array(limits, np.uint64))
    wanted = [plain.sample(tokens, size, limit) for tokens, limit in zip(documents, limits, strict=True)]
    assert twins.split(*found) == wanted


@given(DOCUMENTS, st.integers(1, 64), st.integers(1, 90))
def test_the_smallest_are_those_of_the_twin(documents: list[list[int]], size: int, most: int) -> None:
    values, offsets, limits = sketches.smallest(*twins.flat(documents), size, most)
    wanted = [plain.smallest(tokens, size, most) for tokens in documents]
    assert list(zip(twins.split(values, offsets), limits.tolist(), strict=True)) == wanted


def test_the_smallest_of_long_and_of_repeated_documents() -> None:
    random = np.random.default_rng(3)
    long = random.integers(0, 2**64, 20_000, dtype=np.uint64).tolist()
    repeated = (random.integers(0, 2**64, 300, dtype=np.uint64).tolist() * 40)[:11_000]
    values, offsets, limits = sketches.smallest(*twins.flat([long, repeated]), 5, 200)
    wanted = [plain.smallest(tokens, 5, 200) for tokens in (long, repeated)]
    assert list(zip(twins.split(values, offsets), limits.tolist(), strict=True)) == wanted
    whole, _, unlimited = sketches.smallest(*twins.flat([repeated]), 5, 400)
    assert (len(whole), unlimited.tolist()) == (300, [MASK])


VALUES = st.lists(st.integers(0, 40) | st.integers(0, MASK), max_size=40).map(lambda v: sorted(set(v)))


@given(VALUES, VALUES, LIMIT | st.integers(0, 40), LIMIT | st.integers(0, 40), st.integers(0, 50))
def test_estimates_are_those_of_the_twin(a: list[int], b: list[int], limit_a: int, limit_b: int, most: int) -> None:
    limits = np.array([limit_a, limit_b], np.uint64)
    counts, reach = sketches.estimates(*twins.flat([a, b]), limits, most, np.array([0, 1]), np.array([1, 0]))
    shared, mine, theirs = plain.estimate(a, limit_a, b, limit_b, most)
    assert counts.tolist() == [[shared, mine, theirs], [shared, theirs, mine]]
    cut = min(limit_a, limit_b)
    union = sorted({v for v in [*a, *b] if v <= cut})
    assert reach.tolist() == [union[most - 1] if most and len(union) >= most else cut] * 2


def test_golden_sketches() -> None:
    tokens = [twins.mix(i) for i in range(60)]
    values, _ = sketches.samples(*twins.flat([tokens]), 3, np.array([2**64 // 16 - 1], np.uint64))
    assert [f"{v:016x}" for v in values.tolist()] == [f"{v:016x}" for v in plain.sample(tokens, 3, 2**64 // 16 - 1)]
    assert 0 < len(values) < 15


def test_offsets_need_not_start_at_zero() -> None:
    tokens = [twins.mix(i) for i in range(60)]
    limits = np.array([MASK // 3], np.uint64)
    values, offsets = sketches.samples(np.array(tokens, np.uint64), np.array([3, 50]), 4, limits)
    assert twins.split(values, offsets) == [plain.sample(tokens[3:50], 4, MASK // 3)]


def test_what_makes_no_sense_is_refused() -> None:
    tokens, offsets = twins.flat([[1, 2, 3]])
    with pytest.raises(ValueError, match="1 documents need as many limits, not 2"):
        sketches.samples(tokens, offsets, 2, np.ones(2, np.uint64))
    with pytest.raises(ValueError, match="at least 1 value, not 0"):
        sketches.smallest(tokens, offsets, 2, 0)
    with pytest.raises(ValueError, match="1 to 128 tokens, not 129"):
        sketches.samples(tokens, offsets, 129, np.ones(1, np.uint64))
    one = np.ones(1, np.int64)
    with pytest.raises(ValueError, match="left must contain numbers of sketches, 0 to 0"):
        sketches.estimates(tokens, offsets, np.ones(1, np.uint64), 0, one, one)
