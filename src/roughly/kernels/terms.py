"""The distinct terms of documents, and of those the rarest.

`distinct_terms` leaves each token of a document once, in the order of first sight, with the place where it was first
seen. A small table of open addressing is emptied for each document; it has two slots a token at least, so there is no
slow case but by malice.

Terms are ordered by how rare they are through one number, the *rarity*,

    rarity(t) = (2^32 − 1 − df(t)) · 2^32 + (h(t) >> 32)            uint64

which rises as the document frequency df falls; terms of one frequency stand in the order of their hashes h. So an idf
of at least x, a share of the rarest terms of a document and the n rarest of them are all ranges of rarity. A term that
the lexicon does not hold, df = 0, has no rarity and is left out.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.sorting import bit_length, sort_in_place

_0, _1, _2, _32 = (np.uint64(i) for i in (0, 1, 2, 32))
_ALL = np.uint64(0xFFFFFFFF)


def distinct_terms(tokens: Hashes, offsets: Offsets) -> tuple[Hashes, Words, Offsets]:
    """The distinct tokens of each document in the order of first sight, their places in it, and the offsets."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    total = int(offsets[-1] - offsets[0])
    longest = int(np.diff(offsets).max(initial=0))
    slots = np.empty(4 << max(longest, 1).bit_length(), np.uint32)
    terms, firsts = np.empty(total + 1, np.uint64), np.empty(total + 1, np.uint32)
    term_offsets = np.zeros(len(offsets), np.int64)
    used = int(_distinct_terms(tokens, offsets, slots, terms, firsts, term_offsets))
    return terms[:used], firsts[:used], term_offsets


@jit_inner
def _distinct_terms(
    tokens: Hashes, offsets: Offsets, slots: Words, terms: Hashes, firsts: Words, term_offsets: Offsets
) -> np.int64:
    n = _0
    for d in range(offsets.shape[0] - 1):
        start = np.uint64(offsets[d])
        end = np.uint64(offsets[d + 1])
        size = _2 << bit_length(end - start)
        mask = size - _1
        for s in range(size):
            slots[s] = np.uint32(0)
        base = n - _1  # a slot holds a term's place in `terms` less this, so that 0 is empty
        for i in range(start, end):
            t = tokens[i]
            s = (t ^ (t >> _32)) & mask
            entry = np.uint64(slots[s])
            while entry != _0 and terms[base + entry] != t:
                s = (s + _1) & mask
                entry = np.uint64(slots[s])
            if entry == _0:
                terms[n] = t
                firsts[n] = np.uint32(i - start)
                n += _1
                slots[s] = np.uint32(n - _1 - base)
        term_offsets[d + 1] = np.int64(n)
    return np.int64(n)


@jit_inner
def rarity(term: np.uint64, frequency: np.uint32) -> np.uint64:
    """(2^32 − 1 − df) · 2^32 + (h >> 32)."""
    return ((_ALL - np.uint64(frequency)) << _32) | (term >> _32)


def rarest_terms(
    terms: Hashes, offsets: Offsets, frequencies: Words, lowest: int, highest: int, most: int
) -> tuple[Hashes, Offsets, Offsets]:
    """Of each document the `most` rarest terms with `lowest` ≤ rarity < `highest`, rarest first.

    Returns the terms (n, most), their places in `terms` (n, most) and how many each document has; what is left of a row
    is 0 and −1.
    """
    terms, frequencies = frozen(terms, np.uint64, "terms"), frozen(frequencies, np.uint32, "frequencies")
    offsets = frozen_offsets(offsets, len(terms))
    if len(frequencies) != len(terms) or most < 1:
        raise ValueError(f"{len(terms)} terms need as many frequencies, not {len(frequencies)}, and most ≥ 1: {most}")
    room = int(np.diff(offsets).max(initial=0)) + 1
    found = np.zeros((len(offsets) - 1, most), np.uint64)
    places = np.full((len(offsets) - 1, most), -1, np.int64)
    counts = np.zeros(len(offsets) - 1, np.int64)
    scratch = np.empty(room, np.uint64)
    _rarest_terms(terms, offsets, frequencies, np.uint64(lowest), np.uint64(highest), scratch, found, places, counts)
    return found, places, counts


@jit_inner
def _rarest_terms(
    terms: Hashes,
    offsets: Offsets,
    frequencies: Words,
    lowest: np.uint64,
    highest: np.uint64,
    scratch: Hashes,
    found: Hashes,
    places: Offsets,
    counts: Offsets,
) -> None:
    most = np.uint64(found.shape[1])
    for d in range(offsets.shape[0] - 1):
        n = _0
        for i in range(np.uint64(offsets[d]), np.uint64(offsets[d + 1])):
            r = rarity(terms[i], frequencies[i])
            if frequencies[i] != 0 and lowest <= r < highest:
                scratch[n] = r
                n += _1
        least = lowest
        if n > most:
            sort_in_place(scratch, n)
            least = scratch[n - most]
        used = _0
        for i in range(np.uint64(offsets[d]), np.uint64(offsets[d + 1])):
            r = rarity(terms[i], frequencies[i])
            if frequencies[i] != 0 and least <= r < highest:
                used = _insert(terms, frequencies, np.int64(i), found[d], places[d], used)
        counts[d] = np.int64(used)


@jit_inner
def _insert(
    terms: Hashes, frequencies: Words, at: np.int64, found: Hashes, places: Offsets, used: np.uint64
) -> np.uint64:
    """Put a term where it belongs among those found, rarest first, equals by hash; the last falls off a full row."""
    term = terms[at]
    r = rarity(term, frequencies[at])
    place = used
    while place > _0:
        before = places[place - _1]
        other = rarity(terms[before], frequencies[before])
        if other > r or (other == r and terms[before] < term):
            break
        place -= _1
    size = np.uint64(found.shape[0])
    if place == size:
        return used
    last = min(used, size - _1)
    k = last
    while k > place:
        found[k] = found[k - _1]
        places[k] = places[k - _1]
        k -= _1
    found[place] = term
    places[place] = at
    return last + _1


def warm_up() -> None:
    """Compile this module's kernels."""
    offsets = np.array([0, 3], np.int64)
    terms, _, term_offsets = distinct_terms(np.array([1, 2, 1], np.uint64), offsets)
    rarest_terms(terms, term_offsets, np.ones(len(terms), np.uint32), 0, 1 << 63, 1)
