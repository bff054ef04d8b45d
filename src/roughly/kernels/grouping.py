"""Which documents share a key: a filter of two bits per slot, a sort of what passes it, and buckets.

Most documents of a collection resemble no other, and so most keys occur once. Sorting them all to find that out is the
most expensive step of grouping. Instead, each key sets a bit of `once` at its slot, or of `twice` where that is set
already. A key whose slot is not in `twice` occurs once, for certain; with eight slots per key about one in eight of the
unshared ones passes by chance and is dropped by the sort that follows.

A row is a key and a member (a uint32 that stands for a document). Keys are spread by a multiplication first, so that
samples of the smallest hashes fill all slots, and so that a `share` of all keys can be taken by their highest bits:
rows outside of share number `share` of 2^`bits` are skipped. The key 0 is no key. The loops are those of
`core/grouping.hpp`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words

Flags = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.uint64]

_INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))  # of the multiplier of `spread`
NO_MEMBER = np.uint32(0xFFFFFFFF)


def filter_words(keys: int) -> int:
    """Words of a bit set for this number of keys: at least eight slots per key."""
    return max(1, 1 << max(0, (8 * max(keys, 1) - 1).bit_length() - 6))


def spread(key: np.uint64) -> np.uint64:
    """A bijection that moves the differences between keys into their highest bits."""
    return np.uint64(_core.spread_key(int(key)))


def gather(spread_keys: Hashes) -> Hashes:
    """The keys that `spread` made these of."""
    keys = spread_keys * _INVERSE
    return keys ^ keys >> np.uint64(32)


def mark(keys: Hashes, members: Words, share: int, bits: int, once: Hashes, twice: Hashes) -> None:
    """Mark the keys of a share."""
    _core.mark_keys(*_rows(keys, members), share, bits, once, twice)


def count_shared(keys: Hashes, members: Words, share: int, bits: int, twice: Hashes) -> int:
    """The number of rows that `select` would return."""
    return int(_core.count_shared(*_rows(keys, members), share, bits, twice))


def select(
    keys: Hashes, members: Words, share: int, bits: int, twice: Hashes, part: int, part_bits: int
) -> tuple[Hashes, Words]:
    """The rows of a share whose keys may occur more than once, with their keys spread.

    Only those in part number `part` of the share's 2^`part_bits`.
    """
    chosen, owners = _core.select_shared(*_rows(keys, members), share, bits, twice, part, part_bits)
    return chosen, owners


def sort_rows(keys: Hashes, members: Words, bits: int) -> tuple[Hashes, Words]:
    """Rows in order of (spread key, member). `bits` highest bits are the same for all keys."""
    ordered, owners = _core.sort_rows(*_rows(keys, members), bits)
    return ordered, owners


def buckets_of(keys: Hashes, members: Words, has_probes: bool, most: int) -> tuple[Words, Words, Hashes, int]:
    """The buckets of sorted rows: (size of each, their members, an order-free hash of the members of each, how many
    keys were left out as too common).

    A bucket has two members or more, and at most `most`, if that is not 0. With `has_probes` the lowest bit of a member
    says whether its key is a probe, and a bucket needs a probe.
    """
    sizes, found, hashes, common = _core.find_buckets(*_rows(keys, members), bool(has_probes), most)
    return sizes, found, hashes, common


def first_time(hashes: Hashes, table: Hashes) -> Flags:
    """Whether each hash is new to the table (open addressing, a power of two long, 0 for empty), which takes it."""
    new: Flags = _core.add_to_table(np.ascontiguousarray(hashes, np.uint64), table)
    return new


def only(sizes: Words, members: Words, use: Flags) -> Words:
    """The members of the buckets that are used."""
    found: Words = _core.members_of_used(sizes, members, use)
    return found


def count_members(members: Words, counts: Offsets) -> None:
    """Add to counts[m + 1] for every member m."""
    _core.count_members(np.ascontiguousarray(members, np.uint32), counts)


def transpose(
    starts: Offsets, members: Words, probes: Flags, rows: int, threads: int = 1
) -> tuple[Offsets, Words, Flags]:
    """From members by bucket to buckets by member, ascending, or the other way round: (offsets, buckets, probes).

    `probes` is reordered in the same way if it is not empty. The result does not depend on the threads (0 = one per
    core).
    """
    return _core.transpose(starts, np.ascontiguousarray(members, np.uint32), probes, rows, threads)


def present(keys: Hashes, marks: Hashes) -> Flags:
    """Whether each key may be among those marked in `marks` (the `once` of `mark`)."""
    found: Flags = _core.find_marked(np.ascontiguousarray(keys, np.uint64), marks)
    return found


def _rows(keys: Hashes, members: Words) -> tuple[Hashes, Words]:
    return np.ascontiguousarray(keys, np.uint64), np.ascontiguousarray(members, np.uint32)
