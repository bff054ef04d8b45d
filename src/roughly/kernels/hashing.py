"""Hashes: the 64-bit mixers that all other kernels share, and 128-bit fingerprints of strings and sequences.

All arithmetic is on uint64 and wraps around modulo 2^64. None of this is cryptographic: it protects against
accidents, not against someone who builds collisions on purpose.

`absorb` folds one 64-bit word w into a state h,

    h ← rotl(h + w·A, 31)·B          A, B odd

which is a bijection of h for each w and of w for each h, so two strings of one length that differ in one word never
collide. `mix` is Evensen's *moremur*, a bijection with good avalanche.

A product of two 64-bit words occupies the only multiplier of many processors for three cycles, so where hashes are most
of the work there is one product per word. A fingerprint has two lanes, of other multipliers and seeds,

    h ← s(C·(h ⊕ r(w)))              r(w) = w ⊕ w ≫ 29,  s(h) = h ⊕ h ≫ 32

a bijection of h and of w again. Without r the highest bit of a word would change one bit of the state only, which
the next word could put right. What cancels in one lane all the same does not in the other. The length is added and
the state mixed at the end, so a string and the same string followed by zero bytes differ. `spread`, s(M1·h), is for
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

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words, frozen, frozen_offsets


def mix(h: np.uint64) -> np.uint64:
    """moremur: a bijection of 64 bits after which every bit depends on every bit."""
    return np.uint64(_core.mix(int(h)))


def absorb(h: np.uint64, word: np.uint64) -> np.uint64:
    """Fold a word into the state."""
    return np.uint64(_core.absorb(int(h), int(word)))


def spread(h: np.uint64) -> np.uint64:
    """A bijection of 64 bits that hides how sums and exclusive ors of random numbers depend on each other."""
    return np.uint64(_core.spread(int(h)))


def hash_bytes(data: Bytes, offsets: Offsets) -> Hashes:
    """128-bit fingerprint of each byte string data[offsets[i]:offsets[i + 1]], as (n, 2) uint64."""
    data = frozen(data, np.uint8, "data")
    return _core.hash_bytes(data, frozen_offsets(offsets, len(data)))


def hash_numbers(values: Words, offsets: Offsets) -> Hashes:
    """The same as `hash_sequences` for numbers of 32 bits."""
    values = frozen(values, np.uint32, "values")
    return _core.hash_numbers(values, frozen_offsets(offsets, len(values)))


def hash_sequences(values: Hashes, offsets: Offsets) -> Hashes:
    """128-bit fingerprint of each sequence values[offsets[i]:offsets[i + 1]], as (n, 2) uint64."""
    values = frozen(values, np.uint64, "values")
    return _core.hash_sequences(values, frozen_offsets(offsets, len(values)))
