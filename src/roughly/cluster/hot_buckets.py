"""Splitting hot buckets: their documents are grouped by their rarest shingles instead.

Two sets at or above the threshold must share one of the rarest 1 − threshold of their shingles, whatever "rare"
means, as long as it means the same for both (the prefix-filter principle). Boilerplate shingles are common, so they no
longer form buckets. The filter is exact: no pair at or above the threshold is lost.

With containment the smaller document must have one of its rarest shingles in the larger, which is looked up by all of
its shingles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import NO_PROBES, Candidates, Ints, SetLoader
from roughly.cluster.grouping import group
from roughly.cluster.row_spool import RowSpool
from roughly.cluster.scoring import ResolveBudget, blocks
from roughly.features.shingle_sets import Sets

HOT = 200
"""A bucket with more kept documents is hot."""
LATE = 16 * HOT
"""The same for a bucket that is found to be hot during the pass over all documents."""
_MOST_SLOTS = 1 << 22


def split_hot_buckets(
    candidates: Candidates,
    hot: npt.NDArray[np.bool_],
    sets: SetLoader,
    measure: str,
    threshold: float,
    work: ResolveBudget,
) -> Candidates:
    """The candidates with hot buckets split; the buckets of rare shingles come last."""
    starts, docs, probes = candidates.by_bucket(work.threads)
    sizes = np.diff(starts)
    inside = np.repeat(hot, sizes)
    is_probe = np.ones(candidates.documents, np.bool_)
    if len(probes):
        is_probe[:] = False
        is_probe[docs[inside & probes]] = True
    new = [
        _joined(members, is_probe, sets, measure, threshold, work)
        for members in _connected_groups(docs[inside], sizes[hot])
    ]
    return Candidates.from_buckets(
        np.concatenate((sizes[~hot].astype(np.uint32), *(found[0] for found in new))),
        np.concatenate((docs[~inside], *(found[1] for found in new))),
        np.concatenate((probes[~inside], *(found[2] for found in new))) if len(probes) else NO_PROBES,
        candidates.documents,
        work.threads,
    )


def _connected_groups(docs: npt.NDArray[np.uint32], sizes: Ints) -> list[Ints]:
    """The documents of hot buckets, grouped by connected hot buckets.

    Each connected group is split on its own, so the answer for a document depends only on the documents it is connected
    with.
    """
    from roughly.kernels.candidate_components import linked_roots

    members, places = np.unique(docs, return_inverse=True)
    firsts = np.repeat(places[np.cumsum(sizes) - sizes], sizes)
    roots = linked_roots(np.column_stack((firsts, places)).astype(np.int32), len(members))
    order = np.argsort(roots, kind="stable")
    cuts = np.flatnonzero(np.diff(roots[order])) + 1
    return [part.astype(np.int64) for part in np.split(members[order], cuts)]


def _joined(
    members: Ints, is_probe: npt.NDArray[np.bool_], sets: SetLoader, measure: str, threshold: float, work: ResolveBudget
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
    """(size of each bucket, their documents, whether each is a probe): one group, split by rare shingles."""
    with RowSpool(work.scratch) as rows:
        _spool(rows, members, is_probe, sets, measure, threshold, work)
        found = group([rows], budget=work.budget, threads=work.threads, has_probes=True)
    sizes, docs, probes = found.rows()
    pairs = (sizes.astype(np.float64) * (sizes - 1.0)).sum()
    if pairs > float(len(members)) * (len(members) - 1):
        # all of them are nearly the same: they share rare shingles as well, and one bucket of all is cheaper
        return np.full(1, len(members), np.uint32), members.astype(np.uint32), is_probe[members]
    return sizes, docs, probes


def _spool(
    rows: RowSpool,
    members: Ints,
    is_probe: npt.NDArray[np.bool_],
    sets: SetLoader,
    measure: str,
    threshold: float,
    work: ResolveBudget,
) -> None:
    """Rows (shingle, document and whether it is a probe) of the documents' rarest shingles."""
    from roughly.kernels.grouping import filter_words, mark, present
    from roughly.kernels.judging import MEASURES
    from roughly.kernels.prefixes import count_hashed, prefix_keys

    def loaded() -> Iterator[tuple[Ints, Sets]]:
        weight = sets.weight()[members]
        for lo, hi in blocks(weight, max(1, work.budget // 4)):
            yield members[lo:hi], sets.load(members[lo:hi])

    values = int(sets.weight()[members].sum()) // 8
    counts = np.zeros(min(_MOST_SLOTS, 1 << max(10, (4 * values).bit_length())), np.uint32)
    for _, some in loaded():
        count_hashed(some.values, counts)
    for block, some in loaded():
        keys, owners = prefix_keys(some.values, some.offsets, counts, MEASURES[measure], threshold, work.threads)
        use = is_probe[block[owners]]
        rows.add(keys[use], (block[owners[use]] << 1 | 1).astype(np.uint32))
    if measure != "containment":
        return
    marks = np.zeros(filter_words(rows.count), np.uint64)
    for keys, found in rows:
        mark(keys, found, 0, 0, marks, np.zeros(len(marks), np.uint64))
    for block, some in loaded():
        use = present(some.values, marks)
        owners = np.repeat(block, np.diff(some.offsets))[use]
        rows.add(some.values[use], (owners << 1).astype(np.uint32))
