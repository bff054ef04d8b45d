"""Rows (key, member) on disk, written once and read as often as needed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

_AT_ONCE = 1 << 20


class RowSpool:
    """Rows in a nameless temporary file, deleted when it is closed."""

    def __init__(self, folder: Path | None) -> None:
        self.count = 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def add(self, keys: npt.NDArray[np.uint64], members: npt.NDArray[np.uint32]) -> None:
        """Append rows."""
        rows = np.empty(len(keys), [("key", np.uint64), ("member", np.uint32)])
        rows["key"], rows["member"] = keys, members
        self._file.seek(0, 2)
        self._file.write(rows.data)
        self.count += len(keys)

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]]:
        """All rows, piece by piece; several threads may read at once."""
        import os

        self._file.flush()
        size = 12
        for start in range(0, self.count, _AT_ONCE):
            data = os.pread(self._file.fileno(), size * min(_AT_ONCE, self.count - start), size * start)
            rows = np.frombuffer(data, [("key", np.uint64), ("member", np.uint32)])
            yield np.ascontiguousarray(rows["key"]), np.ascontiguousarray(rows["member"])
