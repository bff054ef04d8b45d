"""Which keys may be shared: a filter of two bits a slot, so that only those are grouped.

Most documents of a collection resemble no other, and so most keys occur once. Sorting them all to find that out is
the dearest step of grouping. Instead, each key sets a bit of `once` at the slot given by its high bits, or of `twice`
where that is set already. A key whose slot is not in `twice` occurs once, for certain; with eight slots a key
about one in eight of the unshared ones passes by chance and is dropped by the exact grouping that follows.

Keys are uint64 and well mixed; both bit sets are uint64 words, a power of two of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit
from roughly.kernels.arrays import Hashes, Offsets, Words

Flags = npt.NDArray[np.bool_]


def filter_words(keys: int) -> int:
    """Words of one bit set for so many keys: at least eight slots a key."""
    return max(1, 1 << max(0, (8 * max(keys, 1) - 1).bit_length() - 6))


@jit
def _bits(words: int) -> int:
    bits = 6
    while (1 << (bits - 6)) < words:
        bits += 1
    return bits


@jit
def mark(keys: Hashes, use: Flags, once: Hashes, twice: Hashes) -> None:
    """Note every key whose `use` is true."""
    shift = np.uint64(64 - _bits(once.shape[0]))
    for i in range(keys.shape[0]):
        if not use[i]:
            continue
        slot = keys[i] >> shift
        word = np.int64(slot >> np.uint64(6))
        bit = np.uint64(1) << (slot & np.uint64(63))
        if once[word] & bit:
            twice[word] |= bit
        else:
            once[word] |= bit


@jit
def may_be_shared(keys: Hashes, use: Flags, twice: Hashes) -> Flags:
    """Whether each key that is used may occur more than once."""
    shift = np.uint64(64 - _bits(twice.shape[0]))
    out = np.zeros(keys.shape[0], np.bool_)
    for i in range(keys.shape[0]):
        if use[i]:
            slot = keys[i] >> shift
            bit = np.uint64(1) << (slot & np.uint64(63))
            out[i] = (twice[np.int64(slot >> np.uint64(6))] & bit) != 0
    return out


@jit
def bucket_hashes(keys: Hashes, members: Words) -> tuple[Offsets, Hashes]:
    """For rows sorted by key: the start of each bucket and an order-free hash of its members.

    Two buckets with the same members make the same candidates, so one of them is enough.
    """
    starts = np.empty(keys.shape[0] + 1, np.int64)
    hashes = np.empty(keys.shape[0], np.uint64)
    buckets = 0
    total = np.uint64(0)
    for i in range(keys.shape[0]):
        if i == 0 or keys[i] != keys[i - 1]:
            if i > 0:
                hashes[buckets - 1] = total
            starts[buckets] = i
            buckets += 1
            total = np.uint64(0)
        x = np.uint64(members[i]) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += x ^ (x >> np.uint64(31))
    if buckets > 0:
        hashes[buckets - 1] = total
    starts[buckets] = keys.shape[0]
    return starts[: buckets + 1].copy(), hashes[:buckets].copy()


def warm_up() -> None:
    """Compile everything here for the types it is called with."""
    keys = np.arange(4, dtype=np.uint64) << np.uint64(60)
    use = np.ones(4, np.bool_)
    once, twice = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    mark(keys, use, once, twice)
    may_be_shared(keys, use, twice)
    bucket_hashes(keys, np.arange(4, dtype=np.uint32))
