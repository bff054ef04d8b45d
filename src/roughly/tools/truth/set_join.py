"""The join of shingle sets (`kernels/joining.py` has the filters): count, take prefixes, group them, find candidates,
compare.

    |A ∩ B| / |A ∪ B| ≥ t                    resemblance
    |A ∩ B| / min(|A|, |B|) ≥ t              containment: of the smaller in the larger (Broder 1997, §2)

Rows of prefix values are spooled to disk and grouped like keys of `dedupe`, one share of all values at a time.
Candidates are then found in ranges of documents on all threads, and compared on the full sets. The result depends
neither on the ranges nor on the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Candidates, Ints
from roughly.cluster.grouping import group
from roughly.cluster.row_spool import RowSpool
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, ScoredPairs, Scorer, set_arrays
from roughly.errors import MemoryTooSmall
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.threads import map_in_order
from roughly.tools.truth.feature_files import FeatureFiles, LeaderSets
from roughly.tools.truth.request import JoinCounts, TruthRequest

_WORDS = 16
"""Words per bitmap: 1,024 bits."""
_LEAST_SLOTS, _MOST_SLOTS = 1 << 16, 1 << 31
_RANGES = 64
"""Ranges of documents per thread."""
_MOST_BITS = 10
_AT_ONCE = 4_000_000
"""Pairs that are compared at once if the sets are on disk."""


def join_sets(
    collection: FeatureFiles,
    wanted: TruthRequest,
    work: ResolveBudget,
    counted: JoinCounts,
    useful: Callable[[npt.NDArray[np.int32]], npt.NDArray[np.bool_]],
) -> Iterator[ScoredPairs]:
    """Rows (d, k, c, m, n) of leaders at or above the threshold, batch by batch; only pairs that are `useful`."""
    from roughly.kernels import resolve
    from roughly.kernels.judging import MEASURES

    maps = np.zeros((len(collection.leaders), _WORDS), np.uint64)
    rule = resolve.Rule(MEASURES[wanted.measure], wanted.threshold, 0, 0.0)
    with RowSpool(work.scratch) as rows:
        _spool(rows, maps, collection, wanted, work)
        shared = (pairs[useful(pairs)] for pairs in _candidate_pairs(rows, collection, maps, wanted, work, counted))
        if collection.in_memory:
            yield from _compared_in_memory(shared, collection, rule, wanted, work, counted)
            return
        scorer = Scorer(LeaderSets(collection), rule, work.budget // 4, work.threads)
        for pairs in _gathered(shared):
            counted.compared += len(pairs)
            scored = scorer.score(pairs, wanted.threshold)
            yield scored[np.lexsort((scored[:, 1], scored[:, 0]))]


@dataclass(frozen=True)
class _Share:
    """The rows whose values end in these bits."""

    rows: RowSpool
    number: int = 0
    bits: int = 0

    @property
    def count(self) -> int:
        """The approximate number of rows."""
        return self.rows.count >> self.bits

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]]:
        for keys, members in self.rows:
            if self.bits:
                use = (keys & np.uint64((1 << self.bits) - 1)) == np.uint64(self.number)
                keys, members = keys[use], members[use]
            yield keys, members

    def halves(self) -> list[_Share]:
        """Two shares that make up this one."""
        bits = self.bits + 1
        return [_Share(self.rows, self.number, bits), _Share(self.rows, self.number | 1 << self.bits, bits)]


def _candidate_pairs(
    rows: RowSpool,
    collection: FeatureFiles,
    maps: npt.NDArray[np.uint64],
    wanted: TruthRequest,
    work: ResolveBudget,
    counted: JoinCounts,
) -> Iterator[npt.NDArray[np.int32]]:
    """Pairs that no filter rules out, each once. If the documents that share values do not fit into memory, half of the
    values are processed at a time, and so on; pairs that are found twice are then merged."""
    whole = _Share(rows)
    try:
        candidates = _grouped(whole, collection, work)
    except MemoryTooSmall:
        leaders = len(collection.leaders)
        codes = np.empty(0, np.int64)
        left = whole.halves()
        while left:
            share = left.pop()
            try:
                candidates = _grouped(share, collection, work)
            except MemoryTooSmall:
                if share.bits >= _MOST_BITS:
                    raise
                left += share.halves()
                continue
            some = [codes]
            for pairs in _find_pairs(candidates, collection, maps, wanted, work, counted):
                some.append(pairs[:, 0].astype(np.int64) * leaders + pairs[:, 1])
            codes = np.unique(np.concatenate(some))
        for first in range(0, len(codes), _AT_ONCE // 16):
            yield np.column_stack(np.divmod(codes[first : first + _AT_ONCE // 16], leaders)).astype(np.int32)
        return
    yield from _find_pairs(candidates, collection, maps, wanted, work, counted)


def _grouped(share: _Share, collection: FeatureFiles, work: ResolveBudget) -> Candidates:
    found = group([share], budget=4 * work.budget // 5, threads=work.threads, has_probes=True)
    return Candidates.from_buckets(*found.rows(), len(collection.leaders))


def _blocks(collection: FeatureFiles, work: ResolveBudget) -> Iterator[tuple[Ints, Sets]]:
    return collection.scan(max(1 << 20, min(64 << 20, work.budget // (8 * work.threads))))


def _spool(
    rows: RowSpool, maps: npt.NDArray[np.uint64], collection: FeatureFiles, wanted: TruthRequest, work: ResolveBudget
) -> None:
    """Rows (value, document and whether its value is a probe) of the prefixes."""
    from roughly.kernels.bitmaps import draw
    from roughly.kernels.grouping import filter_words, mark, present
    from roughly.kernels.joining import prefix_flags, tally
    from roughly.kernels.judging import MEASURES

    total = int(collection.leader_sizes.sum())
    slots = 1 << max(0, (2 * total - 1).bit_length())
    most = 1 << max(16, (work.budget // 4).bit_length() - 1)
    counts = np.zeros(max(_LEAST_SLOTS, min(slots, most, _MOST_SLOTS)), np.uint8)
    for _, sets in _blocks(collection, work):
        tally(sets.values, counts)

    def prefixes(block: tuple[Ints, Sets]) -> tuple[Ints, Sets, npt.NDArray[np.uint8]]:
        docs, sets = block
        return docs, sets, prefix_flags(sets.values, sets.offsets, counts, MEASURES[wanted.measure], wanted.threshold)

    containment = wanted.measure == "containment"
    for docs, sets, flags in map_in_order(prefixes, _blocks(collection, work), work.threads):
        drawn = np.zeros((len(docs), _WORDS), np.uint64)
        draw(sets.values, sets.offsets, drawn, 0)
        maps[docs] = drawn
        use = flags > 0
        owners = np.repeat(docs, np.diff(sets.offsets))[use]
        rows.add(sets.values[use], (owners << 1 | (flags[use] == 2)).astype(np.uint32))
    if not containment:
        return
    marks = np.zeros(filter_words(rows.count), np.uint64)
    for keys, members in rows:
        mark(keys, members, 0, 0, marks, np.zeros_like(marks))
    for docs, sets, flags in map_in_order(prefixes, _blocks(collection, work), work.threads):
        use = present(sets.values, marks) & (flags == 0)
        owners = np.repeat(docs, np.diff(sets.offsets))[use]
        rows.add(sets.values[use], (owners << 1).astype(np.uint32))


def _find_pairs(
    candidates: Candidates,
    collection: FeatureFiles,
    maps: npt.NDArray[np.uint64],
    wanted: TruthRequest,
    work: ResolveBudget,
    counted: JoinCounts,
) -> Iterator[npt.NDArray[np.int32]]:
    """Pairs (d, k) that no filter rules out, by ranges of d, in order."""
    from roughly.kernels.joining import find_larger, find_smaller

    starts, docs, flags = candidates.by_bucket()
    sizes = collection.leader_sizes
    offsets, buckets = candidates.doc_offsets, candidates.doc_buckets
    weight = np.zeros(candidates.documents + 1, np.int64)  # entries in a document's buckets, to cut even ranges
    shared = np.r_[0, np.cumsum(np.diff(starts)[buckets])]
    weight[1:] = shared[offsets[1:]]
    cuts = np.searchsorted(weight, np.linspace(0, weight[-1], _RANGES * work.threads + 1), side="left")
    cuts[0], cuts[-1] = 0, candidates.documents
    ranges = [(int(a), int(b)) for a, b in pairwise(np.unique(cuts).tolist())]

    def find(between: tuple[int, int]) -> tuple[npt.NDArray[np.int32], int]:
        stamp = np.full(candidates.documents, -1, np.int64)
        if wanted.measure == "containment":
            return find_larger(
                *between, offsets, buckets, candidates.probes, starts, docs, sizes, maps, wanted.threshold, stamp
            )
        return find_smaller(*between, offsets, buckets, starts, docs, flags, sizes, maps, wanted.threshold, stamp)

    for (_, stop), (pairs, shared) in zip(ranges, map_in_order(find, ranges, work.threads), strict=True):
        counted.met += shared
        work.advance(stop)
        yield pairs


def _compared_in_memory(
    shared: Iterator[npt.NDArray[np.int32]],
    collection: FeatureFiles,
    rule: object,
    wanted: TruthRequest,
    work: ResolveBudget,
    counted: JoinCounts,
) -> Iterator[ScoredPairs]:
    from roughly.kernels.resolve import score_pairs

    arrays = set_arrays(Sets(collection.values.array, collection.offsets))  # type: ignore[arg-type]
    leaders = collection.leaders

    def compare(pairs: npt.NDArray[np.int32]) -> tuple[ScoredPairs, int]:
        left, right = leaders[pairs[:, 0]], leaders[pairs[:, 1]]
        return score_pairs(pairs, left, right, arrays, rule, wanted.threshold), len(pairs)  # type: ignore[arg-type]

    for rows, compared in map_in_order(compare, shared, work.threads):
        counted.compared += compared
        yield rows


def _gathered(shared: Iterator[npt.NDArray[np.int32]]) -> Iterator[npt.NDArray[np.int32]]:
    """Combine small batches."""
    waiting: list[npt.NDArray[np.int32]] = []
    for pairs in shared:
        waiting.append(pairs)
        if sum(map(len, waiting)) >= _AT_ONCE:
            yield np.concatenate(waiting)
            waiting = []
    yield np.concatenate([NO_PAIRS[:, :2], *waiting])
