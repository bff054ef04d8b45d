"""Sketches: sorted samples of a document's w-shingles, and what two of them say of the documents (Broder 1997, §3).

A sample keeps the shingle hashes that are at most a limit. Hashes are uniform, so a limit of 2^64/m − 1 keeps one in
m, as MOD_m does; and since it keeps a *prefix* of the sorted set, a sketch is reduced to a coarser one by cutting it
at the smaller limit. MIN_s, the s smallest, is a prefix too, whose limit is its last value.

    samples      every document by a limit of its own: MOD_m, V_i, or all of them
    smallest     MIN_s
    estimates    what pairs of sketches have in common (`judging.estimate`), and up to which value that was counted

Values below a limit have leading zeros in common, which would crowd the buckets that `sort_hashes` counts by. So they
are sorted with those bits shifted out, and shifted back. Hashes and limits are uint64, positions int64.

| symbol | name |
|---|---|
| w | `size` |
| s | `most` |
| 2^64/m − 1 | `limits` |
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.hashing import spread
from roughly.kernels.judging import estimate
from roughly.kernels.shingles import check_size, rotate, shingles
from roughly.kernels.sorting import MOST_BITS, bit_length, sort_hashes

EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)
"""The limit of a sketch that holds everything."""

_0, _1, _2, _63, _64 = (np.uint64(i) for i in (0, 1, 2, 63, 64))
_AGAIN = np.uint64(4)
_2_64 = np.float64(2.0**64)


def samples(tokens: Hashes, offsets: Offsets, size: int, limits: Hashes) -> tuple[Hashes, Offsets]:
    """The distinct `size`-shingle hashes of document i that are at most limits[i], sorted."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    limits = _one_each(limits, offsets)
    check_size(size)
    room = int(np.diff(offsets).max(initial=0)) + 1  # one more: the loop writes ahead
    picked, spare = np.empty(room, np.uint64), np.empty(room, np.uint64)
    counts = np.empty((1 << MOST_BITS) + 1, np.uint32)
    out = np.empty(int(offsets[-1] - offsets[0]) + 1, np.uint64)
    sketch_offsets = np.zeros(len(offsets), np.int64)
    used = _samples(tokens, offsets, size, limits, picked, spare, counts, out, sketch_offsets)
    return out[:used].copy(), sketch_offsets


def smallest(tokens: Hashes, offsets: Offsets, size: int, most: int) -> tuple[Hashes, Offsets, Hashes]:
    """The `most` smallest distinct `size`-shingle hashes of each document, sorted, and the limit of each.

    A document that has no more than `most` is held whole, and its limit is 2^64 − 1.
    """
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    if most < 1:
        raise ValueError(f"a sketch holds at least 1 value, not {most}")
    room = int(np.diff(offsets).max(initial=0)) + 1
    values, picked, spare = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint64)
    counts = np.empty((1 << MOST_BITS) + 1, np.uint32)
    out = np.empty(int(offsets[-1] - offsets[0]) + 1, np.uint64)
    sketch_offsets, limits = np.zeros(len(offsets), np.int64), np.empty(len(offsets) - 1, np.uint64)
    used = _smallest(tokens, offsets, size, most, values, picked, spare, counts, out, sketch_offsets, limits)
    return out[:used].copy(), sketch_offsets, limits


def estimates(
    values: Hashes, offsets: Offsets, limits: Hashes, most: int, left: Offsets, right: Offsets
) -> tuple[Offsets, Hashes]:
    """(shared, mine, theirs) of each pair of sketches, as (n, 3), and the value up to which they were counted."""
    values = frozen(values, np.uint64, "values")
    offsets = frozen_offsets(offsets, len(values))
    limits = _one_each(limits, offsets)
    left, right = frozen(left, np.int64, "left"), frozen(right, np.int64, "right")
    if len(left) != len(right):
        raise ValueError(f"{len(left)} left and {len(right)} right sketches do not pair up")
    for name, side in (("left", left), ("right", right)):
        if len(side) and (side.min() < 0 or side.max() >= len(offsets) - 1):
            raise ValueError(f"{name} must hold numbers of sketches, 0 to {len(offsets) - 2}")
    counts, reach = np.empty((len(left), 3), np.int64), np.empty(len(left), np.uint64)
    _estimates(values, offsets, limits, most, left, right, counts, reach)
    return counts, reach


def _one_each(limits: Hashes, offsets: Offsets) -> Hashes:
    limits = frozen(limits, np.uint64, "limits")
    if len(limits) != len(offsets) - 1:
        raise ValueError(f"{len(offsets) - 1} documents need as many limits, not {len(limits)}")
    return limits


@jit_inner
def leading(limit: np.uint64) -> np.uint64:
    """How many zeros every value up to the limit begins with, at most 63."""
    return min(_64 - bit_length(limit), _63)


@jit_inner
def _pick(
    tokens: Hashes, start: np.uint64, end: np.uint64, size: np.uint64, limit: np.uint64, lead: np.uint64, out: Hashes
) -> np.uint64:
    """Hashes of the shingles of tokens[start:end] up to the limit, without their leading zeros; returns how many."""
    if start == end:
        return _0
    p = _0
    first = min(size, end - start)
    for i in range(start, start + first):
        p = rotate(p, _1) ^ tokens[i]
    h = spread(p)
    out[_0] = h << lead
    n = np.uint64(h <= limit)
    for i in range(start + first, end):
        p = rotate(p, _1) ^ rotate(tokens[i - size], size) ^ tokens[i]
        h = spread(p)
        out[n] = h << lead
        n += np.uint64(h <= limit)
    return n


@jit_inner
def _put_distinct(a: Hashes, n: np.uint64, lead: np.uint64, out: Hashes, at: np.uint64) -> np.uint64:
    """Copy the distinct values of the sorted a[:n], with their leading zeros again; returns the new end."""
    if n == _0:
        return at
    out[at] = a[_0] >> lead
    at += _1
    for i in range(_1, n):
        out[at] = a[i] >> lead
        at += np.uint64(a[i] != a[i - _1])
    return at


@jit_inner
def _samples(
    tokens: Hashes,
    offsets: Offsets,
    size: int,
    limits: Hashes,
    picked: Hashes,
    spare: Hashes,
    counts: Words,
    out: Hashes,
    sketch_offsets: Offsets,
) -> np.int64:
    at = _0
    for d in range(offsets.shape[0] - 1):
        lead = leading(limits[d])
        n = _pick(
            tokens, np.uint64(offsets[d]), np.uint64(offsets[d + 1]), np.uint64(size), limits[d], lead, picked
        )  # fmt: skip
        sort_hashes(picked, n, spare, counts)
        at = _put_distinct(spare, n, lead, out, at)
        sketch_offsets[d + 1] = np.int64(at)
    return np.int64(at)


@jit_inner
def _smallest(
    tokens: Hashes,
    offsets: Offsets,
    size: int,
    most: int,
    values: Hashes,
    picked: Hashes,
    spare: Hashes,
    counts: Words,
    out: Hashes,
    sketch_offsets: Offsets,
    limits: Hashes,
) -> np.int64:
    """Guess a limit below which enough of the shingles lie, and guess again where repeats left too few."""
    at = _0
    wanted = np.uint64(most)
    slack = most + 4.0 * np.sqrt(most) + 8.0
    for d in range(offsets.shape[0] - 1):
        n = shingles(tokens, np.uint64(offsets[d]), np.uint64(offsets[d + 1]), np.uint64(size), values)
        limit = EVERY
        if slack < n:
            limit = np.uint64(slack / n * _2_64 * 0.999)
        while True:
            lead = leading(limit)
            count = _0
            for i in range(n):
                picked[count] = values[i] << lead
                count += np.uint64(values[i] <= limit)
            sort_hashes(picked, count, spare, counts)
            end = _put_distinct(spare, count, lead, out, at)
            if end - at >= wanted or limit == EVERY:
                break
            limit = EVERY if limit > EVERY // _AGAIN else limit * _AGAIN
        if end - at > wanted or (end - at == wanted and limit != EVERY):
            end = at + wanted
            limit = out[end - _1]
        else:
            limit = EVERY
        limits[d] = limit
        at = end
        sketch_offsets[d + 1] = np.int64(at)
    return np.int64(at)


@jit_inner
def _estimates(
    values: Hashes,
    offsets: Offsets,
    limits: Hashes,
    most: int,
    left: Offsets,
    right: Offsets,
    counts: Offsets,
    reach: Hashes,
) -> None:
    for p in range(left.shape[0]):
        a, b = left[p], right[p]
        i, j = offsets[a], offsets[b]
        shared, mine, theirs = estimate(
            values, i, offsets[a + 1], limits[a], j, offsets[b + 1], limits[b], most
        )  # fmt: skip
        counts[p, 0], counts[p, 1], counts[p, 2] = shared, mine, theirs
        reach[p] = min(limits[a], limits[b])
        if most > 0 and mine + theirs - shared == most:
            last = _0
            if mine > 0:
                last = values[i + mine - 1]
            if theirs > 0:
                last = max(last, values[j + theirs - 1])
            reach[p] = min(reach[p], last)


def warm_up() -> None:
    """Compile this module's kernels."""
    tokens, offsets = np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64)
    limits = np.full(1, EVERY)
    samples(tokens, offsets, 2, limits)
    smallest(tokens, offsets, 2, 1)
    zero = np.zeros(1, np.int64)
    estimates(tokens, offsets, limits, 1, zero, zero)
