"""Keys made of several samples of a document: tuples of words, and pairs of super shingles.

`word_keys` (Haveliwala 2000, as Kołcz 2008, §2 and §4 describe it): permutation p orders all words at random; the key
is a hash of the k words of the document that come first. Words are distinct tokens, ordered by a_p·x + b_p mod 2^32 of
the high word x of their hash.

`pair_keys` (Fetterly 2003): a hash of every two of a document's super shingles and of which two they are.

A document without words has no key, which is written 0; a key that happens to be 0 is written 1. The loops are those of
`core/tuples.hpp`.
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.minhash import check_permutations


def word_keys(tokens: Hashes, offsets: Offsets, words: int, multipliers: Words, increments: Words) -> Hashes:
    """One key per permutation, of the `words` first words of each document: (n, permutations) uint64."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    multipliers, increments = check_permutations(multipliers, increments)
    if words < 1:
        raise ValueError(f"a key is made of at least 1 word, not {words}")
    return _core.word_keys(tokens, offsets, words, multipliers, increments)


def pair_keys(supers: Hashes) -> Hashes:
    """The key of every two columns of (n, s) super shingles: (n, s·(s − 1)/2) uint64."""
    if supers.dtype != np.uint64 or supers.ndim != 2 or supers.shape[1] < 2:
        raise TypeError("supers must be a table of uint64 with two columns or more")
    return _core.pair_keys(np.ascontiguousarray(supers))
