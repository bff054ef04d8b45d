"""Documents as sets of features, on disk: written once, in the order of reading, and read again block by block.

Equal documents have the same 128-bit fingerprint of their features and are one document until the end. A page that is
in a collection five thousand times makes twelve million pairs, none of which need be compared.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import blocks
from roughly.features.shingle_sets import Sets

Hashes = npt.NDArray[np.uint64]
Prints = npt.NDArray[np.uint64]


class NumberFile:
    """Numbers in a nameless temporary file, deleted when it is closed; or in memory, after `load`."""

    def __init__(self, folder: Path | None, dtype: npt.DTypeLike) -> None:
        self.dtype, self.count = np.dtype(dtype), 0
        self.array: npt.NDArray[np.generic] | None = None
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `close`

    def add(self, values: npt.NDArray[np.generic]) -> None:
        """Append."""
        self._file.write(np.ascontiguousarray(values, self.dtype).data)
        self.count += len(values)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.count * self.dtype.itemsize

    def read(self, start: int, stop: int) -> npt.NDArray[np.generic]:
        """Numbers start … stop − 1; several threads may read at once."""
        if self.array is not None:
            return self.array[start:stop]
        self._file.flush()
        out = np.empty(stop - start, self.dtype)
        view, at = memoryview(out.data).cast("B") if len(out) else memoryview(b""), start * self.dtype.itemsize
        done = 0
        while done < len(view):  # a read may be partial
            count = os.preadv(self._file.fileno(), [view[done:]], at + done)
            if not count:
                raise OSError("a temporary file is shorter than it was: the disk may be full")
            done += count
        return out

    def load(self) -> None:
        """Load all of it into memory."""
        self.array = self.read(0, self.count)

    def close(self) -> None:
        """Delete the file."""
        self.array = None
        self._file.close()


class FeatureFiles:
    """The features of each document: sorted, distinct hashes; with `weighted`, a weight for each."""

    def __init__(self, folder: Path | None, weighted: bool = False) -> None:
        self.values = NumberFile(folder, np.uint64)
        self.weights = NumberFile(folder, np.float64) if weighted else None
        self._sizes: list[Ints] = []
        self._prints: list[Prints] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.values.close()
        if self.weights is not None:
            self.weights.close()

    def add(self, values: Hashes, offsets: Ints, weights: npt.NDArray[np.float64] | None, prints: Prints) -> None:
        """Append documents."""
        self.values.add(values)
        if self.weights is not None and weights is not None:
            self.weights.add(weights)
        self._sizes.append(np.diff(offsets))
        self._prints.append(prints)

    def finish(self, memory: int) -> None:
        """All documents are added. The features are loaded if they fit into `memory` bytes."""
        self.sizes = np.concatenate([np.empty(0, np.int64), *self._sizes])
        self.offsets = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(self.sizes, out=self.offsets[1:])
        self._collapse()
        columns = [self.values, *([self.weights] if self.weights is not None else [])]
        self.nbytes = sum(column.nbytes for column in columns)
        self.in_memory = self.nbytes <= memory
        if self.in_memory:
            for column in columns:
                column.load()

    def _collapse(self) -> None:
        """`leaders` are the first of equal documents, the smallest sets first; `leader_of` is each document's among
        them."""
        prints = np.concatenate([np.empty((0, 2), np.uint64), *self._prints])
        self._sizes, self._prints = [], []
        order = np.lexsort((np.arange(len(prints)), prints[:, 1], prints[:, 0]))
        new = np.ones(len(order), np.bool_)
        new[1:] = (prints[order[1:]] != prints[order[:-1]]).any(axis=1)
        first = order[new]
        by_size = np.lexsort((first, self.sizes[first]))
        self.leaders: Ints = first[by_size]
        place = np.empty(len(first), np.int64)
        place[by_size] = np.arange(len(first))
        self.leader_of = np.empty(len(order), np.int64)
        self.leader_of[order] = place[np.cumsum(new) - 1]

    @property
    def leader_sizes(self) -> Ints:
        """The number of features of each leader."""
        return np.ascontiguousarray(self.sizes[self.leaders])

    def scan(self, memory: int) -> Iterator[tuple[Ints, Sets]]:
        """(leaders, their sets) block by block in the order of reading, equal documents once."""
        reading = np.sort(self.leaders)
        number = np.full(len(self.sizes), -1, np.int64)
        number[self.leaders] = np.arange(len(self.leaders))
        for lo, hi in blocks(8 * self.sizes, memory):
            mine = reading[np.searchsorted(reading, lo) : np.searchsorted(reading, hi)]
            if len(mine):
                start, stop = int(self.offsets[mine[0]]), int(self.offsets[mine[-1] + 1])
                sets = Sets(self.values.read(start, stop), self.offsets[mine[0] : mine[-1] + 2] - start)  # type: ignore[arg-type]
                yield number[mine], only(sets, mine - mine[0])

    def rows(self, leaders: Ints) -> Sets:
        """The sets of some leaders, in this order."""
        docs = self.leaders[leaders]
        offsets = np.zeros(len(docs) + 1, np.int64)
        np.cumsum(self.sizes[docs], out=offsets[1:])
        values = np.empty(int(offsets[-1]), np.uint64)
        starts, ends = self.offsets[docs].tolist(), self.offsets[docs + 1].tolist()
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            values[offsets[i] : offsets[i + 1]] = self.values.read(start, end)
        return Sets(values, offsets)


class LeaderSets:
    """The leaders as `cluster.scoring.Scorer` needs them."""

    complete = True

    def __init__(self, collection: FeatureFiles) -> None:
        self._collection = collection
        self._weight = 8 * collection.leader_sizes + 24

    def weight(self) -> Ints:
        """Bytes of each set."""
        return self._weight

    def load(self, docs: Ints) -> Sets:
        """The sets of these leaders, in this order."""
        return self._collection.rows(docs)


def only(sets: Sets, rows: Ints) -> Sets:
    """Some of the sets, in this order; the same arrays if that is all of them."""
    if len(rows) == len(sets):
        return sets
    from roughly.kernels.gathering import gather_ranges

    sizes = np.diff(sets.offsets)[rows]
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return Sets(gather_ranges(sets.values, np.ascontiguousarray(sets.offsets[rows]), offsets), offsets)
