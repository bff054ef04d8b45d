"""From rows of leaders to pairs of documents: equal documents put back, pairs sorted by id."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Ints
from roughly.errors import TooManyPairs

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
SETS = pa.schema(
    [
        pa.field("left_id", pa.string(), nullable=False),
        pa.field("right_id", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64(), nullable=False),
        pa.field("containment", pa.float64(), nullable=False),  # share of left that right holds
        pa.field("contained_in", pa.float64(), nullable=False),  # share of right that left holds
    ]
)
COSINE = pa.schema(
    [
        pa.field("left_id", pa.string(), nullable=False),
        pa.field("right_id", pa.string(), nullable=False),
        pa.field("cosine", pa.float64(), nullable=False),
    ]
)


class Families:
    """The documents that each leader stands for; with `sides`, only pairs of documents of different sides count.

    Documents that are not in `use` have no part in it.
    """

    def __init__(self, leader_of: Ints, leaders: int, limit: int, use: Flags, sides: Flags | None = None) -> None:
        self._limit, self.pairs = limit, 0
        everyone = np.flatnonzero(use)
        if sides is None:
            self._roads = [(_Members(leader_of, everyone, leaders),) * 2]
        else:
            one, other = (_Members(leader_of, everyone[sides[use] == side], leaders) for side in (False, True))
            self._roads = [(one, other), (other, one)]
        self._alike = sides is None
        self.counted(self._equal_pairs())

    def counted(self, more: int) -> None:
        """Refuse as soon as there are too many."""
        self.pairs += more
        if self.pairs > self._limit:
            raise TooManyPairs(
                f"there are more than {self._limit:,} pairs at or above the threshold (equal documents alone can make "
                "them: n copies have n·(n − 1)/2); raise --threshold or --pairs-limit, or remove copies first"
            )

    def took(self, left: Ints, right: Ints) -> None:
        """Note pairs of leaders."""
        self.counted(sum(int((one.sizes[left] * other.sizes[right]).sum()) for one, other in self._roads))

    def _equal_pairs(self) -> int:
        one, other = self._roads[0]
        return int((one.sizes * (one.sizes - 1) // 2 if self._alike else one.sizes * other.sizes).sum())

    def equal(self) -> tuple[Ints, Ints]:
        """All pairs of equal documents."""
        one, other = self._roads[0]
        if self._alike:
            return _within(one.order, one.starts, np.flatnonzero(one.sizes > 1))
        both = np.flatnonzero((one.sizes > 0) & (other.sizes > 0))
        return _across(one, other, both, both)[:2]

    def across(self, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
        """(documents, documents, row) of all pairs between the families of each row."""
        found = [_across(one, other, left, right) for one, other in self._roads]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


class _Members:
    def __init__(self, leader_of: Ints, docs: Ints, leaders: int) -> None:
        own = leader_of[docs]
        self.order = docs[np.argsort(own, kind="stable")]
        self.sizes = np.bincount(own, minlength=leaders).astype(np.int64)
        self.starts = np.r_[0, np.cumsum(self.sizes)]


def _across(one: _Members, other: _Members, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    wide = other.sizes[right]
    count = one.sizes[left] * wide
    row = np.repeat(np.arange(len(left)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return (
        one.order[one.starts[left][row] + within // wide[row]],
        other.order[other.starts[right][row] + within % wide[row]],
        row,
    )


def _within(order: Ints, starts: Ints, families: Ints) -> tuple[Ints, Ints]:
    left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    sizes = starts[families + 1] - starts[families]
    for size in np.unique(sizes).tolist():  # families of one size at a time
        a, b = np.triu_indices(size, 1)
        base = starts[families[sizes == size]][:, None]
        left.append(order[(base + a).ravel()])
        right.append(order[(base + b).ravel()])
    return np.concatenate(left), np.concatenate(right)


def set_columns(rows: npt.NDArray[np.int32]) -> tuple[Floats, Floats, Floats]:
    """Resemblance and both containments of rows (d, k, c, m, n)."""
    c, m, n = (rows[:, column].astype(np.float64) for column in (2, 3, 4))
    return c / (m + n - c), c / m, c / n


def table_of(
    ids: pa.Array, by_id: Ints, left: Ints, right: Ints, columns: Iterable[Floats], schema: pa.Schema
) -> pa.Table:
    """The pairs sorted by (left_id, right_id), the smaller id on the left."""
    place = np.empty(len(by_id), np.int64)
    place[by_id] = np.arange(len(by_id))
    one, other = place[left], place[right]
    turned = one > other
    low, high = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((high, low))
    values = list(columns)
    if len(values) == 3:  # containment and contained_in change places with the documents
        values = [values[0], np.where(turned, values[2], values[1]), np.where(turned, values[1], values[2])]
    named = ids.take(pa.array(by_id))
    arrays = [named.take(pa.array(low[order])), named.take(pa.array(high[order]))]
    return pa.Table.from_arrays([*arrays, *(pa.array(value[order]) for value in values)], schema=schema)
