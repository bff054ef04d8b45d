"""Components of the candidate graph: those of a plain search, whatever the threads."""

from __future__ import annotations

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels import candidate_components as components

SMALL = st.lists(st.integers(0, 12), max_size=4).map(lambda v: sorted(set(v)))
BUCKETS = 13


def plain_components(groups: list[list[int]]) -> list[list[int]]:
    """Documents that a chain of shared buckets joins, the smallest first."""
    found: list[list[int]] = []
    for d, own in enumerate(groups):
        joined = [one for one in found if any(set(own) & set(groups[k]) for k in one)]
        found = [one for one in found if one not in joined] + [sorted([d, *(k for one in joined for k in one)])]
    return sorted(found)


def arrays(groups: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    buckets, offsets = twins.flat(groups)
    starts = np.r_[0, np.cumsum(np.bincount(buckets.astype(np.int64), minlength=BUCKETS))].astype(np.int64)
    return offsets, buckets.astype(np.uint32), starts


@given(st.lists(SMALL, min_size=1, max_size=12), st.integers(0, 4))
def test_documents_come_by_component_and_by_rank_within_it(groups: list[list[int]], threads: int) -> None:
    order = components.order_by_component(*arrays(groups), threads)
    found = [part.tolist() for part in np.split(order.ranks, order.cuts[1:-1])]
    sizes = {b: sum(b in own for own in groups) for b in range(BUCKETS)}
    work = [sum(sizes[b] * (sizes[b] - 1) // 2 for b in {b for d in one for b in groups[d]}) for one in found]
    assert sorted(found) == plain_components(groups)
    assert order.work.tolist() == work == sorted(work, reverse=True)


@given(st.lists(SMALL, min_size=1, max_size=12))
def test_buckets_are_put_in_order_with_their_documents(groups: list[list[int]]) -> None:
    offsets, buckets, _ = arrays(groups)
    order = np.random.default_rng(len(groups)).permutation(len(groups))
    asks = buckets % 2 == 0
    moved, new, flags = components.reorder(offsets, buckets, asks, order, 2)
    assert [part.tolist() for part in np.split(new, moved[1:-1])] == [groups[d] for d in order]
    assert flags.tolist() == (new % 2 == 0).tolist()
    assert len(components.reorder(offsets, buckets, np.empty(0, np.bool_), order)[2]) == 0


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_links_lead_to_the_smallest_document(threads: int) -> None:
    rng = np.random.default_rng(threads)
    links = rng.integers(0, 60_000, (50_000, 2)).astype(np.int32)
    roots = components.linked_roots(links, 60_000, threads)
    assert (roots <= np.arange(60_000)).all() and (roots[roots] == roots).all()
    assert (roots[links[:, 0]] == roots[links[:, 1]]).all()
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(links)), tuple(links.T)), shape=(60_000, 60_000))
    assert len(np.unique(roots)) == connected_components(graph, directed=False)[0]


def test_foreign_numbers_are_refused() -> None:
    links = np.array([[0, 3]], np.int32)
    with pytest.raises(ValueError, match="between documents"):
        components.linked_roots(links, 3)
    offsets, buckets, starts = arrays([[1], [1]])
    with pytest.raises(ValueError, match="cover"):
        components.order_by_component(offsets, buckets[:1], starts)
    with pytest.raises(ValueError, match="numbers of documents"):
        components.reorder(offsets, buckets, np.empty(0, np.bool_), np.array([0, 2]))


def test_pairs_are_sorted_by_both_documents() -> None:
    rows = np.random.default_rng(3).integers(0, 50, (2000, 5)).astype(np.int32)
    rows = rows[np.unique(rows[:, :2], axis=0, return_index=True)[1]]
    mixed = rows[np.random.default_rng(4).permutation(len(rows))]
    assert components.sort_pairs(mixed, 50).tolist() == rows.tolist()
    with pytest.raises(ValueError, match="of documents"):
        components.sort_pairs(mixed, 10)
