"""Term vectors (Conrad 2003, §7): the rarest terms of a document filled up to one size, and their first few as keys.

A document of m < n terms repeats them, rarest first, until it has n entries; the r-th repeat of a term t is an entry of
its own, mix(t + r·A). So two short documents that share a part of their terms share about that part of their entries.

All vectors have n entries, so two of them that share at least k must share one of the first n − k + 1 in any order that
is the same for all: the order here is by document frequency, rarest first, then by value. Those are the keys. The loop
is that of `core/vectors.hpp`.
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen


def term_vectors(
    found: Hashes, frequencies: Hashes, counts: Offsets, least: int, prefix: int
) -> tuple[Hashes, Hashes, Offsets]:
    """Vectors and keys of documents with at least `least` terms, one after another, and which documents these are.

    `found` and `counts` are those of `rarest_terms`, `frequencies` (n, size) the frequencies of the terms found.
    Returns vectors (m, size), ascending, keys (m, prefix) and the m documents.
    """
    counts = frozen(counts, np.int64, "counts")
    if found.shape != frequencies.shape or len(counts) != len(found) or not 1 <= prefix <= found.shape[1]:
        raise ValueError("found, frequencies, counts and prefix do not fit together")
    documents = np.flatnonzero(counts >= max(least, 1)).astype(np.int64)
    vectors, keys = _core.term_vectors(
        np.ascontiguousarray(found), np.ascontiguousarray(frequencies), counts, documents, prefix
    )
    return vectors, keys, documents
