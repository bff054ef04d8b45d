"""Arrays in files of the working folder: the system keeps of them in memory what is used, and can take all of it back.

What has a row per token, place or span of a collection is here, so the memory of a run does not follow its size.
"""

from __future__ import annotations

import mmap
import os
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.engines.local.memory_budget import BASE_MEMORY
from roughly.engines.workspace import Workspace
from roughly.kernels.repeats import append_in_pieces
from roughly.meter import mapped_pages, resident

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint32]
T = TypeVar("T")
_PIECE = 1 << 16
_MARGIN = 64 << 20
"""Memory that is left free: pages come between two looks at it."""
_LOOK_EVERY = 0.005
"""Seconds between two looks at the memory."""


class MappedArrays:
    """Arrays of one run."""

    def __init__(self, workspace: Workspace, memory: int) -> None:
        """`memory` is that of the run, without that of the process before it.

        Pages are given back when they take half of it, or when the process takes all that it may.
        """
        self.workspace, self.memory = workspace, memory
        self._most = memory + max(BASE_MEMORY, resident()) - _MARGIN
        self._maps: dict[str, mmap.mmap] = {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Meanwhile, give back pages on a thread of its own: one call of a kernel may use any number of them."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(_LOOK_EVERY):
                self.release()

        thread = threading.Thread(target=watch, daemon=True, name="roughly-pages")
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def path(self, name: str) -> Path:
        """The file of an array."""
        return self.workspace.path(f"{name}.bin")

    def new(self, name: str, kind: type[np.generic], count: int) -> npt.NDArray[Any]:
        """An array of zeros."""
        size = count * np.dtype(kind).itemsize
        self.workspace.space.check(size)
        with self.path(name).open("wb") as file:
            file.truncate(size)
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an error here, and would be a crash later
        return self.open(name, kind)

    def open(self, name: str, kind: type[np.generic]) -> npt.NDArray[Any]:
        """An array that was written."""
        if self.path(name).stat().st_size == 0:
            return np.empty(0, kind)
        return np.frombuffer(self._map(name), kind)

    def open_table(self, name: str) -> pa.Table:
        """A table that was written as an Arrow file."""
        return pa.ipc.open_file(pa.py_buffer(self._map(name))).read_all()

    def _map(self, name: str) -> mmap.mmap:
        with self.path(name).open("r+b") as file:
            self._maps[name] = mmap.mmap(file.fileno(), 0)
        return self._maps[name]

    def rename(self, name: str, other: str) -> None:
        """Give an array another name; what is open stays so."""
        self.path(name).replace(self.path(other))
        if name in self._maps:
            self._maps[other] = self._maps.pop(name)

    @staticmethod
    def append(file: BinaryIO, array: npt.NDArray[Any]) -> None:
        """Write to a file in small pieces: a page that is used later brings its whole piece into memory."""
        append_in_pieces(file.fileno(), array.view(np.uint8), _PIECE)

    def delete(self, *names: str) -> None:
        """Delete arrays; their memory is freed when they are no longer used."""
        for name in names:
            self._maps.pop(name, None)
            self.path(name).unlink(missing_ok=True)

    def at_once(self, most: int) -> int:
        """How many rows to look at before pages are given back, if each may be anywhere: it holds the 64 kB around."""
        return min(most, max(1 << 10, self.memory >> 15))

    def release(self) -> None:
        """Give back the pages of all arrays if many are held; they are read again when they are used."""
        pages, everything = mapped_pages()
        if (pages > self.memory // 2 or everything > self._most) and hasattr(mmap, "MADV_DONTNEED"):
            for mapped in list(self._maps.values()):
                mapped.madvise(mmap.MADV_DONTNEED)

    def releasing(self, items: Iterable[T]) -> Iterator[T]:
        """The items; memory is given back when each has been used."""
        for item in items:
            yield item
            self.release()


def positions(column: Ints, values: Iterable[int]) -> list[int]:
    """Where values belong in a column of a matrix, in ascending order; `np.searchsorted` would copy it whole."""
    return [bisect_left(column, value) for value in values]
