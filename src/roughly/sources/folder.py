"""Many small files that are one part: a folder of texts, a folder of mail, a Maildir.

A row is a file, in the order of the paths. `chunks` only groups files by size; they are opened in `parse`, on many
threads, as a folder of 100,000 small files needs. A file that cannot be read is a reject, not the end of the run.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from roughly.errors import InputError
from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.collector import Collector, excerpt, reason_of
from roughly.sources.files import File
from roughly.sources.part import ALONE, Chunk, CopyBudget, Mask, Parsed, Rows
from roughly.sources.read_limits import ReadLimits
from roughly.sources.streams import Reader, replacing
from roughly.threads import map_in_order

_BYTES = 4 << 20
_FILES = 4096  # files in one chunk at most, however small they are


class FolderPart(ABC):
    """A part whose records are whole files."""

    format: str

    def __init__(
        self, name: str, files: Sequence[File], options: ReadOptions, kept_name: str, id_prefix: str = ""
    ) -> None:
        self.name = name
        self.kept_name = kept_name
        self.size: int | None = sum(file.size or 0 for file in files)
        self.notes: list[str] = []
        self._files = files
        self._options = options
        self._limits = ReadLimits.of(options)
        self._id_prefix = id_prefix

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Rows of files that are about 4 MB together."""
        group: list[int] = []
        total = 0
        for row in range(len(self._files)) if rows is None else rows.tolist():
            group.append(row)
            total += self._files[row].size or 0
            if total >= _BYTES or len(group) >= (self._options.batch_size or _FILES):
                yield Chunk(group[0], np.array(group, np.int64), total)
                group, total = [], 0
        if group:
            yield Chunk(group[0], np.array(group, np.int64), total)

    def parse(self, chunk: Chunk) -> Parsed:
        """Open and read the chunk's files."""
        collector = Collector(self.kept_name)
        for row in chunk.data.tolist():
            file = self._files[row]
            data = b""
            try:
                data = read_whole(file, self._limits)
                self._add(row, file, data, collector)
            except MemoryError:
                raise
            except Exception as error:
                reason = reason_of(error).removeprefix(f"{file.name}: ")
                collector.rejects.append(Reject(file.name, "whole file", reason, excerpt(data)))
        return collector.parsed()

    @abstractmethod
    def _add(self, row: int, file: File, data: bytes, collector: Collector) -> None:
        """Add the document in `data`, or raise `InputError`."""

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        """Copy the kept files, under the same relative paths."""
        root = folder / self.kept_name
        root.mkdir(parents=True, exist_ok=True)

        def copy_file(row: int) -> None:
            budget.check(self._files[row].size or 0)
            with self._files[row].open() as source, replacing(root / self._target(self._files[row])) as out:
                shutil.copyfileobj(source, out, 1 << 20)

        kept = np.flatnonzero(keep[: len(self._files)]).tolist()
        for _ in map_in_order(copy_file, kept, budget.threads):
            pass
        return len(kept)

    def stamp(self) -> int:
        """When the input was last changed."""
        return sum(file.changed or 0 for file in self._files)

    def is_untouched(self) -> bool:
        """Whether the input is as it was when it was opened."""
        return all(file.is_untouched() for file in self._files)

    def locate(self, row: int) -> str:
        """The file's path."""
        return self._files[row].name

    def _id_from_path(self, file: File) -> str:
        return self._id_prefix + file.relative

    def _target(self, file: File) -> PurePosixPath:
        """The path of a copy; names from remote stores must not lead out of the folder."""
        return PurePosixPath(*(part for part in PurePosixPath(file.relative).parts if part not in ("..", "/")))


def read_whole(file: File, limits: ReadLimits) -> bytes:
    """All of a file, decompressed; an `InputError` if it is cut short or too long."""
    with Reader(file.open(), file.name, limits) as reader:
        pieces, size = [], 0
        while block := reader.read_block(_BYTES):
            pieces.append(block)
            size += len(block)
            if size > limits.record:
                raise InputError(f"{file.name}: {limits.too_long(reader.compression is not None)}")
        if reader.damage is not None:
            raise InputError(f"{file.name}: {reader.damage}")
    return b"".join(pieces)
