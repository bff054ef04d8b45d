"""The exact join of weighted vectors: every pair whose cosine is at or above a threshold.

    cosine(x, y) = Σ x_i·y_i / √(Σ x_i² · Σ y_i²)

Terms are numbered from common to rare, and a vector lists its terms in that order. With x, y scaled to length one and
x_{<j} the part of x before term j, Cauchy and Schwarz say

    Σ_{i<j} x_i·y_i ≤ ‖x_{<j}‖ · ‖y_{<j}‖

So a vector need not be indexed by its commonest terms, as long as ‖y_{<j}‖ stays below the threshold: a pair at or
above it shares one of the others (Bayardo 2007; Anastasiu and Karypis 2014, L2AP). A query goes through its terms from
rare to common and adds up products; it takes up new candidates only while ‖x_{≤j}‖ reaches the threshold, and drops
one as soon as sum + ‖x_{<j}‖ · ‖y_{<j}‖ is below it. What is left is computed in full. Bounds have a margin of 10⁻⁶,
so that rounding costs no pair.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit, jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.sorting import MOST_BITS, sort_hashes
from roughly.kernels.words import signed

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Pairs = npt.NDArray[np.int64]

MARGIN = 1e-6
_DROPPED = -1.0e30


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
def build_index(
    terms: Words, weights: Floats, offsets: Offsets, norms: Floats, firsts: Offsets, starts: Offsets,
    docs: Words, scaled: Singles, before: Singles,
) -> None:  # fmt: skip
    """Postings by term: document, weight over ‖y‖, and ‖y_{<j}‖. `starts` holds where each term's begin, then end."""
    for d in range(offsets.shape[0] - 1):
        length = np.sqrt(norms[d])
        total = 0.0
        for place in range(offsets[d], offsets[d + 1]):
            if place >= firsts[d]:
                slot = starts[signed(terms[place])]
                docs[slot] = np.uint32(d)
                scaled[slot] = np.float32(weights[place] / length)
                before[slot] = np.float32(np.sqrt(total) / length)
                starts[signed(terms[place])] += 1
            total += weights[place] * weights[place]


@jit
def candidates(
    start: int, stop: int, first: int, terms: Words, weights: Floats, offsets: Offsets, norms: Floats, starts: Offsets,
    docs: Words, scaled: Singles, before: Singles, threshold: float, sums: Floats, touched: Words,
) -> Pairs:  # fmt: skip
    """Pairs (x, y) that may reach the threshold: x from start to stop − 1 of the vectors given, y indexed.

    Vector x is number first + x among all and meets only those indexed below it. `sums` is zero for each document.
    """
    pairs = np.empty((256, 2), np.int64)
    count = 0
    for x in range(start, stop):
        length = np.sqrt(norms[x])
        left = norms[x]
        seen = 0
        limit = first + x
        for back in range(offsets[x + 1] - offsets[x]):
            place = offsets[x + 1] - 1 - back
            term = signed(terms[place])
            opens = np.sqrt(max(left, 0.0)) / length >= threshold - MARGIN
            left -= weights[place] * weights[place]
            rest = np.sqrt(max(left, 0.0)) / length
            own = weights[place] / length
            for slot in range(starts[term], starts[term + 1]):
                y = signed(docs[slot])
                if y >= limit:
                    break
                total = sums[y]
                if total == 0.0:
                    if not opens:
                        continue
                    touched[seen] = np.uint32(y)
                    seen += 1
                elif total == _DROPPED:
                    continue
                total += own * scaled[slot]
                sums[y] = _DROPPED if total + rest * before[slot] < threshold - MARGIN else total
        for i in range(seen):
            y = signed(touched[i])
            if sums[y] > 0.0:
                if count == pairs.shape[0]:
                    bigger = np.empty((2 * count, 2), np.int64)
                    for j in range(count):
                        bigger[j, 0] = pairs[j, 0]
                        bigger[j, 1] = pairs[j, 1]
                    pairs = bigger
                pairs[count, 0] = x
                pairs[count, 1] = y
                count += 1
            sums[y] = 0.0
    return pairs[:count].copy()


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
    starts, docs = np.zeros(2, np.int64), np.empty(2, np.uint32)
    scaled, before = np.empty(2, np.float32), np.empty(2, np.float32)
    build_index(terms, weights, offsets, norms, firsts, starts, docs, scaled, before)
    pairs = candidates(
        0, 2, 0, terms, weights, offsets, norms, np.array([0, 2]), docs, scaled, before, 0.5, np.zeros(2),
        np.empty(2, np.uint32),
    )  # fmt: skip
    cosines(pairs, terms, weights, offsets, norms, terms, weights, offsets, norms)
