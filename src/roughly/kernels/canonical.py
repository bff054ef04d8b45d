"""The slow road of the tokeniser: text with bytes above 127 rewritten in canonical form, as UTF-8.

Every character becomes its canonical sequence (`classes` says how the table holds it), marks are put into
canonical order, and a blank stands wherever a token ends that no separator ends. In the result a byte belongs to a
token exactly if it is an ASCII letter or digit or above 127, so the fast passes of `tokens` apply to it. ASCII
letters keep their case: hashing lowers them.

Positions are uint64; nothing is read outside `data[at:end]`. The output must have room for `GROWTH` bytes a byte of
input and eight more.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import classes, jit
from roughly.kernels.arrays import Blocks, Bytes, Offsets, Words
from roughly.kernels.hashing import load, store
from roughly.kernels.utf8 import decode, lookup, put

_0, _1, _8 = (np.uint64(i) for i in (0, 1, 8))
HIGH_BITS = np.uint64(0x8080808080808080)
BYTE_NUMBERS = np.uint64(0x0001020304050607)  # times 1 << 8·i has i in its highest byte
BLANK = np.uint8(32)

SEPARATOR = np.uint32(classes.SEPARATOR)
WORD = np.uint32(classes.WORD)
SINGLE = np.uint32(classes.SINGLE)
IGNORED = np.uint32(classes.IGNORED)
MARK = np.uint32(classes.MARK)
SEQUENCE = np.uint32(classes.SEQUENCE)
PAYLOAD = np.uint32(classes.PAYLOAD)
DELTA = np.uint32(classes.DELTA)
DOT_ABOVE = np.uint32(classes.DOT_ABOVE)
LONGEST_RUN = np.uint64(classes.LONGEST_RUN)

IN_WORD = np.zeros((2, 256), np.uint8)
"""Whether a byte belongs to a token: row 0 in ASCII text, row 1 in canonical form."""
for _c in b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz":
    IN_WORD[:, _c] = 1
IN_WORD[1, 128:] = 1


@jit
def canonicalise(
    data: Bytes, at: np.uint64, end: np.uint64, stage1: Blocks, stage2: Words, out: Bytes, sources: Offsets
) -> np.uint64:
    """Canonical form of data[at:end] into `out`; returns its length.

    Where `sources` has rows, row i becomes (start, end) in `data` of the character that byte i stems from.
    """
    n = _0
    last = SEPARATOR  # class of the last character that is not a mark
    base = _0  # where it stands in `out`
    run = _0  # where the marks stand that may still change places
    marks = _0  # how many these are
    while at < end:
        start = at
        if data[at] < 128:
            if last == SINGLE and IN_WORD[0, data[at]]:
                out[n] = BLANK
                n += _1
            at = _copy_ascii(data, at, end, out, n)
            n += at - start
            base = n - _1
            run = n
            marks = _0
            last = np.uint32(IN_WORD[0, out[base]])
            if sources.shape[0] > 0:
                for k in range(at - start):
                    sources[n - _1 - k, 0] = at - _1 - k
                    sources[n - _1 - k, 1] = at - k
            continue
        first = n
        cp, size = decode(data, at, end)
        at += size
        entry = lookup(cp, stage1, stage2)
        kind = entry >> np.uint32(24)
        count = np.uint32(1)
        index = np.uint32(0)
        if kind == SEQUENCE:
            index = entry & PAYLOAD
            count = stage2[index]
        for k in range(count):
            if index:
                cp = stage2[index + np.uint32(1) + np.uint32(k)]
                entry = lookup(cp, stage1, stage2)
                kind = entry >> np.uint32(24)
            if kind == IGNORED or (kind == MARK and last == SEPARATOR):
                continue
            if kind == MARK:
                if cp == DOT_ABOVE and (out[base] | np.uint8(32)) == 105:
                    if sources.shape[0] > 0:
                        sources[n - _1, 1] = at
                    continue
                order = entry & PAYLOAD
                if order == 0 or marks == LONGEST_RUN:
                    n = put(out, n, cp)
                    run = n
                    marks = _0
                else:
                    n = _put_mark(out, n, run, cp, order, stage1, stage2)
                    marks += _1
                continue
            if kind == SEPARATOR or kind == SINGLE or last == SINGLE:
                out[n] = BLANK
                n += _1
            if kind != SEPARATOR:
                base = n
                n = put(out, n, (cp + entry) & DELTA)
            run = n
            marks = _0
            last = kind
        if sources.shape[0] > 0:
            for k in range(first, n):
                sources[k, 0] = start
                sources[k, 1] = at
    return n


@jit
def _copy_ascii(data: Bytes, at: np.uint64, end: np.uint64, out: Bytes, n: np.uint64) -> np.uint64:
    """Copy ASCII up to the next byte above 127, eight bytes at a time; returns where in `data` that is.

    The word with that byte is copied whole: what is too much will be written over.
    """
    while at + _8 <= end:
        word = load(data, at)
        store(out, n, word)
        high = word & HIGH_BITS
        if high != _0:
            lowest = (high & (~high + _1)) >> np.uint64(7)  # 1 << 8·i for the i-th byte
            return at + ((lowest * BYTE_NUMBERS) >> np.uint64(56))
        at += _8
        n += _8
    while at < end and data[at] < 128:
        out[n] = data[at]
        at += _1
        n += _1
    return at


@jit
def _put_mark(
    out: Bytes, n: np.uint64, run: np.uint64, cp: np.uint32, order: np.uint32, stage1: Blocks, stage2: Words
) -> np.uint64:
    """Write a mark behind those of its run out[run:n] that do not order after it; returns the new end."""
    place = n
    while place > run:
        before = place - _1
        while (out[before] & np.uint8(0xC0)) == 0x80:
            before -= _1
        other, _ = decode(out, before, place)
        if (lookup(other, stage1, stage2) & PAYLOAD) <= order:
            break
        place = before
    end = put(out, n, cp)
    if place < n:
        for k in range(n - place):
            out[end - _1 - np.uint64(k)] = out[n - _1 - np.uint64(k)]
        put(out, place, cp)
    return end
