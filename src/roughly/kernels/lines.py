"""Where lines end: sixty-four bytes at a time, since most of them hold no line feed."""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Bytes, Offsets, frozen
from roughly.kernels.words import HIGH_BITS, load

FEED = np.uint8(0x0A)

_0, _1, _8, _64 = (np.uint64(i) for i in (0, 1, 8, 64))
_ONES, _FEEDS = (np.uint64(c * 0x0101010101010101) for c in (1, 0x0A))


def line_ends(data: Bytes) -> Offsets:
    """Where each line ends, its line feed included; the last may lack it."""
    data = frozen(data, np.uint8, "data")
    ends = np.empty(len(data) // 256 + 64, np.int64)
    at, used = _feeds(data, 0, ends, 0)
    while at < len(data):
        ends = np.concatenate((ends[:used], np.empty(len(ends) + len(data) // 16, np.int64)))
        at, used = _feeds(data, at, ends, used)
    ends = ends[:used]
    is_whole = not len(data) or data[-1] == FEED
    return ends if is_whole else np.append(ends, len(data))


@jit_inner
def _feeds(data: Bytes, start: int | np.int64, ends: Offsets, used: int | np.int64) -> tuple[np.int64, np.int64]:
    """Note what follows each line feed from data[start] on, until all is done or `ends` is full.

    Returns (position, how many there are).
    """
    size = np.uint64(data.shape[0])
    room = np.uint64(ends.shape[0])
    at = np.uint64(start)
    n = np.uint64(used)
    while at < size and n < room:
        if at + _64 <= size:
            marks = _0
            for k in range(_0, _64, _8):
                word = load(data, at + k) ^ _FEEDS
                marks |= (word - _ONES) & ~word
            if marks & HIGH_BITS == _0:
                at += _64
                continue
        stop = min(at + _64, size)
        while at < stop and n < room:
            at += _1
            if data[at - _1] == FEED:
                ends[n] = np.int64(at)
                n += _1
    return np.int64(at), np.int64(n)


def warm_up() -> None:
    """Compile this module's kernels."""
    line_ends(np.zeros(1, np.uint8))
