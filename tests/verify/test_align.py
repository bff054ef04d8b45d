"""The alignment kernel: what it returns is always a common subsequence, and a long one."""

from __future__ import annotations

import random
import time

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from roughly.kernels.align import align, outlines, shared_runs
from verify.texts import tokens


def hashes(values: list[int]) -> npt.NDArray[np.uint64]:
    return np.array(values, np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def longest_common(a: list[int], b: list[int]) -> int:
    """The textbook table, quadratic."""
    row = [0] * (len(b) + 1)
    for x in a:
        above, row = row, [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
    return row[-1]


def check_blocks(a: list[int], b: list[int], blocks: list[list[int]]) -> int:
    end_a = end_b = total = 0
    for i, j, length in blocks:
        assert i >= end_a and j >= end_b and length > 0
        assert (i, j) != (end_a, end_b) or total == 0, "two blocks that touch are one"
        assert a[i : i + length] == b[j : j + length] and len(a[i : i + length]) == length
        end_a, end_b, total = i + length, j + length, total + length
    return total


def plain_runs(a: list[int], b: list[int], size: int) -> list[list[int]]:
    """The twin of `shared_runs` where no shingle occurs more than sixteen times in b."""
    runs: list[list[int]] = []
    i = end_a = end_b = 0
    while i + size <= len(a):
        best, longest = 0, 0
        for j in range(len(b) - size + 1):
            if a[i : i + size] != b[j : j + size]:
                continue
            length = size
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            expected = end_b + i - end_a
            if length > longest or (length == longest and abs(j - expected) < abs(best - expected)):
                best, longest = j, length
        if not longest:
            i += 1
            continue
        while i > end_a and best > 0 and a[i - 1] == b[best - 1]:
            i, best, longest = i - 1, best - 1, longest + 1
        runs.append([i, best, longest])
        i += longest
        end_a, end_b = i, best + longest
    return runs


@settings(deadline=None, max_examples=300)
@given(tokens, tokens)
def test_blocks_are_a_common_subsequence_never_longer_than_the_longest(a: list[int], b: list[int]) -> None:
    total = check_blocks(a, b, align(hashes(a), hashes(b)).tolist())
    assert total <= longest_common(a, b)


@settings(deadline=None)
@given(tokens)
def test_a_sequence_is_aligned_with_itself_whole(a: list[int]) -> None:
    assert align(hashes(a), hashes(a)).tolist() == ([[0, 0, len(a)]] if a else [])


@pytest.mark.parametrize("seed", range(20))
def test_single_changes_far_apart_cost_just_themselves(seed: int) -> None:
    chance = random.Random(seed)
    a = [chance.randrange(40) for _ in range(400)]
    b = list(a)
    for at in range(10, 390, 10):
        b[at] = 1000 + at
    assert check_blocks(a, b, align(hashes(a), hashes(b)).tolist()) == 400 - 38 == longest_common(a, b)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("letters", [2, 20, 500])
def test_edited_sequences_keep_nearly_the_longest_alignment(seed: int, letters: int) -> None:
    chance = random.Random(seed)
    a = [chance.randrange(letters) for _ in range(600)]
    b = [x if chance.random() > 0.05 else chance.randrange(letters) for x in a if chance.random() > 0.03]
    total = check_blocks(a, b, align(hashes(a), hashes(b)).tolist())
    assert total >= 0.95 * longest_common(a, b)


def test_a_text_that_stands_twice_on_the_other_side_is_aligned_once_and_whole() -> None:
    chance = random.Random(1)
    start = [chance.randrange(5000) for _ in range(200)]
    body = [chance.randrange(5000) for _ in range(3000)]
    once, twice = start + body, start + body[:40] + [9999] + body + body
    assert check_blocks(once, twice, align(hashes(once), hashes(twice)).tolist()) >= 3150


def test_unrelated_sequences_are_hardly_aligned() -> None:
    chance = random.Random(2)
    a = [int(chance.paretovariate(0.8)) for _ in range(2000)]  # words as frequent as in prose
    b = [int(chance.paretovariate(0.8)) + (10**6 if x % 3 else 0) for x in range(2000)]
    assert check_blocks(a, b, align(hashes(a), hashes(b)).tolist()) < 0.25 * 2000


@settings(deadline=None, max_examples=200)
@given(tokens, tokens)
def test_all_is_aligned_from_either_side_just_when_the_sequences_are_equal(a: list[int], b: list[int]) -> None:
    forth = check_blocks(a, b, align(hashes(a), hashes(b)).tolist())
    back = check_blocks(b, a, align(hashes(b), hashes(a)).tolist())
    assert (forth == len(a) == len(b)) == (back == len(a) == len(b)) == (a == b)


@settings(deadline=None, max_examples=200)
@given(tokens, tokens)
def test_shared_runs_equal_the_plain_twin(a: list[int], b: list[int]) -> None:
    for size in (1, 2, 5):
        counts = [b[j : j + size] for j in range(len(b) - size + 1)]
        if all(counts.count(gram) <= 16 for gram in counts):
            assert shared_runs(hashes(a), hashes(b), size).tolist() == plain_runs(a, b, size)


def test_outlines_count_edges_and_inside() -> None:
    body = list(range(100))
    documents = [body, [900, 901, *body[:50], 902, 903, 904, *body[50:], 905], []]
    flat = hashes([token for document in documents for token in document])
    offsets = np.cumsum([0] + [len(document) for document in documents])
    rows = outlines(flat, offsets, np.array([0, 1, 0, 2, 2]), np.array([1, 0, 0, 2, 1]))
    assert rows.tolist() == [
        [100, 0, 0, 3, 3],
        [100, 3, 3, 0, 0],
        [100, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 106, 0],
    ]


def test_wrong_arrays_are_refused() -> None:
    good = hashes([1, 2, 3])
    with pytest.raises(TypeError, match="left"):
        align(good.astype(np.int64), good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size"):
        shared_runs(good, good, 0)
    with pytest.raises(ValueError, match="numbered"):
        outlines(good, np.array([0, 3]), np.array([0]), np.array([1]))
    with pytest.raises(ValueError, match="equally long"):
        outlines(good, np.array([0, 3]), np.array([0]), np.array([0, 0]))


@pytest.mark.parametrize("letters", [1, 2, 30, 10**9])
def test_long_unlike_sequences_take_linear_time(letters: int) -> None:
    """Quadratic work on these would take minutes."""
    chance = np.random.default_rng(letters)
    a = chance.integers(0, letters, 120_000).astype(np.uint64)
    b = chance.integers(0, letters, 119_000).astype(np.uint64)
    align(a[:10], b[:10])
    started = time.process_time()
    blocks = align(a, b)
    runs = shared_runs(a, b, 5)
    assert time.process_time() - started < 5
    for i, j, length in [*blocks[:50].tolist(), *runs[:50].tolist()]:
        assert (a[i : i + length] == b[j : j + length]).all()
