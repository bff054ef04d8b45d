"""The contract every reader keeps.

A *part* is one thing that is read, numbered and copied as a whole: a file, a folder of texts, a Maildir,
a table in memory. It does three things:

- ``chunks()`` hands out raw pieces in order: cheap, sequential, little more than I/O;
- ``parse(chunk)`` turns a piece into documents: pure, and run on many threads at once;
- ``copy(keep, folder)`` writes the records that stay, in the part's own format and with all its columns.

Every record has a row number within its part, and that number finds it again: ``chunks(rows)`` reads only
the given rows, which is how verification reads candidate documents a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.model import Reject

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


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


class Part(Protocol):
    """One file, folder or table."""

    name: str  # as messages call it: the path as the user gave it
    format: str  # "jsonl", "parquet", "csv", "text", "warc", "mbox", "maildir", "eml", "sgml", "table"
    kept_name: str  # relative path below `kept/`, unique within a run
    size: int | None  # bytes of input, where known; for progress
    notes: list[str]  # guesses worth telling the user: "text column: body"

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Raw pieces in order; with `rows` (sorted), only what is needed to see those rows.

        A file that is cut short is told as a reject of the last piece, but only when all rows are read.
        """
        ...

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of one piece, in row order. Thread-safe, deterministic."""
        ...

    def copy(self, keep: Mask, folder: Path) -> int:
        """Write the records whose row is kept to `folder / kept_name`; returns how many documents.

        Rows beyond the end of `keep` do not stay. The file appears under its name only when it is whole.
        """
        ...

    def stamp(self) -> int:
        """Changes when the input does: when its files were last changed, as far as that is known."""
        ...

    def locate(self, row: int) -> str:
        """Where a row stands, for messages: "line 17", "row 3", a file's path."""
        ...
