"""Where tokens start and end: the first pass of the tokeniser.

A flag for each byte says whether it belongs to a token; eight flags at a time, the changes between neighbours are
gathered into one number by a product, and a table of 256 rows says at which positions they are. There is no branch on
the text, so nothing depends on how well a processor guesses.

Edges are uint32 positions within one document, starts and ends in turns. `edges` needs room for one more than the
bytes of the document and eight besides; `flags` for `BLOCK` and eight.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Bytes, Words
from roughly.kernels.words import HIGH_BITS, in_word, load

_0, _1, _2, _3, _8, _64 = (np.uint64(i) for i in (0, 1, 2, 3, 8, 64))

BLOCK = np.uint64(1 << 14)
ASCII, CANONICAL = np.uint8(0), np.uint8(1)  # whether bytes above 127 belong to tokens
GATHER = np.uint64(0x0102040810204080)  # times a word of bytes 0 or 1 has these eight bits in its highest byte

# For each set of changes within eight bytes: how many, and where, two positions of 32 bits in a word.
COUNTS = np.array([row.bit_count() for row in range(256)], np.uint64)
POSITIONS = np.zeros((256, 4), np.uint64)
for _row in range(256):
    for _nth, _bit in enumerate(bit for bit in range(8) if _row >> bit & 1):
        POSITIONS[_row, _nth // 2] |= np.uint64(_bit << 32 * (_nth % 2))
BOTH = np.uint64(1 << 32 | 1)


@jit_inner
def is_ascii(data: Bytes, at: np.uint64, end: np.uint64) -> bool:
    """Whether no byte of data[at:end] is above 127; looks at 64 bytes at a time."""
    while at + _64 <= end:
        union = _0
        for k in range(_0, _64, _8):
            union |= load(data, at + k)
        if union & HIGH_BITS != _0:
            return False
        at += _64
    while at < end:
        if data[at] > 127:
            return False
        at += _1
    return True


@jit_inner
def mark_inside(data: Bytes, start: np.uint64, length: np.uint64, high: np.uint8, flags: Bytes) -> None:
    """1 for each byte of data[start:start + length] that belongs to a token, else 0; then zeros to a whole word.

    ASCII letters and digits do, and bytes above 127 if `high` is 1.
    """
    for i in range(length):
        c = data[start + i]
        flags[i] = in_word(c) | (c >> np.uint8(7) & high)
    for i in range(length, length + _8):
        flags[i] = 0


@jit_inner
def find_edges(
    data: Bytes, start: np.uint64, length: np.uint64, high: np.uint8, flags: Bytes, edges: Words
) -> np.uint64:
    """Where tokens start and end in data[start:start + length], in turns; returns how many edges there are.

    Works through `BLOCK` bytes at a time, whose flags stay in the fastest cache. Six edges in eight bytes are written
    in any case, the last two only where there are more.
    """
    n = _0
    before = _0
    block = _0
    while block < length:
        size = min(BLOCK, length - block)
        mark_inside(data, start + block, size, high, flags)
        n, before = _put_changes(flags, size, block, edges, n, before)
        block += size
    if before:
        edges[n] = np.uint32(length)
        n += _1
    return n


@jit_inner
def _put_changes(
    flags: Bytes, size: np.uint64, block: np.uint64, edges: Words, n: np.uint64, before: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Append the positions at which flags[:size] change, counted from `block` on; `before` is the flag ahead."""
    here = block * BOTH
    for at in range(_0, size, _8):
        word = load(flags, np.uint64(at))
        changes = word ^ (word << _8 | before)
        before = word >> np.uint64(56)
        row = changes * GATHER >> np.uint64(56)
        for k in range(_0, _3):
            _put_pair(edges, n + _2 * k, POSITIONS[row, k] + here)
        count = COUNTS[row]
        if count > np.uint64(6):
            _put_pair(edges, n + np.uint64(6), POSITIONS[row, _3] + here)
        n += count
        here += _8 * BOTH
    return n, before


@jit_inner
def _put_pair(edges: Words, n: np.uint64, pair: np.uint64) -> None:
    edges[n] = np.uint32(pair)
    edges[n + _1] = np.uint32(pair >> np.uint64(32))
