"""Verdicts and summary on a cluster: the local engine's SQL, where the two dialects agree, and Spark's where not.

Views: `ranked`, `decided`, `clustered`, `links`, `near` and `verdicts`, as in `engines.local.verdicts`, and `facts`.
"""

from __future__ import annotations

from typing import Any

from roughly.engines.local import summary as local
from roughly.engines.local import verdicts as sql
from roughly.engines.local.summary import Summary

VIEWS = ("facts", "ranked", "decided", "clustered", "links", "near", "verdicts")

COUNT_ALL_PAIRS = sql.COUNT_ALL_PAIRS.replace("n * (n - 1) // 2", "n * (n - 1) div 2")

CLUSTERS = """
    WITH sized AS (
        SELECT v.cluster_rank, count(*) AS size, count(*) FILTER (WHERE v.kept) AS kept,
               count(*) FILTER (WHERE NOT v.kept AND v.resemblance IS NULL) AS unmeasured,
               count(*) FILTER (WHERE NOT v.kept) AS removed,
               min(v.resemblance) FILTER (WHERE NOT v.kept) AS lowest,
               sum(CAST(floor(v.resemblance * 1e15D + 0.5D) AS DECIMAL(20, 0))) FILTER (WHERE NOT v.kept) AS total,
               count(DISTINCT v.source) AS sources,
               coalesce(sum(v.bytes) FILTER (WHERE NOT v.kept), 0) AS removed_bytes
        FROM verdicts v WHERE v.cluster_rank IN (SELECT cluster_rank FROM verdicts WHERE cluster_rank != rank)
        GROUP BY v.cluster_rank
    )
    SELECT n.doc_id AS cluster_id, size, s.kept,
           CASE WHEN unmeasured = 0 THEN lowest END AS min_resemblance,
           CASE WHEN unmeasured = 0
                THEN greatest(lowest, CAST((2 * total + removed) div nullif(2 * removed, 0) AS DOUBLE) / 1e15D)
           END AS mean_resemblance, sources, removed_bytes
    FROM sized s JOIN verdicts n ON n.rank = s.cluster_rank ORDER BY cluster_id
"""


def named(text: str, prefix: str) -> str:
    """The SQL with the run's own names for its views: two runs may share a session."""
    import re

    return re.sub(rf"(?<=FROM |JOIN )({'|'.join(VIEWS)})\b", rf"{prefix}\1", text)


def summarise(run: Any, measure: str, samples: int = 8) -> Summary:
    """Count everything; every answer has a bounded number of rows. `run(sql)` gives the rows of a query."""
    score = "containment" if measure == "containment" else "resemblance"
    counts = {name: int(value or 0) for name, value in run(local.COUNTS)[0].items()}
    counts["identical"] = int(next(iter(run(local.IDENTICAL)[0].values())))
    counts["lexical"] = max(0, counts.pop("equal") - counts["identical"])
    sizes = [(row["size"], row["clusters"]) for row in run(local.SIZES)]
    counts["clusters"] = sum(clusters for _, clusters in sizes)
    counts["largest_cluster"] = max((size for size, _ in sizes), default=min(1, counts["documents"]))
    above = local.SAMPLES.format(rows=local.JUST_ABOVE.format(score=score, count=samples), score=score, direction="ASC")
    below = local.SAMPLES.format(
        rows=local.JUST_BELOW.format(score=score, count=samples), score=score, direction="DESC"
    )
    return Summary(
        counts,
        sizes,
        local.histogram(run(local.RESEMBLANCE)),
        [tuple(row.values()) for row in run(local.SOURCES)],
        [(row["kind"], row["documents"]) for row in run(local.KINDS)],
        run(local.LARGEST),
        run(above),
        run(below),
    )
