"""The sketches of a collection, batch by batch: values in memory up to a limit, beyond it in a temporary file."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path
from typing import IO

import numpy as np

from roughly.errors import DiskFull
from roughly.features.sketch import Hashes, Ints, Sketch, joined


class SketchSpool:
    """Sketches of one sampling, in the order in which they are added.

    The file has no name: it is gone with the process, or with the sketch that is mapped from it.
    """

    def __init__(self, most_values: int, folder: Path | None) -> None:
        self._most_values, self._folder = most_values, folder
        self._held: list[Sketch] = []
        self._sizes: list[Ints] = []
        self._limits: list[Hashes] = []
        self._file: IO[bytes] | None = None
        self._most = 0
        self.values = 0

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()  # a mapped sketch keeps its values

    def add(self, sketch: Sketch) -> None:
        """Append sketches."""
        self.values += int(sketch.offsets[-1] - sketch.offsets[0])
        self._most = sketch.most
        self._held.append(sketch)
        if self.values > self._most_values:
            self._write()

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed at the end
            for sketch in self._held:
                self._file.write(np.ascontiguousarray(sketch.values[sketch.offsets[0] : sketch.offsets[-1]]).data)
            self._file.flush()
        except OSError as problem:
            if problem.errno != errno.ENOSPC:
                raise
            folder = self._folder or tempfile.gettempdir()
            raise DiskFull(f"{folder}: the disk is full; free some space, or name another folder with --temp") from None
        self._sizes += [np.diff(sketch.offsets) for sketch in self._held]
        self._limits += [sketch.limits for sketch in self._held if sketch.limits is not None]
        self._held = []

    def sketch(self) -> Sketch:
        """All of them as one."""
        if self._file is None:
            return joined(self._held)
        if self._held:
            self._write()
        offsets = np.r_[0, np.cumsum(np.concatenate(self._sizes))].astype(np.int64)
        values = np.memmap(self._file, np.uint64, "r").view(np.ndarray)
        return Sketch(values, offsets, np.concatenate(self._limits) if self._limits else None, self._most)
