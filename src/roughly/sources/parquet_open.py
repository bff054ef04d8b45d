"""Opening Parquet files, in one place: the core reads the footer first, since Arrow may end the process on a damaged
one (`parquetfooter`). Whatever is wrong with a file is an OSError or an error of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.sources.parquetfooter import arrow_metadata, group_sizes, read_footer

_ROWS = 1 << 16


def open_parquet(path: Path, **options: Any) -> pq.ParquetFile:
    """A file whose footer was checked; options are those of `pyarrow.parquet.ParquetFile`."""
    return pq.ParquetFile(path, metadata=_metadata(path), **options)


def parquet_schema(path: Path) -> pa.Schema:
    """The columns of a file."""
    return _metadata(path).schema.to_arrow_schema()


def parquet_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """All rows of a file, or of the files in a folder that Spark wrote."""
    tables = []
    for file in _files(path):
        with open_parquet(file) as opened:
            tables.append(opened.read(columns))
    return pa.concat_tables(tables)


def parquet_batches(path: Path, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The same, some rows at a time."""
    for file in _files(path):
        with open_parquet(file) as opened:
            yield from opened.iter_batches(_ROWS, columns=columns)


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _metadata(path: Path) -> pq.FileMetaData:
    with path.open("rb") as file:
        footer = read_footer(file)
    group_sizes(footer)
    return arrow_metadata(footer)
