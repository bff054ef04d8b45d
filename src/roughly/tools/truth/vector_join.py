"""The join of term vectors by cosine (`kernels/cosine.py` has the bounds).

A vector has a weight for every distinct term of a document: how often it occurs (`tf`) or 1 (`binary`), times the idf
of a lexicon (Conrad 2003, eq. 1) if one is given; then a term that is not in the lexicon counts as one in a single
document. Terms are numbered from common to rare. A block of vectors is indexed, it is queried with all later vectors on
all threads, then comes the next block: vectors that do not fit into memory are read again for every block.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import ResolveBudget, blocks
from roughly.fast_dataclass import dataclass
from roughly.lexicon import Lexicon
from roughly.text.canonical import Tokens
from roughly.threads import map_in_order
from roughly.tools.truth.feature_files import FeatureFiles, NumberFile
from roughly.tools.truth.request import JoinCounts, TruthRequest

if TYPE_CHECKING:
    from roughly.kernels.cosine import Postings, Units

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Found = tuple[Ints, Ints, Floats]
"""Leaders, leaders, cosine."""
_BYTES = 44
"""Memory per weight: term and weight of the vectors, the same normalised, and the posting as it is built."""
_QUERY_BYTES = 20
"""The same without the posting."""
_ROW = 160
"""Memory per vector: the row of its most frequent terms, offset and length."""
_MERGE = 1 << 24


def vectors_of(tokens: Tokens, wanted: TruthRequest) -> tuple[Hashes, Ints, Floats]:
    """(terms in order of hash, offsets, weights) of each document; terms of weight 0 are left out."""
    from roughly.kernels.cosine import term_counts

    terms, counts, offsets = term_counts(tokens.hashes, tokens.offsets)
    weights = counts.astype(np.float64) if wanted.weights == "tf" else np.ones(len(counts))
    if wanted.lexicon is None:
        return terms, offsets, weights
    weights *= idf_of(wanted.lexicon, terms)
    use = weights > 0
    return terms[use], np.r_[0, np.cumsum(use)][offsets], weights[use]


def idf_of(lexicon: Lexicon, terms: Hashes) -> Floats:
    """The idf of terms; for unknown terms, that of a term in one document."""
    frequencies = lexicon.frequencies(terms)
    found: Floats = np.maximum(lexicon.idf_of(np.maximum(frequencies, 1).astype(np.uint32)), 0.0)
    return found


@dataclass(frozen=True)
class Vectors:
    """Terms by number, weights, offsets and Σ x² of some documents; and the same normalised."""

    terms: npt.NDArray[np.uint32]
    weights: Floats
    offsets: Ints
    norms: Floats
    units: Units


def join_vectors(
    collection: FeatureFiles, wanted: TruthRequest, work: ResolveBudget, counted: JoinCounts
) -> Iterator[Found]:
    """Pairs of leaders at or above the threshold, batch by batch."""
    store = _Store(collection, work)
    try:
        leaders, memory = len(collection.leaders), max(1 << 20, work.budget // 3)
        first = 0
        for lo, hi in blocks(_BYTES * collection.leader_sizes + _ROW, memory):
            mine = store.read(lo, hi)
            index = _index(mine, store.terms, wanted.threshold)
            for from_, to in blocks(_QUERY_BYTES * collection.leader_sizes[lo:] + _ROW, memory):
                queries = mine if (from_, lo + to) == (0, hi) else store.read(lo + from_, lo + to)
                yield from _query(index, mine, lo, queries, lo + from_, wanted.threshold, work, counted)
            first = hi
            work.advance(first)
        assert first == leaders
    finally:
        store.close()


class _Store:
    """Leaders with their terms numbered from common to rare, in the order of leaders."""

    def __init__(self, collection: FeatureFiles, work: ResolveBudget) -> None:
        names, frequencies = _vocabulary(collection)
        order = np.lexsort((names, -frequencies))
        number = np.empty(len(names), np.uint32)
        number[order] = np.arange(len(names), dtype=np.uint32)
        self.terms = len(names)
        self._terms, self._weights = NumberFile(work.scratch, np.uint32), NumberFile(work.scratch, np.float64)
        assert collection.weights is not None
        sizes = collection.leader_sizes
        self._offsets = np.r_[0, np.cumsum(sizes)]
        for lo, hi in blocks(20 * sizes + 32, 32 << 20):
            docs = collection.leaders[lo:hi]
            spans = list(zip(collection.offsets[docs].tolist(), collection.offsets[docs + 1].tolist(), strict=True))
            terms = np.concatenate([np.empty(0, np.uint64), *(collection.values.read(a, b) for a, b in spans)])
            weights = np.concatenate([np.empty(0), *(collection.weights.read(a, b) for a, b in spans)])
            numbers = number[np.searchsorted(names, terms)]
            within = np.lexsort((numbers, np.repeat(np.arange(len(docs)), sizes[lo:hi])))
            self._terms.add(numbers[within])
            self._weights.add(weights[within])
        if collection.in_memory:
            self._terms.load()
            self._weights.load()

    def read(self, lo: int, hi: int) -> Vectors:
        """Leaders lo … hi − 1."""
        from roughly.kernels.cosine import scale, squares

        start, stop = int(self._offsets[lo]), int(self._offsets[hi])
        terms: Any = self._terms.read(start, stop)
        weights: Any = self._weights.read(start, stop)
        offsets = self._offsets[lo : hi + 1] - start
        norms = squares(weights, offsets)
        return Vectors(terms, weights, offsets, norms, scale(weights, norms, terms, offsets))

    def close(self) -> None:
        """Delete the files."""
        self._terms.close()
        self._weights.close()


def _index(indexed: Vectors, terms: int, threshold: float) -> Postings:
    """Postings of a block of vectors."""
    from roughly.kernels.cosine import build_index, indexed_from

    firsts = indexed_from(indexed.weights, indexed.offsets, indexed.norms, threshold)
    inside = np.ones(len(indexed.terms), np.bool_)
    sizes = firsts - indexed.offsets[:-1]
    inside[np.repeat(indexed.offsets[:-1], sizes) + _counting(sizes)] = False
    starts = np.zeros(terms + 1, np.int64)
    np.cumsum(np.bincount(indexed.terms[inside], minlength=terms), out=starts[1:])
    return build_index(indexed.weights, indexed.norms, indexed.units, firsts, starts)


def _query(
    index: Postings,
    indexed: Vectors,
    first: int,
    queries: Vectors,
    first_query: int,
    threshold: float,
    work: ResolveBudget,
    counted: JoinCounts,
) -> Iterator[Found]:
    """Pairs of the query vectors with indexed ones before them."""
    from roughly.kernels.cosine import candidates, cosines

    documents = len(queries.norms)
    cuts = np.unique(np.linspace(0, documents, 32 * work.threads + 1).astype(int)).tolist()

    def query(between: tuple[int, int]) -> tuple[Ints, Floats, int]:
        pairs, shared = candidates(*between, first_query - first, queries.units, indexed.units, index, threshold)
        return pairs, cosines(
            pairs, queries.terms, queries.weights, queries.offsets, queries.norms, indexed.terms, indexed.weights,
            indexed.offsets, indexed.norms,
        ), shared  # fmt: skip

    for pairs, scores, shared in map_in_order(query, pairwise(cuts), work.threads):
        counted.met += shared
        counted.compared += len(pairs)
        use = scores >= threshold
        yield pairs[use, 0] + first_query, pairs[use, 1] + first, scores[use]


def _vocabulary(collection: FeatureFiles) -> tuple[Hashes, Ints]:
    """All terms of the leaders in order of hash, and the number of leaders with each."""
    names, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
    waiting: list[Hashes] = []
    blocks_left = iter(collection.scan(64 << 20))
    done = False
    while not done:
        block = next(blocks_left, None)
        done = block is None
        if block is not None:
            waiting.append(block[1].values)
        if waiting and (done or sum(map(len, waiting)) >= _MERGE):
            new, times = np.unique(np.concatenate(waiting), return_counts=True)
            both, where = np.unique(np.concatenate((names, new)), return_inverse=True)
            counts = np.bincount(where, weights=np.concatenate((counts, times)), minlength=len(both)).astype(np.int64)
            names, waiting = both, []
    return names, counts


def _counting(sizes: Ints) -> Ints:
    """0 … size − 1 for each size, one after the other."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
