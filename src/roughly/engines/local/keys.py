"""Keys on disk, as reading wrote them: rows (key, member) for grouping.

A segment's file stores keys of bands band after band, so that one band is read in one piece. Keys that are lists are
stored as the number of keys of each document, then the keys, then whether each of them is a probe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.methods import Keys

Hashes = npt.NDArray[np.uint64]
Members = npt.NDArray[np.uint32]

_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class KeyFile:
    """The keys of one segment: its first document, the number of documents, and the number of keys."""

    path: Path
    first: int
    documents: int
    keys: int


def write_keys(path: Path, keys: Sequence[Keys]) -> None:
    """Write the keys of a segment."""
    with path.open("wb") as stream:
        if keys[0].offsets is None:
            by_band = [np.ascontiguousarray(batch.values.T) for batch in keys]
            for band in range(keys[0].values.shape[1]):
                for values in by_band:
                    stream.write(values[band].data)
            return
        for batch in keys:
            stream.write(np.diff(_offsets(batch)).astype(np.uint32).data)
        for batch in keys:
            stream.write(np.ascontiguousarray(batch.values).data)
        for batch in keys:
            probes = np.ones(len(batch.values), np.bool_) if batch.probes is None else batch.probes
            stream.write(np.ascontiguousarray(probes).data)


@dataclass(frozen=True)
class Band:
    """The keys of one band. `rank_of` is the member of each document, or `NO_MEMBER`."""

    files: Sequence[KeyFile]
    band: int
    rank_of: Members

    @property
    def count(self) -> int:
        """One key per document."""
        return len(self.rank_of)

    def __iter__(self) -> Iterator[tuple[Hashes, Members]]:
        for file in self.files:
            offset = 8 * self.band * file.documents
            keys = np.fromfile(file.path, np.uint64, file.documents, offset=offset)
            yield keys, self.rank_of[file.first : file.first + file.documents]


@dataclass(frozen=True)
class KeyLists:
    """Keys that come as lists; the lowest bit of a member says whether the key is a probe."""

    files: Sequence[KeyFile]
    rank_of: Members

    @property
    def count(self) -> int:
        """All keys of all documents."""
        return sum(file.keys for file in self.files)

    def __iter__(self) -> Iterator[tuple[Hashes, Members]]:
        from roughly.kernels.grouping import NO_MEMBER

        for file in self.files:
            counts = np.fromfile(file.path, np.uint32, file.documents)
            ranks = self.rank_of[file.first : file.first + file.documents]
            members = np.where(ranks == NO_MEMBER, NO_MEMBER, ranks << np.uint32(1)).astype(np.uint32)
            ends = np.cumsum(counts, dtype=np.int64)
            lo = done = 0
            while lo < file.documents:
                hi = max(lo + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
                size = int(ends[hi - 1]) - done
                base = 4 * file.documents
                keys = np.fromfile(file.path, np.uint64, size, offset=base + 8 * done)
                probes = np.fromfile(file.path, np.bool_, size, offset=base + 8 * file.keys + done)
                owners = np.repeat(members[lo:hi], counts[lo:hi])
                owners[probes & (owners != NO_MEMBER)] |= np.uint32(1)
                yield keys, owners
                lo, done = hi, done + size


def _offsets(keys: Keys) -> npt.NDArray[np.int64]:
    if keys.offsets is None:
        raise TypeError("keys that are lists need offsets")
    return keys.offsets
