"""The exact join of weighted vectors: every pair whose cosine is at or above a threshold.

    cosine(x, y) = Σ x_i·y_i / √(Σ x_i² · Σ y_i²)

Terms are numbered from common to rare, and a vector lists its terms in that order. With x, y scaled to length one and
x_{≤j} the part of x up to term j, Cauchy and Schwarz say that of a pair whose rarest shared term is j

    cosine(x, y) ≤ ‖x_{≤j}‖ · ‖y_{≤j}‖

So a vector is not indexed by its commonest terms, as long as ‖y_{≤j}‖ stays below the threshold t, and a query stops
where ‖x_{≤j}‖ does (Bayardo 2007; Anastasiu and Karypis 2014, L2AP). The postings of a term are sorted by ‖y_{≤j}‖,
the longest first: a query reads them until the product falls below t, and the long lists of common terms are hardly
read at all. Nothing is added up on the way. A document met for the first time is met by the rarest shared term, or the
pair is below t; with the H = 64 commonest terms held as a row of numbers, its cosine is at most

    x_j·y_j + ‖x_{H≤i<j}‖ · ‖y_{H≤i<j}‖ + Σ_{i<H} x_i·y_i

What is left is merged from term j towards the common ones, and dropped as soon as the same bound, with what was found
in place of x_j·y_j, falls below t. Only the few that reach the end are computed in full. Bounds have a margin of 10⁻⁶
and rows are rounded up, so that rounding costs no pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit, jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.sorting import MOST_BITS, sort_hashes
from roughly.kernels.words import signed

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Pairs = npt.NDArray[np.int64]

Rows = npt.NDArray[np.int16]

MARGIN = 1e-6
HEAD = 64
"""How many of the commonest terms are held as a row of numbers for each vector."""
ONE = 32767
"""A weight of 1 in such a row."""


class Units(NamedTuple):
    """Vectors scaled to length one: vector d has the places from offsets[d] to offsets[d + 1] − 1."""

    terms: Words
    offsets: Offsets
    unit: Singles  # x_i
    middle: Singles  # ‖x_{H≤i<j}‖ of the term j at each place
    heads: Rows  # x_i·ONE for i < H, rounded up


class Postings(NamedTuple):
    """By term, those with the longest ‖y_{≤j}‖ first: term j has the slots from starts[j] to starts[j + 1] − 1."""

    starts: Offsets
    docs: Words
    through: Singles  # ‖y_{≤j}‖
    unit: Singles  # y_j; 0 for j < H, where the rows have it
    middle: Singles  # ‖y_{H≤i<j}‖


def term_counts(tokens: Hashes, offsets: Offsets) -> tuple[Hashes, Words, Offsets]:
    """The distinct tokens of each document in order of hash, how often each occurs, and the offsets."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    room = int(np.diff(offsets).max(initial=0))
    total = int(offsets[-1] - offsets[0])
    values, spare = np.empty(room, np.uint64), np.empty(room, np.uint64)
    scratch = np.empty((1 << MOST_BITS) + 1, np.uint32)
    terms, counts = np.empty(total, np.uint64), np.empty(total, np.uint32)
    out = np.zeros(len(offsets), np.int64)
    used = int(_term_counts(tokens, offsets, values, spare, scratch, terms, counts, out))
    return terms[:used], counts[:used], out


@jit_inner
def _term_counts(
    tokens: Hashes, offsets: Offsets, values: Hashes, spare: Hashes, scratch: Words, terms: Hashes, counts: Words,
    out: Offsets,
) -> np.int64:  # fmt: skip
    used = np.int64(0)
    for d in range(offsets.shape[0] - 1):
        n = offsets[d + 1] - offsets[d]
        for i in range(n):
            values[i] = tokens[offsets[d] + i]
        if n > 0:
            sort_hashes(values, np.uint64(n), spare, scratch)
        first = used
        for i in range(n):
            if used > first and terms[used - 1] == spare[i]:
                counts[used - 1] += np.uint32(1)
            else:
                terms[used] = spare[i]
                counts[used] = np.uint32(1)
                used += np.int64(1)
        out[d + 1] = used
    return used


@jit
def scale(weights: Floats, norms: Floats, terms: Words, offsets: Offsets) -> Units:
    """The vectors scaled to length one."""
    unit, middle = np.empty(len(terms), np.float32), np.empty(len(terms), np.float32)
    heads = np.zeros((offsets.shape[0] - 1, HEAD), np.int16)
    for d in range(offsets.shape[0] - 1):
        length = np.sqrt(norms[d])
        total = 0.0
        for place in range(offsets[d], offsets[d + 1]):
            own = weights[place] / length
            unit[place] = np.float32(own)
            middle[place] = np.float32(np.sqrt(total) / length)
            if terms[place] < HEAD:
                heads[d, signed(terms[place])] = np.int16(min(np.ceil(own * ONE), ONE))
            else:
                total += weights[place] * weights[place]
    return Units(terms, offsets, unit, middle, heads)


@jit
def indexed_from(weights: Floats, offsets: Offsets, norms: Floats, threshold: float) -> Offsets:
    """The place of the first term of each vector that must be indexed: before it, ‖y‖ is below the threshold."""
    out = np.empty(offsets.shape[0] - 1, np.int64)
    least = (threshold - MARGIN) * (threshold - MARGIN)
    for d in range(offsets.shape[0] - 1):
        total = 0.0
        place = offsets[d]
        while place < offsets[d + 1]:
            total += weights[place] * weights[place] / norms[d]
            if total >= least:
                break
            place += 1
        out[d] = place
    return out


@jit
def build_index(weights: Floats, norms: Floats, vectors: Units, firsts: Offsets, starts: Offsets) -> Postings:
    """The postings of the places from `firsts` on; `starts` says where those of each term begin."""
    count = starts[-1]
    docs, places = np.empty(count, np.uint32), np.empty(count, np.int64)
    through, unit, middle = np.empty(count, np.float32), np.empty(count, np.float32), np.empty(count, np.float32)
    at = starts.copy()
    for d in range(vectors.offsets.shape[0] - 1):
        length = np.sqrt(norms[d])
        total = 0.0
        for place in range(vectors.offsets[d], vectors.offsets[d + 1]):
            total += weights[place] * weights[place]
            if place >= firsts[d]:
                slot = at[signed(vectors.terms[place])]
                at[signed(vectors.terms[place])] += 1
                docs[slot] = np.uint32(d)
                places[slot] = place
                through[slot] = np.float32(np.sqrt(total) / length)
    for term in range(starts.shape[0] - 1):
        first, size = starts[term], starts[term + 1] - starts[term]
        if size > 1:
            order = np.argsort(-through[first : first + size])
            some, theirs, longest = (
                docs[first : first + size][order], places[first : first + size][order],
                through[first : first + size][order],
            )  # fmt: skip
            for i in range(size):
                docs[first + i] = some[i]
                places[first + i] = theirs[i]
                through[first + i] = longest[i]
        for slot in range(first, first + size):
            unit[slot] = np.float32(0.0) if term < HEAD else vectors.unit[places[slot]]
            middle[slot] = vectors.middle[places[slot]]
            if term < HEAD:
                middle[slot] = np.float32(0.0)
    return Postings(starts, docs, through, unit, middle)


@jit
def candidates(
    start: int, stop: int, first: int, asking: Units, held: Units, postings: Postings, threshold: float
) -> tuple[Pairs, int]:
    """Pairs (x, y) that may reach the threshold, x from start to stop − 1 of those asking, y of those held; and how
    many were met.

    Vector x is number first + x among those held or after them, and meets only those below it.
    """
    least = threshold - MARGIN
    pairs = np.empty((256, 2), np.int64)
    seen = np.full(held.offsets.shape[0] - 1, -1, np.int32)
    count, met = 0, 0
    for x in range(start, stop):
        limit = first + x
        rest = 0.0
        for place in range(asking.offsets[x], asking.offsets[x + 1]):
            rest += np.float64(asking.unit[place]) * np.float64(asking.unit[place])
        for back in range(asking.offsets[x + 1] - asking.offsets[x]):
            place = asking.offsets[x + 1] - 1 - back
            through = np.sqrt(max(rest, 0.0))
            if through < least:
                break
            needed = least / through
            term = signed(asking.terms[place])
            own, middle = np.float64(asking.unit[place]), np.float64(asking.middle[place])
            rest -= own * own
            for slot in range(postings.starts[term], postings.starts[term + 1]):
                if postings.through[slot] < needed:
                    break
                y = signed(postings.docs[slot])
                if y >= limit or seen[y] == x:
                    continue
                seen[y] = x
                met += 1
                total = _heads(asking.heads, x, held.heads, y) + own * np.float64(postings.unit[slot])
                if total + middle * np.float64(postings.middle[slot]) < least:
                    continue
                if _reaches(asking, x, place, held, y, total, least):
                    if count == pairs.shape[0]:
                        bigger = np.empty((2 * count, 2), np.int64)
                        for j in range(count):
                            bigger[j, 0] = pairs[j, 0]
                            bigger[j, 1] = pairs[j, 1]
                        pairs = bigger
                    pairs[count, 0] = x
                    pairs[count, 1] = y
                    count += 1
    return pairs[:count].copy(), met


@jit_inner
def _heads(one: Rows, x: int, other: Rows, y: int) -> float:
    """At least Σ x_i·y_i of the terms i < H. Whole numbers of 32 bits: (ONE + √H)² < 2³¹, and they can be added eight
    at a time."""
    total = np.int32(0)
    for i in range(HEAD):
        total = np.int32(total + np.int32(np.int32(one[x, i]) * np.int32(other[y, i])))
    return np.float64(total) / (ONE * ONE)


@jit_inner
def _reaches(asking: Units, x: int, place: int, held: Units, y: int, total: float, least: float) -> bool:
    """Whether the pair may reach `least`: `total` has the terms below H and the one at `place` of x; those between are
    merged, the rare ones first."""
    term = asking.terms[place]
    low, high = held.offsets[y], held.offsets[y + 1]
    while low < high:
        half = (low + high) // 2
        if held.terms[half] < term:
            low = half + 1
        else:
            high = half
    i, j = place - 1, low - 1
    while i >= asking.offsets[x] and j >= held.offsets[y]:
        a, b = asking.terms[i], held.terms[j]
        if a < HEAD or b < HEAD:
            break
        if a == b:
            total += np.float64(asking.unit[i]) * np.float64(held.unit[j])
            i -= 1
            j -= 1
        elif a > b:
            if total + np.float64(asking.middle[i]) * np.float64(held.middle[j + 1]) < least:
                return False
            i -= 1
        else:
            if total + np.float64(asking.middle[i + 1]) * np.float64(held.middle[j]) < least:
                return False
            j -= 1
    return total >= least


@jit
def cosines(
    pairs: Pairs, terms: Words, weights: Floats, offsets: Offsets, norms: Floats, other_terms: Words,
    other_weights: Floats, other_offsets: Offsets, other_norms: Floats,
) -> Floats:  # fmt: skip
    """The cosine of each pair (vector of the first kind, vector of the second), at most 1. Products are added in the
    order of the terms, so the bits are the same however the vectors are cut into blocks."""
    out = np.empty(pairs.shape[0], np.float64)
    for p in range(pairs.shape[0]):
        x, y = pairs[p, 0], pairs[p, 1]
        i, j = offsets[x], other_offsets[y]
        total = 0.0
        while i < offsets[x + 1] and j < other_offsets[y + 1]:
            a, b = terms[i], other_terms[j]
            if a == b:
                total += weights[i] * other_weights[j]
                i += 1
                j += 1
            elif a < b:
                i += 1
            else:
                j += 1
        out[p] = min(1.0, total / np.sqrt(norms[x] * other_norms[y]))
    return out


@jit
def squares(weights: Floats, offsets: Offsets) -> Floats:
    """Σ x_i² of each vector, added in the order of the terms."""
    out = np.zeros(offsets.shape[0] - 1, np.float64)
    for d in range(offsets.shape[0] - 1):
        total = 0.0
        for i in range(offsets[d], offsets[d + 1]):
            total += weights[i] * weights[i]
        out[d] = total
    return out


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    term_counts(np.array([1, 2, 1], np.uint64), np.array([0, 3]))
    terms, weights, offsets = np.zeros(2, np.uint32), np.ones(2), np.array([0, 1, 2])
    norms = squares(weights, offsets)
    firsts = indexed_from(weights, offsets, norms, 0.5)
    vectors = scale(weights, norms, terms, offsets)
    postings = build_index(weights, norms, vectors, firsts, np.array([0, 2]))
    pairs, _ = candidates(0, 2, 0, vectors, vectors, postings, 0.5)
    cosines(pairs, terms, weights, offsets, norms, terms, weights, offsets, norms)
