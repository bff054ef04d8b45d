"""Tokens gathered from a file and sets made of them on several threads: what one document at a time gives."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels import batches
from roughly.kernels.align import outlines
from roughly.kernels.shingles import shingle_sets

LENGTHS = [0, 1, 700, 0, 3, 40_000, 5, 120, 0]


@pytest.fixture
def tokens() -> np.ndarray:
    return np.random.default_rng(4).integers(0, 2**64, sum(LENGTHS), np.uint64)


@pytest.fixture
def file(tmp_path: Path, tokens: np.ndarray) -> Iterator[int]:
    tokens.tofile(tmp_path / "tokens")
    opened = os.open(tmp_path / "tokens", os.O_RDWR)
    yield opened
    os.close(opened)


def ranges() -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array(LENGTHS)
    return np.cumsum(lengths) - lengths, lengths


def in_order(tokens: np.ndarray, docs: list[int]) -> tuple[np.ndarray, np.ndarray]:
    starts, lengths = ranges()
    parts = [tokens[starts[d] : starts[d] + lengths[d]] for d in docs]
    return np.concatenate([np.empty(0, np.uint64), *parts]), np.r_[0, np.cumsum(lengths[docs])].astype(np.int64)


ORDERS = [[], [5], [0], list(range(9)), list(range(8, -1, -1)), [2, 2, 5, 1, 2, 7, 6, 5, 0]]


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
@pytest.mark.parametrize("docs", ORDERS)
def test_tokens_come_in_the_order_asked_for(file: int, tokens: np.ndarray, docs: list[int], threads: int) -> None:
    hashes, offsets = batches.gather_tokens(file, *ranges(), np.array(docs, np.int64), threads)
    wanted, positions = in_order(tokens, docs)
    assert hashes.tolist() == wanted.tolist() and offsets.tolist() == positions.tolist()
    assert (hashes.dtype, offsets.dtype) == (np.uint64, np.int64)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("docs", ORDERS)
@pytest.mark.parametrize("size", [1, 4])
def test_sets_are_those_of_one_thread(file: int, tokens: np.ndarray, docs: list[int], size: int, threads: int) -> None:
    wanted = shingle_sets(*in_order(tokens, docs), size)
    from_file = batches.gather_shingle_sets(file, *ranges(), np.array(docs, np.int64), size, threads)
    in_memory = batches.parallel_shingle_sets(*in_order(tokens, docs), size, threads)
    for found in (from_file, in_memory):
        assert [part.tolist() for part in found] == [part.tolist() for part in wanted]


def test_many_small_documents_on_many_threads(tmp_path: Path) -> None:
    """More documents than chunks, with repeated shingles: chunks are moved together without a gap."""
    random = np.random.default_rng(9)
    lengths = random.integers(0, 60, 20_000)
    starts = np.cumsum(lengths) - lengths
    held = random.integers(0, 2**64, 200, np.uint64)[random.integers(0, 200, int(lengths.sum()))]
    held.tofile(tmp_path / "tokens")
    docs = random.permutation(len(lengths))
    offsets = np.r_[0, np.cumsum(lengths[docs])]
    with (tmp_path / "tokens").open("rb") as stream:
        hashes, found = batches.gather_tokens(stream.fileno(), starts, lengths, docs, 4)
        wanted = shingle_sets(hashes, found, 2)
        sets = [batches.gather_shingle_sets(stream.fileno(), starts, lengths, docs, 2, threads) for threads in (1, 4)]
    assert found.tolist() == offsets.tolist()
    assert all(np.array_equal(hashes[offsets[i] :][: lengths[d]], held[starts[d] :][: lengths[d]])
               for i, d in enumerate(docs.tolist()))  # fmt: skip
    for some in sets:
        assert all(np.array_equal(one, other) for one, other in zip(some, wanted, strict=True))


@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=30), max_size=6), st.integers(1, 5))
def test_sets_that_do_not_begin_at_zero(documents: list[list[int]], size: int) -> None:
    hashes, offsets = twins.flat([[7, 8, 9], *documents])
    found = batches.parallel_shingle_sets(hashes, offsets[1:], size, 3)
    wanted = shingle_sets(*twins.flat(documents), size)
    assert [part.tolist() for part in found] == [part.tolist() for part in wanted]


def test_a_file_that_is_too_short_is_an_os_error(file: int) -> None:
    starts, lengths = ranges()
    os.ftruncate(file, 8 * int(starts[5]) + 100)
    assert len(batches.gather_tokens(file, starts, lengths, np.array([2, 4]), 2)[0]) == 703
    for call in (batches.gather_tokens, lambda *given: batches.gather_shingle_sets(*given[:-1], 3, given[-1])):
        with pytest.raises(OSError, match="shorter than it was"):
            call(file, starts, lengths, np.array([2, 5]), 2)


def test_what_the_system_refuses_is_an_os_error() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    os.close(reading)
    with pytest.raises(OSError, match="Bad file descriptor"):
        batches.gather_tokens(reading, *ranges(), np.array([2]), 1)


def test_mistakes_are_refused(file: int) -> None:
    starts, lengths = ranges()
    for wrong in (-1, len(LENGTHS)):
        with pytest.raises(ValueError, match="numbers of documents"):
            batches.gather_tokens(file, starts, lengths, np.array([wrong]))
    with pytest.raises(ValueError, match="begins at 0"):
        batches.gather_tokens(file, starts - 1, lengths, np.array([0]))
    with pytest.raises(OSError, match="shorter"):
        batches.gather_tokens(file, starts, lengths + 2**60, np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="threads"):
        batches.gather_tokens(file, starts, lengths, np.array([0]), -1)
    with pytest.raises(ValueError, match="a shingle has 1 to"):
        batches.gather_shingle_sets(file, starts, lengths, np.array([0]), 0)


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_pairs_are_aligned_as_in_memory(tmp_path: Path, threads: int) -> None:
    rng = np.random.default_rng(8)
    base = rng.integers(0, 2**64, 900, np.uint64)
    documents = [np.delete(base, rng.integers(0, 900, 30 * n)) for n in range(12)] + [base[:0], base[200:300]]
    hashes, offsets = np.concatenate(documents), np.r_[0, np.cumsum([len(d) for d in documents])].astype(np.int64)
    hashes.tofile(tmp_path / "tokens")
    lefts, rights = np.repeat(np.arange(14), 14), np.tile(np.arange(14), 14)
    docs = np.column_stack((lefts, rights)).ravel()
    with (tmp_path / "tokens").open("rb") as stream:
        found = batches.gather_outlines(stream.fileno(), offsets[docs], np.diff(offsets)[docs], threads)
        assert found.tolist() == outlines(hashes, offsets, lefts, rights).tolist()
        with pytest.raises(ValueError, match="two starts"):
            batches.gather_outlines(stream.fileno(), offsets[:3], offsets[:3])
        with pytest.raises(OSError, match="shorter"):
            batches.gather_outlines(stream.fileno(), offsets[-1:].repeat(2), np.array([1, 1]))
