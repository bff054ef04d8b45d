"""Eight bytes at a time: text read, written and lower-cased as 64-bit words, lowest byte first."""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Bytes

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
HIGH_BITS = np.uint64(0x8080808080808080)

_0, _1, _2, _3, _4, _5, _6, _7, _8 = (np.uint64(i) for i in range(9))
_16, _24, _32, _40, _48, _56, _64 = (np.uint64(8 * i) for i in range(2, 9))


@jit_inner
def signed(word: np.uint64 | np.uint32 | np.int32) -> int:
    """As int64: beside signed numbers a plain `int` of an unsigned one becomes a float."""
    return np.int64(word)  # type: ignore[return-value]


@jit_inner
def load(data: Bytes, at: np.uint64) -> np.uint64:
    """The little-endian word at data[at:at + 8]; LLVM makes one load of it."""
    return (
        np.uint64(data[at])
        | np.uint64(data[at + _1]) << _8
        | np.uint64(data[at + _2]) << _16
        | np.uint64(data[at + _3]) << _24
        | np.uint64(data[at + _4]) << _32
        | np.uint64(data[at + _5]) << _40
        | np.uint64(data[at + _6]) << _48
        | np.uint64(data[at + _7]) << _56
    )


@jit_inner
def store(data: Bytes, at: np.uint64, word: np.uint64) -> None:
    """Write a little-endian word to data[at:at + 8]; LLVM makes one store of it."""
    for k in range(_8):
        data[at + k] = np.uint8(word >> (_8 * k))


@jit_inner
def load_tail(data: Bytes, at: np.uint64, length: np.uint64) -> np.uint64:
    """The little-endian word of data[at:at + length], length ≤ 8, with zeros above; reads nothing past `data`."""
    if length == _0:
        return _0
    if at + _8 <= np.uint64(data.shape[0]):
        return load(data, at) & (ALL_BITS >> (_64 - _8 * length))
    word = _0
    for i in range(length):
        word |= np.uint64(data[at + np.uint64(i)]) << (_8 * np.uint64(i))
    return word


@jit_inner
def lower(word: np.uint64) -> np.uint64:
    """Eight bytes with bit 5 set in those below 128: letters in lower case, digits as they are, the rest spoilt."""
    return word | ((~word & HIGH_BITS) >> _2)


@jit_inner
def in_word(byte: np.uint8) -> np.uint8:
    """1 for an ASCII letter or digit, else 0; written as arithmetic, so that loops of it vectorise."""
    letter = np.uint8((byte | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
    digit = np.uint8(byte - np.uint8(48)) < np.uint8(10)
    return np.uint8(letter | digit)
