"""The tokeniser: canonical tokens as 64-bit hashes, straight from the bytes of an Arrow column.

Two passes over each document, which was measured to be 2.5 times as fast as one:

1. the edges of tokens, by `edges`;
2. the bytes between two edges, hashed eight at a time, in lower case: setting bit 5 of a byte below 128 lowers a
   letter and leaves a digit alone. The last word is filled with zeros, which no token contains, so tokens of up to
   eight bytes have distinct hashes for certain.

Text with a byte above 127 is first rewritten by `canonicalise`, and passes 1 and 2 then read the rewritten form.
The hash of a token is thus a function of its canonical UTF-8 bytes alone, whichever road it took.

Documents are worked through in pieces that end behind an ASCII separator, where no token and no rule reaches across.
So scratch memory is that of one piece, and a page with a few accents takes the slow road only around them. Positions
are uint32 within a piece; a text without any separator is one piece, which bounds a document to `LONGEST_DOCUMENT`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roughly.errors import InputError
from roughly.kernels import jit_inner
from roughly.kernels.arrays import Blocks, Bytes, Hashes, Offsets, Table, Words, frozen, frozen_offsets
from roughly.kernels.canonical import canonicalise
from roughly.kernels.classes import GROWTH
from roughly.kernels.edges import ASCII, BLOCK, CANONICAL, find_edges, is_ascii
from roughly.kernels.hashing import SEED, absorb, mix
from roughly.kernels.words import ALL_BITS, in_word, load, load_tail, lower

LONGEST_DOCUMENT = (2**32 - 16) // GROWTH
PIECE = np.uint64(1 << 14)

_0, _1, _2, _8, _63, _64 = (np.uint64(i) for i in (0, 1, 2, 8, 63, 64))


class Scratch(NamedTuple):
    """What tokenising a piece writes to and forgets."""

    flags: Bytes  # whether a byte belongs to a token, a block at a time
    edges: Words  # where tokens start and end
    longs: Words  # the edges of those that are longer than eight bytes
    buffer: Bytes  # canonical form
    sources: Words  # (start, end) of the character that a byte of it stems from; no rows where nobody asks


def tokenise(data: Bytes, offsets: Offsets, stage1: Blocks, stage2: Words) -> tuple[Hashes, Offsets]:
    """Hashes of the tokens of each document data[offsets[i]:offsets[i + 1]], and where each document's begin."""
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    refuse_longer(int(np.diff(offsets).max(initial=0)))
    table = Table(frozen(stage1, np.uint16, "stage1"), frozen(stage2, np.uint32, "stage2"))
    scratch = _scratch(int(_largest_piece(data, offsets)), with_sources=False)
    token_offsets = np.zeros(len(offsets), np.int64)
    hashes = np.empty(int(offsets[-1] - offsets[0]) // 5 + 64, np.uint64)
    document, at, used = 0, offsets[0], np.int64(0)
    while True:
        document, at, used = _tokenise(data, offsets, table, scratch, hashes, token_offsets, document, at, used)
        if document == len(offsets) - 1:
            return hashes[:used], token_offsets
        hashes = _larger(hashes, int(used), len(scratch.edges))


def spans(data: Bytes, stage1: Blocks, stage2: Words) -> Offsets:
    """Start and end, in bytes of the original text, of each token of one document: (n, 2) int64.

    The tokens of `tokenise`, in its order. A span reaches from the first byte of a token's first character to the last
    of its last; a character that stands for parts of two tokens (Thai sara am) is in the spans of both.
    """
    data = frozen(data, np.uint8, "data")
    refuse_longer(len(data))
    table = Table(frozen(stage1, np.uint16, "stage1"), frozen(stage2, np.uint32, "stage2"))
    whole = frozen_offsets(np.array([0, len(data)], np.int64), len(data))
    scratch = _scratch(int(_largest_piece(data, whole)), with_sources=True)
    out = np.empty((len(data) // 5 + 64, 2), np.int64)
    while True:
        count = _spans(data, table, scratch, out)
        if count >= 0:
            return out[:count]
        out = np.empty((2 * len(out), 2), np.int64)


def _scratch(largest: int, with_sources: bool) -> Scratch:
    """Room for pieces of up to this many bytes."""
    room = GROWTH * largest + 16
    return Scratch(
        np.empty(int(BLOCK) + 8, np.uint8),
        np.empty(room, np.uint32),
        np.empty(room // 2 + 1, np.uint32),
        np.empty(room, np.uint8),
        np.empty((room if with_sources else 0, 2), np.uint32),
    )


def _larger(hashes: Hashes, used: int, more: int) -> Hashes:
    """A copy with half as much room again, and room for so many more."""
    larger = np.empty(len(hashes) + len(hashes) // 2 + more, np.uint64)
    larger[:used] = hashes[:used]
    return larger


def refuse_longer(length: int) -> None:
    """Refuse a document whose positions may not fit into 32 bits."""
    if length > LONGEST_DOCUMENT:
        raise InputError(
            f"a document has {length} bytes of text; the longest that can be tokenised has {LONGEST_DOCUMENT}: split it"
        )


@jit_inner
def hash_between(
    data: Bytes, start: np.uint64, edges: Words, count: np.uint64, longs: Words, out: Hashes, n: np.uint64
) -> np.uint64:
    """Hash the token between each pair of edges into out[n], out[n + 1], …; returns the new end.

    All are hashed as if they had eight bytes at the most, and the longer ones, which are noted in `longs` without a
    branch that the processor would have to guess, once more.
    """
    size = np.uint64(data.shape[0])
    inside = count  # up to where eight bytes can be read
    while inside > _0 and start + np.uint64(edges[inside - _2]) + _8 > size:
        inside -= _2
    first, found = n, _0
    for e in range(_0, inside, _2):
        at = np.uint64(edges[e])
        left = np.uint64(edges[e + _1]) - at
        longs[found] = np.uint32(e)
        found += np.uint64(left > _8)
        out[n] = mix(SEED ^ (lower(load(data, start + at)) & (ALL_BITS >> ((_64 - _8 * left) & _63))))
        n += _1
    for i in range(found):
        long = np.uint64(longs[i])
        at, left = np.uint64(edges[long]), np.uint64(edges[long + _1] - edges[long])
        out[first + long // _2] = _hash_token(data, start + at, left)
    for e in range(inside, count, _2):
        out[n] = _hash_token(data, start + np.uint64(edges[e]), np.uint64(edges[e + _1] - edges[e]))
        n += _1
    return n


@jit_inner
def _hash_token(data: Bytes, at: np.uint64, left: np.uint64) -> np.uint64:
    """The hash of the token data[at:at + left]."""
    h = SEED
    while left > _8:
        h = absorb(h, lower(load(data, at)))
        at += _8
        left -= _8
    return mix(h ^ (lower(load_tail(data, at, left)) & (ALL_BITS >> (_64 - _8 * left))))


@jit_inner
def piece_end(data: Bytes, at: np.uint64, end: np.uint64) -> np.uint64:
    """Where the piece ends that begins at `at`: behind the first ASCII separator after `PIECE` bytes, or at `end`."""
    if end - at <= PIECE:
        return end
    at += PIECE
    while at < end and (data[at] > 127 or in_word(data[at])):
        at += _1
    return min(at + _1, end)


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
def _tokenise(
    data: Bytes,
    offsets: Offsets,
    table: Table,
    scratch: Scratch,
    hashes: Hashes,
    token_offsets: Offsets,
    document: int,
    start: np.int64,
    used: np.int64,
) -> tuple[int, np.int64, np.int64]:
    """Go on from data[start] in this document until all is done or `hashes` is full; returns where that is.

    That is (document, position, hashes used); the document is the number of documents where all is done.
    """
    flags, edges, longs, buffer, sources = scratch
    room = np.uint64(hashes.shape[0])
    n = np.uint64(used)
    at = np.uint64(start)
    for d in range(document, offsets.shape[0] - 1):
        at = max(at, np.uint64(offsets[d]))
        end = np.uint64(offsets[d + 1])
        while at < end:
            stop = piece_end(data, at, end)
            if is_ascii(data, at, stop):
                count = find_edges(data, at, stop - at, ASCII, flags, edges)
                if n + count // _2 > room:
                    return d, np.int64(at), np.int64(n)
                n = hash_between(data, at, edges, count, longs, hashes, n)
            else:
                length = canonicalise(data, at, stop, table, buffer, sources)
                count = find_edges(buffer, _0, length, CANONICAL, flags, edges)
                if n + count // _2 > room:
                    return d, np.int64(at), np.int64(n)
                n = hash_between(buffer, _0, edges, count, longs, hashes, n)
            at = stop
        token_offsets[d + 1] = np.int64(n)
    return offsets.shape[0] - 1, np.int64(at), np.int64(n)


@jit_inner
def _spans(data: Bytes, table: Table, scratch: Scratch, out: Offsets) -> np.int64:
    """Spans of all tokens into `out`; returns how many, or −1 where there is no room for them."""
    flags, edges, _, buffer, sources = scratch
    end = np.uint64(data.shape[0])
    at = n = _0
    while at < end:
        stop = piece_end(data, at, end)
        rewritten = not is_ascii(data, at, stop)
        if rewritten:
            length = canonicalise(data, at, stop, table, buffer, sources)
            count = find_edges(buffer, _0, length, CANONICAL, flags, edges)
        else:
            count = find_edges(data, at, stop - at, ASCII, flags, edges)
        if n + count // _2 > np.uint64(out.shape[0]):
            return np.int64(-1)
        for e in range(_0, count, _2):
            first, last = edges[e], edges[e + _1]
            if rewritten:
                first, last = _source(sources, first, last)
            out[n, 0] = np.int64(at + np.uint64(first))
            out[n, 1] = np.int64(at + np.uint64(last))
            n += _1
        at = stop
    return np.int64(n)


@jit_inner
def _source(sources: Words, start: np.uint32, end: np.uint32) -> tuple[np.uint32, np.uint32]:
    """The least start and the greatest end of the characters that buffer[start:end] stems from."""
    first, last = sources[start, 0], sources[start, 1]
    for k in range(start, end):
        first = min(first, sources[k, 0])
        last = max(last, sources[k, 1])
    return first, last


def warm_up() -> None:
    """Compile this module's kernels."""
    data = np.frombuffer("a é".encode(), np.uint8)
    stage1, stage2 = np.zeros(4352, np.uint16), np.zeros(256, np.uint32)
    tokenise(data, np.array([0, len(data)], np.int64), stage1, stage2)
    spans(data, stage1, stage2)
