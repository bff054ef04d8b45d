"""Sets of w-shingles: the distinct hashes of all runs of w tokens, sorted, document by document.

The hash of a shingle t₁ … t_w rolls from one shingle to the next without a product, and is then spread:

    p = rotl(t₁, w − 1) ⊕ rotl(t₂, w − 2) ⊕ … ⊕ t_w          shingle = spread(p)

Rotations make the order count. Equal tokens in one shingle would cancel if they were 64 apart, so the settings allow w
up to 64. The values of a sample are distinct and sorted: shingles of those (super shingles) may have 128.
Tokens must be uniform hashes, as those of `tokenise` are: small numbers would cancel each other.

A document of fewer than w tokens is one shingle of all of them (where such documents were left out, a quarter of a
collection was ignored: I-Match 2002, §4.4); a document without tokens has the empty set.
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets

LARGEST_SIZE = 128


def shingle_sets(tokens: Hashes, offsets: Offsets, size: int) -> tuple[Hashes, Offsets]:
    """The distinct `size`-shingle hashes of each document, sorted, and the offsets of the documents."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    return _core.shingle_sets(tokens, offsets, size)


def check_size(size: int) -> None:
    """Refuse a number of tokens that no shingle can have."""
    if not 1 <= size <= LARGEST_SIZE:
        raise ValueError(f"a shingle has 1 to {LARGEST_SIZE} tokens, not {size}")
