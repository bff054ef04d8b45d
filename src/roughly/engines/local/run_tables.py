"""The tables of a finished run in a database: views of its Parquet files, copied into tables in the background.

At first queries read the files, so nothing has to be made before the first page. `prepare` then copies them into
tables, in the background if a service calls it: from then on queries need not decode the files again, and documents and
pairs are found by indexes. Dates are read when a query first needs days (the view `dated`).

Memory is bounded by DuckDB's limit, which spills to disk. Threads may share the tables: each query has a cursor of its
own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from roughly import dates
from roughly.engines.local.database import parquet, plain_errors
from roughly.errors import InputError, InputMissing, first_line
from roughly.machine import limits
from roughly.model import WRITTEN
from roughly.query_time import ended_in_time
from roughly.temporary_space import LockedFolder

MEMORY, MOST_MEMORY = 1 << 30, 4 << 30
"""A quarter of the machine's memory is used, but at least the first and at most the second."""
_FETCHED = 2_000  # rows fetched at once
_INDEXED = 100_000  # rows that are fetched by an index; more are found by reading the table
_VIEWS = {
    "rows": "SELECT {columns} FROM documents d LEFT JOIN known k ON k.doc_id = d.doc_id",
    "edges": "SELECT * FROM pairs",
    "members": "SELECT * FROM rows WHERE cluster_id IN (SELECT cluster_id FROM clusters)",
}
_STORED_VIEWS = {
    "dated": "SELECT * EXCLUDE (grouped) FROM stored_rows",
    "rows": "SELECT * EXCLUDE (day, grouped) FROM stored_rows",
    "members": "SELECT * EXCLUDE (day, grouped) FROM stored_rows WHERE grouped",
}
ABOUT = """
    list_sort(list(DISTINCT kind) FILTER (WHERE kind IS NOT NULL)) AS kinds, max(tokens) AS longest,
    first(title) FILTER (WHERE doc_id = cluster_id) AS title, first(url) FILTER (WHERE doc_id = cluster_id) AS url,
    first(source) FILTER (WHERE doc_id = cluster_id) AS source
"""
"""What follows from the members of a cluster, except its days and pairs; and what its first document is called."""
_DAYS = f"""
    SELECT cluster_id, {ABOUT}, min(day) AS first, max(day) AS last FROM dated
    WHERE cluster_id IN (SELECT cluster_id FROM clusters) GROUP BY cluster_id
"""
# As a condition, the equality of clusters would tempt the planner to join all members of a cluster with each other.
_PAIRS = """
    SELECT l.cluster_id, count(*) FILTER (WHERE l.cluster_id = r.cluster_id) AS pairs
    FROM edges e JOIN rows l ON l.doc_id = e.left_id JOIN rows r ON r.doc_id = e.right_id GROUP BY l.cluster_id
"""

Row = dict[str, Any]
_NOT_SHOWN = "digest"
"""A column of `known` that runs of earlier versions do not have."""
_ENDING = 10.0
"""Seconds that a query may take to end after it was interrupted."""


def _columns() -> str:
    """The columns of `rows`."""
    own = WRITTEN["documents"].schema.names
    known = ", ".join(f"k.{name}" for name in WRITTEN["known"].schema.names if name not in (*own, _NOT_SHOWN))
    return f"{', '.join(f'd.{name}' for name in own)}, {known}"


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection; a query that another thread runs on it is ended first."""
    until = time.monotonic() + _ENDING
    while True:
        try:
            connection.interrupt()
            return connection.close()
        except duckdb.ConnectionException:
            return  # by its own thread
        except duckdb.Error:
            if time.monotonic() > until:
                raise
            time.sleep(0.005)


class RunTables:
    """The tables of one run's folder."""

    def __init__(
        self, folder: Path, *, date_format: str | None = None, memory: int | None = None, threads: int = 2
    ) -> None:
        self.folder, self._date_format, self._threads = folder, date_format, threads
        self._memory = _memory() if memory is None else memory
        self._home = LockedFolder("roughly-browse-")
        self._ready: duckdb.DuckDBPyConnection | None = None
        self._making = threading.RLock()  # the connection, or views in place of others
        self._building = threading.RLock()  # a table that queries wait for
        self.lists_pairs = True  # whether lists of clusters count the verified pairs of each
        self._closed = False
        self._cursors: list[duckdb.DuckDBPyConnection] = []
        self._made: set[str] = set()
        self.has_known = (folder / "known.parquet").exists()

    def close(self) -> None:
        """End what other threads ask, and delete the database."""
        self._closed = True
        for cursor in [*self._cursors, *([] if self._ready is None else [self._ready])]:
            _close(cursor)
        with self._building, self._making:
            self._ready = None
            self._home.cleanup()

    def rows(self, sql: str, given: Sequence[Any] = ()) -> list[Row]:
        """The rows as mappings; each `?` in the query is a given value."""
        return list(self.stream(sql, given))

    def stream(self, sql: str, given: Sequence[Any] = ()) -> Iterator[Row]:
        """The same one by one, however many there are."""
        if "dated" in sql:
            self._read_dates()
        with self._cursor() as cursor, ended_in_time(cursor.interrupt), self._plain_errors():
            found = cursor.execute(sql, list(given))
            names = [column[0] for column in found.description]
            while some := found.fetchmany(_FETCHED):
                for row in some:
                    yield dict(zip(names, row, strict=True))

    def tuples(self, sql: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows as tuples."""
        return [tuple(row.values()) for row in self.rows(sql, given)]

    def prepare(self) -> None:
        """Copy what queries read into tables, so that they need not decode the files again."""
        with self._plain_errors(), self._cursor() as cursor:
            clusters = f"SELECT * FROM {parquet(self._files('clusters'))} ORDER BY size DESC, cluster_id"
            self._store(cursor, "clusters", clusters, {"clusters": "SELECT * FROM stored_clusters"})
            edges = {"edges": "SELECT * FROM stored_edges"}
            self._store(cursor, "edges", _VIEWS["edges"], edges, ("left_id", "right_id"))
            self._read_dates()
            rows = f"""
                SELECT r.*, p.day, r.cluster_id IN (SELECT cluster_id FROM clusters) AS grouped
                FROM ({self._rows_query(cursor)}) r LEFT JOIN published p USING (date)
            """
            self._store(cursor, "rows", rows, _STORED_VIEWS, ("doc_id", "cluster_id"))
            self._store(cursor, "ids", "SELECT doc_id FROM documents ORDER BY doc_id", {})
        if not self._closed:
            self._describe_clusters()

    def _store(
        self,
        cursor: duckdb.DuckDBPyConnection,
        name: str,
        query: str,
        views: Mapping[str, str],
        indexed: Sequence[str] = (),
    ) -> None:
        """Make a table that views then read, once."""
        if self._closed or f"stored_{name}" in self._made:
            return
        cursor.execute(f"CREATE TABLE stored_{name} AS {query}")
        for column in indexed:
            cursor.execute(f"CREATE INDEX {name}_{column} ON stored_{name} ({column})")
        with self._making:
            for view, select in views.items():
                cursor.execute(f"CREATE OR REPLACE VIEW {view} AS {select}")
            self._made.add(f"stored_{name}")

    def _rows_query(self, cursor: duckdb.DuckDBPyConnection) -> str:
        """SQL for all rows: side by side if both files have the same ids in the same order, which is far cheaper."""
        beside = "FROM documents d POSITIONAL JOIN known k"
        other = f"SELECT 1 {beside} WHERE d.doc_id IS DISTINCT FROM k.doc_id LIMIT 1"
        if self.has_known and not cursor.execute(other).fetchall():
            return f"SELECT {_columns()} {beside}"
        return _VIEWS["rows"].format(columns=_columns())

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """The database's errors become ours: files are read by queries, so any of them may find damage."""
        try:
            with plain_errors(self._memory):
                yield
        except KeyboardInterrupt:
            if self._closed:  # by another thread
                raise self._no_longer_open() from None
            raise
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as problem:
            if self._has_all_columns():
                raise  # a wrong query, not a damaged file
            raise self._unreadable(problem) from problem
        except duckdb.Error as problem:
            raise self._unreadable(problem) from problem

    def _has_all_columns(self) -> bool:
        """Whether the files have the columns that a run writes."""
        try:
            with self._cursor() as cursor:
                return all(
                    {column.name for column in WRITTEN[name].columns} - {_NOT_SHOWN}
                    <= {row[0] for row in cursor.execute(f"DESCRIBE {name}").fetchall()}
                    for name in ("documents", "pairs", "clusters", "known")
                )
        except duckdb.Error:
            return False

    def _no_longer_open(self) -> InputError:
        return InputError(f"{self.folder} is no longer open; open it again")

    def _unreadable(self, problem: duckdb.Error) -> InputError:
        return InputError(f"{self.folder} cannot be read ({first_line(problem)}); run dedupe again")

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection for one thread, which `close` ends."""
        with self._connection().cursor() as cursor:
            self._cursors.append(cursor)
            try:
                yield cursor
            finally:
                self._cursors.remove(cursor)

    def _connection(self) -> duckdb.DuckDBPyConnection:
        with self._making:
            if self._closed:
                raise self._no_longer_open()
            if self._ready is None:
                self._ready = self._make()
            return self._ready

    def _make(self) -> duckdb.DuckDBPyConnection:
        home = Path(self._home.name)
        made = duckdb.connect(":memory:")
        try:
            with plain_errors(self._memory):
                for setting in (
                    f"memory_limit = '{self._memory >> 20}MiB'",
                    f"threads = {self._threads}",
                    f"temp_directory = '{home / 'spill'}'",
                    "enable_progress_bar = false",
                    "TimeZone = 'UTC'",
                    f"index_scan_max_count = {_INDEXED}",
                ):
                    made.execute(f"SET {setting}")
                for name in ("documents", "pairs", "clusters"):
                    made.execute(f"CREATE VIEW {name} AS SELECT * FROM {parquet(self._files(name))}")
                made.execute(f"CREATE VIEW known AS SELECT * FROM {parquet(self._known_files(home))}")
                for name, query in _VIEWS.items():
                    made.execute(f"CREATE VIEW {name} AS {query.format(columns=_columns())}")
        except duckdb.Error as problem:
            made.close()
            raise self._unreadable(problem) from problem
        except BaseException:
            made.close()
            raise
        return made

    def _known_files(self, home: Path) -> list[Path]:
        """An empty one for runs of older versions, which have none."""
        if self.has_known:
            return self._files("known")
        pq.write_table(WRITTEN["known"].schema.empty_table(), home / "known.parquet")
        return [home / "known.parquet"]

    def _describe_clusters(self) -> None:
        """Make `described`, once, however late the request is: the next one has it. Clusters with what follows from
        their members, and with their verified pairs."""
        with self._building:
            if "described" in self._made:
                return
            self._read_dates()
            with self._plain_errors(), self._cursor() as cursor:
                cursor.execute(f"""
                    CREATE TABLE described AS SELECT c.*, m.* EXCLUDE (cluster_id), p.pairs FROM clusters c
                    LEFT JOIN ({_DAYS}) m USING (cluster_id)
                    LEFT JOIN ({_PAIRS}) p USING (cluster_id)
                    ORDER BY size DESC, cluster_id
                """)
            self._made.add("described")

    def _read_dates(self) -> None:
        """Make `published`, once: the day of every distinct date that can be read; and the view `dated`."""
        with self._building:
            if "dates" in self._made:
                return
            made = self._connection()
            made.execute("CREATE OR REPLACE TABLE published (date VARCHAR, day DATE)")
            with self._plain_errors(), made.cursor() as cursor:
                query = cursor.sql("SELECT DISTINCT date FROM known WHERE date IS NOT NULL")
                for batch in query.to_arrow_reader(1 << 16):
                    timestamps = dates.timestamps(batch.column("date"), self._date_format)
                    read = pa.table({"date": batch.column("date"), "day": timestamps.cast(pa.timestamp("us"))})
                    made.register("read", read)
                    made.execute("INSERT INTO published SELECT date, day::DATE FROM read WHERE day IS NOT NULL")
                    made.unregister("read")
                made.execute("CREATE VIEW dated AS SELECT r.*, p.day FROM rows r LEFT JOIN published p USING (date)")
            self._made.add("dates")

    def _files(self, name: str) -> list[Path]:
        """One file, or the files of a folder, as Spark writes them."""
        path = self.folder / f"{name}.parquet"
        if path.is_dir():
            return sorted(path.glob("*.parquet"))
        if not path.is_file():
            raise InputMissing(f"{self.folder} has no {name}.parquet; name the folder that `roughly dedupe` wrote")
        return [path]


def _memory() -> int:
    whole = limits().memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(MEMORY, min(MOST_MEMORY, whole // 4))
