"""Kept rows of Parquet files and tables, and the Parquet file that they are written into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from roughly.sources.arrowcolumns import filtered
from roughly.sources.parquetwriter import ParquetWriter
from roughly.sources.part import ALONE, CopyBudget, Mask
from roughly.sources.streams import replacing

WRITTEN_GROUP = 64 << 20


def kept_batches(batches: Iterable[pa.RecordBatch], keep: Mask, first: int = 0) -> Iterator[pa.RecordBatch]:
    """The kept rows of batches whose rows are numbered from `first` on."""
    for batch in batches:
        kept = filtered(batch, keep[first : first + batch.num_rows])
        first += batch.num_rows
        if kept.num_rows:
            yield kept


def write_kept(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path, codec: str = "zstd", budget: CopyBudget = ALONE
) -> int:
    """Write batches into a Parquet file of this schema, in row groups of a fixed size; returns the number of rows."""
    written = waiting = 0
    pending: list[pa.RecordBatch] = []
    with (
        replacing(path) as out,
        ParquetWriter(
            out,
            schema,
            compression=codec,
            threads=budget.threads,
            memory=budget.memory // 2,
            prepare=lambda table: table.cast(schema),
        ) as writer,
    ):
        for batch in batches:
            budget.check(0)
            pending.append(batch)
            written += batch.num_rows
            waiting += batch.nbytes
            if waiting >= WRITTEN_GROUP:
                writer.write(pa.Table.from_batches(pending))
                pending, waiting = [], 0
        if pending:
            writer.write(pa.Table.from_batches(pending))
    return written
