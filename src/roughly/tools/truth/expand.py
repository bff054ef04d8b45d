"""From rows of leaders to pairs of documents: equal documents restored, pairs sorted by id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Ints
from roughly.errors import TooManyPairs
from roughly.model import COSINE_PAIRS, EXACT_PAIRS

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

AT_ONCE = 1 << 20
"""Pairs in a table."""


class Families:
    """The documents that each leader represents; with `sides`, only pairs of documents of different sides count.

    Documents that are not in `use` are left out.
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

    def useful(self, pairs: npt.NDArray[np.int32]) -> Flags:
        """Which pairs of leaders represent any pair of documents."""
        found = np.zeros(len(pairs), np.bool_)
        for one, other in self._roads:
            found |= (one.sizes[pairs[:, 0]] > 0) & (other.sizes[pairs[:, 1]] > 0)
        return found

    def took(self, left: Ints, right: Ints) -> None:
        """Count pairs of leaders."""
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


class DocumentPairs:
    """Pairs of documents in the order of their ids, named and scored slice by slice, since there may be millions."""

    def __init__(
        self, ids: pa.Array, by_id: Ints, families: Families, left: Ints, right: Ints, scores: PairScorer
    ) -> None:
        self._named, self._scores = ids.take(pa.array(by_id)), scores
        place = np.empty(len(by_id), np.uint32)
        place[by_id] = np.arange(len(by_id), dtype=np.uint32)
        one, other, row = families.across(left, right)
        equal_one, equal_other = families.equal()
        row = np.concatenate((row, np.full(len(equal_one), -1)))
        mine, theirs = place[np.concatenate((one, equal_one))], place[np.concatenate((other, equal_other))]
        codes = np.minimum(mine, theirs).astype(np.uint64) << np.uint64(32) | np.maximum(mine, theirs)
        order = np.argsort(codes, kind="stable")
        self._turned, self._row, self._codes = (mine > theirs)[order], row[order], codes[order]

    def __len__(self) -> int:
        return len(self._codes)

    def tables(self) -> Iterator[pa.Table]:
        """Tables sorted by (left_id, right_id), the smaller id on the left; one without rows if there are none."""
        for first in range(0, max(1, len(self)), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            codes = self._codes[some]
            ids = [self._named.take(pa.array(side)) for side in (codes >> np.uint64(32), codes & np.uint64(0xFFFFFFFF))]
            yield pa.Table.from_arrays(
                [*ids, *map(pa.array, self._scores.of(self._row[some], self._turned[some]))], schema=self._scores.schema
            )


class PairScorer(Protocol):
    """The scores of pairs of leaders, by row; −1 is a pair of equal documents."""

    schema: pa.Schema

    def of(self, row: Ints, turned: Flags) -> list[Floats]:
        """The columns of some pairs; where `turned`, the documents of a row are exchanged."""
        ...


class SetScores:
    """Resemblance and both containments of rows (d, k, c, m, n)."""

    schema = EXACT_PAIRS

    def __init__(self, counts: npt.NDArray[np.int32]) -> None:
        self._counts = np.concatenate((counts, np.ones((1, 3), np.int32)))  # the last row, −1: equal

    def of(self, row: Ints, turned: Flags) -> list[Floats]:
        """resemblance, containment, contained_in."""
        c, m, n = self._counts[row].astype(np.float64).T
        mine, theirs = c / m, c / n
        return [c / (m + n - c), np.where(turned, theirs, mine), np.where(turned, mine, theirs)]


class CosineScores:
    """The cosine of each row."""

    schema = COSINE_PAIRS

    def __init__(self, cosine: Floats) -> None:
        self._cosine = np.append(cosine, 1.0)

    def of(self, row: Ints, turned: Flags) -> list[Floats]:
        """cosine."""
        return [self._cosine[row]]
