"""A finished run looked at: clusters, members, evidence and figures, by SQL over its Parquet files.

What pages ask for again and again is put once into a database on disk, sorted by cluster: documents that stand in a
cluster of two or more (`members`), what was verified about them (`edges`) and the clusters with what a list of them is
filtered by (`groups`). Documents without a duplicate, the most of a collection, stay in the Parquet files, which are
sorted by id. Memory is bounded by DuckDB's limit, and every question returns a bounded number of rows.

Threads may share a `Browsing`: each question has a cursor of its own.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from roughly import dates
from roughly.engines.local.database import parquet, plain_errors
from roughly.errors import InputError, InputMissing
from roughly.model import WRITTEN

MEMORY = 1 << 30
MOST = 500  # rows of one answer

_MEMBERS = """
    CREATE TABLE members AS SELECT m.*, p.day FROM (
        {documents} JOIN (SELECT cluster_id FROM clusters) c ON c.cluster_id = d.cluster_id
    ) m LEFT JOIN published p ON p.date = m.date
    ORDER BY cluster_id, kept DESC, doc_id = cluster_id DESC, resemblance DESC NULLS LAST, doc_id
"""
# A document that resembles only such as went stays, and stands in no cluster of two: its pairs are here as well.
_EDGES = """
    CREATE TABLE edges AS SELECT coalesce(m.cluster_id, p.left_id) AS cluster_id, p.*,
           m.cluster_id IS NOT NULL AND o.cluster_id IS NOT NULL AND o.cluster_id = m.cluster_id AS inside
    FROM (SELECT left_id, right_id, resemblance, containment, contained_in, kind, witness FROM pairs) p
    LEFT JOIN members m ON m.doc_id = p.left_id LEFT JOIN members o ON o.doc_id = p.right_id
    ORDER BY 1, p.left_id, p.right_id
"""
_GROUPS = """
    CREATE TABLE groups AS SELECT c.cluster_id, c.size, c.kept, c.min_resemblance, c.mean_resemblance, c.sources,
           c.removed_bytes, m.kinds, m.first, m.last, n.title, n.url, n.source, coalesce(e.pairs, 0) AS pairs,
           m.distinct_texts
    FROM clusters c
    JOIN (SELECT cluster_id, list_sort(list(DISTINCT kind) FILTER (WHERE kind IS NOT NULL)) AS kinds,
                 min(day) AS first, max(day) AS last, count(*) FILTER (WHERE equal_to IS NULL) AS distinct_texts
          FROM members GROUP BY cluster_id) m ON m.cluster_id = c.cluster_id
    LEFT JOIN members n ON n.doc_id = c.cluster_id AND n.cluster_id = c.cluster_id
    LEFT JOIN (SELECT cluster_id, count(*) FILTER (WHERE inside) AS pairs FROM edges GROUP BY cluster_id) e
        ON e.cluster_id = c.cluster_id
    ORDER BY c.size DESC, c.cluster_id
"""
ORDERS = {
    "size": "size DESC, cluster_id",
    "smallest": "size, cluster_id",
    "lowest": "min_resemblance NULLS LAST, cluster_id",
    "mean": "mean_resemblance NULLS LAST, cluster_id",
    "bytes": "removed_bytes DESC, cluster_id",
    "sources": "sources DESC, size DESC, cluster_id",
    "newest": "last DESC NULLS LAST, cluster_id",
    "id": "cluster_id",
}
SIZES = "SELECT size, count(*) FROM groups GROUP BY size ORDER BY size"
RESEMBLANCE = """
    SELECT least(floor(resemblance * 100 + 1e-9), 99)::INTEGER AS bin, count(*) AS documents
    FROM members WHERE NOT kept AND resemblance IS NOT NULL GROUP BY bin ORDER BY bin
"""
KINDS = """
    SELECT kind, count(*) AS n FROM documents WHERE NOT kept GROUP BY kind ORDER BY n DESC, kind NULLS LAST
"""
SOURCES = """
    SELECT k.source, count(*) AS documents, count(*) FILTER (WHERE NOT d.kept) AS removed,
           coalesce(sum(k.bytes) FILTER (WHERE NOT d.kept), 0)::BIGINT AS removed_bytes
    FROM documents d JOIN known k ON k.doc_id = d.doc_id GROUP BY k.source
    ORDER BY removed DESC, documents DESC, k.source NULLS LAST LIMIT 1000
"""
MONTHS = """
    SELECT strftime(m, '%Y-%m'), documents, removed FROM (
        SELECT date_trunc('month', p.day)::DATE AS m, count(*) AS documents,
               count(*) FILTER (WHERE NOT d.kept) AS removed
        FROM documents d JOIN known k ON k.doc_id = d.doc_id JOIN published p ON p.date = k.date GROUP BY m
    ) ORDER BY m LIMIT 6000
"""

Row = dict[str, Any]


def _documents() -> str:
    """SQL: every document, with all that was written about it."""
    own = WRITTEN["documents"].schema.names
    known = ", ".join(f"k.{column.name}" for column in WRITTEN["known"].columns if column.name not in own)
    return f"SELECT d.*, {known} FROM documents d LEFT JOIN known k ON k.doc_id = d.doc_id"


Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Graph:
    """Documents 0, 1, … that have a duplicate or a verified pair, each distinct text once; left ranks below right."""

    left: Ints
    right: Ints
    score: npt.NDArray[np.float64]
    bytes: Ints  # of each
    documents: int  # all of those, equal ones too
    all_bytes: int  # of those


class Browsing:
    """The tables of one run's folder."""

    def __init__(self, folder: Path, *, date_format: str | None = None, memory: int = MEMORY, threads: int = 2) -> None:
        self.folder, self._date_format, self._memory, self._threads = folder, date_format, memory, threads
        self._home = tempfile.TemporaryDirectory(prefix="roughly-browse-")
        self._ready: duckdb.DuckDBPyConnection | None = None
        self._making = threading.Lock()
        self.has_known = (folder / "known.parquet").exists()

    def close(self) -> None:
        """Take the database away."""
        if self._ready is not None:
            self._ready.close()
            self._ready = None
        self._home.cleanup()

    def prepare(self) -> None:
        """Build what questions go to; done once, when the first is asked if not before."""
        self._connection()

    def rows(self, sql: str, given: Sequence[Any] = ()) -> list[Row]:
        """The answer as mappings; `?` in the question stand for what is given."""
        with plain_errors(self._memory), self._connection().cursor() as cursor:
            found = cursor.execute(sql, list(given))
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def tuples(self, sql: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The answer as bare rows."""
        return [tuple(row.values()) for row in self.rows(sql, given)]

    # ------------------------------------------------------------------ clusters

    def clusters(
        self, where: Sequence[tuple[str, Sequence[Any]]], order: str, offset: int, limit: int
    ) -> tuple[int, list[Row]]:
        """(how many clusters fulfil all conditions, some of them in an order of `ORDERS`)."""
        condition = " AND ".join(f"({sql})" for sql, _ in where) or "true"
        given = [value for _, values in where for value in values]
        total = self.tuples(f"SELECT count(*) FROM groups WHERE {condition}", given)[0][0]
        request = f"SELECT * FROM groups WHERE {condition} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"
        return int(total), self.rows(request, [*given, min(limit, MOST), offset])

    def cluster(self, cluster_id: str) -> Row | None:
        """One cluster."""
        found = self.rows("SELECT * FROM groups WHERE cluster_id = ?", [cluster_id])
        return found[0] if found else None

    def members(self, cluster_id: str, offset: int, limit: int) -> list[Row]:
        """Those that stay first, then the most alike."""
        order = "kept DESC, doc_id = cluster_id DESC, resemblance DESC NULLS LAST, doc_id"
        request = f"SELECT * FROM members WHERE cluster_id = ? ORDER BY {order} LIMIT ? OFFSET ?"
        return self.rows(request, [cluster_id, min(limit, MOST), offset])

    def edges(self, cluster_id: str, ids: Sequence[str] | None = None, limit: int = MOST) -> list[Row]:
        """Verified pairs of a cluster; with `ids`, those between these documents."""
        among = "" if ids is None else "AND list_contains(?, left_id) AND list_contains(?, right_id)"
        given = [cluster_id, *([] if ids is None else [list(ids), list(ids)]), limit]
        request = f"SELECT * FROM edges WHERE cluster_id = ? {among} ORDER BY left_id, right_id LIMIT ?"
        return self.rows(request, given)

    def neighbours(self, cluster_id: str, doc_id: str) -> list[tuple[Any, Any]]:
        """Of the removed members in order, the one before and the one after, each with its witness."""
        order = "resemblance DESC NULLS LAST, doc_id"
        request = f"""
            SELECT a, b, c, d FROM (
                SELECT doc_id, lag(doc_id) OVER w AS a, lag(kept_id) OVER w AS b, lead(doc_id) OVER w AS c,
                       lead(kept_id) OVER w AS d
                FROM members WHERE cluster_id = ? AND NOT kept WINDOW w AS (ORDER BY {order})
            ) WHERE doc_id = ?
        """
        found = self.tuples(request, [cluster_id, doc_id])
        return [found[0][:2], found[0][2:]] if found else [(None, None), (None, None)]

    # ------------------------------------------------------------------ documents

    def documents(self, ids: Sequence[str]) -> list[Row]:
        """Documents by their ids."""
        marks = ", ".join("?" * len(ids))
        return self.rows(f"{_documents()} WHERE d.doc_id IN ({marks})", list(ids)) if ids else []

    def at_url(self, url: str, limit: int = MOST) -> list[Row]:
        """Documents with this address."""
        ids = [row[0] for row in self.tuples("SELECT doc_id FROM known WHERE url = ? LIMIT ?", [url, limit])]
        return self.documents(sorted(ids))

    def evidence(self, doc_id: str, limit: int = MOST) -> list[Row]:
        """Verified pairs that a document stands in, the most alike first."""
        request = """
            SELECT * FROM edges WHERE left_id = ? OR right_id = ?
            ORDER BY resemblance DESC NULLS LAST, left_id, right_id LIMIT ?
        """
        return self.rows(request, [doc_id, doc_id, limit])

    def pair(self, left: str, right: str) -> Row | None:
        """What was verified about two documents, in either order."""
        request = "SELECT * FROM edges WHERE (left_id = ? AND right_id = ?) OR (left_id = ? AND right_id = ?) LIMIT 1"
        found = self.rows(request, [left, right, right, left])
        return found[0] if found else None

    # ------------------------------------------------------------------ another threshold

    def graph(self, measure: str) -> Graph:
        """Who was verified to resemble whom, among documents that are equal to none before them.

        Some twenty bytes a pair and a document in memory: the one answer that grows with the run.
        """
        with plain_errors(self._memory), self._connection().cursor() as cursor:
            cursor.execute("""
                CREATE TABLE IF NOT EXISTS numbers AS
                SELECT doc_id, (row_number() OVER (ORDER BY doc_id) - 1)::UINTEGER AS n, bytes FROM (
                    SELECT doc_id, coalesce(bytes, 0) AS bytes FROM members WHERE equal_to IS NULL
                    UNION ALL
                    SELECT d.doc_id, coalesce(k.bytes, 0) FROM documents d LEFT JOIN known k ON k.doc_id = d.doc_id
                    WHERE d.kept AND d.doc_id NOT IN (SELECT doc_id FROM members)
                      AND d.doc_id IN (SELECT left_id FROM edges UNION SELECT right_id FROM edges)
                )
            """)
            equal = cursor.execute("""
                SELECT count(*), coalesce(sum(bytes), 0) FROM members WHERE equal_to IS NOT NULL
            """).fetchall()[0]
            pairs = cursor.execute(f"""
                SELECT a.n AS l, b.n AS r, e.{measure} AS s FROM edges e JOIN numbers a ON a.doc_id = e.left_id
                JOIN numbers b ON b.doc_id = e.right_id WHERE e.{measure} IS NOT NULL
            """).fetchnumpy()
            size = cursor.execute("SELECT bytes AS b FROM numbers ORDER BY n").fetchnumpy()["b"]
        left, right = (np.asarray(pairs[name], np.int64) for name in ("l", "r"))
        sizes = np.asarray(size, np.int64)
        return Graph(
            left, right, np.asarray(pairs["s"], np.float64), sizes, len(sizes) + int(equal[0]),
            int(sizes.sum()) + int(equal[1]),
        )  # fmt: skip

    def changing(self, measure: str, low: float, high: float, falling: bool, limit: int) -> list[Row]:
        """Pairs that decided, with a score from low to below high: the highest or the lowest of them first."""
        order = "DESC" if falling else "ASC"
        request = f"""
            SELECT * FROM edges WHERE witness AND {measure} >= ? AND {measure} < ?
            ORDER BY {measure} {order}, left_id, right_id LIMIT ?
        """
        return self.rows(request, [low, high, limit])

    # ------------------------------------------------------------------ making

    def _connection(self) -> duckdb.DuckDBPyConnection:
        with self._making:
            if self._ready is None:
                self._ready = self._make()
            return self._ready

    def _make(self) -> duckdb.DuckDBPyConnection:
        home = Path(self._home.name)
        (home / "made.duckdb").unlink(missing_ok=True)
        made = duckdb.connect(str(home / "made.duckdb"))
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
                self._read_dates(made)
                for statement in (_MEMBERS.format(documents=_documents()), _EDGES, _GROUPS):
                    made.execute(statement)
        except duckdb.Error as problem:
            made.close()
            raise InputError(f"{self.folder} cannot be read ({problem}); run dedupe again") from problem
        except BaseException:
            made.close()
            raise
        return made

    def _known_files(self, home: Path) -> list[Path]:
        """Runs of older versions have none: then an empty one."""
        if self.has_known:
            return self._files("known")
        pq.write_table(WRITTEN["known"].schema.empty_table(), home / "known.parquet")
        return [home / "known.parquet"]

    def _read_dates(self, made: duckdb.DuckDBPyConnection) -> None:
        """The day of every distinct date that can be read."""
        made.execute("CREATE TABLE published (date VARCHAR, day DATE)")
        with made.cursor() as cursor:
            request = cursor.sql("SELECT DISTINCT date FROM known WHERE date IS NOT NULL")
            for batch in request.to_arrow_reader(1 << 16):
                moments = dates.moments(batch.column("date"), self._date_format)
                read = pa.table({"date": batch.column("date"), "day": moments.cast(pa.timestamp("us"))})
                made.register("read", read)
                made.execute("INSERT INTO published SELECT date, day::DATE FROM read WHERE day IS NOT NULL")
                made.unregister("read")

    def _files(self, name: str) -> list[Path]:
        """One file, or the files of a folder, as a cluster writes them."""
        path = self.folder / f"{name}.parquet"
        if path.is_dir():
            return sorted(path.glob("*.parquet"))
        if not path.is_file():
            raise InputMissing(f"{self.folder} has no {name}.parquet; name the folder that `roughly dedupe` wrote")
        return [path]
