"""Files that are one record after another: JSONL, CSV, mbox, SGML.

`RecordFile` does what does not depend on the format: it reads large blocks, cuts them where a record ends, counts,
selects the wanted rows, and copies the kept records byte for byte. A format adds where records end (`_ends`), and what
they mean (`parse`).

What comes before the first record (a byte order mark, the header of a CSV file, a DOCTYPE) is the
*preamble*: never part of a record, always copied. A truncated file gives all whole records, then one
reject that says where it was cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.collector import Collector, excerpt, nothing, reason_of
from roughly.sources.files import File
from roughly.sources.landmarks import Landmark, blocks_of, locate_rows
from roughly.sources.line_ranges import LineRanges
from roughly.sources.part import ALONE, Chunk, CopyBudget, Mask, Parsed, Rows
from roughly.sources.read_limits import LARGEST_RECORD, ReadLimits
from roughly.sources.streams import Reader, replacing

BLOCK = 4 << 20
RANGE = 2
"""Blocks in a range of a file that is read by ranges."""
_OVERLAP = 1 << 12  # bytes before the next block in which a record may begin
_COPIED_AT_ONCE = 8  # blocks per thread, before anyone can stop the copy
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Records:
    """Whole records, one after another; `rows` where they are not consecutive."""

    data: bytes
    count: int
    rows: Rows | None = None
    reject: Reject | None = None  # where the file was cut short
    is_last: bool = False  # may end with the file's last record, which may lack its end

    @property
    def is_blank(self) -> bool:
        """Whether there are only line ends: a small gzip can have billions of them."""
        if self.count == len(self.data) and self.data.endswith(b"\n"):
            return True
        return self.data[:1] in (b"\r", b"\n") and not self.data.strip(b"\r\n")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of whole records as it was read; with `damage`, the rest of a broken one."""

    first_row: int
    count: int
    data: bytes
    nbytes: int
    is_last: bool = False
    damage: str | None = None


class RecordFile(ABC):
    """A part that is one file of records."""

    format: str
    unit: str  # the name of a record in messages: line, row, message, document
    can_skip = True  # whether the next record can be found from the middle of one
    is_slow = False  # whether tiny records take much longer to read than to unpack
    leaves_landmarks = False  # whether a record is a line, so that `parse` can read ranges and rows itself

    def __init__(self, file: File, options: ReadOptions, kept_name: str) -> None:
        self.name = file.name
        self.kept_name = kept_name
        self.size: int | None = file.size
        self.notes: list[str] = []
        self._file = file
        self._options = options
        self._limits = ReadLimits.of(options)
        self._recalled: list[Landmark] | None = None  # the landmarks of an earlier reading
        self._ranges_of_lines: LineRanges | None = None
        with self._reader() as reader:
            self._compression = reader.compression
            head, whole = self._read_head(reader)
        self._preamble = self._look(head, whole)
        if whole and not head[len(self._preamble) :].strip():
            self.notes.append("empty: no documents")
        if self.leaves_landmarks and self.size and self._is_plain() and Path(file.path).is_file():
            longest = options.largest_record or LARGEST_RECORD
            self._ranges_of_lines = LineRanges(file, len(self._preamble), self.size, RANGE * BLOCK, longest)

    def _is_plain(self) -> bool:
        return self._compression is None and self._file.fs is None

    @abstractmethod
    def _look(self, head: bytes, whole: bool) -> bytes:
        """Read what is needed from the beginning of the file (all of it if `whole`); returns the preamble."""

    def _is_enough(self, head: bytes) -> bool:
        """Whether this beginning of the file, a megabyte at least, is enough for `_look`."""
        return True

    @abstractmethod
    def _ends(self, data: bytes, final: bool) -> Offsets:
        """Where each record in `data` ends. If `final`, what is left at the end is a record too."""

    def _cut(self, pending: bytes, block: bytes, final: bool) -> tuple[bytes, int, bytes]:
        """Whole records, their number, and the rest; a format may have a faster way than `_ends`."""
        data = pending + block if pending else block
        ends = self._ends(data, final)
        cut = int(ends[-1]) if len(ends) else 0
        return data[:cut], len(ends), data[cut:]

    def _next_record(self, data: bytes) -> int | None:
        """Where the next record begins in bytes from the middle of one; None if it is not there."""
        return None

    @abstractmethod
    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of one chunk."""

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Blocks of whole records, or only the records of the given rows."""
        in_batches = self._options.batch_size is not None
        if rows is not None and self.landmarks is not None and not in_batches:
            for located in locate_rows(self.landmarks, rows, BLOCK):
                yield Chunk(int(located.rows[0]), located, located.nbytes)
            return
        if rows is None and self._ranges_of_lines is not None and not in_batches:
            self._file.open().close()  # refuses a file that has changed
            for wanted in self._ranges_of_lines.ranges:
                yield Chunk(0, wanted, wanted.stop - wanted.start)
            return
        with self._reader() as reader:
            if rows is not None:
                yield from self._select(reader, rows)
                return
            for piece in self._pieces(reader):
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
        """The offsets of the file's blocks; None if it was not read to its end, or is compressed or remote."""
        if self._recalled is None and self._ranges_of_lines is not None:
            self._recalled = self._ranges_of_lines.landmarks()
        return self._recalled

    def find_landmarks(self) -> None:
        """Read the ranges that were not read yet, so that `landmarks` are known."""
        if self._ranges_of_lines is not None:
            self._ranges_of_lines.first_row(len(self._ranges_of_lines.ranges))

    @property
    def reads_in_parse(self) -> bool:
        """Whether the position of every row is known."""
        return self.landmarks is not None

    def recall(self, landmarks: list[Landmark]) -> None:
        """Use the landmarks of an earlier reading; the caller knows that the file has not changed since."""
        if self.leaves_landmarks and self._is_plain():
            self._recalled = landmarks

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        """Write the preamble and the kept records as they are, compressed like the input."""
        landmarks = self.landmarks
        if landmarks is not None:
            return self._copy_blocks(blocks_of(landmarks), keep, folder, budget)
        written = 0
        with self._reader() as reader, replacing(folder / self.kept_name, self._compression) as out:
            out.write(self._preamble)
            for piece in self._pieces(reader):
                budget.check(piece.nbytes)
                count, data = self._kept(keep, piece)
                written += count
                out.write(data)
        return written

    def copy_records(
        self,
        folder: Path,
        keep: Mask,
        edit: Callable[[int, bytes], bytes],
        edit_preamble: Callable[[bytes], bytes] = lambda preamble: preamble,
    ) -> None:
        """Write the preamble and the kept records, each as `edit(row, record)`, compressed like the input."""
        with self._reader() as reader, replacing(folder / self.kept_name, self._compression) as out:
            out.write(edit_preamble(self._preamble))
            for piece in self._pieces(reader):
                known = keep[piece.first_row : piece.first_row + piece.count]
                if not known.any():
                    continue
                starts = [0, *self._ends(piece.data, True).tolist()]
                for index in np.flatnonzero(known).tolist():
                    out.write(edit(piece.first_row + index, piece.data[starts[index] : starts[index + 1]]))

    def _copy_blocks(self, blocks: Offsets, keep: Mask, folder: Path, budget: CopyBudget) -> int:
        """Copy the kept lines of all blocks on several threads."""
        from roughly.kernels.line_copy import copy_lines

        largest = int(blocks[:, 3].max(initial=1))
        threads = max(1, min(budget.threads, budget.memory // largest))
        with self._file.open() as source, replacing(folder / self.kept_name) as out:
            end = out.write(self._preamble)
            out.flush()
            for first in range(0, len(blocks), _COPIED_AT_ONCE * threads):
                some = blocks[first : first + _COPIED_AT_ONCE * threads]
                budget.check(int(some[:, 3].sum()))
                end = copy_lines(source.fileno(), out.fileno(), some, keep, end, threads)
                if end < 0:
                    raise InputError(f"{self.name}: changed while it was being read; run again when it is complete")
        return int(np.count_nonzero(keep[: int((blocks[:, 0] + blocks[:, 1]).max(initial=0))]))

    def stamp(self) -> int:
        """When the input was last changed."""
        return self._file.changed or 0

    def is_untouched(self) -> bool:
        """Whether the input is as it was when it was opened."""
        return self._file.is_untouched()

    def locate(self, row: int) -> str:
        """The record's number, from 1."""
        return f"{self.unit} {row + 1}"

    def _reader(self) -> Reader:
        return Reader(self._file.open(), self.name, self._limits)

    def _read_head(self, reader: Reader) -> tuple[bytes, bool]:
        """The first block, or more if that is not enough; and whether that is the whole file."""
        head, size = b"", BLOCK // 4
        while True:
            block = reader.read_block(size)
            head += block
            if len(block) < size:
                return head, True
            if self._is_enough(head) or len(head) > self._limits.record:
                return head, False
            size = len(head)

    def _pieces(self, reader: Reader) -> Iterator[Piece]:
        reader.read_block(len(self._preamble))
        row, size, pending, used, at_end = 0, BLOCK, b"", 0, False
        while not at_end:
            block = reader.read_block(size)
            at_end = len(block) < size
            data, count, pending = self._cut(pending, block, final=at_end and reader.damage is None)
            is_crowded = self.is_slow and not at_end and reader.is_crowded(row + count)
            if count:
                yield from self._within_limits(Piece(row, count, data, reader.position - used, at_end))
                row, used = row + count, reader.position
            if is_crowded:
                break
            if len(pending) > self._limits.record and not at_end:
                beginning, pending = pending[:BLOCK], b""
                at_end, pending = self._skip(reader) if self.can_skip else (True, b"")
                yield Piece(row, 0, beginning, reader.position - used, damage=self._too_long())
                row, used = row + 1, reader.position
            size = max(BLOCK, len(pending))  # doubling: a huge record costs linear time
        if reader.damage is not None:
            yield Piece(row, 0, pending[:BLOCK], reader.position - used, damage=reader.damage)

    def _too_long(self) -> str:
        return self._limits.too_long() + ("" if self.can_skip else "; what follows it was not read either")

    def _within_limits(self, piece: Piece) -> Iterator[Piece]:
        """The piece, without the records that are too long."""
        if len(piece.data) <= self._limits.record:
            yield piece
            return
        starts = np.concatenate([[0], self._ends(piece.data, True)])[: piece.count + 1]
        edges = [0]
        for index in np.flatnonzero(np.diff(starts) > self._limits.record).tolist():
            edges += [index, index + 1]
        for number, (first, last) in enumerate(zip(edges, [*edges[1:], piece.count], strict=True)):
            data = piece.data[starts[first] : starts[last]]
            if number % 2:
                yield Piece(piece.first_row + first, 0, data[:BLOCK], len(data), damage=self._limits.too_long())
            elif last > first:
                is_last = piece.is_last and last == piece.count
                yield Piece(piece.first_row + first, last - first, data, len(data), is_last)

    def _skip(self, reader: Reader) -> tuple[bool, bytes]:
        """Skip the rest of a record; returns whether the file has ended, and the beginning of the next record."""
        tail = b""
        while block := reader.read_block(BLOCK):
            data = tail + block
            start = self._next_record(data)
            if start is not None:
                return False, data[start:]
            tail = data[-_OVERLAP:]
        return True, b""

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
        """The number of a piece's kept records, and their bytes."""
        kept = np.zeros(piece.count, np.bool_)
        known = keep[piece.first_row : piece.first_row + piece.count]
        kept[: len(known)] = known
        count = int(np.count_nonzero(kept))
        return count, piece.data if 0 < count == piece.count else b"".join(self._ranges(piece, kept))

    def _ranges(self, piece: Piece, chosen: Mask) -> list[memoryview]:
        """The bytes of runs of chosen records."""
        if not chosen.any():
            return []
        data = memoryview(piece.data)
        starts = np.concatenate([[0], self._ends(piece.data, True)])
        edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
        return [data[start:stop] for start, stop in starts[edges].reshape(-1, 2).tolist()]


class RecordByRecord(RecordFile):
    """A file whose records are parsed one at a time."""

    is_slow = True

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's records."""
        records: Records = chunk.data
        if records.reject is not None:
            return Parsed(nothing(), [records.reject])
        ends = self._ends(records.data, True)
        collector = Collector(self.kept_name)
        start = 0
        for row, end in zip(row_numbers(chunk, len(ends)).tolist(), ends.tolist(), strict=True):
            record, start = records.data[start:end], end
            try:
                self._add(row, record, collector)
            except MemoryError:
                raise
            except Exception as error:
                collector.rejects.append(Reject(self.name, self.locate(row), reason_of(error), excerpt(record)))
        return collector.parsed()

    @abstractmethod
    def _add(self, row: int, record: bytes, collector: Collector) -> None:
        """Add the document of one record, or a reject; an error becomes a reject."""


def _selected(texts: list[bytes], numbers: list[int], nbytes: int) -> Chunk:
    rows = np.array(numbers, np.int64)
    return Chunk(numbers[0], Records(b"".join(texts), len(rows), rows, is_last=True), nbytes)


def row_numbers(chunk: Chunk, count: int) -> Rows:
    """The row of each of the chunk's `count` records."""
    rows: Rows | None = chunk.data.rows
    return np.arange(chunk.first_row, chunk.first_row + count, dtype=np.int64) if rows is None else rows
