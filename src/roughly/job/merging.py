"""Merge sorted Parquet files into one, some batches at a time.

Each file is sorted by `order`, and one batch of each is in memory. Rows whose first column is not above the lowest last
value of these batches come before everything still unread, so they are sorted and yielded; then the next batch of each
exhausted file is read. Memory is one batch per file, whatever their lengths. (If many rows of one file have the same
first column, no row of another file may have it.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.sources.parquet_open import open_parquet

BATCH = 1 << 16


def merge_sorted(files: Sequence[Path], order: Sequence[str], batch: int = BATCH) -> Iterator[pa.Table]:
    """All rows, in order, as tables of at least `batch` rows except the last."""
    waiting: list[pa.Table] = []
    for some in _merged(files, order, batch):
        waiting.append(some)
        if sum(map(len, waiting)) >= batch:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _merged(files: Sequence[Path], order: Sequence[str], batch: int) -> Iterator[pa.Table]:
    first, rule = order[0], [(name, "ascending") for name in order]
    readers = [open_parquet(file).iter_batches(batch_size=batch) for file in files]
    tables = [_next(reader) for reader in readers]
    while any(table is not None for table in tables):
        lowest = min(table[first][len(table) - 1].as_py().encode() for table in tables if table is not None).decode()
        ready = []
        for place, table in enumerate(tables):
            if table is None:
                continue
            count = int(pc.sum(pc.less_equal(table[first], lowest)).as_py())
            ready.append(table.slice(0, count))
            tables[place] = table.slice(count) if count < len(table) else _next(readers[place])
        yield pa.concat_tables(ready).sort_by(rule)


def _next(reader: Iterator[pa.RecordBatch]) -> pa.Table | None:
    for batch in reader:
        if batch.num_rows:
            return pa.Table.from_batches([batch])
    return None


def write_sorted(table: pa.Table, order: Sequence[str], path: Path) -> None:
    """Write a sorted file to be merged."""
    pq.write_table(table.sort_by([(name, "ascending") for name in order]), path)
