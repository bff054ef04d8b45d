"""The distinct terms of documents, and the rarest of them.

Terms are ordered by how rare they are through one number, the *rarity*,

    rarity(t) = (2^32 − 1 − df(t)) · 2^32 + (h(t) >> 32)            uint64

which rises as the document frequency df falls; terms of one frequency are in the order of their hashes h. So an idf
of at least x, a share of the rarest terms of a document and the n rarest of them are all ranges of rarity. A term that
is not in the lexicon, df = 0, has no rarity and is left out. The loops are those of `core/terms.hpp`.
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets


def distinct_terms(tokens: Hashes, offsets: Offsets) -> tuple[Hashes, Words, Offsets]:
    """The distinct tokens of each document in the order of first occurrence, their positions in it, and the offsets."""
    tokens = frozen(tokens, np.uint64, "tokens")
    return _core.distinct_terms(tokens, frozen_offsets(offsets, len(tokens)))


def rarest_terms(
    terms: Hashes, offsets: Offsets, frequencies: Words, lowest: int, highest: int, most: int
) -> tuple[Hashes, Offsets, Offsets]:
    """For each document, the `most` rarest terms with `lowest` ≤ rarity < `highest`, rarest first.

    Returns the terms (n, most), their positions in `terms` (n, most) and their number per document; the rest of a row
    is 0 and −1.
    """
    terms, frequencies = frozen(terms, np.uint64, "terms"), frozen(frequencies, np.uint32, "frequencies")
    offsets = frozen_offsets(offsets, len(terms))
    if len(frequencies) != len(terms) or most < 1:
        raise ValueError(f"{len(terms)} terms need as many frequencies, not {len(frequencies)}, and most ≥ 1: {most}")
    return _core.rarest_terms(terms, offsets, frequencies, lowest, highest, most)
