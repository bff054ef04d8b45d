"""The tokeniser: canonical tokens as 64-bit hashes, straight from the bytes of an Arrow column.

Two passes over each document, which was measured to be 2.5 times as fast as one:

1. the *edges* of tokens, eight bytes at a time and without a branch on the text: a flag for each byte inside a token,
   the changes between neighbouring flags gathered into one number by a product, and a table of 256 rows that
   says where the changes are;
2. the bytes between two edges, hashed eight at a time, in lower case: setting bit 5 of a byte below 128 lowers a
   letter and leaves a digit alone. The last word is filled with zeros, which no token contains, so tokens of up to
   eight bytes have distinct hashes for certain.

A document with a byte above 127 is first rewritten by `canonicalise`, and passes 1 and 2 then read the rewritten form.
The hash of a token is thus a function of its canonical UTF-8 bytes alone, whichever road it took.

Edges are uint32 positions within one document, which bounds a document to `LONGEST_DOCUMENT` bytes.
"""

from __future__ import annotations

import numpy as np

from roughly.errors import InputError
from roughly.kernels import jit
from roughly.kernels.arrays import Blocks, Bytes, Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.canonical import HIGH_BITS, canonicalise
from roughly.kernels.classes import GROWTH
from roughly.kernels.hashing import ALL_BITS, SEED, absorb, load, load_tail, mix

LONGEST_DOCUMENT = (2**32 - 16) // GROWTH

_0, _1, _2, _8, _64 = (np.uint64(i) for i in (0, 1, 2, 8, 64))
_GROWTH = np.uint64(GROWTH)

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


def tokenise(data: Bytes, offsets: Offsets, stage1: Blocks, stage2: Words) -> tuple[Hashes, Offsets]:
    """Hashes of the tokens of each document data[offsets[i]:offsets[i + 1]], and where each document's begin."""
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    refuse_longer(int(np.diff(offsets).max(initial=0)))
    return _tokenise(data, offsets, frozen(stage1, np.uint16, "stage1"), frozen(stage2, np.uint32, "stage2"))


def spans(data: Bytes, stage1: Blocks, stage2: Words) -> Offsets:
    """Start and end, in bytes of the original text, of each token of one document: (n, 2) int64.

    The tokens of `tokenise`, in its order. A span reaches from the first byte of a token's first character to the last
    of its last; a character that stands for parts of two tokens (Thai sara am) is in the spans of both.
    """
    data = frozen(data, np.uint8, "data")
    refuse_longer(len(data))
    return _spans(data, frozen(stage1, np.uint16, "stage1"), frozen(stage2, np.uint32, "stage2"))


def refuse_longer(length: int) -> None:
    """Refuse a document whose positions may not fit into 32 bits."""
    if length > LONGEST_DOCUMENT:
        raise InputError(
            f"a document has {length} bytes of text; the longest that can be tokenised has {LONGEST_DOCUMENT}: split it"
        )


@jit
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


@jit
def mark_inside(data: Bytes, start: np.uint64, length: np.uint64, high: np.uint8, flags: Bytes) -> None:
    """1 for each byte of data[start:start + length] that belongs to a token, else 0; then zeros to a whole word.

    ASCII letters and digits do, and bytes above 127 if `high` is 1. Written as arithmetic, so that it vectorises.
    """
    for i in range(length):
        c = data[start + i]
        letter = np.uint8((c | np.uint8(32)) - np.uint8(97)) < np.uint8(26)
        digit = np.uint8(c - np.uint8(48)) < np.uint8(10)
        flags[i] = np.uint8(letter | digit) | (c >> np.uint8(7) & high)
    for i in range(length, length + _8):
        flags[i] = 0


@jit
def find_edges(
    data: Bytes, start: np.uint64, length: np.uint64, high: np.uint8, flags: Bytes, edges: Words
) -> np.uint64:
    """Where tokens start and end in data[start:start + length], in turns; returns how many edges there are.

    Works through `BLOCK` bytes at a time, whose flags stay in the fastest cache. Four edges in eight bytes are written
    in any case, more only where there are more.
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


@jit
def _put_changes(
    flags: Bytes, size: np.uint64, block: np.uint64, edges: Words, n: np.uint64, before: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Append the positions, counted from `block` on, at which flags[:size] change; `before` is the flag ahead of them."""
    here = block * BOTH
    for at in range(_0, size, _8):
        word = load(flags, at)
        changes = word ^ (word << _8 | before)
        before = word >> np.uint64(56)
        row = changes * GATHER >> np.uint64(56)
        _put_pairs(edges, n, row, _0, here)
        count = COUNTS[row]
        if count > np.uint64(4):
            _put_pairs(edges, n, row, _2, here)
        n += count
        here += _8 * BOTH
    return n, before


@jit
def _put_pairs(edges: Words, n: np.uint64, row: np.uint64, first: np.uint64, here: np.uint64) -> None:
    for k in range(first, first + _2):
        pair = POSITIONS[row, k] + here
        edges[n + _2 * k] = np.uint32(pair)
        edges[n + _2 * k + _1] = np.uint32(pair >> np.uint64(32))


@jit
def lower(word: np.uint64) -> np.uint64:
    """Eight bytes with bit 5 set in those below 128."""
    return word | ((~word & HIGH_BITS) >> _2)


@jit
def hash_between(data: Bytes, start: np.uint64, edges: Words, count: np.uint64, out: Hashes, n: np.uint64) -> np.uint64:
    """Hash the token between each pair of edges into out[n], out[n + 1], …; returns the new end."""
    size = np.uint64(data.shape[0])
    for e in range(_0, count, _2):
        at = start + np.uint64(edges[e])
        left = np.uint64(edges[e + _1] - edges[e])
        h = SEED
        while left > _8:
            h = absorb(h, lower(load(data, at)))
            at += _8
            left -= _8
        word = load(data, at) if at + _8 <= size else load_tail(data, at, left)
        out[n] = mix(h ^ (lower(word) & (ALL_BITS >> (_64 - _8 * left))))
        n += _1
    return n


@jit
def _longest(offsets: Offsets) -> np.uint64:
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    return np.uint64(longest)


@jit
def _with_room(hashes: Hashes, used: np.uint64, wanted: np.uint64) -> Hashes:
    if used + wanted <= np.uint64(hashes.shape[0]):
        return hashes
    larger = np.empty(np.int64(used + used // _2 + wanted), np.uint64)
    for i in range(used):
        larger[i] = hashes[i]
    return larger


@jit
def _tokenise(data: Bytes, offsets: Offsets, stage1: Blocks, stage2: Words) -> tuple[Hashes, Offsets]:
    documents = offsets.shape[0] - 1
    longest = _longest(offsets)
    flags = np.empty(np.int64(BLOCK + _8), np.uint8)
    edges = np.empty(np.int64(_GROWTH * longest + _8), np.uint32)
    buffer = np.empty(np.int64(_GROWTH * longest + _8), np.uint8)
    sources = np.empty((0, 2), np.int64)
    hashes = np.empty((offsets[documents] - offsets[0]) // 5 + 64, np.uint64)
    token_offsets = np.empty(documents + 1, np.int64)
    token_offsets[0] = 0
    n = _0
    for d in range(documents):
        start = np.uint64(offsets[d])
        end = np.uint64(offsets[d + 1])
        if is_ascii(data, start, end):
            count = find_edges(data, start, end - start, ASCII, flags, edges)
            hashes = _with_room(hashes, n, count // _2)
            n = hash_between(data, start, edges, count, hashes, n)
        else:
            length = canonicalise(data, start, end, stage1, stage2, buffer, sources)
            count = find_edges(buffer, _0, length, CANONICAL, flags, edges)
            hashes = _with_room(hashes, n, count // _2)
            n = hash_between(buffer, _0, edges, count, hashes, n)
        token_offsets[d + 1] = np.int64(n)
    return hashes[: np.int64(n)], token_offsets


@jit
def _spans(data: Bytes, stage1: Blocks, stage2: Words) -> Offsets:
    size = np.uint64(data.shape[0])
    flags = np.empty(np.int64(BLOCK + _8), np.uint8)
    edges = np.empty(np.int64(_GROWTH * size + _8), np.uint32)
    if is_ascii(data, _0, size):
        count = find_edges(data, _0, size, ASCII, flags, edges)
        out = np.empty((np.int64(count // _2), 2), np.int64)
        for i in range(count):
            out[i // _2, i % _2] = edges[i]
        return out
    buffer = np.empty(np.int64(_GROWTH * size + _8), np.uint8)
    sources = np.empty((np.int64(_GROWTH * size + _8), 2), np.int64)
    length = canonicalise(data, _0, size, stage1, stage2, buffer, sources)
    count = find_edges(buffer, _0, length, CANONICAL, flags, edges)
    out = np.empty((np.int64(count // _2), 2), np.int64)
    for t in range(count // _2):
        first = sources[edges[_2 * t], 0]
        last = sources[edges[_2 * t], 1]
        for k in range(edges[_2 * t], edges[_2 * t + _1]):
            first = min(first, sources[k, 0])
            last = max(last, sources[k, 1])
        out[t, 0] = first
        out[t, 1] = last
    return out


def warm_up() -> None:
    """Compile this module's kernels."""
    data = np.frombuffer("a é".encode(), np.uint8)
    stage1, stage2 = np.zeros(4352, np.uint16), np.zeros(256, np.uint32)
    tokenise(data, np.array([0, len(data)], np.int64), stage1, stage2)
    spans(data, stage1, stage2)
