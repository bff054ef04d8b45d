"""From the copies in `kept/` to one file of what is kept, in any format.

The run has copied the kept records to `kept/`, each in the format of its part. Where that is already the file that is
asked for, it is moved; JSON lines are joined; anything else is converted with all columns, a few megabytes at a time.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from roughly.fast_dataclass import dataclass
from roughly.job.kept_file import KeptFile
from roughly.job.kept_records import (
    Record,
    as_csv_value,
    as_json,
    as_line,
    blocks_of,
    columns_of,
    records_of,
    texts_of_rows,
)
from roughly.settings import FILE_FORMATS
from roughly.sources.part import Part, Rows
from roughly.sources.spool import join_pieces, spool_records
from roughly.sources.streams import Compression, Reader, replacing
from roughly.threads import read_ahead

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_BLOCK = 1 << 20  # bytes of lines at a time
_REPORTED = 1000  # documents between two reports of the progress


Advance = Callable[[int], None]
KeptDocuments = Callable[[int], tuple[Rows, pa.Array]]
"""Rows (ascending) and ids of the kept documents of a part, by its number."""


@dataclass(frozen=True)
class Kept:
    """What a run keeps: its parts, the folder of their copies, and which documents are kept."""

    parts: Sequence[Part]
    folder: Path
    documents: KeptDocuments
    threads: int = 1

    def records(self, advance: Advance) -> Iterator[Record]:
        """All kept records with their columns, in the order of the input."""
        done = 0
        for number in range(len(self.parts)):
            for record in self.records_of(number):
                yield record
                done += 1
                if done % _REPORTED == 0:
                    advance(done)

    def records_of(self, number: int) -> Iterator[Record]:
        """The kept records of one part."""
        return records_of(self.parts[number], self.folder, lambda: self.documents(number), self.threads)

    def columns(self) -> list[str]:
        """The columns of all parts."""
        return list(dict.fromkeys(name for part in self.parts for name in columns_of(part, self.folder)))

    def texts(self, advance: Advance) -> Iterator[str]:
        """The texts of all kept documents."""
        done = 0
        for number, part in enumerate(self.parts):
            for batch in texts_of_rows(part, self.documents(number)[0]):
                yield from batch.column("text").to_pylist()
                done += batch.num_rows
                advance(done)

    @property
    def one_file(self) -> Path | None:
        """The copy, if it is one file."""
        path = self.folder / self.parts[0].kept_name
        return path if len(self.parts) == 1 and path.is_file() else None


def write_kept_file(file: KeptFile, kept: Kept, path: Path, advance: Advance, *, move: bool) -> None:
    """Write the file at `path`; with `move`, the copies of the run are not needed any more."""
    one = kept.one_file
    chosen = file.format or (kept.parts[0].format if one is not None else "jsonl")
    chosen = "parquet" if chosen == "table" else chosen
    if one is not None and _is_already(chosen, file.compression, kept.parts[0], one):
        (shutil.move if move else shutil.copyfile)(str(one), str(path))
    elif chosen == "parquet":
        _write_parquet(kept, path, advance)
    else:
        with replacing(path, file.compression) as out:
            for data in read_ahead(_encoded(chosen, kept, advance), kept.threads):
                out.write(data)


def _is_already(chosen: str, compression: Compression | None, part: Part, path: Path) -> bool:
    """Whether the copy of a part has the format that is wanted."""
    if chosen in ("csv", "tsv"):
        same = part.format == "csv" and getattr(part, "delimiter", "") == _DELIMITERS[chosen]
    else:
        same = chosen == {"table": "parquet"}.get(part.format, part.format)
    if not same or chosen not in FILE_FORMATS or chosen == "parquet":
        return same
    with Reader(path.open("rb"), part.kept_name) as reader:
        return reader.compression == compression


def _encoded(chosen: str, kept: Kept, advance: Advance) -> Iterator[bytes]:
    if chosen == "txt":
        yield from _joined(as_line(text).encode("utf-8", "replace") + b"\n" for text in kept.texts(advance))
    elif chosen == "jsonl" and all(part.format == "jsonl" for part in kept.parts):
        for part in kept.parts:
            yield from blocks_of(kept.folder / part.kept_name)
    elif chosen == "jsonl":
        yield from _joined(as_json(record) + b"\n" for record in kept.records(advance))
    else:
        yield from _joined(_csv_lines(kept, _DELIMITERS[chosen], advance))


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in blocks of about a megabyte."""
    block, size = [], 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size > _BLOCK:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


def _csv_lines(kept: Kept, delimiter: str, advance: Advance) -> Iterator[bytes]:
    """Cells as `csv.writer` writes them, which looks at each character and is several times slower."""
    columns = kept.columns()
    special = re.compile(f'[{delimiter}"\r\n]').search
    alone = len(columns) == 1  # an empty line would be no record

    def line(values: Iterable[str]) -> bytes:
        cells = ('"' + value.replace('"', '""') + '"' if special(value) else value for value in values)
        return (delimiter.join(cells) or ('""' if alone else "")).encode("utf-8", "replace") + b"\n"

    yield line(columns)
    for record in kept.records(advance):
        yield line([as_csv_value(record.get(name)) for name in columns])


def _write_parquet(kept: Kept, path: Path, advance: Advance) -> None:
    """One file of all parts; where a column has other types in other parts, it gets one that holds all, or text."""
    done = 0

    def counted(records: Iterator[Record]) -> Iterator[Record]:
        nonlocal done
        for record in records:
            yield record
            done += 1
            if done % _REPORTED == 0:
                advance(done)

    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name[:100]}-") as folder:
        pieces = []
        for number, part in enumerate(kept.parts):
            if part.format in ("parquet", "table"):
                pieces.append(kept.folder / part.kept_name)
                continue
            pieces.append(Path(folder) / f"{number}.parquet")
            spool_records(counted(kept.records_of(number)), None, pieces[-1], codec="none")
        join_pieces(pieces, path)
