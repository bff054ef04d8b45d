"""The components of the candidate graph, and their parallel resolution.

Documents that no chain of shared buckets connects do not affect each other. So documents are ordered by component, the
one with the most work first, and by rank within it; then one call resolves many components on several threads, or one
large component run by run. What is found does not depend on the number of threads (0 = one per core). The GIL is
released for the whole call, and Ctrl-C is answered. The loops are those of `core/candidate_components.hpp` and
`core/resolve_components.hpp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Offsets, Words
from roughly.kernels.bitmaps import Maps
from roughly.kernels.resolve import Documents, Flags, Ints, Joined, Rows, Rule, SetArrays


class Limits(NamedTuple):
    """What is compared and returned."""

    floor: float  # pairs that score less are of no interest
    most_kept: int  # most kept documents of a capped bucket
    every_pair: bool  # removed documents are compared with too, and all pairs are returned
    evidence: int  # pairs per document that reach the threshold, the most similar; ignored with `every_pair`
    near: int  # pairs below the threshold in all, the best


class Resolved(NamedTuple):
    """What a call found. Documents are numbered by their positions in the order by component."""

    pairs: Rows  # that reach the threshold
    near: Rows  # the best below it; ties are broken by rank
    compared: int  # pairs that share a bucket
    stop: int  # the first document that was not resolved


class Order(NamedTuple):
    """Documents by component."""

    ranks: Offsets  # of the documents in this order
    cuts: Offsets  # component c has positions cuts[c] … cuts[c + 1] − 1
    work: Offsets  # of each component: pairs that share a bucket, counted once per bucket; never rises


class Block(NamedTuple):
    """Sets of the documents from `Documents.first` on: the i-th of them has row rows[i]."""

    sets: SetArrays
    rows: Offsets


def order_by_component(doc_offsets: Offsets, doc_buckets: Words, starts: Offsets, threads: int = 1) -> Order:
    """Documents by component; `starts` counts the documents of the buckets."""
    return Order(*_core.candidate_components(doc_offsets, doc_buckets, starts, threads))


def linked_roots(links: Ints, documents: int, threads: int = 1) -> Ints:
    """The smallest document of each document's component, where links are rows of two documents."""
    return _core.linked_roots(np.ascontiguousarray(links, np.int32), documents, threads)


def reorder(
    doc_offsets: Offsets, doc_buckets: Words, probes: Flags, ranks: Offsets, threads: int = 1
) -> tuple[Offsets, Words, Flags]:
    """The buckets of each document, and whether each is a probe, with the documents in this order."""
    offsets, buckets, turned = _core.reorder_buckets(doc_offsets, doc_buckets, probes, ranks, threads)
    return offsets, buckets, turned


def draw_rows(block: Block, maps: Maps, first: int, threads: int = 1) -> None:
    """Flip the bits of each set (`bitmaps.draw`); the first document has row `first`."""
    _core.draw_bitmaps_of(*block, maps, first, threads)


def resolve_components(
    cuts: Offsets, joined: Joined, documents: Documents, stamp: Ints, block: Block, rule: Rule, limits: Limits,
    ranks: Offsets, threads: int = 1,
) -> Resolved:  # fmt: skip
    """Resolve components cuts[c] … cuts[c + 1] − 1, each in order of rank; each component by one thread.

    `stamp` has a number below its own for every document.
    """
    return Resolved(*_core.resolve_components(cuts, joined, documents, stamp, *block, rule, limits, ranks, threads))


def resolve_large_component(
    start: int, stop: int, run: int, enough: int, joined: Joined, documents: Documents, stamps: Ints, block: Block,
    rule: Rule, limits: Limits, ranks: Offsets,
) -> Resolved:  # fmt: skip
    """Resolve documents start … stop − 1 of one component, `run` at a time, with a thread per row of `stamps`.

    They are compared with each other only. With `enough` ≥ 0, this ends with the run after which more documents than
    that are kept.
    """
    return Resolved(
        *_core.resolve_large_component(start, stop, run, enough, joined, documents, stamps, *block, rule, limits, ranks)
    )


def sort_pairs(rows: Rows, documents: int) -> Rows:
    """Rows in order of their first two numbers; the first is below `documents`."""
    sorted_rows: Rows = _core.sort_pairs(np.ascontiguousarray(rows, np.int32), documents)
    return sorted_rows
