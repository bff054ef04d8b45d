"""Connected components of a graph too large for one worker: alternating large-star and small-star.

Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, *Connected Components in MapReduce and Beyond* (SoCC 2014).
With N(u) the neighbours of u and m(u) the least of N(u) ∪ {u}:

    large-star   for every u, an edge (v, m(u)) for each v in N(u) with v > u
    small-star   for every u, an edge (v, m(u)) for each v in N(u) with v ≤ u, and (u, m(u))

Neither connects what was apart or parts what was connected. Repeated in turn they end, after O(log² n) rounds and in
practice a handful, when every component is a star around its least node. An edge is stored once, as (a, b) with a > b.
A small graph is solved by one worker at once, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.cluster.connected import smallest_connected

ONE_TASK = 2_000_000
"""Edges that one worker processes alone: 16 bytes each."""
MOST_ROUNDS = 100


def roots(edges: Any, keep: Callable[[Any, str], Any], one_task: int = ONE_TASK) -> Any:
    """(a, b): every node that is not the least of its component, with the least one.

    `keep(frame, name)` stores a frame and reads it back, so that a lost worker costs a round at most.
    """
    edges = keep(edges, "edges-0")
    state = _state(edges)
    for number in range(1, MOST_ROUNDS):
        if state[0] <= one_task:
            return keep(edges.coalesce(1).mapInArrow(_solve, "a bigint, b bigint"), "roots")
        edges = keep(_small_star(_large_star(edges)), f"edges-{number}")
        before, state = state, _state(edges)
        if state == before:
            return edges
    raise RuntimeError(f"components did not converge in {MOST_ROUNDS} rounds")


def _state(edges: Any) -> tuple[int, int]:
    """A checksum of a set of edges: their number, and a sum of hashes that does not depend on the order."""
    from pyspark.sql import functions as f

    row = edges.agg(f.count("*"), f.coalesce(f.bit_xor(f.xxhash64("a", "b")), f.lit(0))).collect()[0]
    return int(row[0]), int(row[1])


def _large_star(edges: Any) -> Any:
    from pyspark.sql import functions as f

    both = edges.select(f.col("a").alias("u"), f.col("b").alias("v")).union(edges.select("b", "a"))
    least = both.groupBy("u").agg(f.min("v").alias("v")).select("u", f.least("u", "v").alias("m"))
    stars = both.where("v > u").join(least, "u").where("v != m")
    return stars.select(f.col("v").alias("a"), f.col("m").alias("b")).distinct()


def _small_star(edges: Any) -> Any:
    from pyspark.sql import functions as f

    least = edges.groupBy("a").agg(f.min("b").alias("m"))
    others = edges.join(least, "a").where("b != m").select(f.col("b").alias("a"), f.col("m").alias("b"))
    return others.union(least.select("a", f.col("m").alias("b"))).distinct()


def _solve(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All components at once, on one worker."""
    edges = [(batch.column("a").to_numpy(), batch.column("b").to_numpy()) for batch in batches]
    if not sum(len(a) for a, _ in edges):
        return
    a, b = (np.concatenate([pair[side] for pair in edges]) for side in (0, 1))
    nodes, places = np.unique(np.r_[a, b], return_inverse=True)
    root = nodes[smallest_connected(len(nodes), places[: len(a)], places[len(a) :])]
    others = root != nodes
    yield pa.RecordBatch.from_arrays([pa.array(nodes[others]), pa.array(root[others])], names=["a", "b"])
