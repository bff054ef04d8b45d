"""Files that are one record after another: JSONL, CSV, mbox, SGML.

`RecordFile` does for all of them what does not depend on the format: it reads big blocks, cuts them where a
record ends, counts, picks the rows that are asked for, and copies the records that stay byte for byte. A
format adds where records end (`_ends`), and what they mean (`parse`).

What stands before the first record (a byte order mark, the header of a CSV file, a DOCTYPE) is the
*preamble*: never part of a record, always copied. A file that is cut short gives all whole records, then one
reject that says where it was cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.collector import excerpt
from roughly.sources.files import File
from roughly.sources.landmarks import Landmark, Located, locate_rows
from roughly.sources.part import Chunk, Mask, Parsed, Rows
from roughly.sources.streams import Reader, replacing
from roughly.threads import map_in_order

BLOCK = 4 << 20
LONGEST_RECORD = 1 << 30
_COPYING = 2  # threads that read while another writes
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Records:
    """Whole records, one after another; `rows` where they are not consecutive."""

    data: bytes
    count: int
    rows: Rows | None = None
    reject: Reject | None = None  # where the file was cut short
    is_last: bool = False  # may end with the file's last record, which may lack its end


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of whole records as it was read; with `damage`, what is left of a broken one."""

    first_row: int
    count: int
    data: bytes
    nbytes: int
    is_last: bool = False
    damage: str | None = None


class RecordFile(ABC):
    """A part that is one file of records."""

    format: str
    unit: str  # what messages call a record: line, row, message, document
    leaves_landmarks = False  # whether `parse` can read blocks itself, by `_read_located`

    def __init__(self, file: File, options: ReadOptions, kept_name: str) -> None:
        self.name = file.name
        self.kept_name = kept_name
        self.size: int | None = file.size
        self.notes: list[str] = []
        self._file = file
        self._options = options
        self._landmarks: list[Landmark] | None = None  # of all blocks, once the file was read to its end
        with self._reader() as reader:
            self._compression = reader.compression
            head, whole = self._read_head(reader)
        self._preamble = self._look(head, whole)
        if whole and not head[len(self._preamble) :].strip():
            self.notes.append("empty: no documents")

    @abstractmethod
    def _look(self, head: bytes, whole: bool) -> bytes:
        """Learn what is needed from the beginning of the file (all of it if `whole`); returns the preamble."""

    def _is_enough(self, head: bytes) -> bool:
        """Whether `_look` can make do with this beginning of the file; it is a megabyte at least."""
        return True

    @abstractmethod
    def _ends(self, data: bytes, final: bool) -> Offsets:
        """Where each record in `data` ends. If `final`, what is left at the end is a record too."""

    def _cut(self, pending: bytes, block: bytes, final: bool) -> tuple[bytes, int, bytes]:
        """Whole records, their number, and the rest; a format may know a faster way than `_ends`."""
        data = pending + block if pending else block
        ends = self._ends(data, final)
        cut = int(ends[-1]) if len(ends) else 0
        return data[:cut], len(ends), data[cut:]

    @abstractmethod
    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of one chunk."""

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Blocks of whole records, or only the records of the given rows."""
        if rows is not None and self._landmarks is not None and self._options.batch_size is None:
            for located in locate_rows(self._landmarks, rows, BLOCK):
                yield Chunk(int(located.rows[0]), located, located.nbytes)
            return
        with self._reader() as reader:
            if rows is not None:
                yield from self._select(reader, rows)
                return
            for piece in self._noted(self._pieces(reader)):
                if piece.damage is not None:
                    where = self.locate(piece.first_row)
                    reject = Reject(self.name, where, piece.damage, excerpt(piece.data))
                    yield Chunk(piece.first_row, Records(b"", 0, reject=reject), piece.nbytes)
                elif self._options.batch_size is None:
                    records = Records(piece.data, piece.count, is_last=piece.is_last)
                    yield Chunk(piece.first_row, records, piece.nbytes)
                else:
                    yield from self._batches(piece, self._options.batch_size)

    @property
    def landmarks(self) -> list[Landmark] | None:
        """Where the blocks of the file stand; None: it was not read to its end, or is of a kind that has none."""
        return self._landmarks

    def recall(self, landmarks: list[Landmark]) -> None:
        """Take over the landmarks of an earlier reading; the caller knows that the file has not changed since."""
        if self.leaves_landmarks and self._compression is None and self._file.fs is None:
            self._landmarks = landmarks

    def copy(self, keep: Mask, folder: Path) -> int:
        """Write the preamble and the kept records as they are, compressed like the input."""
        written = 0
        with self._reader() as reader, replacing(folder / self.kept_name, self._compression) as out:
            out.write(self._preamble)
            pieces: Iterator[tuple[int, bytes]]
            if self._landmarks is None:
                pieces = map(partial(self._kept, keep), self._pieces(reader))
            else:
                pieces = map_in_order(lambda mark: self._kept(keep, self._read_piece(mark)), self._landmarks, _COPYING)
            for count, data in pieces:
                written += count
                out.write(data)
        return written

    def stamp(self) -> int:
        """When the input was last changed."""
        return self._file.changed or 0

    def locate(self, row: int) -> str:
        """The record's number as people count, from 1."""
        return f"{self.unit} {row + 1}"

    def _noted(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The same pieces; when the last has gone by, where they stand is known."""
        landmarks: list[Landmark] = []
        offset = len(self._preamble)
        for piece in pieces:
            landmarks.append(Landmark(piece.first_row, piece.count, offset, len(piece.data)))
            offset += len(piece.data)
            yield piece
        is_plain = self._compression is None and self._file.fs is None and offset == self.size
        if self.leaves_landmarks and is_plain and all(mark.count for mark in landmarks):
            self._landmarks = landmarks

    def _read_piece(self, mark: Landmark) -> Piece:
        with self._file.open() as file:
            file.seek(mark.offset)
            data = file.read(mark.nbytes)
        return Piece(mark.first_row, mark.count, data, mark.nbytes, is_last=mark.offset + mark.nbytes == self.size)

    def _read_located(self, located: Located) -> Records:
        """The wanted records, read by whoever calls this."""
        rows, found = located.rows, []
        for mark in located.blocks:
            piece = self._read_piece(mark)
            first, last = np.searchsorted(rows, [mark.first_row, mark.first_row + mark.count])
            wanted = np.zeros(mark.count, np.bool_)
            wanted[rows[first:last] - mark.first_row] = True
            found.append(b"".join(self._ranges(piece, wanted)))
        return Records(b"".join(found), len(rows), rows, is_last=True)

    def _reader(self) -> Reader:
        return Reader(self._file.open(), self.name)

    def _read_head(self, reader: Reader) -> tuple[bytes, bool]:
        """The first block, or more if that is not enough; and whether that is all there is."""
        head, size = b"", BLOCK // 4
        while True:
            block = reader.read_block(size)
            head += block
            if len(block) < size:
                return head, True
            if self._is_enough(head) or len(head) > LONGEST_RECORD:
                return head, False
            size = len(head)

    def _pieces(self, reader: Reader) -> Iterator[Piece]:
        reader.read_block(len(self._preamble))
        row, size, pending, used, at_end = 0, BLOCK, b"", 0, False
        while not at_end:
            block = reader.read_block(size)
            at_end = len(block) < size
            data, count, pending = self._cut(pending, block, final=at_end and reader.damage is None)
            if count:
                yield Piece(row, count, data, reader.position - used, at_end)
                row, used = row + count, reader.position
            if len(pending) > LONGEST_RECORD:
                reader.damage = f"no end within {LONGEST_RECORD >> 30} GB; the rest of the file was not read"
                at_end = True
            size = max(BLOCK, len(pending))  # doubling: a huge record costs linear time
        if reader.damage is not None:
            yield Piece(row, 0, pending[:BLOCK], reader.position - used, damage=reader.damage)

    def _batches(self, piece: Piece, most: int) -> Iterator[Chunk]:
        starts = np.concatenate([[0], self._ends(piece.data, True)])[: piece.count + 1]
        for first in range(0, piece.count, most):
            last = min(first + most, piece.count)
            data = piece.data[starts[first] : starts[last]]
            records = Records(data, last - first, is_last=piece.is_last and last == piece.count)
            yield Chunk(piece.first_row + first, records, piece.nbytes * len(data) // len(piece.data))

    def _select(self, reader: Reader, rows: Rows) -> Iterator[Chunk]:
        most = self._options.batch_size or BLOCK  # a record has a byte at least
        texts: list[bytes] = []
        numbers: list[int] = []
        total = used = 0
        for piece in self._pieces(reader):
            first, last = np.searchsorted(rows, [piece.first_row, piece.first_row + piece.count])
            if last > first:
                ends = self._ends(piece.data, True)
                for row in rows[first:last].tolist():
                    index = row - piece.first_row
                    text = piece.data[ends[index - 1] if index else 0 : ends[index]]
                    texts.append(text)
                    numbers.append(row)
                    total += len(text)
                    if total >= BLOCK or len(texts) >= most:
                        yield _selected(texts, numbers, reader.position - used)
                        texts, numbers, total, used = [], [], 0, reader.position
            if last == len(rows):
                break
        if texts:
            yield _selected(texts, numbers, reader.position - used)

    def _kept(self, keep: Mask, piece: Piece) -> tuple[int, bytes]:
        """How many of a piece's records stay, and their bytes."""
        kept = np.zeros(piece.count, np.bool_)
        known = keep[piece.first_row : piece.first_row + piece.count]
        kept[: len(known)] = known
        count = int(np.count_nonzero(kept))
        return count, piece.data if count == piece.count else b"".join(self._ranges(piece, kept))

    def _ranges(self, piece: Piece, chosen: Mask) -> list[memoryview]:
        """The bytes of runs of chosen records."""
        if not chosen.any():
            return []
        data = memoryview(piece.data)
        starts = np.concatenate([[0], self._ends(piece.data, True)])
        edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
        return [data[start:stop] for start, stop in starts[edges].reshape(-1, 2).tolist()]


def _selected(texts: list[bytes], numbers: list[int], nbytes: int) -> Chunk:
    rows = np.array(numbers, np.int64)
    return Chunk(numbers[0], Records(b"".join(texts), len(rows), rows, is_last=True), nbytes)


def row_numbers(chunk: Chunk, count: int) -> Rows:
    """The row of each of the chunk's `count` records."""
    rows: Rows | None = chunk.data.rows
    return np.arange(chunk.first_row, chunk.first_row + count, dtype=np.int64) if rows is None else rows
