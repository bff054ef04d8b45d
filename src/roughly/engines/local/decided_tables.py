"""The tables of a run after decisions: those of the run, with the documents that change replaced.

`changed` is a table with the columns of `CHANGED`. A document that does not change keeps its row; if the document that
its cluster is named after has moved to another cluster, its cluster is named like that one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from roughly.engines.local.database import ROW_GROUP

CHANGED = pa.schema(
    [
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("kept_id", pa.string(), nullable=False),
        pa.field("cluster_id", pa.string(), nullable=False),
        *(pa.field(name, pa.float64()) for name in ("resemblance", "containment", "contained_in")),
    ]
)
_BATCH = 100_000
_DOCUMENTS = """
    SELECT d.doc_id, coalesce(c.cluster_id, n.cluster_id, d.cluster_id) AS cluster_id, coalesce(c.kept, d.kept) AS kept,
           coalesce(c.kept_id, d.kept_id) AS kept_id,
           CASE WHEN c.doc_id IS NULL THEN d.resemblance ELSE c.resemblance END AS resemblance,
           CASE WHEN c.doc_id IS NULL THEN d.containment ELSE c.containment END AS containment,
           CASE WHEN c.doc_id IS NULL THEN d.contained_in ELSE c.contained_in END AS contained_in,
           CASE WHEN c.doc_id IS NULL THEN d.kind END AS kind
    FROM documents d LEFT JOIN changed c ON c.doc_id = d.doc_id
    LEFT JOIN changed n ON n.doc_id = d.cluster_id
"""
# A pair with a document that changes is no longer a witness, unless the change says so: then it has a row of its own.
_PAIRS = """
    SELECT p.* REPLACE (p.witness AND c.doc_id IS NULL AS witness)
    FROM pairs p LEFT JOIN changed c ON c.doc_id = p.left_id
    WHERE NOT EXISTS (SELECT 1 FROM changed r WHERE NOT r.kept AND r.doc_id = p.left_id AND r.kept_id = p.right_id)
      AND NOT EXISTS (SELECT 1 FROM changed r WHERE NOT r.kept AND r.doc_id = p.right_id AND r.kept_id = p.left_id)
    UNION ALL BY NAME
    SELECT doc_id AS left_id, kept_id AS right_id, resemblance, containment, contained_in, true AS witness
    FROM changed WHERE NOT kept
"""
_CLUSTERS = """
    SELECT d.cluster_id, count(*) AS size, count(*) FILTER (WHERE d.kept) AS kept,
           CASE WHEN NOT bool_or(d.resemblance IS NULL) THEN min(d.resemblance) FILTER (WHERE NOT d.kept) END
               AS min_resemblance,
           CASE WHEN NOT bool_or(d.resemblance IS NULL) THEN avg(d.resemblance) FILTER (WHERE NOT d.kept) END
               AS mean_resemblance,
           count(DISTINCT k.source) AS sources,
           coalesce(sum(k.bytes) FILTER (WHERE NOT d.kept), 0)::BIGINT AS removed_bytes
    FROM decided d LEFT JOIN known k ON k.doc_id = d.doc_id GROUP BY d.cluster_id HAVING count(*) > 1
"""
_ORDERS = {"documents": "doc_id", "pairs": "left_id, right_id", "clusters": "cluster_id"}
_COUNTS = """
    SELECT count(*) FILTER (WHERE d.kept) AS kept, count(*) FILTER (WHERE NOT d.kept) AS removed,
           coalesce(sum(k.bytes) FILTER (WHERE NOT d.kept), 0)::BIGINT AS removed_bytes
    FROM decided d LEFT JOIN known k ON k.doc_id = d.doc_id
"""


class DecidedTables:
    """The tables, over the views `documents`, `pairs`, `known` of a connection of their own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, changed: pa.Table) -> None:
        self._connection = connection
        connection.register("changed_rows", changed.cast(CHANGED))
        connection.execute("CREATE OR REPLACE TEMP TABLE changed AS SELECT * FROM changed_rows")
        connection.execute(f"CREATE OR REPLACE TEMP VIEW decided AS {_DOCUMENTS}")

    def write(self, folder: Path) -> dict[str, int]:
        """Write documents, pairs and clusters; returns the counts that change."""
        for name, query in (("documents", "SELECT * FROM decided"), ("pairs", _PAIRS), ("clusters", _CLUSTERS)):
            target = str(folder / f"{name}.parquet").replace("'", "''")
            self._connection.execute(
                f"COPY (SELECT * FROM ({query}) ORDER BY {_ORDERS[name]}) TO '{target}' "
                f"(FORMAT parquet, ROW_GROUP_SIZE {ROW_GROUP})"
            )
        kept, removed, removed_bytes = self._connection.execute(_COUNTS).fetchall()[0]
        sizes = f"SELECT count(*), coalesce(max(size), 0) FROM ({_CLUSTERS})"
        clusters, largest = self._connection.execute(sizes).fetchall()[0]
        return {
            "kept": kept, "removed": removed, "removed_bytes": removed_bytes, "clusters": clusters,
            "largest_cluster": max(largest, min(1, kept)),
        }  # fmt: skip

    def kept_rows(self) -> Iterator[pa.RecordBatch]:
        """Part and row of every kept document, in order, and `raw_lo`, where the run has digests."""
        has_digests = "digest" in self._connection.sql("SELECT * FROM known LIMIT 0").columns
        digest = ", coalesce(TRY_CAST(k.digest AS BIGINT), 0) AS raw_lo" if has_digests else ""
        query = (
            f"SELECT k.part, k.row{digest} FROM decided d JOIN known k ON k.doc_id = d.doc_id WHERE d.kept ORDER BY ALL"
        )
        return iter(self._connection.sql(query).to_arrow_reader(_BATCH))
