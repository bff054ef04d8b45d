"""How signatures of rare terms change while the lexicon grows (Conrad 2003, §6.2, figures 1 to 4).

The same documents are signed by several lexicons, those of a collection at several dates. The signature of length n
is the n terms of highest idf (letters only, three or more, in at least five documents, as in `rare_terms`). For each
pair of lexicons and each n, the documents are counted that keep their signature: as a set of terms, and as the list in
the order of idf that the paper hashes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.methods.term_vector import TermVector

if TYPE_CHECKING:
    import numpy.typing as npt

    from roughly.lexicon.lexicon import Lexicon
    from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class KeptSignatures:
    """The number of `documents` that keep their signature of `length` terms from one lexicon to another."""

    before: str
    after: str
    length: int
    documents: int  # those with this number of terms in both
    same_terms: int
    same_order: int


def signature_stability(
    tokens: Tokens, lexicons: Sequence[tuple[str, Lexicon]], longest: int = 30, min_df: int = 5
) -> list[KeptSignatures]:
    """Signatures kept between each lexicon and the next, and between the first and the last, by length."""
    if len(lexicons) < 2:
        raise SettingsError(f"stability is between two lexicons or more, not {len(lexicons)}")
    signed = {}
    for name, lexicon in lexicons:
        method = TermVector(lexicon=lexicon, terms=longest, shared=longest, min_terms=1, min_df=min_df)
        signed[name] = method.rarest(tokens)
    if len(signed) < len(lexicons):
        raise SettingsError("lexicons to compare need names of their own")
    names = list(signed)
    pairs = list(itertools.pairwise(names)) + ([(names[0], names[-1])] if len(names) > 2 else [])
    return [_kept(signed, before, after, length) for before, after in pairs for length in range(1, longest + 1)]


def _kept(signed: Mapping[str, tuple[npt.NDArray[Any], ...]], before: str, after: str, length: int) -> KeptSignatures:
    import numpy as np

    (left, _, left_counts), (right, _, right_counts) = signed[before], signed[after]
    both = (left_counts >= length) & (right_counts >= length)
    a, b = left[both, :length], right[both, :length]
    same_order = (a == b).all(axis=1)
    same_terms = (np.sort(a, axis=1) == np.sort(b, axis=1)).all(axis=1)
    return KeptSignatures(before, after, length, int(both.sum()), int(same_terms.sum()), int(same_order.sum()))
