"""The tables of a finished run in a database: views of its Parquet files, copied into tables in the background.

At first queries read the files, so nothing has to be made before the first page. `prepare` then copies them into
tables, in the background if a service calls it: from then on queries need not decode the files again. Dates are read
when a query first needs days.

Memory is bounded by DuckDB's limit, which spills to disk. Threads may share the tables: each query has a cursor of its
own.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
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

MEMORY, MOST_MEMORY = 1 << 30, 4 << 30
"""A quarter of the machine's memory is used, but at least the first and at most the second."""
_FETCHED = 2_000  # rows fetched at once
# As a condition, the equality of clusters would tempt the planner to join all members of a cluster with each other.
_GROUP_PAIRS = """
    CREATE TABLE group_pairs AS SELECT l.cluster_id, count(*) FILTER (WHERE l.cluster_id = r.cluster_id) AS pairs
    FROM edges e JOIN rows l ON l.doc_id = e.left_id JOIN rows r ON r.doc_id = e.right_id GROUP BY l.cluster_id
"""
_GROUP_DAYS = """
    CREATE TABLE group_days AS SELECT r.cluster_id, max(p.day) AS last
    FROM rows r JOIN published p ON p.date = r.date JOIN clusters c ON c.cluster_id = r.cluster_id GROUP BY r.cluster_id
"""
_MADE = {"group_pairs": _GROUP_PAIRS, "group_days": _GROUP_DAYS}
_MEMBERS = "SELECT * FROM rows WHERE cluster_id IN (SELECT cluster_id FROM clusters)"

Row = dict[str, Any]


def _columns() -> str:
    """The columns of `rows`."""
    own = WRITTEN["documents"].schema.names
    known = ", ".join(f"k.{column.name}" for column in WRITTEN["known"].columns if column.name not in own)
    return f"{', '.join(f'd.{name}' for name in own)}, {known}"


class RunTables:
    """The tables of one run's folder."""

    def __init__(
        self, folder: Path, *, date_format: str | None = None, memory: int | None = None, threads: int = 2
    ) -> None:
        self.folder, self._date_format, self._threads = folder, date_format, threads
        self._memory = _memory() if memory is None else memory
        self._home = tempfile.TemporaryDirectory(prefix="roughly-browse-")
        self._ready: duckdb.DuckDBPyConnection | None = None
        self._making = threading.RLock()
        self._closed = False
        self._made: set[str] = set()
        self.has_known = (folder / "known.parquet").exists()

    def close(self) -> None:
        """Delete the database."""
        self._closed = True
        if self._ready is not None:
            self._ready.interrupt()
        with self._making:
            if self._ready is not None:
                self._ready.close()
                self._ready = None
            self._home.cleanup()

    def rows(self, sql: str, given: Sequence[Any] = ()) -> list[Row]:
        """The rows as mappings; each `?` in the query is a given value."""
        return list(self.stream(sql, given))

    def stream(self, sql: str, given: Sequence[Any] = ()) -> Iterator[Row]:
        """The same one by one, however many there are."""
        if "published" in sql:
            self._read_dates()
        with self._plain_errors(), self._connection().cursor() as cursor:
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
        with self._plain_errors(), self._connection().cursor() as cursor:
            sizes = f"SELECT * FROM {parquet(self._files('clusters'))} ORDER BY size DESC, cluster_id"
            tables = (("clusters", sizes), ("edges", "SELECT * FROM pairs"), ("rows", self._rows_query(cursor)))
            for name, query in tables:
                if self._closed or f"stored_{name}" in self._made:
                    continue
                cursor.execute(f"CREATE TABLE stored_{name} AS {query}")
                with self._making:
                    cursor.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM stored_{name}")
                    self._made.add(f"stored_{name}")
        if not self._closed:
            self._read_dates()

    def _rows_query(self, cursor: duckdb.DuckDBPyConnection) -> str:
        """SQL for all rows: side by side if both files have the same ids in the same order, which is far cheaper."""
        beside = "FROM documents d POSITIONAL JOIN known k"
        other = f"SELECT 1 {beside} WHERE d.doc_id IS DISTINCT FROM k.doc_id LIMIT 1"
        if self.has_known and not cursor.execute(other).fetchall():
            return f"SELECT {_columns()} {beside}"
        return f"SELECT {_columns()} FROM documents d LEFT JOIN known k ON k.doc_id = d.doc_id"

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """The database's errors become ours: files are read by queries, so any of them may find damage."""
        try:
            with plain_errors(self._memory):
                yield
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as problem:
            if self._has_all_columns():
                raise  # a wrong query, not a damaged file
            raise self._unreadable(problem) from problem
        except duckdb.Error as problem:
            raise self._unreadable(problem) from problem

    def _has_all_columns(self) -> bool:
        """Whether the files have the columns that a run writes."""
        try:
            with self._connection().cursor() as cursor:
                return all(
                    {column.name for column in WRITTEN[name].columns}
                    <= {row[0] for row in cursor.execute(f"DESCRIBE {name}").fetchall()}
                    for name in ("documents", "pairs", "clusters", "known")
                )
        except duckdb.Error:
            return False

    def _unreadable(self, problem: duckdb.Error) -> InputError:
        return InputError(f"{self.folder} cannot be read ({first_line(problem)}); run dedupe again")

    def _connection(self) -> duckdb.DuckDBPyConnection:
        with self._making:
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
                ):
                    made.execute(f"SET {setting}")
                for name in ("documents", "pairs", "clusters"):
                    made.execute(f"CREATE VIEW {name} AS SELECT * FROM {parquet(self._files(name))}")
                made.execute(f"CREATE VIEW known AS SELECT * FROM {parquet(self._known_files(home))}")
                rows = f"SELECT {_columns()} FROM documents d LEFT JOIN known k ON k.doc_id = d.doc_id"
                for name, query in (("rows", rows), ("edges", "SELECT * FROM pairs"), ("members", _MEMBERS)):
                    made.execute(f"CREATE VIEW {name} AS {query}")
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

    def _make_table(self, name: str) -> None:
        """Make a table of `_MADE`, once."""
        with self._making:
            if name not in self._made:
                self.rows(_MADE[name])
                self._made.add(name)

    def _read_dates(self) -> None:
        """Make `published`, once: the day of every distinct date that can be read."""
        with self._making:
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
