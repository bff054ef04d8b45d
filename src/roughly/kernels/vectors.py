"""Term vectors (Conrad 2003, §7): the rarest terms of a document filled up to one size, and their first few as keys.

A document of m < n terms repeats them, rarest first, until it has n entries; the r-th repeat of a term t is an entry of
its own, mix(t + r·A). So two short documents that share a part of their terms share about that part of their entries.

All vectors have n entries, so two of them that share at least k must share one of the first n − k + 1 in any order that
is the same for all: the order here is by document frequency, rarest first, then by value. Those are the keys.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, frozen
from roughly.kernels.hashing import A, mix
from roughly.kernels.sorting import sort_in_place

_0, _1 = np.uint64(0), np.uint64(1)


def term_vectors(
    found: Hashes, frequencies: Hashes, counts: Offsets, least: int, prefix: int
) -> tuple[Hashes, Hashes, Offsets]:
    """Vectors and keys of documents with at least `least` terms, one behind another, and which documents these are.

    `found` and `counts` are those of `rarest_terms`, `frequencies` (n, size) the frequencies of the terms found.
    Returns vectors (m, size), ascending, keys (m, prefix) and the m documents.
    """
    counts = frozen(counts, np.int64, "counts")
    if found.shape != frequencies.shape or len(counts) != len(found) or not 1 <= prefix <= found.shape[1]:
        raise ValueError("found, frequencies, counts and prefix do not fit together")
    documents = np.flatnonzero(counts >= max(least, 1)).astype(np.int64)
    vectors = np.empty((len(documents), found.shape[1]), np.uint64)
    keys = np.empty((len(documents), prefix), np.uint64)
    order = np.empty(found.shape[1], np.uint64)
    _term_vectors(found, frequencies, counts, documents, order, vectors, keys)
    return vectors, keys, documents


@jit_inner
def entry(term: np.uint64, repeat: np.uint64) -> np.uint64:
    """A term's entry, or that of its r-th repeat."""
    return term if repeat == _0 else mix(term + repeat * A)


@jit_inner
def _term_vectors(
    found: Hashes,
    frequencies: Hashes,
    counts: Offsets,
    documents: Offsets,
    order: Hashes,
    vectors: Hashes,
    keys: Hashes,
) -> None:
    size = np.uint64(found.shape[1])
    for row in range(documents.shape[0]):
        d = documents[row]
        m = np.uint64(counts[d])
        for j in range(size):
            value = entry(found[d, j % m], j // m)
            rank = frequencies[d, j % m]
            place = np.uint64(j)
            while place > _0 and (
                order[place - _1] > rank or (order[place - _1] == rank and vectors[row, place - _1] > value)
            ):
                order[place] = order[place - _1]
                vectors[row, place] = vectors[row, place - _1]
                place -= _1
            order[place] = rank
            vectors[row, place] = value
        for j in range(keys.shape[1]):
            keys[row, j] = vectors[row, j]
        sort_in_place(vectors[row], size)


def warm_up() -> None:
    """Compile this module's kernels."""
    term_vectors(np.ones((1, 2), np.uint64), np.ones((1, 2), np.uint64), np.ones(1, np.int64), 1, 1)
