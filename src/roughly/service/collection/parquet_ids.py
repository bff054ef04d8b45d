"""The rows of a Parquet file by an id: which row groups have it is found out once, in 12 bytes per id and group."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.kernels.hashing import hash_bytes
from roughly.sources.parquet_open import open_parquet
from roughly.text.canonical import buffers


class RowsById:
    """Finds the rows with an id in one column of a file. A file that was replaced is read again."""

    def __init__(self, path: Path, column: str) -> None:
        self._path, self._column = path, column
        self._stamp: tuple[int, int] | None = None
        self._hashes, self._groups = np.empty(0, np.uint64), np.empty(0, np.uint32)
        self._reading = threading.Lock()

    def of(self, id_: str) -> pa.Table:
        """The rows with this id, in their order, with the columns that the file has."""
        hashed = _hashes(pa.array([id_], pa.string()))[0]
        # not `read_table` with a filter, which never ends where statistics in the footer do not fit their column
        with open_parquet(self._path) as file:
            hashes, groups = self._known(file)
            numbers = groups[slice(*np.searchsorted(hashes, [hashed, hashed + np.uint64(1)]))]
            found = [file.read_row_group(int(number)).filter(pc.field(self._column) == id_) for number in numbers]
            return pa.concat_tables([file.schema_arrow.empty_table(), *found])

    def _known(self, file: pq.ParquetFile) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
        """The hashes of all ids, ascending, and the row group of each, ascending where the hash is one."""
        status = self._path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        with self._reading:
            if stamp != self._stamp:
                hashes = [
                    np.unique(_hashes(file.read_row_group(number, [self._column])[self._column].combine_chunks()))
                    for number in range(file.num_row_groups)
                ]
                groups = np.repeat(np.arange(len(hashes), dtype=np.uint32), [len(some) for some in hashes])
                every = np.concatenate([np.empty(0, np.uint64), *hashes])
                order = np.argsort(every, kind="stable")
                self._hashes, self._groups, self._stamp = every[order], groups[order], stamp
            return self._hashes, self._groups


def _hashes(ids: pa.Array) -> npt.NDArray[np.uint64]:
    """The hashes of ids, one below the largest number at most."""
    ids = ids.drop_null().cast(pa.string())
    return np.minimum(hash_bytes(*buffers(ids))[:, 0], np.uint64((1 << 64) - 2))
