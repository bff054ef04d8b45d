"""Rows that are grouped by a key in files: a share of the keys fits the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from roughly.kernels.repeats import sort_by_share
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays, Words

_ROW_BYTES = 64
"""Memory per row of a share while it is sorted."""
_MOST_SHARES = 1 << 12


class _Slice(NamedTuple):
    """Rows of a share in one block."""

    begin: int
    end: int
    base: int

    @property
    def size(self) -> int:
        """Their number."""
        return self.end - self.begin


class SpilledRows:
    """Rows of two numbers in mapped arrays, block after block, each sorted by share; a share fits the memory.

    The right number has 32 bits and is counted from a base per block.
    """

    def __init__(self, arrays: MappedArrays, name: str, most: int, threads: int) -> None:
        """For at most this number of rows. The number of shares is a power of two: 1 << bits."""
        self._arrays, self._name, self._threads = arrays, name, threads
        self._at_once = max(1, arrays.memory // 4 // _ROW_BYTES)
        shares = min(_MOST_SHARES, max(1, -(-most // self._at_once)))
        self.bits = (shares - 1).bit_length()
        self.shares = 1 << self.bits
        self._left: Ints = arrays.new(name, np.int64, most)
        self._right: Words = arrays.new(f"{name}_right", np.uint32, most)
        self._edges: list[Ints] = []
        self._bases: list[int] = []

    def append(self, share: Words, left: Ints, right: Words, begin: int | None = None) -> None:
        """Append a block; or put it at a row, from which its right numbers are then counted."""
        self._bases.append(begin or 0)
        if begin is None:
            begin = int(self._edges[-1][-1]) if self._edges else 0
        own = slice(begin, begin + len(share))
        rows = self._left[own], self._right[own]
        self._edges.append(begin + sort_by_share(share, left, right, self.shares, rows, self._threads))
        self._arrays.release()

    def of_share(self, number: int) -> Ints:
        """The rows of a share, in the order in which they were appended."""
        return self._joined(self._slices(number))

    def replace(self, number: int, change: Callable[[Ints, bool], Ints]) -> None:
        """Replace the rows of a share, as many at once as the memory allows: a share may be larger than others.

        `change` learns whether the rows are the last.
        """
        waiting: list[_Slice] = []
        for one in self._slices(number):
            if waiting and sum(some.size for some in waiting) + one.size > self._at_once:
                self._replace(waiting, lambda rows: change(rows, False))
                waiting = []
            waiting.append(one)
        self._replace(waiting, lambda rows: change(rows, True))

    def _replace(self, slices: list[_Slice], change: Callable[[Ints], Ints]) -> None:
        left, at = change(self._joined(slices))[:, 0], 0
        for some in slices:
            self._left[some.begin : some.end] = left[at : at + some.size]
            at += some.size
        self._arrays.release()

    def _slices(self, number: int) -> Iterator[_Slice]:
        for edges, base in zip(self._edges, self._bases, strict=True):
            yield _Slice(int(edges[number]), int(edges[number + 1]), base)

    def _joined(self, slices: Iterable[_Slice]) -> Ints:
        slices = list(slices)
        rows, at = np.empty((sum(some.size for some in slices), 2), np.int64), 0
        for begin, end, base in slices:
            own = rows[at : at + end - begin]
            own[:, 0] = self._left[begin:end]
            np.add(self._right[begin:end], base, out=own[:, 1], dtype=np.int64)
            at += len(own)
        return rows

    def block(self, number: int) -> tuple[Ints, Words]:
        """A copy of the rows of a block, by share, the right numbers without their base."""
        own = slice(self._edges[number][0], self._edges[number][-1])
        return self._left[own].copy(), self._right[own].copy()

    @property
    def left(self) -> Ints:
        """The left numbers of all rows."""
        return self._left

    def keep_left(self, name: str) -> None:
        """Delete all but the left numbers, which get another name."""
        self._arrays.rename(self._name, name)
        self.delete()

    def delete(self) -> None:
        """Delete the rows."""
        self._left, self._right = self._left[:0].copy(), self._right[:0].copy()
        self._arrays.delete(self._name, f"{self._name}_right")
