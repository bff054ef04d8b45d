"""The slow road of the tokeniser: text with bytes above 127 rewritten in canonical form, as UTF-8.

Every character becomes its canonical sequence (`classes` says how the table holds it), marks are put into canonical
order, and a blank stands wherever a token ends that no separator ends. In the result a byte belongs to a token exactly
if it is an ASCII letter or digit or above 127, so the fast passes apply to it. ASCII letters keep their case: hashing
lowers them.

Positions are uint64; nothing is read outside `data[at:end]`. The output must have room for `GROWTH` bytes a byte of
input and eight more.

While rewriting, five numbers say where things stand:

| name | meaning |
|---|---|
| n | length of the output so far |
| last | class of the last character that is not a mark |
| base | where that character stands in the output |
| run | where the marks begin that may still change places |
| marks | how many these are |
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import classes, jit_inner
from roughly.kernels.arrays import Bytes, Table, Words
from roughly.kernels.utf8 import decode, lookup, put
from roughly.kernels.words import HIGH_BITS, in_word, load, store

_0, _1, _8 = (np.uint64(i) for i in (0, 1, 8))
BYTE_NUMBERS = np.uint64(0x0001020304050607)  # times 1 << 8·i has i in its highest byte
BLANK = np.uint8(32)

SEPARATOR = np.uint32(classes.SEPARATOR)
SINGLE = np.uint32(classes.SINGLE)
IGNORED = np.uint32(classes.IGNORED)
MARK = np.uint32(classes.MARK)
SEQUENCE = np.uint32(classes.SEQUENCE)
PAYLOAD = np.uint32(classes.PAYLOAD)
DELTA = np.uint32(classes.DELTA)
DOT_ABOVE = np.uint32(classes.DOT_ABOVE)
LONGEST_RUN = np.uint64(classes.LONGEST_RUN)


@jit_inner
def canonicalise(data: Bytes, at: np.uint64, end: np.uint64, table: Table, out: Bytes, sources: Words) -> np.uint64:
    """Canonical form of data[at:end] into `out`; returns its length.

    Where `sources` has rows, row i becomes the start and end, counted from `at`, of the character byte i stems from.
    """
    origin = at
    n, last, base, run, marks = _0, SEPARATOR, _0, _0, _0
    while at < end:
        start, first = at, n
        if data[at] < 128:
            if last == SINGLE and in_word(data[at]):
                out[n] = BLANK
                n += _1
            at = _copy_ascii(data, at, end, out, n)
            _note_ascii(sources, n, start - origin, at - start)
            n += at - start
            last, base, run, marks = np.uint32(in_word(out[n - _1])), n - _1, n, _0
            continue
        cp, size = decode(data, at, end)
        at += size
        entry = lookup(cp, table)
        index, count = np.uint32(0), np.uint32(1)
        if entry >> np.uint32(24) == SEQUENCE:
            index = entry & PAYLOAD
            count = table.stage2[index]
        for k in range(count):
            if index != 0:
                cp = table.stage2[index + np.uint32(1) + np.uint32(k)]
                entry = lookup(cp, table)
            kind = entry >> np.uint32(24)
            if kind in (IGNORED, MARK):
                if kind == IGNORED or last == SEPARATOR:
                    continue
                if cp == DOT_ABOVE and (out[base] | np.uint8(32)) == 105:  # on an i or I
                    if sources.shape[0] > 0:
                        sources[n - _1, 1] = np.uint32(at - origin)
                    continue
                order = entry & PAYLOAD
                if order == 0 or marks == LONGEST_RUN:
                    n = put(out, n, cp)
                    run, marks = n, _0
                else:
                    n = put(out, n, cp) if marks == _0 else _put_in_order(out, n, run, cp, order, table)
                    marks += _1
                continue
            if kind in (SEPARATOR, SINGLE) or last == SINGLE:
                out[n] = BLANK
                n += _1
            base = n
            if kind != SEPARATOR:
                n = put(out, n, np.uint32((cp + entry) & DELTA))
            last, run, marks = kind, n, _0
        _note(sources, first, n, start - origin, at - origin)
    return n


@jit_inner
def _note(sources: Words, first: np.uint64, n: np.uint64, start: np.uint64, end: np.uint64) -> None:
    if sources.shape[0] > 0:
        for k in range(first, n):
            sources[k, 0] = np.uint32(start)
            sources[k, 1] = np.uint32(end)


@jit_inner
def _note_ascii(sources: Words, n: np.uint64, start: np.uint64, length: np.uint64) -> None:
    if sources.shape[0] > 0:
        for k in range(length):
            sources[n + k, 0] = np.uint32(start + k)
            sources[n + k, 1] = np.uint32(start + k + _1)


@jit_inner
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


@jit_inner
def _put_in_order(out: Bytes, n: np.uint64, run: np.uint64, cp: np.uint32, order: np.uint32, table: Table) -> np.uint64:
    """Write a mark behind those of its run out[run:n] that do not order after it; returns the new end."""
    place = n
    while place > run:
        before = place - _1
        while (out[before] & np.uint8(0xC0)) == 0x80:
            before -= _1
        other, _ = decode(out, before, place)
        if (lookup(other, table) & PAYLOAD) <= order:
            break
        place = before
    end = put(out, n, cp)
    if place < n:
        for k in range(n - place):
            out[end - _1 - np.uint64(k)] = out[n - _1 - np.uint64(k)]
        put(out, place, cp)
    return end
