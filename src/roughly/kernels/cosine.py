"""The exact join of weighted vectors: every pair whose cosine is at or above a threshold.

    cosine(x, y) = Σ x_i·y_i / √(Σ x_i² · Σ y_i²)

Terms are numbered from common to rare, and a vector lists its terms in that order. With x, y scaled to length one and
x_{≤j} the part of x up to term j, Cauchy and Schwarz say that of a pair whose rarest shared term is j

    cosine(x, y) ≤ ‖x_{≤j}‖ · ‖y_{≤j}‖

So a vector is not indexed by its most frequent terms, as long as ‖y_{≤j}‖ is below the threshold t, and a query stops
where ‖x_{≤j}‖ is (Bayardo 2007; Anastasiu and Karypis 2014, L2AP). The postings of a term are sorted by ‖y_{≤j}‖, the
longest first: a query reads them until the product falls below t, and the long lists of common terms are hardly read at
all. Nothing is added up on the way. A document that is found first by a term shares no rarer one, or the pair is below
t; with the H = 64 most frequent terms stored as a row of numbers, its cosine is at most

    x_j·y_j + ‖x_{H≤i<j}‖ · ‖y_{H≤i<j}‖ + Σ_{i<H} x_i·y_i

The remaining pairs are merged from term j towards the common ones, and dropped as soon as the same bound, with what was
found in place of x_j·y_j, falls below t. Only the few that reach the end are computed in full. Bounds have a margin of
10⁻⁶ and rows are rounded up, so that rounding loses no pair. The loops are those of `core/cosine.hpp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Pairs = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int16]

HEAD = 64
"""Number of the most frequent terms stored as a row of numbers for each vector."""
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
    return _core.term_counts(tokens, frozen_offsets(offsets, len(tokens)))


def scale(weights: Floats, norms: Floats, terms: Words, offsets: Offsets) -> Units:
    """The vectors scaled to length one."""
    return Units(terms, offsets, *_core.scale(weights, norms, terms, offsets))


def indexed_from(weights: Floats, offsets: Offsets, norms: Floats, threshold: float) -> Offsets:
    """The place of the first term of each vector that must be indexed: before it, ‖y‖ is below the threshold."""
    return _core.indexed_from(weights, offsets, norms, threshold)


def build_index(weights: Floats, norms: Floats, vectors: Units, firsts: Offsets, starts: Offsets) -> Postings:
    """The postings of the places from `firsts` on; `starts` says where those of each term begin."""
    return Postings(starts, *_core.build_index(weights, norms, vectors, firsts, starts))


def candidates(
    start: int, stop: int, first: int, queries: Units, indexed: Units, postings: Postings, threshold: float
) -> tuple[Pairs, int]:
    """Pairs (x, y) that may reach the threshold, x from start to stop − 1 of the queries, y of the indexed vectors; and
    the number of pairs that share a term.

    Query x has the number first + x among the indexed vectors or after them, and is paired only with lower numbers.
    """
    return _core.cosine_candidates(start, stop, first, queries, indexed, postings, threshold)


def cosines(
    pairs: Pairs, terms: Words, weights: Floats, offsets: Offsets, norms: Floats, other_terms: Words,
    other_weights: Floats, other_offsets: Offsets, other_norms: Floats,
) -> Floats:  # fmt: skip
    """The cosine of each pair (vector of the first kind, vector of the second), at most 1. Products are added in the
    order of the terms, so the bits are the same however the vectors are cut into blocks."""
    return _core.cosines(pairs, terms, weights, offsets, norms, other_terms, other_weights, other_offsets, other_norms)


def squares(weights: Floats, offsets: Offsets) -> Floats:
    """Σ x_i² of each vector, added in the order of the terms."""
    return _core.squares(weights, offsets)
