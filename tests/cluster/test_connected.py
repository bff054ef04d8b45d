"""Connected components by numpy alone, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components as by_scipy

from roughly.cluster.connected import connected_components, smallest_connected


@pytest.mark.parametrize("nodes", [1, 2, 10, 1000])
@pytest.mark.parametrize("density", [0, 0.5, 1, 3])
def test_components_are_those_of_scipy(nodes: int, density: float) -> None:
    rng = np.random.default_rng(nodes)
    left, right = rng.integers(0, nodes, (2, int(density * nodes)))
    graph = coo_matrix((np.ones(len(left), np.int8), (left, right)), shape=(nodes, nodes))
    assert connected_components(nodes, left, right).tolist() == by_scipy(graph, directed=False)[1].tolist()


def test_a_long_path_in_any_order() -> None:
    order = np.random.default_rng(7).permutation(100_000)
    assert not smallest_connected(len(order), order[:-1], order[1:]).any()
