"""Hashes: the 64-bit mixers that all other kernels share, and 128-bit fingerprints of strings and sequences.

All arithmetic is on uint64 and wraps around modulo 2^64. None of this is cryptographic: it protects against
accidents, not against someone who builds collisions on purpose.

`absorb` folds one 64-bit word w into a state h,

    h ← rotl(h + w·A, 31)·B          A, B odd

which is a bijection of h for each w and of w for each h, so two strings of one length that differ in one word never
collide. `mix` is Evensen's *moremur*, a bijection with good avalanche.

A product of two 64-bit words holds up many a processor's only multiplier for three cycles, so where hashes are most of
the work there is one product a word. A fingerprint has two lanes, of other multipliers and seeds,

    h ← s(C·(h ⊕ r(w)))              r(w) = w ⊕ w ≫ 29,  s(h) = h ⊕ h ≫ 32

a bijection of h and of w again. Without r the highest bit of a word would change one bit of the state only, which
the next word could put right. What cancels in one lane all the same does not in the other. The length is added and
the state mixed at the end, so a string and the same string with zero bytes behind it differ. `spread`, s(M1·h), is for
numbers that are random in all their bits already, but tied to each other.

| constant | value |
|---|---|
| `SEED`, `SEED2` | the first and second 64 bits of the fraction of π |
| `A`, `B` | 2^64/φ made odd, as in SplitMix64; the second prime of xxHash64 |
| `C`, `C2` | a 64-bit LCG multiplier of Steele and Vigna (2021); the first prime of xxHash64 |
| `M1`, `M2` | the multipliers of moremur |
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Bytes, Hashes, Offsets, frozen, frozen_offsets
from roughly.kernels.words import load, load_tail

SEED = np.uint64(0x243F6A8885A308D3)
SEED2 = np.uint64(0x13198A2E03707344)
A = np.uint64(0x9E3779B97F4A7C15)
B = np.uint64(0xC2B2AE3D27D4EB4F)
C = np.uint64(0xD1342543DE82EF95)
C2 = np.uint64(0x9E3779B185EBCA87)
M1 = np.uint64(0x3C79AC492BA7B653)
M2 = np.uint64(0x1C69B3F74AC4AE35)

_8, _27, _29, _31, _32, _33 = (np.uint64(i) for i in (8, 27, 29, 31, 32, 33))


@jit_inner
def mix(h: np.uint64) -> np.uint64:
    """moremur: a bijection of 64 bits after which every bit depends on every bit."""
    h ^= h >> _27
    h *= M1
    h ^= h >> _33
    h *= M2
    return h ^ (h >> _27)


@jit_inner
def absorb(h: np.uint64, word: np.uint64) -> np.uint64:
    """Fold a word into the state."""
    h += word * A
    return ((h << _31) | (h >> _33)) * B


@jit_inner
def spread(h: np.uint64) -> np.uint64:
    """A bijection of 64 bits that leaves nothing of how sums and exclusive ors of random numbers are tied together."""
    h *= M1
    return h ^ (h >> _32)


@jit_inner
def _fold(h: np.uint64, word: np.uint64, by: np.uint64) -> np.uint64:
    """Fold a word into the state of a fingerprint's lane."""
    h = (h ^ word ^ (word >> _29)) * by
    return h ^ (h >> _32)


def hash_bytes(data: Bytes, offsets: Offsets) -> Hashes:
    """128-bit fingerprint of each byte string data[offsets[i]:offsets[i + 1]], as (n, 2) uint64."""
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    out = np.empty((len(offsets) - 1, 2), np.uint64)
    _hash_bytes(data, offsets, out)
    return out


@jit_inner
def _hash_bytes(data: Bytes, offsets: Offsets, out: Hashes) -> None:
    for d in range(offsets.shape[0] - 1):
        at = np.uint64(offsets[d])
        end = np.uint64(offsets[d + 1])
        length = end - at
        h, g = SEED, SEED2
        while at + _8 <= end:
            word = load(data, at)
            h = _fold(h, word, C)
            g = _fold(g, word, C2)
            at += _8
        word = load_tail(data, at, end - at)
        out[d, 0] = mix(_fold(h, word, C) + length)
        out[d, 1] = mix(_fold(g, word, C2) + length)


def hash_sequences(values: Hashes, offsets: Offsets) -> Hashes:
    """128-bit fingerprint of each sequence values[offsets[i]:offsets[i + 1]], as (n, 2) uint64."""
    values = frozen(values, np.uint64, "values")
    offsets = frozen_offsets(offsets, len(values))
    out = np.empty((len(offsets) - 1, 2), np.uint64)
    _hash_sequences(values, offsets, out)
    return out


@jit_inner
def _hash_sequences(values: Hashes, offsets: Offsets, out: Hashes) -> None:
    for d in range(offsets.shape[0] - 1):
        h, g = SEED, SEED2
        for i in range(np.uint64(offsets[d]), np.uint64(offsets[d + 1])):
            h = _fold(h, values[i], C)
            g = _fold(g, values[i], C2)
        length = np.uint64(offsets[d + 1] - offsets[d])
        out[d, 0] = mix(h + length)
        out[d, 1] = mix(g + length)


def warm_up() -> None:
    """Compile this module's kernels."""
    offsets = np.array([0, 3], np.int64)
    hash_bytes(np.zeros(3, np.uint8), offsets)
    hash_sequences(np.zeros(3, np.uint64), offsets)
