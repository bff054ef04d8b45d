"""UTF-8 in and out, one code point at a time, and the look-up of a code point in the frozen table.

Malformed input is not an error: a byte that begins no well-formed character reads as U+FFFD, a separator, and only
that byte is passed over. Overlong forms are malformed. Positions are uint64, code points uint32.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Bytes, Table

_1, _2, _3, _4 = (np.uint64(i) for i in (1, 2, 3, 4))


@jit_inner
def decode(data: Bytes, at: np.uint64, end: np.uint64) -> tuple[np.uint32, np.uint64]:
    """The code point at data[at] and its length in bytes; (U+FFFD, 1) for a malformed byte."""
    c = np.uint32(data[at])
    left = end - at
    if 0xC2 <= c < 0xE0 and left > _1 and _continues(data[at + _1]):
        return (c & np.uint32(0x1F)) << np.uint32(6) | _six(data[at + _1]), _2
    if 0xE0 <= c < 0xF0 and left > _2 and _continues(data[at + _1]) and _continues(data[at + _2]):
        high = (c & np.uint32(0x0F)) << np.uint32(12) | _six(data[at + _1]) << np.uint32(6)
        cp = high | _six(data[at + _2])
        if cp >= 0x800:
            return cp, _3
    if 0xF0 <= c < 0xF5 and left > _3 and _continues(data[at + _1]) and _continues(data[at + _2]):
        high = (c & np.uint32(0x07)) << np.uint32(18) | _six(data[at + _1]) << np.uint32(12)
        cp = high | _six(data[at + _2]) << np.uint32(6) | _six(data[at + _3])
        if _continues(data[at + _3]) and 0x10000 <= cp <= 0x10FFFF:
            return cp, _4
    return np.uint32(0xFFFD), _1


@jit_inner
def _continues(byte: np.uint8) -> bool:
    return bool((byte & np.uint8(0xC0)) == 0x80)


@jit_inner
def _six(byte: np.uint8) -> np.uint32:
    return np.uint32(byte) & np.uint32(0x3F)


@jit_inner
def lookup(cp: np.uint32, table: Table) -> np.uint32:
    """The table's entry of a code point."""
    block = np.uint32(table.stage1[cp >> np.uint32(8)])
    return np.uint32(table.stage2[block << np.uint32(8) | cp & np.uint32(255)])


@jit_inner
def put(out: Bytes, n: np.uint64, cp: np.uint32) -> np.uint64:
    """Write a code point as UTF-8 at out[n]; returns the position behind it."""
    if cp < 0x80:
        out[n] = np.uint8(cp)
        return n + _1
    if cp < 0x800:
        out[n] = np.uint8(np.uint32(0xC0) | cp >> np.uint32(6))
        out[n + _1] = _tail(cp)
        return n + _2
    if cp < 0x10000:
        out[n] = np.uint8(np.uint32(0xE0) | cp >> np.uint32(12))
        out[n + _1] = _tail(cp >> np.uint32(6))
        out[n + _2] = _tail(cp)
        return n + _3
    out[n] = np.uint8(np.uint32(0xF0) | cp >> np.uint32(18))
    out[n + _1] = _tail(cp >> np.uint32(12))
    out[n + _2] = _tail(cp >> np.uint32(6))
    out[n + _3] = _tail(cp)
    return n + _4


@jit_inner
def _tail(cp: np.uint32) -> np.uint8:
    return np.uint8(np.uint32(0x80) | cp & np.uint32(0x3F))
