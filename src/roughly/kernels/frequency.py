"""Distinct tokens numbered, counted and looked up: what lexicons and filters are made with.

`number_tokens` reads text like the tokeniser, but instead of a hash each token becomes the number of its term, 0, 1,
2, … in the order of first sight. The bytes of a term are copied when it is first seen, which is the only moment they
are at hand. Frequent terms are seen early, so whatever is kept by number is dense where it is hot.

    slots      open addressing, linear probing: (hash, number + 1) a slot, home slot = highest bits of the hash
    hashes     token hash of each term, by number
    ends       where each term ends in `text`, by number
    text       canonical UTF-8 of the terms, one behind another

Where an array has no room the loop returns what it needs, the caller enlarges it, and the same piece of text is gone
through again: nothing is lost, because numbering a token twice gives the same number.

A lexicon on disk is looked up by `look_up`: hashes in order, and a directory with the place of the first hash for
each value of their highest bits, so that a bucket holds one or none. Hashes are uniform, so there is no bad case but
by malice. Hashes and slots are uint64, numbers uint32, positions int64; a count is last document << 32 | document
frequency.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Table, Words, frozen, frozen_offsets
from roughly.kernels.canonical import canonicalise
from roughly.kernels.classes import GROWTH
from roughly.kernels.edges import ASCII, BLOCK, CANONICAL, find_edges, is_ascii
from roughly.kernels.tokens import hash_between, piece_end

LONGEST_TERM = 255
"""Bytes of a term that are kept; of a longer one so many, and an ellipsis, which is in no token."""
ROOM_FOR_A_TERM = LONGEST_TERM + 3

DONE, NEEDS_NUMBERS, NEEDS_TERMS, NEEDS_TEXT = range(4)
DROPPED = np.uint32(0xFFFFFFFF)

DOCUMENT, AT, TOKENS, TERMS, TEXT = range(5)  # places in the state that a caller keeps between two calls

_0, _1, _2, _32, _64 = (np.uint64(i) for i in (0, 1, 2, 32, 64))
_LOW = np.uint64(0xFFFFFFFF)
_CASE = np.uint8(32)


class Terms(NamedTuple):
    """The terms known so far; see above."""

    slots: Hashes
    hashes: Hashes
    ends: Offsets
    text: Bytes


class Scratch(NamedTuple):
    """What numbering a piece of text writes to and forgets."""

    flags: Bytes
    edges: Words
    longs: Words
    buffer: Bytes
    sources: Words  # no rows: nobody asks where a byte stems from
    hashes: Hashes


def make_scratch(data: Bytes, offsets: Offsets) -> Scratch:
    """Room for the largest piece of these texts."""
    room = GROWTH * int(_largest_piece(frozen(data, np.uint8, "data"), frozen_offsets(offsets, len(data)))) + 16
    return Scratch(
        np.empty(int(BLOCK) + 8, np.uint8),
        np.empty(room, np.uint32),
        np.empty(room // 2 + 1, np.uint32),
        np.empty(room, np.uint8),
        np.empty((0, 2), np.uint32),
        np.empty(room // 2 + 8, np.uint64),
    )


def number_tokens(
    data: Bytes,
    offsets: Offsets,
    table: Table,
    scratch: Scratch,
    terms: Terms,
    numbers: Words,
    token_offsets: Offsets,
    state: Offsets,
) -> int:
    """Number the tokens of each document from where `state` stands; returns DONE or what more room is needed of.

    `state` holds document, position in `data`, tokens, terms and bytes of text so far, and is moved on.
    """
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    if len(token_offsets) != len(offsets) or len(state) != 5 or len(terms.slots) < 4 * len(terms.hashes):
        raise ValueError("token_offsets, state or slots do not fit the documents and terms")
    return int(_number_tokens(data, offsets, table, scratch, terms, numbers, token_offsets, state))


@jit_inner
def _largest_piece(data: Bytes, offsets: Offsets) -> np.uint64:
    largest = _0
    for d in range(offsets.shape[0] - 1):
        at = np.uint64(offsets[d])
        end = np.uint64(offsets[d + 1])
        while at < end:
            stop = piece_end(data, at, end)
            largest = max(largest, stop - at)
            at = stop
    return largest


@jit_inner
def _number_tokens(
    data: Bytes,
    offsets: Offsets,
    table: Table,
    scratch: Scratch,
    terms: Terms,
    numbers: Words,
    token_offsets: Offsets,
    state: Offsets,
) -> int:
    flags, edges, longs, buffer, sources, hashes = scratch
    for d in range(state[DOCUMENT], offsets.shape[0] - 1):
        state[DOCUMENT] = d
        at = max(np.uint64(offsets[d]), np.uint64(state[AT]))
        end = np.uint64(offsets[d + 1])
        while at < end:
            state[AT] = np.int64(at)
            stop = piece_end(data, at, end)
            if is_ascii(data, at, stop):
                count = find_edges(data, at, stop - at, ASCII, flags, edges)
                hash_between(data, at, edges, count, longs, hashes, _0)
                short = _number_piece(data, at, edges, count // _2, hashes, terms, numbers, state)
            else:
                length = canonicalise(data, at, stop, table, buffer, sources)
                count = find_edges(buffer, _0, length, CANONICAL, flags, edges)
                hash_between(buffer, _0, edges, count, longs, hashes, _0)
                short = _number_piece(buffer, _0, edges, count // _2, hashes, terms, numbers, state)
            if short != DONE:
                return short
            at = stop
        state[AT] = np.int64(end)
        token_offsets[d + 1] = state[TOKENS]
    state[DOCUMENT] = offsets.shape[0] - 1
    return DONE


@jit_inner
def _number_piece(
    source: Bytes,
    start: np.uint64,
    edges: Words,
    count: np.uint64,
    hashes: Hashes,
    terms: Terms,
    numbers: Words,
    state: Offsets,
) -> int:
    """Number the tokens between pairs of edges; `state` moves on only where all of them find room."""
    slots = terms.slots
    first = np.uint64(state[TOKENS])
    if first + count > np.uint64(numbers.shape[0]):
        return NEEDS_NUMBERS
    mask = np.uint64(slots.shape[0] // 2 - 1)
    shift = _shift(slots)
    for t in range(count):
        h = hashes[t]
        s = h >> shift
        entry = slots[_2 * s + _1]
        while entry != _0 and slots[_2 * s] != h:
            s = (s + _1) & mask
            entry = slots[_2 * s + _1]
        if entry == _0:
            if state[TERMS] == terms.hashes.shape[0]:
                return NEEDS_TERMS
            if state[TEXT] + ROOM_FOR_A_TERM > terms.text.shape[0]:
                return NEEDS_TEXT
            at = start + np.uint64(edges[_2 * t])
            end = start + np.uint64(edges[_2 * t + _1])
            _add_term(source, at, end, h, terms, state)
            entry = np.uint64(state[TERMS])
            slots[_2 * s] = h
            slots[_2 * s + _1] = entry
        numbers[first + t] = np.uint32(entry - _1)
    state[TOKENS] += np.int64(count)
    return DONE


@jit_inner
def _shift(slots: Hashes) -> np.uint64:
    """Sixty-four less the bits that number the slots."""
    shift = _64
    n = slots.shape[0] // 2
    while n > 1:
        shift -= _1
        n >>= 1
    return shift


@jit_inner
def _add_term(source: Bytes, at: np.uint64, end: np.uint64, h: np.uint64, terms: Terms, state: Offsets) -> None:
    """Append source[at:end] in lower case, cut between two characters if it is long."""
    stop = end
    if end - at > np.uint64(LONGEST_TERM):
        stop = at + np.uint64(LONGEST_TERM)
        while (source[stop] & np.uint8(0xC0)) == 0x80:
            stop -= _1
    to = np.uint64(state[TEXT])
    for i in range(at, stop):
        c = source[i]
        terms.text[to] = c | _CASE if c < 128 else c
        to += _1
    if stop != end:
        terms.text[to], terms.text[to + _1], terms.text[to + _2] = np.uint8(0xE2), np.uint8(0x80), np.uint8(0xA6)
        to += np.uint64(3)
    term = state[TERMS]
    terms.hashes[term] = h
    terms.ends[term] = np.int64(to)
    state[TEXT] = np.int64(to)
    state[TERMS] = term + 1


@jit_inner
def fill_slots(slots: Hashes, hashes: Hashes, count: int) -> None:
    """Put the first `count` terms into empty slots."""
    mask = np.uint64(slots.shape[0] // 2 - 1)
    shift = _shift(slots)
    for i in range(count):
        s = hashes[i] >> shift
        while slots[_2 * s + _1] != _0:
            s = (s + _1) & mask
        slots[_2 * s] = hashes[i]
        slots[_2 * s + _1] = np.uint64(i + 1)


@jit_inner
def count_documents(numbers: Words, offsets: Offsets, first_document: int, counts: Hashes) -> None:
    """counts[t] += 1 for each document that holds term t; documents are numbered from `first_document`, 1 or more."""
    for d in range(offsets.shape[0] - 1):
        document = np.uint64(first_document + d) << _32
        for i in range(offsets[d], offsets[d + 1]):
            term = np.uint64(numbers[i])
            before = counts[term] & _LOW
            counts[term] = document | (before + np.uint64((counts[term] ^ document) > _LOW))


@jit_inner
def put_targets(numbers: Words, offsets: Offsets, targets: Words, out: Words, out_offsets: Offsets) -> None:
    """Replace each term by its target, and leave out those whose target is DROPPED."""
    n = _0
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            target = targets[np.uint64(numbers[i])]
            out[n] = target
            n += np.uint64(target != DROPPED)
        out_offsets[d + 1] = np.int64(n)


@jit_inner
def gather_text(text: Bytes, starts: Offsets, ends: Offsets, out: Bytes) -> None:
    """text[starts[i]:ends[i]], one behind another."""
    n = _0
    for i in range(starts.shape[0]):
        for at in range(np.uint64(starts[i]), np.uint64(ends[i])):
            out[n] = text[at]
            n += _1


PLAIN_LETTERS, PLAIN, OTHER = np.uint8(0), np.uint8(1), np.uint8(2)


@jit_inner
def classify_terms(text: Bytes, ends: Offsets, out: Bytes) -> None:
    """Of each term, whether it is a–z only, a–z and digits, or holds other characters."""
    at = _0
    for t in range(ends.shape[0]):
        kind = PLAIN_LETTERS
        end = np.uint64(ends[t])
        for i in range(at, end):
            c = text[i]
            kind = max(kind, OTHER if c > 127 else PLAIN_LETTERS if c > 96 else PLAIN)
        out[t] = kind
        at = end


def look_up(wanted: Hashes, hashes: Hashes, directory: Words, counts: Words) -> Words:
    """The count of each wanted hash among the ascending `hashes`, or 0; never reads outside, whatever a file says."""
    wanted, hashes = frozen(wanted, np.uint64, "wanted"), frozen(hashes, np.uint64, "hashes")
    directory, counts = frozen(directory, np.uint32, "directory"), frozen(counts, np.uint32, "counts")
    bits = (len(directory) - 1).bit_length() - 1
    if bits < 1 or len(directory) != (1 << bits) + 1 or len(counts) != len(hashes):
        raise ValueError("the directory must have 2, 4, 8, … entries and one more, and each hash a count")
    out = np.empty(len(wanted), np.uint32)
    _look_up(wanted, hashes, directory, counts, np.uint64(64 - bits), out)
    return out


@jit_inner
def _look_up(wanted: Hashes, hashes: Hashes, directory: Words, counts: Words, shift: np.uint64, out: Words) -> None:
    terms = np.uint64(hashes.shape[0])
    for i in range(wanted.shape[0]):
        h = wanted[i]
        bucket = h >> shift
        at = np.uint64(directory[bucket])
        end = min(np.uint64(directory[bucket + _1]), terms)
        count = np.uint32(0)
        while at < end:
            if hashes[at] == h:
                count = counts[at]
                break
            at += _1
        out[i] = count


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    data = np.frombuffer("a é".encode(), np.uint8)
    offsets = np.array([0, len(data)], np.int64)
    table = Table(
        frozen(np.zeros(4352, np.uint16), np.uint16, "stage1"), frozen(np.zeros(256, np.uint32), np.uint32, "2")
    )
    scratch = make_scratch(data, offsets)
    text = np.empty(4 * ROOM_FOR_A_TERM, np.uint8)
    terms = Terms(np.zeros(16, np.uint64), np.empty(4, np.uint64), np.empty(4, np.int64), text)
    numbers, token_offsets, state = np.empty(4, np.uint32), np.zeros(2, np.int64), np.zeros(5, np.int64)
    number_tokens(data, offsets, table, scratch, terms, numbers, token_offsets, state)
    fill_slots(np.zeros(16, np.uint64), terms.hashes, 1)
    count_documents(numbers, np.array([0, 0]), 1, np.zeros(4, np.uint64))
    put_targets(numbers, np.array([0, 0]), np.zeros(4, np.uint32), numbers, token_offsets)
    starts, ends = np.zeros(1, np.int64), np.zeros(1, np.int64)
    gather_text(frozen(text, np.uint8, "text"), starts, ends, text)
    classify_terms(frozen(text, np.uint8, "text"), ends, np.empty(1, np.uint8))
    look_up(np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.zeros(3, np.uint32), np.zeros(1, np.uint32))
