"""Connected components of a graph of pairs, by numpy alone.

Every node points to the smallest node that it is known to be connected with: each round takes the smaller pointer of
both ends of every edge and then follows pointers to their end. The number of rounds grows with the logarithm of the
longest path.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def smallest_connected(count: int, left: Ints, right: Ints) -> Ints:
    """For each of `count` nodes, the smallest node of its component.

    >>> smallest_connected(5, np.array([3, 1]), np.array([4, 3])).tolist()
    [0, 1, 2, 1, 1]
    """
    least = np.arange(count, dtype=np.int64)
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    while len(left):
        ends = least[left], least[right]
        low, high = np.minimum(*ends), np.maximum(*ends)
        apart = low != high
        if not apart.any():
            break
        left, right = left[apart], right[apart]
        np.minimum.at(least, high[apart], low[apart])
        while not np.array_equal(further := least[least], least):
            least = further
    return least


def connected_components(count: int, left: Ints, right: Ints) -> Ints:
    """The component of each node, numbered from 0 in the order of their smallest nodes."""
    numbers: Ints = np.unique(smallest_connected(count, left, right), return_inverse=True)[1].astype(np.int64)
    return numbers
