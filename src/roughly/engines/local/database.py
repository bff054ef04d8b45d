"""A DuckDB session that stays within its memory, spills where it is told, and fails in plain words."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.errors import DiskFull, MemoryTooSmall

ROW_GROUP = 100_000
"""Rows of a row group in outputs: fixed, so that equal tables are equal files."""


class Database:
    """Views of Parquet files, and a spill folder. It holds no data, so it can be put to rest and woken at any time."""

    def __init__(self, *, memory: int, threads: int, spill: Path) -> None:
        spill.mkdir(parents=True, exist_ok=True)
        self.memory, self._threads, self._spill = memory, threads, spill
        self._views: dict[str, str] = {}
        self._awake: duckdb.DuckDBPyConnection | None = None

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database, woken where it rests."""
        if self._awake is None:
            self._awake = duckdb.connect()
            for setting in (
                f"memory_limit = '{self.memory >> 20}MiB'",
                f"threads = {self._threads}",
                f"temp_directory = '{_quoted(self._spill)}'",
                "preserve_insertion_order = false",
                "enable_progress_bar = false",
                "enable_external_file_cache = false",  # it would hold files in our memory
                "TimeZone = 'UTC'",  # a date must not depend on where the machine stands
            ):
                self._awake.execute(f"SET {setting}")
            for name, sql in self._views.items():
                self._awake.execute(f"CREATE VIEW {name} AS {sql}")
        return self._awake

    def view(self, name: str, sql: str) -> None:
        """Make the result of a query visible under a name."""
        self._views[name] = sql
        self.run(f"CREATE OR REPLACE VIEW {name} AS {sql}")

    def rest(self) -> None:
        """Give back all memory: a database that is open keeps some of what its queries took."""
        if self._awake is not None:
            self._awake.close()
            self._awake = None

    def allow(self, memory: int) -> None:
        """Set the memory for what comes next."""
        self.memory = memory
        self.connection.execute(f"SET memory_limit = '{memory >> 20}MiB'")

    def run(self, sql: str, **tables: pa.Table) -> None:
        """Execute; `tables` are visible under their names."""
        with self._tables(tables), plain_errors(self.memory):
            self.connection.execute(sql)

    def table(self, sql: str, **tables: pa.Table) -> pa.Table:
        """The whole result."""
        with self._tables(tables), plain_errors(self.memory):
            return self.connection.sql(sql).to_arrow_table()

    def value(self, sql: str) -> int:
        """A single number."""
        with plain_errors(self.memory):
            rows = self.connection.execute(sql).fetchall()
        return int(rows[0][0] or 0)

    def batches(self, sql: str, rows: int = 1 << 16) -> Iterator[pa.RecordBatch]:
        """The result, a batch at a time."""
        with plain_errors(self.memory):
            yield from self.connection.sql(sql).to_arrow_reader(rows)

    def save(self, sql: str, path: Path, **tables: pa.Table) -> None:
        """Keep a result as Parquet, for this engine only."""
        options = "FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE 122880"
        self.run(f"COPY ({sql}) TO '{_quoted(path)}' ({options})", **tables)

    def write(self, sql: str, path: Path, schema: pa.Schema) -> None:
        """Write a result as Parquet; the same rows in the same order give the same bytes."""
        with plain_errors(self.memory), pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for table in _regrouped(self.batches(sql, ROW_GROUP), schema):
                writer.write_table(table, row_group_size=ROW_GROUP)

    @contextmanager
    def _tables(self, tables: dict[str, pa.Table]) -> Iterator[None]:
        for name, table in tables.items():
            self.connection.register(name, table)
        try:
            yield
        finally:
            for name in tables:
                self.connection.unregister(name)


@contextmanager
def plain_errors(memory: int) -> Iterator[None]:
    """Turn the engine's errors for a full disk or too little memory into ours."""
    try:
        yield
    except duckdb.OutOfMemoryException as problem:
        raise MemoryTooSmall(
            f"the relational steps ran out of their share of the memory ({memory >> 20} MB): {problem}; raise --memory"
        ) from problem
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as problem:
        if "space left" in str(problem).lower():
            raise DiskFull(_FULL) from problem
        raise
    except RuntimeError as problem:
        if "interrupted" in str(problem).lower():
            raise KeyboardInterrupt from None
        raise
    except OSError as problem:
        if problem.errno == errno.ENOSPC or "space left" in str(problem).lower():
            raise DiskFull(_FULL) from problem
        raise


_FULL = "the disk is full; nothing was written to the output. Free some space and go on with --resume"


def _regrouped(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Tables of exactly ROW_GROUP rows, and the rest."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        while rows >= ROW_GROUP:
            table = pa.Table.from_batches(held)
            yield _cast(table.slice(0, ROW_GROUP), schema)
            held = table.slice(ROW_GROUP).to_batches()
            rows -= ROW_GROUP
    if rows:
        yield _cast(pa.Table.from_batches(held), schema)


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    return table.select(schema.names).cast(schema).combine_chunks()


def parquet(files: Sequence[Path]) -> str:
    """SQL that reads these files and no others: a path is not a pattern, and `key=value` in it is not a column."""
    listed = ", ".join("'" + re.sub(r"[\[*?]", r"[\g<0>]", _quoted(path)) + "'" for path in files)
    return f"read_parquet([{listed}], hive_partitioning = false)"


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
