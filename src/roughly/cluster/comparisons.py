"""The comparisons of a learned verdict (`verdict.COMPARISONS`), exactly, for many pairs at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import lexicon
from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import tokens_of
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.kernels.sets import intersections
from roughly.text.canonical import Tokens, tokenise
from roughly.verdict import COMPARISONS

Floats = npt.NDArray[np.float64]
Load = Callable[[Ints, int], Sets]
"""The sets of shingles of some documents: (documents, words per shingle) → sets in that order."""
RARE = 1000
"""A word is rare if fewer than one in so many documents of the default lexicon have it."""
AT_ONCE = 1 << 16
"""Pairs that are compared at a time: their documents are in memory."""


def compare_pairs(pairs: Ints, load: Load) -> Floats:
    """Every comparison of each pair (n, 2) of documents: (n, COMPARISONS)."""
    found = np.empty((len(pairs), len(COMPARISONS)))
    for start in range(0, len(pairs), AT_ONCE):
        some = np.asarray(pairs[start : start + AT_ONCE, :2], np.int64)
        docs, place = np.unique(some, return_inverse=True)
        place = place.reshape(some.shape)
        found[start : start + AT_ONCE] = _compared(docs, place, load)
    return found


def loader_of(tokens: Tokens) -> Load:
    """Makes the sets of documents from their words."""
    return lambda docs, size: shingle_sets(tokens_of(tokens, docs), size)


def _compared(docs: Ints, place: Ints, load: Load) -> Floats:
    words = load(docs, 1)
    common, numbers = _lists()
    is_rare, is_number = ~_within(words.values, common), _within(words.values, numbers)
    of_words, of_pairs, of_five = (_Counts(own, place) for own in (words, load(docs, 2), load(docs, 5)))
    of_rare, of_numbers = (_Counts(_some(words, use), place) for use in (is_rare, is_number))
    columns = {
        "words": of_words.resemblance, "word_pairs": of_pairs.resemblance, "shingles": of_five.resemblance,
        "words_held": of_words.held, "shingles_held": of_five.held, "rare_words": of_rare.resemblance,
        "rare_words_held": of_rare.held, "numbers": of_numbers.resemblance,
        "length": of_words.fewer / np.maximum(of_words.more, 1),
    }  # fmt: skip
    return np.column_stack([columns[name] for name in COMPARISONS])


class _Counts:
    """Shared and own values of pairs of sets. Two empty sets are alike, an empty one and another are not."""

    def __init__(self, sets: Sets, place: Ints) -> None:
        left, right = np.ascontiguousarray(place[:, 0]), np.ascontiguousarray(place[:, 1])
        sizes = np.diff(sets.offsets)
        shared = intersections(sets.values, sets.offsets, left, right)
        self.fewer, self.more = np.minimum(sizes[left], sizes[right]), np.maximum(sizes[left], sizes[right])
        union = self.fewer + self.more - shared
        self.resemblance = np.where(union == 0, 1.0, shared / np.maximum(union, 1))
        self.held = np.where(self.more == 0, 1.0, shared / np.maximum(self.fewer, 1))


def _some(sets: Sets, use: npt.NDArray[np.bool_]) -> Sets:
    ends = np.r_[0, np.cumsum(use)]
    return Sets(sets.values[use], ends[sets.offsets].astype(np.int64))


def _within(values: npt.NDArray[np.uint64], listed: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(listed, values), len(listed) - 1)
    found: npt.NDArray[np.bool_] = listed[at] == values
    return found


@cache
def _lists() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """(Words that are not rare, numbers of up to five digits), as shingles of one word, sorted."""
    english = lexicon.default()
    common = english.table.hashes[english.table.counts >= english.documents / RARE]
    numbers = tokenise(pa.array([f"{n:0{digits}}" for digits in range(1, 6) for n in range(10**digits)])).hashes
    return _as_shingles(common), _as_shingles(numbers)


def _as_shingles(tokens: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    offsets = np.array([0, len(tokens)], np.int64)
    return shingle_sets(Tokens(np.ascontiguousarray(tokens, np.uint64), offsets), 1).values
