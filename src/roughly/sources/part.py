"""The interface of every reader.

A *part* is one thing that is read, numbered and copied as a whole: a file, a folder of texts, a Maildir,
a table in memory. It does three things:

- ``chunks()`` yields raw pieces in order: cheap, sequential, little more than I/O;
- ``parse(chunk)`` turns a piece into documents: pure, and run on many threads at once;
- ``copy(keep, folder)`` writes the kept records, in the part's own format and with all its columns.

Every record has a row number within its part, and that number finds it again: ``chunks(rows)`` reads only
the given rows, which is how verification reads candidate documents a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import RoughlyError, UnexpectedError
from roughly.fast_dataclass import dataclass
from roughly.model import Reject

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


COLUMN, INDEX, POSITION, FILE = "column", "index", "position", "file"


@dataclass(frozen=True, slots=True)
class IdOrigin:
    """Where the ids of documents are from: a `column`, the `index` of a pandas frame, or the `position` in a table;
    `file`: the file and the position in it."""

    kind: str = FILE
    column: str | None = None

    @classmethod
    def of(cls, column: str | None, otherwise: str = FILE) -> IdOrigin:
        """The column if there is one."""
        return cls(otherwise) if column is None else cls(COLUMN, column)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A raw piece of a part: `data` is whatever the part's own `parse` understands."""

    first_row: int
    data: Any
    nbytes: int  # of input, for progress


@dataclass(frozen=True, slots=True)
class Parsed:
    """Documents (schema `model.DOCUMENTS`) and the records that could not be used."""

    batch: pa.RecordBatch
    rejects: list[Reject] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CopyBudget:
    """What copying one part may use."""

    threads: int = 1
    memory: int = 512 << 20
    check: Callable[[int], None] = lambda nbytes: None
    """Called every few megabytes with the bytes of input since the last call; raises where the copy is to stop."""


ALONE = CopyBudget()
"""One thread, which is never stopped."""


class Part(Protocol):
    """One file, folder or table."""

    name: str  # its name in messages: the path as the user gave it
    format: str  # "jsonl", "parquet", "csv", "text", "warc", "mbox", "maildir", "eml", "sgml", "table"
    kept_name: str  # relative path below `kept/`, unique within a run
    size: int | None  # bytes of input, where known; for progress
    notes: list[str]  # guesses to show the user: "text column: body"
    # A part whose records have named columns also has `columns`, their names.

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Raw pieces in order; with `rows` (sorted), only what is needed to see those rows.

        A truncated file gives a reject of the last piece, but only when all rows are read.
        """
        ...

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of one piece, in row order. Thread-safe, deterministic."""
        ...

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        """Write the records whose row is kept to `folder / kept_name`; returns the number of documents.

        Rows beyond the end of `keep` are removed. The file appears under its name only when it is complete. Its bytes
        do not depend on the number of threads.
        """
        ...

    def stamp(self) -> int:
        """Changes when the input does: the modification time of its files, as far as known."""
        ...

    def locate(self, row: int) -> str:
        """The position of a row, for messages: "line 17", "row 3", a file's path."""
        ...


@contextmanager
def located(part: Part, row: int) -> Iterator[None]:
    """An unexpected error gets its place: the part, and the row from which on it was read."""
    try:
        yield
    except (RoughlyError, MemoryError, OSError):
        raise
    except Exception as problem:
        what = " ".join(f"{type(problem).__name__}: {problem}".split())[:500]
        raise UnexpectedError(
            f"{part.name}, at or after {part.locate(row)}: unexpected {what}. Repeat the command with --debug and "
            "report what it prints"
        ) from problem


def id_origin(parts: Sequence[Part]) -> IdOrigin:
    """Where the ids of all parts are from; `file` where parts differ."""
    found = {getattr(part, "ids_from", IdOrigin()) for part in parts}
    return found.pop() if len(found) == 1 else IdOrigin()


def reads_in_parse(part: Part) -> bool:
    """Whether the part says that `parse` does the reading of wanted rows, and `chunks(rows)` next to nothing."""
    return bool(getattr(part, "reads_in_parse", False))


def is_untouched(part: Part) -> bool:
    """Whether the part is sure that its input is as it was when it was opened."""
    check = getattr(part, "is_untouched", None)
    return check is not None and bool(check())


def coarse_chunks(part: Part, rows: Rows | None = None) -> Iterator[Chunk]:
    """The part's chunks, as large as one thread may take: `pieces_of` cuts them where they are parsed.

    Other callers use `chunks`, where each chunk is small enough to be parsed as it is.
    """
    groups = getattr(part, "groups", None)
    yield from part.chunks(rows) if groups is None else groups(rows)


def pieces_of(part: Part, chunk: Chunk) -> Iterator[Chunk]:
    """The pieces of a coarse chunk, in order: mostly the chunk itself."""
    pieces = getattr(part, "pieces", None)
    yield from (chunk,) if pieces is None else pieces(chunk)


def copy_rows(part: Part, rows: Rows, folder: Path, budget: CopyBudget = ALONE) -> int:
    """Copy these rows (ascending) in the part's own format; returns the number of records copied."""
    keep = np.zeros(int(rows[-1]) + 1 if len(rows) else 0, np.bool_)
    keep[rows] = True
    return part.copy(keep, folder, budget)


def largest_coarse_chunk(part: Part) -> int:
    """Bytes of the part's largest coarse chunk that is cut, if it has some."""
    return int(getattr(part, "largest_group", 0))


def find_landmarks(part: Part) -> None:
    """Have the part find out where its rows are, if it can: a resumed run has not read all parts itself."""
    find = getattr(part, "find_landmarks", None)
    if find is not None:
        find()
