"""Sorted Parquet files put together into one, some batches at a time.

Each file is sorted by `order`. Of every file a batch is at hand. What is not above the lowest of their last values in
the first column comes before all that is still to be read, so it is sorted and handed out; a file whose batch is used
up is read on. Memory is that of a batch a file, whatever their lengths. (Where many rows of one file agree in
the first column, no row of another may agree with them.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

BATCH = 1 << 16


def merge_sorted(files: Sequence[Path], order: Sequence[str], batch: int = BATCH) -> Iterator[pa.Table]:
    """All rows, in order, as tables of `batch` rows or more but for the last."""
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
    readers = [pq.ParquetFile(file).iter_batches(batch_size=batch) for file in files]
    held = [_next(reader) for reader in readers]
    while any(table is not None for table in held):
        lowest = min(table[first][len(table) - 1].as_py().encode() for table in held if table is not None).decode()
        ready = []
        for place, table in enumerate(held):
            if table is None:
                continue
            count = int(pc.sum(pc.less_equal(table[first], lowest)).as_py())
            ready.append(table.slice(0, count))
            held[place] = table.slice(count) if count < len(table) else _next(readers[place])
        yield pa.concat_tables(ready).sort_by(rule)


def _next(reader: Iterator[pa.RecordBatch]) -> pa.Table | None:
    for batch in reader:
        if batch.num_rows:
            return pa.Table.from_batches([batch])
    return None


def write_sorted(table: pa.Table, order: Sequence[str], path: Path) -> None:
    """A file to be merged."""
    pq.write_table(table.sort_by([(name, "ascending") for name in order]), path)
