"""The join of term vectors by cosine (`kernels/cosine.py` has the bounds).

A vector has a weight for every distinct term of a document: how often it occurs (`tf`) or 1 (`binary`), times the idf
of a lexicon (Conrad 2003, eq. 1) where one is given; then a term that the lexicon does not hold counts as one in a
single document. Terms are numbered from common to rare. A block of vectors is indexed, all later ones are asked of it
on all threads, then the next block: what does not fit into memory is read again for every block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import ResolveBudget, blocks
from roughly.lexicon import Lexicon
from roughly.text.canonical import Tokens
from roughly.threads import map_in_order
from roughly.tools.truth.feature_files import FeatureFiles, NumberFile
from roughly.tools.truth.request import CountedRequest, TruthRequest

if TYPE_CHECKING:
    from roughly.kernels.cosine import Postings, Units

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Found = tuple[Ints, Ints, Floats]
"""Leaders, leaders, cosine."""
_BYTES = 44
"""Memory for a weight: term and weight of the vectors, the same to length one, and the posting as it is built."""
_ASKING = 20
"""The same without the posting."""
_ROW = 160
"""Memory for a vector: the row of its commonest terms, offset and length."""
_MERGE = 1 << 24


def vectors_of(tokens: Tokens, wanted: TruthRequest) -> tuple[Hashes, Ints, Floats]:
    """(terms in order of hash, offsets, weights) of each document; terms that weigh nothing are left out."""
    from roughly.kernels.cosine import term_counts

    terms, counts, offsets = term_counts(tokens.hashes, tokens.offsets)
    weights = counts.astype(np.float64) if wanted.weights == "tf" else np.ones(len(counts))
    if wanted.lexicon is None:
        return terms, offsets, weights
    weights *= idf_of(wanted.lexicon, terms)
    use = weights > 0
    return terms[use], np.r_[0, np.cumsum(use)][offsets], weights[use]


def idf_of(lexicon: Lexicon, terms: Hashes) -> Floats:
    """The idf of terms; of those that the lexicon does not hold, that of a term in one document."""
    frequencies = lexicon.frequencies(terms)
    found: Floats = np.maximum(lexicon.idf_of(np.maximum(frequencies, 1).astype(np.uint32)), 0.0)
    return found


@dataclass(frozen=True)
class Vectors:
    """Terms by number, weights, offsets and Σ x² of some documents; and the same to length one."""

    terms: npt.NDArray[np.uint32]
    weights: Floats
    offsets: Ints
    norms: Floats
    units: Units


def join_vectors(
    collection: FeatureFiles, wanted: TruthRequest, work: ResolveBudget, counted: CountedRequest
) -> Iterator[Found]:
    """Pairs of leaders at or above the threshold, batch by batch."""
    store = _Store(collection, work)
    try:
        leaders, room = len(collection.leaders), max(1 << 20, work.budget // 3)
        first = 0
        for lo, hi in blocks(_BYTES * collection.leader_sizes + _ROW, room):
            mine = store.read(lo, hi)
            index = _index(mine, store.terms, wanted.threshold)
            for from_, to in blocks(_ASKING * collection.leader_sizes[lo:] + _ROW, room):
                asking = mine if (from_, lo + to) == (0, hi) else store.read(lo + from_, lo + to)
                yield from _ask(index, mine, lo, asking, lo + from_, wanted.threshold, work, counted)
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
            self._terms.hold()
            self._weights.hold()

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
        """Give the disk back."""
        self._terms.close()
        self._weights.close()


def _index(held: Vectors, terms: int, threshold: float) -> Postings:
    """Postings of a block of vectors."""
    from roughly.kernels.cosine import build_index, indexed_from

    firsts = indexed_from(held.weights, held.offsets, held.norms, threshold)
    inside = np.ones(len(held.terms), np.bool_)
    sizes = firsts - held.offsets[:-1]
    inside[np.repeat(held.offsets[:-1], sizes) + _counting(sizes)] = False
    starts = np.zeros(terms + 1, np.int64)
    np.cumsum(np.bincount(held.terms[inside], minlength=terms), out=starts[1:])
    return build_index(held.weights, held.norms, held.units, firsts, starts)


def _ask(
    index: Postings,
    held: Vectors,
    first: int,
    asking: Vectors,
    asking_first: int,
    threshold: float,
    work: ResolveBudget,
    counted: CountedRequest,
) -> Iterator[Found]:
    """Pairs of the asking vectors with indexed ones before them."""
    from roughly.kernels.cosine import candidates, cosines

    documents = len(asking.norms)
    cuts = np.unique(np.linspace(0, documents, 32 * work.threads + 1).astype(int)).tolist()

    def ask(between: tuple[int, int]) -> tuple[Ints, Floats, int]:
        pairs, met = candidates(*between, asking_first - first, asking.units, held.units, index, threshold)
        return pairs, cosines(
            pairs, asking.terms, asking.weights, asking.offsets, asking.norms, held.terms, held.weights,
            held.offsets, held.norms,
        ), met  # fmt: skip

    for pairs, scores, met in map_in_order(ask, pairwise(cuts), work.threads):
        counted.met += met
        counted.compared += len(pairs)
        use = scores >= threshold
        yield pairs[use, 0] + asking_first, pairs[use, 1] + first, scores[use]


def _vocabulary(collection: FeatureFiles) -> tuple[Hashes, Ints]:
    """All terms of the leaders in order of hash, and in how many leaders each is."""
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
