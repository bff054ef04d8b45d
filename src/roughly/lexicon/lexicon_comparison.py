"""Comparison of two lexicons: Spearman's rank correlation of the common terms, terms added and terms lost.

Conrad 2003, §5.2, measures in this way how a collection's idf table drifts from month to month. Terms are ranked by
idf, which is the reverse of ranking by document frequency on both sides, so the coefficient is the same. Many terms
share a frequency: ties have the mean of their ranks, and the coefficient of these ranks is the paper's eq. 2 (scipy
computes it).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.lexicon.term_table import TermTable

_EXAMPLES = 10


class ComparedLexicon(Protocol):
    """The part of a lexicon that is compared."""

    @property
    def name(self) -> str:
        """For messages."""
        ...

    @property
    def table(self) -> TermTable:
        """Its terms."""
        ...

    @property
    def documents(self) -> int:
        """The number of documents counted."""
        ...

    def word(self, place: int) -> str:
        """The term at a position of the table."""
        ...


@dataclass(frozen=True)
class LexiconComparison:
    """A comparison of two lexicons. `spearman` is None if it is not defined: fewer than two terms, or all tied."""

    left: str
    right: str
    left_documents: int
    right_documents: int
    left_terms: int
    right_terms: int
    common: int
    added: int  # terms of the right one only
    lost: int  # terms of the left one only
    spearman: float | None
    commonest_added: tuple[tuple[str, int], ...]  # with their document frequencies
    commonest_lost: tuple[tuple[str, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return dataclasses.asdict(self)


def compare(left: ComparedLexicon, right: ComparedLexicon) -> LexiconComparison:
    """Compare the terms that count in each."""
    in_left, in_right = np.flatnonzero(left.table.counts), np.flatnonzero(right.table.counts)
    hashes, others = left.table.hashes[in_left], right.table.hashes[in_right]
    _, a, b = np.intersect1d(hashes, others, assume_unique=True, return_indices=True)
    lost, added = np.delete(in_left, a), np.delete(in_right, b)
    return LexiconComparison(
        left=left.name,
        right=right.name,
        left_documents=left.documents,
        right_documents=right.documents,
        left_terms=len(in_left),
        right_terms=len(in_right),
        common=len(a),
        added=len(added),
        lost=len(lost),
        spearman=spearman(left.table.counts[in_left[a]], right.table.counts[in_right[b]]),
        commonest_added=_commonest(right, added),
        commonest_lost=_commonest(left, lost),
    )


def spearman(left: npt.NDArray[np.uint32], right: npt.NDArray[np.uint32]) -> float | None:
    """The rank correlation of two lists of frequencies, ties at the mean of their ranks; None if not defined."""
    if len(left) < 2 or left.min() == left.max() or right.min() == right.max():
        return None
    return float(np.corrcoef([_ranks(left), _ranks(right)])[0, 1])


def _ranks(values: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    """Ranks from 1; equal values have the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: npt.NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _commonest(lexicon: ComparedLexicon, places: npt.NDArray[np.intp]) -> tuple[tuple[str, int], ...]:
    counts = lexicon.table.counts[places]
    if len(counts) > _EXAMPLES:
        least = np.partition(counts, len(counts) - _EXAMPLES)[len(counts) - _EXAMPLES]
        places = places[counts >= least][: 1 << 16]
    found = [(lexicon.word(place), int(lexicon.table.counts[place])) for place in places.tolist()]
    return tuple(sorted(found, key=lambda item: (-item[1], item[0]))[:_EXAMPLES])
