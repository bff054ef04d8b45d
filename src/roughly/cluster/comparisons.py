"""The comparisons of a learned verdict (`verdict.COMPARISONS`), exactly, for many pairs at once.

Weights and rarity of words are those of the default lexicon, not of the collection: so a pair is compared by its two
documents alone, and batch runs, indexes and Spark agree. Words that the lexicon does not list weigh as its rarest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import lexicon
from roughly.cluster.candidates import Ints
from roughly.cluster.fields import Fields
from roughly.cluster.scoring import tokens_of
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.kernels import comparisons as kernels
from roughly.kernels.sets import intersections
from roughly.text.canonical import Tokens, tokenise
from roughly.threads import map_in_order
from roughly.verdict import COMPARISONS, FIELDS

Floats = npt.NDArray[np.float64]
RARE = 1000
"""A word is rare if fewer than one in this many documents of the default lexicon have it."""
RUN = 5
"""Words per shingle of `shingles` and of the longest run."""
_SCALE = 1000
_PAIRS, _WORDS = 1 << 19, 1 << 22
"""Pairs, and words of their documents, that are in memory at a time."""
_PER_THREAD = 96 << 20
"""Bytes that a further thread may take for its part of a block."""
_OFTEN = 8
"""Pairs per document from which it pays to leave out values that only one document has."""


@runtime_checkable
class Words(Protocol):
    """The words of documents 0, 1, …, and their fields if the verdict compares them."""

    @property
    def fields(self) -> Fields | None:
        """What is known of the documents; None: nothing that is compared."""
        ...

    @property
    def lengths(self) -> Ints:
        """The number of words of each document."""
        ...

    def tokens(self, docs: Ints) -> Tokens:
        """The words of some of them."""
        ...


@dataclass(frozen=True)
class WordsInMemory:
    """Words that are in memory."""

    all_tokens: Tokens
    fields: Fields | None = None

    @property
    def lengths(self) -> Ints:
        """The number of words of each document."""
        return np.diff(self.all_tokens.offsets)

    def tokens(self, docs: Ints) -> Tokens:
        """The words of some of them."""
        return tokens_of(self.all_tokens, docs)

    def joined(self, others: WordsInMemory) -> WordsInMemory:
        """These documents, and then the others."""
        one, other = self.all_tokens, others.all_tokens
        offsets = np.r_[one.offsets, one.offsets[-1] + other.offsets[1:]]
        fields = None if self.fields is None or others.fields is None else Fields.joined([self.fields, others.fields])
        return WordsInMemory(Tokens(np.r_[one.hashes, other.hashes], offsets), fields)


def threads_within(memory: int, threads: int) -> int:
    """As many of the threads as may compare pairs within this memory."""
    return max(1, min(threads, memory // _PER_THREAD))


def compare_pairs(
    pairs: Ints, words: Words, threads: int = 1, advance: Callable[[int], None] = lambda done: None
) -> Floats:
    """Every comparison of each pair (n, 2) of documents: (n, COMPARISONS); `advance` is given the pairs done so far."""
    found = np.empty((len(pairs), len(COMPARISONS)))
    for start, some in compared_blocks(pairs, words, threads):
        found[start : start + len(some)] = some
        advance(start + len(some))
    return found


def compared_blocks(pairs: Ints, words: Words, threads: int = 1) -> Iterator[tuple[int, Floats]]:
    """The same for one block of pairs after the other: (its first pair, comparisons).

    The threads share the sets of a block, and each compares some of its pairs.
    """
    start, size, lengths = 0, _PAIRS, words.lengths
    while start < len(pairs):
        while True:
            some = pairs[start : start + size, :2]
            docs = np.unique(some)
            if len(some) == 1 or int(lengths[docs].sum()) <= _WORDS:
                break
            size = -(-len(some) // 2)
        left, right = (np.searchsorted(docs, side) for side in some.T)
        fields = None if words.fields is None else words.fields.take(docs)
        yield start, _compared(words.tokens(docs), fields, left, right, threads)
        start += len(some)
        size = min(2 * size, _PAIRS)


def _compared(tokens: Tokens, fields: Fields | None, left: Ints, right: Ints, threads: int) -> Floats:
    words, twos, fives = map_in_order(partial(shingle_sets, tokens), (1, 2, RUN), threads)
    facts = kernels.facts_of(words.values, *_facts())
    sums = kernels.sums_of_facts(facts, words.offsets)
    met = [(twos.values, twos.offsets), (fives.values, fives.offsets)]
    if len(left) > _OFTEN * len(words):
        met = [*map_in_order(lambda sets: kernels.without_lone_values(*sets), met, threads)]
    met_twos, met_fives = met

    def shares(some: slice) -> Ints:
        own, other = left[some], right[some]
        of_words = kernels.shared_facts(words.values, facts, words.offsets, own, other)
        runs = kernels.shared_runs((tokens.hashes, tokens.offsets), RUN, met_fives, own, other)
        return np.column_stack((of_words, runs, intersections(*met_twos, own, other)))

    cuts = np.linspace(0, len(left), min(threads, max(1, len(left))) + 1).astype(np.int64).tolist()
    parts = map_in_order(shares, map(slice, cuts[:-1], cuts[1:]), threads)
    shared, shared_weight, shared_rare, shared_numbers, shared_fives, run, ordered, shared_twos = np.concatenate(
        [*parts]
    ).T

    def counts(own: Ints, of_both: Ints) -> _Counts:
        return _Counts(own[left], own[right], of_both)

    of_words, of_weights = counts(np.diff(words.offsets), shared), counts(sums[:, 0], shared_weight)
    of_rare, of_numbers = counts(sums[:, 1], shared_rare), counts(sums[:, 2], shared_numbers)
    of_twos = counts(_sizes(twos), shared_twos)
    of_fives = counts(_sizes(fives), shared_fives)
    lengths = np.diff(tokens.offsets)
    of_run = counts(lengths, np.where(run > 0, run + np.minimum(RUN, np.minimum(lengths[left], lengths[right])) - 1, 0))
    columns = {
        "words": of_words.resemblance, "word_pairs": of_twos.resemblance, "shingles": of_fives.resemblance,
        "words_held": of_words.held, "shingles_held": of_fives.held, "rare_words": of_rare.resemblance,
        "rare_words_held": of_rare.held, "numbers": of_numbers.resemblance,
        "length": of_words.fewer / np.maximum(of_words.more, 1), "weighted_words": of_weights.resemblance,
        "weighted_words_held": of_weights.held, "longest_run": of_run.held,
        "in_order": counts(_sizes(fives), ordered).held,
    }  # fmt: skip
    columns |= dict.fromkeys(FIELDS, np.zeros(len(left))) if fields is None else fields.compared(left, right)
    return np.column_stack([columns[name] for name in COMPARISONS])


class _Counts:
    """Shared and own values of pairs of sets. Two empty sets are equal, an empty one and another are not."""

    def __init__(self, left: Ints, right: Ints, shared: Ints) -> None:
        self.fewer, self.more = np.minimum(left, right), np.maximum(left, right)
        self.shared = shared

    @property
    def resemblance(self) -> Floats:
        return self._share(self.fewer + self.more - self.shared)

    @property
    def held(self) -> Floats:
        return self._share(self.fewer)

    def _share(self, whole: Ints) -> Floats:
        found: Floats = self.shared / np.maximum(whole, 1)
        found[self.more == 0] = 1.0
        return found


def _sizes(sets: Sets) -> Ints:
    return np.diff(sets.offsets)


@cache
def _facts() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], int]:
    """(Words as shingles, sorted; their facts; the facts of all others): weight, is rare, is a number of up to five
    digits."""
    english = lexicon.default()
    numbers = _as_shingles(
        tokenise(pa.array([f"{n:0{digits}}" for digits in range(1, 6) for n in range(10**digits)])).hashes
    )
    hashes, counts = english.table.hashes, english.table.counts.astype(np.int64)
    words, order = np.unique(_each_as_shingle(hashes), return_index=True)
    counts = counts[order]
    keys = np.union1d(words, numbers)
    listed = np.full(len(keys), int(counts.min()), np.int64)
    listed[np.searchsorted(keys, words)] = counts
    is_rare = np.ones(len(keys), np.bool_)
    is_rare[np.searchsorted(keys, words)] = counts < english.documents / RARE
    is_number = np.zeros(len(keys), np.bool_)
    is_number[np.searchsorted(keys, numbers)] = True
    weights = np.rint(_SCALE * np.log(english.documents / listed))
    other = kernels.pack_facts(np.rint(_SCALE * np.log(english.documents / int(counts.min()))), 1, 0)
    return keys, kernels.pack_facts(weights, is_rare, is_number), int(other)


def _each_as_shingle(tokens: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Each word as the shingle of it alone, in the same order."""
    offsets = np.arange(len(tokens) + 1, dtype=np.int64)
    return shingle_sets(Tokens(np.ascontiguousarray(tokens, np.uint64), offsets), 1).values


def _as_shingles(tokens: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return np.unique(_each_as_shingle(tokens))
