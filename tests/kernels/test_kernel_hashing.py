"""Fingerprints and mixers: equal to their twins, never changed by accident, sensitive to everything."""

from __future__ import annotations

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels import hashing

U64 = st.integers(0, 2**64 - 1)


def fingerprints(strings: list[bytes]) -> list[tuple[int, int]]:
    data = np.frombuffer(b"".join(strings), np.uint8)
    offsets = np.cumsum([0, *map(len, strings)]).astype(np.int64)
    return [(int(a), int(b)) for a, b in hashing.hash_bytes(data, offsets)]


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_bytes_hash_as_their_twin(strings: list[bytes]) -> None:
    assert fingerprints(strings) == [twins.hash_bytes(s) for s in strings]


@given(st.lists(st.lists(U64, max_size=12), max_size=6))
def test_sequences_hash_as_their_twin(sequences: list[list[int]]) -> None:
    found = hashing.hash_sequences(*twins.flat(sequences))
    assert [(int(a), int(b)) for a, b in found] == [twins.hash_sequence(s) for s in sequences]


@given(U64, U64)
def test_mixers_equal_their_twins(h: int, word: int) -> None:
    assert int(hashing.mix(np.uint64(h))) == twins.mix(h)
    assert int(hashing.spread(np.uint64(h))) == twins.spread(h)
    assert int(hashing.absorb(np.uint64(h), np.uint64(word))) == twins.absorb(h, word)


@pytest.mark.parametrize(
    ("data", "first", "second"),
    [
        (b"", 0x65F0503676EBD5C0, 0x348EA3B27AF1A9F3),
        (b"a", 0x36482022D8532E36, 0x8F0E758CE7A17A5E),
        (b"roughly", 0x74B4BD54CD1DADC3, 0x7867517EA92CAF2D),
        (b"the same, or roughly the same", 0xE0BAD6C25316DF42, 0x2C8CB803725C3F04),
        (bytes(range(256)), 0x1536700857E90F94, 0x0C13237B256E0E73),
    ],
)
def test_golden_fingerprints(data: bytes, first: int, second: int) -> None:
    assert fingerprints([data]) == [(first, second)]


def test_golden_sequences() -> None:
    values, offsets = twins.flat([[], [1, 2, 3], [3, 2, 1]])
    assert [f"{a:016x}{b:016x}" for a, b in hashing.hash_sequences(values, offsets).tolist()] == [
        "959d287f347a1da048f4699945db8133",
        "e39025a8b0a908b5a66ec55404f595c6",
        "56f360bc133356f88e69fcf76072f93a",
    ]


def test_strings_start_anywhere() -> None:
    data = np.frombuffer(b"..abcdefghij..", np.uint8)
    found = hashing.hash_bytes(data, np.array([2, 5, 5, 12], np.int64))
    assert [tuple(row) for row in found.tolist()] == [twins.hash_bytes(s) for s in (b"abc", b"", b"defghij")]


@given(st.binary(min_size=1, max_size=64), st.data())
def test_one_changed_bit_changes_both_lanes(string: bytes, data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, 8 * len(string) - 1))
    other = bytearray(string)
    other[bit // 8] ^= 1 << bit % 8
    (a, b), (c, d) = fingerprints([string, bytes(other)])
    assert a != c
    assert b != d


def test_zeros_at_the_end_count() -> None:
    found = fingerprints([b"\0" * n for n in range(40)])
    assert len({a for a, _ in found}) == len({b for _, b in found}) == 40


def test_changes_of_high_bits_in_two_words_do_not_cancel() -> None:
    """They do in `h ← (h ⊕ w)·K; h ⊕= h >> 32`, in every lane and for every K; hence the rotation."""
    plain = bytearray(b"0123456789abcdefghij")
    other = bytearray(plain)
    other[7] ^= 0x80
    other[15] ^= 0x80
    other[11] ^= 0x80
    (a, b), (c, d) = fingerprints([bytes(plain), bytes(other)])
    assert a != c
    assert b != d


def test_a_hundred_thousand_counters_do_not_collide_in_32_bits_more_than_chance_allows() -> None:
    n = 100_000
    data = np.arange(n, dtype=np.uint64).view(np.uint8)
    found = hashing.hash_bytes(data, np.arange(0, 8 * n + 1, 8, dtype=np.int64))
    for lane in (0, 1):
        for shift in (0, 32):
            words = (found[:, lane] >> np.uint64(shift)).astype(np.uint32)
            collisions = n - len(np.unique(words))  # expected n²/2^33 ≈ 1.2
            assert collisions <= 10


def test_wrong_arrays_are_refused() -> None:
    data, offsets = np.zeros(4, np.uint8), np.array([0, 4], np.int64)
    with pytest.raises(TypeError, match="data must be a one-dimensional array of uint8, not 1-dimensional int64"):
        hashing.hash_bytes(offsets, offsets)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="contiguous"):
        hashing.hash_bytes(data[::2], offsets)
    for wrong in ([0, 5], [-1, 4], [3, 2], [0, 4, 1, 4]):
        with pytest.raises(ValueError, match="must rise"):
            hashing.hash_bytes(data, np.array(wrong, np.int64))
    with pytest.raises(ValueError, match="at least one"):
        hashing.hash_bytes(data, np.empty(0, np.int64))
