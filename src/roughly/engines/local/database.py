"""A DuckDB session that stays within its memory limit, spills to a given folder, and explains its failures."""

from __future__ import annotations

import atexit
import errno
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from roughly.errors import DiskFull, MemoryTooSmall
from roughly.fast_dataclass import dataclass
from roughly.sources.parquetwriter import ParquetWriter

if TYPE_CHECKING:
    import duckdb  # imported where it is used: that takes time, and documents can be read meanwhile

R = TypeVar("R")

ROW_GROUP = 100_000
"""Rows of a row group in outputs: fixed, so that equal tables are equal files."""


@dataclass(frozen=True, slots=True)
class TableToWrite:
    """A query and the Parquet file that its result goes into."""

    sql: str
    path: Path
    schema: pa.Schema


_PER_THREAD = 128 << 20
"""Memory of a thread of the database, as its documentation advises."""


_RUN = "run"
"""The catalogue of a run's tables: it is detached where the database remains open for the next run."""
_idle: dict[int, duckdb.DuckDBPyConnection] = {}
"""An open and empty database, by the process that opened it: opening one takes a third of a small run's time."""


@atexit.register
def _close_idle() -> None:
    """Close it before Python ends: its binding prints a page about objects that are left then."""
    awake = _idle.pop(os.getpid(), None)  # one that a parent opened is not ours to close
    if awake is not None:
        awake.close()


class Database:
    """Views of Parquet files, and a spill folder. It holds no other data, so it can be closed and reopened.

    Small results may be held as tables; they are computed again when it is reopened.
    """

    def __init__(self, *, memory: int, threads: int, spill: Path, room: Callable[[], int] | None = None) -> None:
        """`room` gives the bytes that may be spilled; by default, the database decides."""
        spill.mkdir(parents=True, exist_ok=True)
        self._room = room
        self.memory, self._threads, self._spill = memory, threads, spill
        self._shown: dict[str, str] = {}
        self._awake: duckdb.DuckDBPyConnection | None = None

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database, opened if it is closed."""
        if self._awake is None:
            self._awake = _idle.pop(os.getpid(), None) or _opened()
            self._awake.execute(
                f"SET memory_limit = '{self.memory >> 20}MiB'; SET threads = {self._usable_threads()}; "
                f"SET temp_directory = '{_quoted(self._spill)}'; ATTACH ':memory:' AS {_RUN}; USE {_RUN}"
            )
            self._limit_spill(self._awake)
            for shown in self._shown.values():
                self._awake.execute(f"CREATE {shown}")
        return self._awake

    def open(self) -> None:
        """Open it, so that the first query need not wait for it."""
        _ = self.connection

    def view(self, name: str, sql: str, *, held: bool = False) -> None:
        """Make the result of a query visible under a name; `held`: its rows are stored in memory."""
        shown = f"{'TABLE' if held else 'VIEW'} {name} AS {sql}"
        self.run(f"CREATE OR REPLACE {shown}")
        self._shown[name] = shown

    def lend(self, *, wait: bool = True) -> None:
        """Free all memory and leave the database open for the next run of this process.

        One that has spilled is closed (see `rest`): it cannot spill to another folder.
        """
        import duckdb

        awake = self._awake
        if awake is None:
            return
        try:
            awake.execute(
                f"USE memory; DETACH {_RUN}; SET threads = 1; RESET max_temp_directory_size; SET temp_directory = ''"
            )
        except duckdb.Error:  # it has spilled, a query failed, or a result is not read to its end
            self.rest(wait=wait)
            return
        self._awake = None
        if _idle.setdefault(os.getpid(), awake) is not awake:
            awake.close()

    def rest(self, *, wait: bool = True) -> None:
        """Free all memory: an open database keeps some of what its queries used.

        Freeing a gigabyte takes a few tenths of a second; without `wait`, a thread does it while the caller continues.
        """
        awake, self._awake = self._awake, None
        if awake is None:
            return
        if wait:
            awake.close()
        else:
            threading.Thread(target=awake.close, name="roughly-closing").start()

    @property
    def is_awake(self) -> bool:
        """Whether it may hold memory."""
        return self._awake is not None

    def allow(self, memory: int, threads: int) -> None:
        """Set memory and threads of the next queries."""
        if (memory, threads) != (self.memory, self._threads):  # it would give back all memory that it holds for later
            self.memory, self._threads = memory, threads
            self.connection.execute(f"SET memory_limit = '{memory >> 20}MiB'; SET threads = {self._usable_threads()}")
        self._limit_spill(self.connection)

    def _limit_spill(self, connection: duckdb.DuckDBPyConnection) -> None:
        if self._room is not None:
            connection.execute(f"SET max_temp_directory_size = '{max(0, self._room()) >> 10}KiB'")

    def _usable_threads(self) -> int:
        """As many threads as the memory is enough for: each holds blocks of its own that cannot be spilled."""
        return max(1, min(self._threads, self.memory // _PER_THREAD))

    def run(self, sql: str, **tables: pa.Table) -> None:
        """Execute; `tables` are visible under their names."""
        with self._tables(tables), plain_errors(self.memory):
            self.connection.execute(sql)

    def table(self, sql: str, **tables: pa.Table) -> pa.Table:
        """The whole result."""
        with self._tables(tables), plain_errors(self.memory):
            return self.connection.sql(sql).to_arrow_table()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The whole result of a query that returns few rows."""
        return self._rows(sql, self.connection)

    def rows_of_each(self, queries: Sequence[str], *, at_once: bool) -> list[list[dict[str, Any]]]:
        """The whole result of each query; with `at_once`, all run in parallel."""
        return self._on_cursors([partial(self._rows, sql) for sql in queries], at_once)

    def _rows(self, sql: str, cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
        with plain_errors(self.memory):
            done = cursor.execute(sql)
            names = [column[0] for column in done.description or ()]
            return [dict(zip(names, row, strict=True)) for row in done.fetchall()]

    def value(self, sql: str) -> int:
        """A single number."""
        with plain_errors(self.memory):
            rows = self.connection.execute(sql).fetchall()
        return int(rows[0][0] or 0)

    def batches(self, sql: str, rows: int = 1 << 16, **tables: pa.Table) -> Iterator[pa.RecordBatch]:
        """The result, batch by batch; `tables` are visible under their names."""
        with self._tables(tables), plain_errors(self.memory):
            yield from self.connection.sql(sql).to_arrow_reader(rows)

    def save(self, sql: str, path: Path, **tables: pa.Table) -> None:
        """Store a result as Parquet, for this engine only."""
        options = "FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE 122880"
        self.run(f"COPY ({sql}) TO '{_quoted(path)}' ({options})", **tables)

    def write(self, tables: Sequence[TableToWrite], memory: int, *, at_once: bool) -> None:
        """Write results as Parquet; the same rows in the same order give the same bytes.

        Row groups are encoded on all threads within `memory`. With `at_once`, all queries run in parallel and their
        whole results are held in memory: all threads produce them then, while one thread reads a result in batches.
        """
        memory //= len(tables) if at_once else 1
        self._on_cursors([partial(self._write, table, memory, at_once) for table in tables], at_once)

    def _on_cursors(self, work: Sequence[Callable[[duckdb.DuckDBPyConnection], R]], at_once: bool) -> list[R]:
        """Run every piece of work on a connection; with `at_once`, each on a cursor and a thread of its own."""
        if not at_once:
            return [each(self.connection) for each in work]
        cursors = [self.connection.cursor() for _ in work]
        try:
            for cursor in cursors:
                cursor.execute(f"USE {_RUN}")
            with ThreadPoolExecutor(len(work), "roughly-query") as pool:
                under_way = [pool.submit(each, cursor) for each, cursor in zip(work, cursors, strict=True)]
                try:
                    for done in as_completed(under_way):
                        done.result()
                except BaseException:
                    _stop(under_way, cursors)
                    raise
            return [done.result() for done in under_way]
        finally:
            for cursor in cursors:
                cursor.close()

    def _write(self, table: TableToWrite, memory: int, whole: bool, cursor: duckdb.DuckDBPyConnection) -> None:
        schema = table.schema

        def prepare(group: pa.Table) -> pa.Table:
            return group.select(schema.names).cast(schema).combine_chunks()

        with plain_errors(self.memory), table.path.open("wb") as out:
            query = cursor.sql(table.sql)
            batches = query.to_arrow_table().to_batches() if whole else query.to_arrow_reader(ROW_GROUP)
            with ParquetWriter(out, schema, threads=self._threads, memory=memory, prepare=prepare) as writer:
                for group in _regrouped(batches):
                    writer.write(group)

    @contextmanager
    def _tables(self, tables: dict[str, pa.Table]) -> Iterator[None]:
        for name, table in tables.items():
            self.connection.register(name, table)
        try:
            yield
        finally:
            for name in tables:
                self.connection.unregister(name)


def import_all() -> None:
    """Import what the database and pyarrow need before threads do: those that import at the same time may stop each
    other, which Python ends with `_DeadlockError`."""
    import duckdb  # noqa: F401

    pa.array(np.empty(0, np.int64))  # pyarrow looks for pandas


def _opened() -> duckdb.DuckDBPyConnection:
    """A new database, with the settings that are the same for every run."""
    import duckdb

    opened = duckdb.connect()
    for setting in (
        "preserve_insertion_order = false",
        "enable_progress_bar = false",
        "enable_external_file_cache = false",  # it would cache files in our memory
        "TimeZone = 'UTC'",  # dates must not depend on the machine's time zone
    ):
        opened.execute(f"SET {setting}")
    return opened


def _stop(work: Sequence[Future[R]], cursors: Sequence[duckdb.DuckDBPyConnection]) -> None:
    """Interrupt all queries, repeatedly until all have ended: one that has not begun yet would not notice."""
    for future in work:
        future.cancel()
    while wait(work, timeout=0.05).not_done:
        for cursor in cursors:
            cursor.interrupt()


@contextmanager
def plain_errors(memory: int) -> Iterator[None]:
    """Turn the database's errors for a full disk or too little memory into ours."""
    try:
        yield
    except Exception as problem:
        import duckdb

        said, of_arrow = str(problem), isinstance(problem, OSError)  # Arrow passes the database's errors on
        if isinstance(problem, duckdb.InterruptException):
            raise KeyboardInterrupt from None
        if isinstance(problem, RuntimeError) and "interrupted" in said.lower():
            raise KeyboardInterrupt from None
        if (of_arrow or isinstance(problem, duckdb.OutOfMemoryException)) and "max_temp_directory_size" in said:
            raise DiskFull(_SPILLED) from problem
        if isinstance(problem, duckdb.OutOfMemoryException) or (of_arrow and "Out of Memory Error" in said):
            raise _too_small(memory, problem) from problem
        if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
            raise DiskFull(_FULL) from problem
        if isinstance(problem, duckdb.Error | OSError) and "space left" in said.lower():
            raise DiskFull(_FULL) from problem
        raise


def _too_small(memory: int, problem: Exception) -> MemoryTooSmall:
    return MemoryTooSmall(
        f"the relational steps ran out of their share of the memory ({memory >> 20} MB): {problem}; raise --memory"
    )


_SPILLED = (
    "the relational steps spill more than --temp-limit or the disk has room for; nothing was written to the output. "
    "Raise --temp-limit or --memory, or free some space, and continue with --resume"
)
_FULL = "the disk is full; nothing was written to the output. Free some space and continue with --resume"


def _regrouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables of exactly ROW_GROUP rows, and the rest."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= ROW_GROUP:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, ROW_GROUP)
            waiting = table.slice(ROW_GROUP).to_batches()
            rows -= ROW_GROUP
    if rows:
        yield pa.Table.from_batches(waiting)


def parquet(files: Sequence[Path]) -> str:
    """SQL that reads exactly these files: a path is not a pattern, and `key=value` in it is not a column."""
    listed = ", ".join("'" + re.sub(r"[\[*?]", r"[\g<0>]", _quoted(path)) + "'" for path in files)
    return f"read_parquet([{listed}], hive_partitioning = false)"


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
