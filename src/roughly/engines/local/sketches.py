"""Sketches on disk, as reading wrote them; those of candidates are loaded on demand.

A segment's file holds the number of values of each document, its limit, and then the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Ints
from roughly.cluster.common_keys import IgnoredKeys
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets

COMPLETE = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class SketchFile:
    """The sketches of one segment: its first document, the number of documents, and `most` as in `Sets`."""

    path: Path
    first: int
    documents: int
    most: int


def write_sketches(path: Path, sketches: Sequence[Sets]) -> None:
    """Write the sketches of a segment."""
    with path.open("wb") as stream:
        for batch in sketches:
            stream.write(np.diff(batch.offsets).astype(np.uint32).data)
        for batch in sketches:
            limits = np.full(len(batch), COMPLETE) if batch.limits is None else batch.limits
            stream.write(np.ascontiguousarray(limits).data)
        for batch in sketches:
            stream.write(np.ascontiguousarray(batch.values).data)


class SketchStore:
    """The sketches of candidates 0, 1, …, which are the documents `docs`."""

    def __init__(self, files: Sequence[SketchFile], docs: Ints, ignored: IgnoredKeys | None = None) -> None:
        self._files, self._ignored = files, ignored
        self._lengths, self._starts = np.zeros(len(docs), np.int64), np.zeros(len(docs), np.int64)
        self._limits, self._file = np.empty(len(docs), np.uint64), np.zeros(len(docs), np.int32)
        self._most = files[0].most if files else 0
        for number, file in enumerate(files):
            counts = np.fromfile(file.path, np.uint32, file.documents).astype(np.int64)
            limits = np.fromfile(file.path, np.uint64, file.documents, offset=4 * file.documents)
            starts = 12 * file.documents + 8 * (np.cumsum(counts) - counts)
            here = np.flatnonzero((docs >= file.first) & (docs < file.first + file.documents))
            at = docs[here] - file.first
            self._lengths[here], self._starts[here], self._limits[here] = counts[at], starts[at], limits[at]
            self._file[here] = number
        self._weight = 8 * self._lengths + 24
        # where every limit is the same, sketches are small sets like any other
        self.complete = self._most == 0 and (len(docs) == 0 or bool((self._limits == self._limits[0]).all()))

    def weight(self) -> Ints:
        """Bytes of each document's sketch."""
        return self._weight

    def load(self, docs: Ints) -> Sets:
        """The sketches of these documents, in this order."""
        offsets = np.zeros(len(docs) + 1, np.int64)
        np.cumsum(self._lengths[docs], out=offsets[1:])
        values = np.empty(int(offsets[-1]), np.uint64)
        for number, file in enumerate(self._files):
            mine = np.flatnonzero(self._file[docs] == number)
            if not len(mine):
                continue
            with file.path.open("rb") as stream:
                for i in mine[np.argsort(self._starts[docs[mine]], kind="stable")].tolist():
                    stream.seek(int(self._starts[docs[i]]))
                    count = int(offsets[i + 1] - offsets[i])
                    values[offsets[i] : offsets[i + 1]] = np.frombuffer(stream.read(8 * count), np.uint64)
        limits: npt.NDArray[np.uint64] | None = None if self.complete else self._limits[docs]
        found = Sets(values, offsets, limits, self._most)
        return found if self._ignored is None else self._ignored.dropped(found, docs)
