"""Browse a finished run: clusters, members, evidence and figures, by SQL over its Parquet files.

Queries read the views `rows` (every document with all that is known of it), `dated` (with its day too), `members`
(those in clusters of two or more), `edges` (verified pairs) and `clusters`; `run_tables` makes them. Every query
returns a bounded number of rows unless its docstring says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import dates
from roughly.engines.local.decided_tables import DecidedTables
from roughly.engines.local.run_tables import ABOUT, Row, RunTables
from roughly.fast_dataclass import dataclass

MOST = 500  # rows of one answer
_FEW = 100
_TOTALS = 50  # numbers of clusters that are remembered, by their conditions
_AMONG = "IN (SELECT unnest(?::VARCHAR[]))"
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
SIZES = "SELECT size, count(*) FROM clusters GROUP BY size ORDER BY size"
RESEMBLANCE = """
    SELECT least(floor(resemblance * 100 + 1e-9), 99)::INTEGER AS bin, count(*) AS documents
    FROM documents WHERE NOT kept AND resemblance IS NOT NULL GROUP BY bin ORDER BY bin
"""
KINDS = """
    SELECT kind, count(*) AS n FROM documents WHERE NOT kept GROUP BY kind ORDER BY n DESC, kind NULLS LAST
"""
SOURCES = """
    SELECT source, count(*) AS documents, count(*) FILTER (WHERE NOT kept) AS removed,
           coalesce(sum(bytes) FILTER (WHERE NOT kept), 0)::BIGINT AS removed_bytes
    FROM rows GROUP BY source ORDER BY removed DESC, documents DESC, source NULLS LAST LIMIT 1000
"""
MONTHS = """
    SELECT strftime(m, '%Y-%m'), documents, removed FROM (
        SELECT date_trunc('month', day)::DATE AS m, count(*) AS documents, count(*) FILTER (WHERE NOT kept) AS removed
        FROM dated WHERE day IS NOT NULL GROUP BY m
    ) ORDER BY m LIMIT 6000
"""

Condition = tuple[str, Sequence[Any]]  # SQL, and the values for its `?`


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


class Browsing(RunTables):
    """Queries about one run."""

    def __init__(
        self, folder: Path, *, date_format: str | None = None, memory: int | None = None, threads: int = 2
    ) -> None:
        super().__init__(folder, date_format=date_format, memory=memory, threads=threads)
        self._totals: dict[tuple[str, str], int] = {}

    # ------------------------------------------------------------------ clusters

    def clusters(self, where: Sequence[Condition], order: str, offset: int, limit: int) -> tuple[int, list[Row]]:
        """(number of clusters that fulfil all conditions, one page of them in an order of `ORDERS`)."""
        condition, given = joined(where)
        if order == "newest" or "pairs <" in condition:
            self._describe_clusters()
        source = "described" if "described" in self._made else "clusters"
        counted = (condition, repr(given))
        query = f"SELECT c.* FROM {source} c WHERE {condition} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"
        if "members" in condition and counted not in self._totals and limit:  # to read all names twice takes long
            query = query.replace("c.*", "c.*, count(*) OVER () AS total")
        found = self.rows(query, [*given, min(limit, MOST), offset]) if limit else []
        totals = [row.pop("total") for row in found if "total" in row]
        if counted not in self._totals:
            count = f"SELECT count(*) FROM {source} c WHERE {condition}"
            total = int(totals[0] if totals else self.tuples(count, given)[0][0])
            self._totals = {**dict(list(self._totals.items())[-_TOTALS:]), counted: total}
        if source == "clusters":
            return self._totals[counted], self._described(found, self.lists_pairs)
        for row in found:
            row["pairs"] = (row["pairs"] or 0) if self.lists_pairs else None
        return self._totals[counted], found

    def cluster(self, cluster_id: str) -> Row | None:
        """One cluster."""
        if "described" in self._made:
            found = self.rows("SELECT * FROM described WHERE cluster_id = ?", [cluster_id])
            return found[0] | {"pairs": found[0]["pairs"] or 0} if found else None
        found = self._described(self.rows("SELECT * FROM clusters WHERE cluster_id = ?", [cluster_id]), True)
        return found[0] if found else None

    def _described(self, found: list[Row], with_pairs: bool) -> list[Row]:
        """These clusters with what follows from their members: kinds, days, pairs; and what the first one is called."""
        if not found:
            return []
        ids = [row["cluster_id"] for row in found]
        among = f"IN ({', '.join('?' * len(ids))})"
        about = {
            row["cluster_id"]: row for row in self.rows(f"""
                SELECT cluster_id, {ABOUT}, list(DISTINCT date) FILTER (WHERE date IS NOT NULL) AS dates
                FROM members WHERE cluster_id {among} GROUP BY cluster_id
            """, ids)
        }  # fmt: skip
        pairs = self._pairs_within(among, ids) if with_pairs else {}
        for row in found:
            known = about[row["cluster_id"]]
            days = self._days(known.pop("dates") or [])
            row |= known | {"first": min(days, default=None), "last": max(days, default=None)}
            row["pairs"] = pairs.get(row["cluster_id"], 0) if with_pairs else None
        return found

    def _pairs_within(self, among: str, ids: Sequence[str]) -> dict[str, int]:
        members = f"(SELECT doc_id, cluster_id FROM members WHERE cluster_id {among})"
        query = f"""
            SELECT l.cluster_id, count(*) FILTER (WHERE l.cluster_id = r.cluster_id) FROM edges e
            JOIN {members} l ON l.doc_id = e.left_id JOIN {members} r ON r.doc_id = e.right_id GROUP BY l.cluster_id
        """
        return dict(self.tuples(query, [*ids, *ids]))

    def _days(self, found: Sequence[str]) -> list[Any]:
        moments = dates.timestamps(pa.array(found, pa.string()), self._date_format).cast(pa.timestamp("us"))
        return [moment.as_py().date() for moment in moments if moment.is_valid]

    def members(self, cluster_id: str, offset: int, limit: int) -> list[Row]:
        """Kept documents first, then the most similar."""
        order = "kept DESC, doc_id = cluster_id DESC, resemblance DESC NULLS LAST, doc_id"
        query = f"SELECT * FROM members WHERE cluster_id = ? ORDER BY {order} LIMIT ? OFFSET ?"
        return self.rows(query, [cluster_id, min(limit, MOST), offset])

    def edges(self, ids: Sequence[str], limit: int = MOST) -> list[Row]:
        """Verified pairs between these documents."""
        among = f"IN ({', '.join('?' * len(ids))})"
        query = f"SELECT * FROM edges WHERE left_id {among} AND right_id {among} ORDER BY left_id, right_id LIMIT ?"
        return self.rows(query, [*ids, *ids, limit]) if ids else []

    def neighbours(self, cluster_id: str, doc_id: str) -> list[tuple[Any, Any]]:
        """The removed members before and after this one in order, each with its witness."""
        order = "resemblance DESC NULLS LAST, doc_id"
        query = f"""
            SELECT a, b, c, d FROM (
                SELECT doc_id, lag(doc_id) OVER w AS a, lag(kept_id) OVER w AS b, lead(doc_id) OVER w AS c,
                       lead(kept_id) OVER w AS d
                FROM members WHERE cluster_id = ? AND NOT kept WINDOW w AS (ORDER BY {order})
            ) WHERE doc_id = ?
        """
        found = self.tuples(query, [cluster_id, doc_id])
        return [found[0][:2], found[0][2:]] if found else [(None, None), (None, None)]

    # ------------------------------------------------------------------ documents

    def documents(self, ids: Sequence[str]) -> list[Row]:
        """Documents by their ids."""
        return self.rows_of("doc_id", ids) if ids else []

    def rows_of(self, column: str, values: Sequence[str]) -> list[Row]:
        """Documents whose id, cluster or witness is one of these values, however many there are."""
        if len(values) <= _FEW:  # a list of values is looked up faster than a table of them
            marks = ", ".join("?" * len(values))
            return self.rows(f"SELECT * FROM rows WHERE {column} IN ({marks})", list(values)) if values else []
        return self.rows(f"SELECT * FROM rows WHERE {column} {_AMONG}", [list(values)])

    def pairs_of(self, ids: Sequence[str]) -> list[Row]:
        """Verified pairs of any of these documents, however many there are."""
        query = f"SELECT * FROM edges WHERE left_id {_AMONG} UNION SELECT * FROM edges WHERE right_id {_AMONG}"
        return self.rows(query, [list(ids), list(ids)])

    def listed(self, where: Sequence[Condition], order: str, offset: int, limit: int) -> list[Row]:
        """One page of the documents that fulfil all conditions, in an order of `document_order`."""
        condition, given = joined(where)
        if not where and order == "doc_id" and "stored_ids" in self._made:  # sorted: the place of a row is known
            query, given = "SELECT doc_id FROM stored_ids WHERE rowid >= ? AND rowid < ?", [offset, offset + limit]
        else:
            source = _source(condition + order)
            query = f"SELECT doc_id FROM {source} WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?"
            given += [limit, offset]
        ids = [row[0] for row in self.tuples(query, given)]
        found = {row["doc_id"]: row for row in self.rows_of("doc_id", ids)}
        return [found[doc_id] for doc_id in ids]

    def all_listed(self, where: Sequence[Condition], order: str, limit: int) -> Iterator[Row]:
        """The same, all of them up to a limit, one by one."""
        condition, given = joined(where)
        query = f"SELECT r.* FROM {_source(condition + order)} WHERE {condition} ORDER BY {order} LIMIT ?"
        return self.stream(query, [*given, limit])

    def count(self, where: Sequence[Condition]) -> int:
        """The number of documents that fulfil all conditions."""
        condition, given = joined(where)
        return int(self.tuples(f"SELECT count(*) FROM {_source(condition)} WHERE {condition}", given)[0][0])

    @contextmanager
    def decided(self, changed: pa.Table) -> Iterator[DecidedTables]:
        """The tables after decisions, with `changed` instead of the documents that it names."""
        with self._plain_errors(), self._cursor() as cursor:
            yield DecidedTables(cursor, changed)

    def at_url(self, url: str, limit: int = MOST) -> list[Row]:
        """Documents with this address."""
        return sorted(
            self.rows("SELECT * FROM rows WHERE url = ? LIMIT ?", [url, limit]), key=lambda row: row["doc_id"]
        )

    def evidence(self, doc_id: str, limit: int = MOST) -> list[Row]:
        """Verified pairs of a document, the most similar first."""
        query = """
            SELECT * FROM (
                SELECT * FROM edges WHERE left_id = ? UNION ALL SELECT * FROM edges WHERE right_id = ?
            ) ORDER BY resemblance DESC NULLS LAST, left_id, right_id LIMIT ?
        """
        return self.rows(query, [doc_id, doc_id, limit])

    def pair(self, left: str, right: str) -> Row | None:
        """What was verified about two documents, in either order."""
        query = "SELECT * FROM edges WHERE left_id = ? AND right_id = ?"
        found = self.rows(query, [left, right]) or self.rows(query, [right, left])
        return found[0] if found else None

    # ------------------------------------------------------------------ another threshold

    def graph(self, measure: str) -> Graph:
        """Verified pairs among documents that are equal to none before them.

        About twenty bytes per pair and per document in memory: the only answer that grows with the run.
        """
        with self._plain_errors(), self._cursor() as cursor:
            cursor.execute("""
                CREATE TABLE IF NOT EXISTS numbers AS
                SELECT doc_id, (row_number() OVER (ORDER BY doc_id) - 1)::UINTEGER AS n, bytes FROM (
                    SELECT doc_id, coalesce(bytes, 0) AS bytes FROM rows
                    WHERE equal_to IS NULL AND (cluster_id IN (SELECT cluster_id FROM clusters)
                      OR doc_id IN (SELECT left_id FROM edges UNION SELECT right_id FROM edges))
                )
            """)
            equal = cursor.execute("""
                SELECT count(*), coalesce(sum(bytes), 0) FROM rows WHERE equal_to IS NOT NULL
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

    def best_scores(self, measure: str) -> npt.NDArray[np.float64]:
        """Rows (best score, bytes) of the removed documents that are equal to none before them, by falling score.

        Sixteen bytes per removed document in memory.
        """
        query = f"""
            SELECT e.score, coalesce(r.bytes, 0)::DOUBLE AS bytes
            FROM (SELECT left_id, max({measure}) AS score FROM edges GROUP BY left_id) e
            JOIN rows r ON r.doc_id = e.left_id WHERE NOT r.kept AND r.equal_to IS NULL AND e.score IS NOT NULL
            ORDER BY e.score DESC
        """
        with self._plain_errors(), self._cursor() as cursor:
            found = cursor.execute(query).fetchnumpy()
        return np.column_stack([np.asarray(found[name], np.float64) for name in ("score", "bytes")])

    def changing(self, measure: str, low: float, high: float, falling: bool, limit: int) -> list[Row]:
        """Pairs that decided, with `low` ≤ score < `high`: the highest or the lowest first."""
        order = "DESC" if falling else "ASC"
        query = f"""
            SELECT * FROM edges WHERE witness AND {measure} >= ? AND {measure} < ?
            ORDER BY {measure} {order}, left_id, right_id LIMIT ?
        """
        return self.rows(query, [low, high, limit])


def joined(where: Sequence[Condition]) -> tuple[str, list[Any]]:
    """All conditions as one, and the values for its `?`."""
    return " AND ".join(f"({sql})" for sql, _ in where) or "true", [value for _, values in where for value in values]


def _source(used: str) -> str:
    """The rows, with their days if these are used."""
    return "dated r" if "day" in used else "rows r"
