"""I-Match signatures: a document's terms, those that a lexicon keeps, and one hash of them per lexicon.

What a filter keeps is a range of rarity (see `terms`), fixed or by shares of the document's own terms, or all but
that range. From the terms kept, S, each of the 1 + K lexicons makes one signature, all in one pass:

    x(t)  = mix(h(t) ⊕ s₀)                                  a term, keyed
    m(t)  = mix(x(t) + s₁)                                  what it adds to a signature
    w_j(t) = mix(x(t) + s_{2+j})                            sixteen random bits for each of lexicons 4j + 1 … 4j + 4
    lexicon k drops t  ⇔  its sixteen bits of w_{(k−1)/4}(t) are below p·2^16
    signature_k = mix(Σ m(t) ⊕ mix(⊕ m(t) + |S_k|·A + k·B))  over the t in S_k

Sum and exclusive or do not depend on the order of the terms, so nothing has to be sorted. s₀, s₁, … come from the
secret key. All arithmetic is on uint64 and wraps around. A signature of fewer than `min_terms` terms, or of less than a
share `min_share` of the document's distinct terms, is rejected: it is 0, and no signature that counts is.

With `secondary`, terms rarer than the range are added, the most frequent first, while there are too few (Kołcz 2008,
§3); each lexicon adds those that it has not dropped. The loops are those of `core/imatch.hpp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets

FIELDS = 4
"""Lexicons per word of random bits."""
SEEDS = 2
"""Seeds that come before those of the random bits."""
BY_IDF, BY_DOCUMENT = 0, 1


class Selection(NamedTuple):
    """Which terms a filter keeps.

    By idf: `lowest` ≤ rarity < `highest`. By document: of its n known terms, the most frequent first, those from
    position lowest·n/100, rounded down, to before highest·n/100, rounded down or, with `round_up`, up. `outer`: all the
    others.
    """

    by: int
    lowest: int
    highest: int
    round_up: bool = False
    outer: bool = False


class Demands(NamedTuple):
    """The conditions of a valid signature."""

    min_terms: int = 1
    min_share: float = 0.0
    secondary: bool = False


def imatch_signatures(
    terms: Hashes,
    offsets: Offsets,
    frequencies: Words,
    selection: Selection,
    demands: Demands,
    seeds: Hashes,
    lexicons: int,
    dropped: float,
) -> Hashes:
    """The 1 + `lexicons` signatures of each document, (n, 1 + lexicons) uint64; 0 for a rejected one."""
    terms, frequencies = frozen(terms, np.uint64, "terms"), frozen(frequencies, np.uint32, "frequencies")
    offsets, seeds = frozen_offsets(offsets, len(terms)), frozen(seeds, np.uint64, "seeds")
    words = -(-lexicons // FIELDS)
    if len(frequencies) != len(terms) or len(seeds) < SEEDS + words:
        raise ValueError(f"{len(terms)} terms need as many frequencies, and {lexicons} lexicons {SEEDS + words} seeds")
    if demands.secondary and selection.outer:
        raise ValueError("secondary terms are those beyond the range, which `outer` keeps already: choose one")
    return _core.imatch_signatures(
        terms,
        offsets,
        frequencies,
        selection.by != BY_IDF,
        selection.lowest,
        selection.highest,
        99 if selection.round_up else 0,
        bool(selection.outer),
        demands.min_terms,
        float(demands.min_share),
        bool(demands.secondary),
        seeds,
        lexicons,
        round(dropped * 65536),
    )


def set_signatures(terms: Hashes, offsets: Offsets, seeds: Hashes) -> Hashes:
    """The signature of all terms of each document, as if a lexicon of every term made it; 0 for no terms."""
    terms, seeds = frozen(terms, np.uint64, "terms"), frozen(seeds, np.uint64, "seeds")
    if len(seeds) < SEEDS:
        raise ValueError(f"a signature needs {SEEDS} seeds, not {len(seeds)}")
    return _core.set_signatures(terms, frozen_offsets(offsets, len(terms)), seeds)
