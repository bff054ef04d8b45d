"""Which documents share a key: a filter of two bits a slot, a sort of what passes it, and buckets.

Most documents of a collection resemble no other, and so most keys occur once. Sorting them all to find that out is
the dearest step of grouping. Instead, each key sets a bit of `once` at its slot, or of `twice` where that is set
already. A key whose slot is not in `twice` occurs once, for certain; with eight slots a key about one in eight of the
unshared ones passes by chance and is dropped by the sort that follows.

A row is a key and a member (a uint32 that stands for a document). Keys are spread by a multiplication first, so that
samples of the smallest hashes fill all slots, and so that a `share` of all keys can be taken by their highest bits:
rows outside of share number `share` of 2^`bits` are passed over. The key 0 is no key.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit, jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words
from roughly.kernels.words import signed

Flags = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.uint64]

NO_MEMBER = np.uint32(0xFFFFFFFF)
CROWDED = 24
_MOST_BITS = 22
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_0 = np.uint64(0)


def filter_words(keys: int) -> int:
    """Words of one bit set for so many keys: at least eight slots a key."""
    return max(1, 1 << max(0, (8 * max(keys, 1) - 1).bit_length() - 6))


@jit_inner
def _bits(words: int) -> int:
    bits = 6
    while (1 << (bits - 6)) < words:
        bits += 1
    return bits


@jit_inner
def spread(key: np.uint64) -> np.uint64:
    """A bijection that moves the differences between keys into their highest bits."""
    key ^= key >> np.uint64(32)
    return key * _SPREAD


@jit_inner
def _in_share(x: np.uint64, share: int, bits: int) -> bool:
    return bits == 0 or np.int64(x >> np.uint64(64 - bits)) == share


@jit
def mark(keys: Hashes, members: Words, share: int, bits: int, once: Hashes, twice: Hashes) -> None:
    """Note the keys of a share."""
    shift = np.uint64(64 - _bits(once.shape[0]))
    for i in range(keys.shape[0]):
        x = spread(keys[i])
        if keys[i] == _0 or members[i] == NO_MEMBER or not _in_share(x, share, bits):
            continue
        slot = (x << np.uint64(bits)) >> shift
        word = np.int64(slot >> np.uint64(6))
        bit = np.uint64(1) << (slot & np.uint64(63))
        if once[word] & bit:
            twice[word] |= bit
        else:
            once[word] |= bit


@jit_inner
def _passes(key: np.uint64, x: np.uint64, member: np.uint32, bits: int, shift: np.uint64, twice: Hashes) -> bool:
    if key == _0 or member == NO_MEMBER:
        return False
    slot = (x << np.uint64(bits)) >> shift
    return bool(twice[np.int64(slot >> np.uint64(6))] & (np.uint64(1) << (slot & np.uint64(63))) != _0)


@jit
def count_shared(keys: Hashes, members: Words, share: int, bits: int, twice: Hashes) -> int:
    """How many rows `select` would give."""
    shift = np.uint64(64 - _bits(twice.shape[0]))
    count = 0
    for i in range(keys.shape[0]):
        x = spread(keys[i])
        if _in_share(x, share, bits) and _passes(keys[i], x, members[i], bits, shift, twice):
            count += 1
    return count


@jit
def select(
    keys: Hashes, members: Words, share: int, bits: int, twice: Hashes, part: int, part_bits: int
) -> tuple[Hashes, Words]:
    """The rows of a share whose keys may occur more than once, with their keys spread.

    Of those only the ones in part number `part` of the share's 2^`part_bits`.
    """
    shift = np.uint64(64 - _bits(twice.shape[0]))
    out_keys = np.empty(keys.shape[0], np.uint64)
    out_members = np.empty(keys.shape[0], np.uint32)
    used = 0
    for i in range(keys.shape[0]):
        x = spread(keys[i])
        if not _in_share(x, share, bits) or not _in_share(x << np.uint64(bits), part, part_bits):
            continue
        if _passes(keys[i], x, members[i], bits, shift, twice):
            out_keys[used] = x
            out_members[used] = members[i]
            used += 1
    return out_keys[:used].copy(), out_members[:used].copy()


@jit
def sort_rows(keys: Hashes, members: Words, bits: int) -> tuple[Hashes, Words]:
    """Rows in order of (spread key, member). `bits` highest bits are the same for all keys."""
    n = keys.shape[0]
    width = 1
    while width < _MOST_BITS and (1 << width) < n:
        width += 1
    shift = np.uint64(64 - width)
    left = np.uint64(bits)
    ends = np.zeros((1 << width) + 1, np.int64)
    for i in range(n):
        ends[np.int64((keys[i] << left) >> shift) + 1] += 1
    for b in range(1 << width):
        ends[b + 1] += ends[b]
    out_keys = np.empty(n, np.uint64)
    out_members = np.empty(n, np.uint32)
    for i in range(n):
        b = signed((keys[i] << left) >> shift)
        out_keys[ends[b]] = keys[i]
        out_members[ends[b]] = members[i]
        ends[b] += 1
    start = 0
    for b in range(1 << width):
        end = int(ends[b])
        if end - start > CROWDED:
            _heap_sort(out_keys, out_members, start, end)
        elif end - start > 1:
            _insertion_sort(out_keys, out_members, start, end)
        start = end
    return out_keys, out_members


@jit_inner
def _after(key: np.uint64, member: np.uint32, other_key: np.uint64, other: np.uint32) -> bool:
    return bool(key > other_key or (key == other_key and member > other))


@jit_inner
def _insertion_sort(keys: Hashes, members: Words, start: int, end: int) -> None:
    for i in range(start + 1, end):
        key, member = keys[i], members[i]
        j = i
        while j > start and _after(keys[j - 1], members[j - 1], key, member):
            keys[j] = keys[j - 1]
            members[j] = members[j - 1]
            j -= 1
        keys[j] = key
        members[j] = member


@jit_inner
def _heap_sort(keys: Hashes, members: Words, start: int, end: int) -> None:
    size = end - start
    for k in range(size // 2):
        _sift_down(keys, members, start, size // 2 - 1 - k, size)
    for k in range(size - 1):
        last = start + size - 1 - k
        keys[start], keys[last] = keys[last], keys[start]
        members[start], members[last] = members[last], members[start]
        _sift_down(keys, members, start, 0, size - 1 - k)


@jit_inner
def _sift_down(keys: Hashes, members: Words, start: int, node: int, size: int) -> None:
    key, member = keys[start + node], members[start + node]
    child = 2 * node + 1
    while child < size:
        at = start + child
        if child + 1 < size and _after(keys[at + 1], members[at + 1], keys[at], members[at]):
            child += 1
            at += 1
        if not _after(keys[at], members[at], key, member):
            break
        keys[start + node] = keys[at]
        members[start + node] = members[at]
        node = child
        child = 2 * node + 1
    keys[start + node] = key
    members[start + node] = member


@jit
def buckets_of(keys: Hashes, members: Words, asking: bool, most: int) -> tuple[Words, Words, Hashes, int]:
    """The buckets of sorted rows: (size of each, their members, an order-free hash of the members of each, how many
    keys were left out as too common).

    A bucket has two members or more, and at most `most`, if that is not 0. With `asking` the lowest bit of a member
    says whether it asks, and a bucket needs one that does.
    """
    sizes = np.empty(keys.shape[0] // 2 + 1, np.uint32)
    hashes = np.empty(keys.shape[0] // 2 + 1, np.uint64)
    out = np.empty(keys.shape[0], np.uint32)
    count = used = common = 0
    i = 0
    while i < keys.shape[0]:
        end = i + 1
        asked = not asking or members[i] & np.uint32(1) != np.uint32(0)
        while end < keys.shape[0] and keys[end] == keys[i]:
            asked = asked or members[end] & np.uint32(1) != np.uint32(0)
            end += 1
        if most > 0 and end - i > most:
            common += 1
        elif end - i > 1 and asked:
            total = _0
            for j in range(i, end):
                out[used] = members[j]
                used += 1
                x = np.uint64(members[j]) + _SPREAD
                x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                total += x ^ (x >> np.uint64(31))
            sizes[count] = end - i
            hashes[count] = total
            count += 1
        i = end
    return sizes[:count].copy(), out[:used].copy(), hashes[:count].copy(), common


@jit
def first_time(hashes: Hashes, table: Hashes) -> Flags:
    """Whether each hash is new to the table (open addressing, a power of two long, 0 for empty), which takes it."""
    mask = np.uint64(table.shape[0] - 1)
    out = np.zeros(hashes.shape[0], np.bool_)
    for i in range(hashes.shape[0]):
        x = hashes[i] if hashes[i] != _0 else np.uint64(1)
        at = spread(x) >> np.uint64(20) & mask
        while table[at] != _0 and table[at] != x:
            at = (at + np.uint64(1)) & mask
        out[i] = table[at] == _0
        table[at] = x
    return out


@jit
def only(sizes: Words, members: Words, use: Flags) -> Words:
    """The members of the buckets that are used."""
    out = np.empty(members.shape[0], np.uint32)
    used = at = 0
    for b in range(sizes.shape[0]):
        end = at + signed(sizes[b])
        if use[b]:
            for i in range(at, end):
                out[used] = members[i]
                used += 1
        at = end
    return out[:used].copy()


@jit
def count_members(members: Words, counts: Offsets) -> None:
    """Add to counts[m + 1] for every member m."""
    for i in range(members.shape[0]):
        counts[np.int64(members[i]) + 1] += 1


@jit
def transpose(starts: Offsets, members: Words, asks: Flags, ends: Offsets, out: Words, out_asks: Flags) -> None:
    """From members by bucket to buckets by member, ascending, or the other way round.

    `ends` holds where each member's buckets begin, and then where they end. `asks` goes along if it is not empty.
    """
    for b in range(starts.shape[0] - 1):
        for i in range(starts[b], starts[b + 1]):
            d = np.int64(members[i])
            out[ends[d]] = np.uint32(b)
            if asks.shape[0] > 0:
                out_asks[ends[d]] = asks[i]
            ends[d] += 1


@jit
def present(keys: Hashes, marks: Hashes) -> Flags:
    """Whether each key may be among those marked in `marks` (the `once` of `mark`)."""
    shift = np.uint64(64 - _bits(marks.shape[0]))
    out = np.zeros(keys.shape[0], np.bool_)
    for i in range(keys.shape[0]):
        slot = spread(keys[i]) >> shift
        out[i] = marks[np.int64(slot >> np.uint64(6))] & (np.uint64(1) << (slot & np.uint64(63))) != _0
    return out


def warm_up() -> None:
    """Compile everything here for the types it is called with."""
    keys, members = np.arange(4, dtype=np.uint64) << np.uint64(60), np.arange(4, dtype=np.uint32)
    once, twice = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    mark(keys, members, 0, 0, once, twice)
    count_shared(keys, members, 0, 0, twice)
    select(keys, members, 0, 0, twice, 0, 0)
    sizes, found, hashes, _ = buckets_of(*sort_rows(keys, members, 0), False, 0)
    only(sizes, found, first_time(hashes, np.zeros(8, np.uint64)))
    count_members(members, np.zeros(5, np.int64))
    none = np.empty(0, np.bool_)
    transpose(np.array([0, 1]), np.zeros(1, np.uint32), none, np.zeros(1, np.int64), np.zeros(1, np.uint32), none)
    present(keys, once)
