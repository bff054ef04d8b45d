"""Counts of what a run found, for run.json and the report. Every query returns a bounded number of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from roughly.date_forms import MISSING
from roughly.dates import plausible
from roughly.fast_dataclass import dataclass
from roughly.measures import MEASURES

Rows = Callable[[Sequence[str]], list[list[dict[str, Any]]]]
"""The rows of each query."""

COUNTS = """
    SELECT count(*) AS documents, count(*) FILTER (WHERE v.kept) AS kept, count(*) FILTER (WHERE NOT v.kept) AS removed,
           count(*) FILTER (WHERE v.tokens = 0) AS empty,
           coalesce(sum(v.bytes), 0)::BIGINT AS bytes,
           coalesce(sum(v.bytes) FILTER (WHERE NOT v.kept), 0)::BIGINT AS removed_bytes,
           count(*) FILTER (WHERE v.rank != v.rep) AS equal
    FROM verdicts v
"""
IDENTICAL = """
    SELECT coalesce(sum(n - 1), 0)::BIGINT AS identical
    FROM (SELECT count(*) AS n FROM facts GROUP BY raw_hi, raw_lo HAVING count(*) > 1) AS groups
"""
QUARTILES = """
    SELECT min(tokens) FILTER (WHERE 4 * upto >= total) AS first,
           min(tokens) FILTER (WHERE 2 * upto >= total) AS median,
           min(tokens) FILTER (WHERE 4 * upto >= 3 * total) AS third
    FROM (
        SELECT tokens, sum(n) OVER (ORDER BY tokens) AS upto, sum(n) OVER () AS total
        FROM (SELECT tokens, count(*) AS n FROM verdicts WHERE tokens > 0 GROUP BY tokens) AS lengths
    ) AS placed
"""
SIZES = """
    SELECT size, count(*) AS clusters FROM (
        SELECT count(*) AS size FROM verdicts
        WHERE cluster_rank IN (SELECT cluster_rank FROM verdicts WHERE cluster_rank != rank) GROUP BY cluster_rank
    ) GROUP BY size ORDER BY size
"""
RESEMBLANCE = """
    SELECT least(floor(resemblance * 100 + 1e-9), 99)::INTEGER AS bin, count(*) AS documents
    FROM verdicts WHERE NOT kept AND resemblance IS NOT NULL GROUP BY bin ORDER BY bin
"""
SOURCES = """
    SELECT v.source, count(*) AS documents, count(*) FILTER (WHERE NOT v.kept) AS removed,
           coalesce(sum(v.bytes) FILTER (WHERE NOT v.kept), 0)::BIGINT AS removed_bytes
    FROM verdicts v GROUP BY v.source ORDER BY removed DESC, documents DESC, v.source NULLS LAST
    LIMIT 1000
"""
KINDS = """
    SELECT kind, count(*) AS documents FROM verdicts WHERE NOT kept GROUP BY kind
    ORDER BY documents DESC, kind NULLS LAST
"""
LARGEST = """
    SELECT n.doc_id AS cluster_id, c.*, n.part, n.row FROM (
        SELECT cluster_rank, count(*) AS size,
               CASE WHEN NOT bool_or(resemblance IS NULL) THEN min(resemblance) FILTER (WHERE NOT kept) END AS low,
               CASE WHEN NOT bool_or(resemblance IS NULL) THEN avg(resemblance) FILTER (WHERE NOT kept) END AS mean
        FROM verdicts WHERE cluster_rank IN (SELECT cluster_rank FROM verdicts WHERE cluster_rank != rank)
        GROUP BY cluster_rank ORDER BY size DESC, cluster_rank LIMIT 20
    ) c JOIN verdicts n ON n.rank = c.cluster_rank
    ORDER BY c.size DESC, c.cluster_rank
"""
SAMPLES = """
    SELECT a.doc_id AS left_id, b.doc_id AS right_id, s.resemblance, s.containment, s.contained_in,
           a.part AS left_part, a.row AS left_row, b.part AS right_part, b.row AS right_row
    FROM ({rows}) s
    JOIN verdicts a ON a.rank = s.left_rank JOIN verdicts b ON b.rank = s.right_rank
    ORDER BY s.{score} {direction}, left_id, right_id
"""
JUST_ABOVE = "SELECT * FROM links ORDER BY {score}, left_rank, right_rank LIMIT {count}"
JUST_BELOW = "SELECT * FROM near ORDER BY {score} DESC, left_rank, right_rank LIMIT {count}"
UNREAD = f"published IS NULL AND lower(trim(coalesce(date, ''))) NOT IN {MISSING!r}"
SUSPICIOUS = "published < {first} OR published > {last}"
DATES = f"""
    SELECT count(published) AS read, count(*) FILTER (WHERE {UNREAD}) AS unread,
           count(*) FILTER (WHERE published IS NULL AND NOT ({UNREAD})) AS missing,
           count(*) FILTER (WHERE {SUSPICIOUS}) AS suspicious
    FROM facts
"""
EXAMPLES = "SELECT part, row, doc_id, date FROM facts WHERE {condition} ORDER BY doc LIMIT 3"


@dataclass(frozen=True)
class Summary:
    """Counts, and the figures of the report if it is written."""

    counts: dict[str, int]
    cluster_sizes: list[tuple[int, int]]
    dates: dict[str, Any]  # numbers of dates read and unread, and examples of unread ones, with part and row
    lengths: list[int]  # quartiles of the numbers of words, of documents that have some
    figures: Figures | None


@dataclass(frozen=True)
class Figures:
    """What only the report shows."""

    resemblance: tuple[list[float], list[int]]
    by_source: list[tuple[str | None, int, int, int]]
    kinds: list[tuple[str | None, int]]
    largest: list[dict[str, Any]]  # with part and row of the best document
    above: list[dict[str, Any]]  # with part and row of both documents
    below: list[dict[str, Any]]


def summarise(rows: Rows, measure: str | None) -> Summary:
    """Count everything; without a measure, there are no figures."""
    queries = [COUNTS, IDENTICAL, QUARTILES, SIZES, *(figure_queries(measure) if measure else ())]
    (count,), (identical,), (lengths,), by_size, *figures = rows(queries)
    counts = {name: int(value or 0) for name, value in (count | identical).items()}
    counts["lexical"] = max(0, counts.pop("equal") - counts["identical"])
    counts["shingle_equivalent"] = 0  # unless documents were compared: see `Resolution`
    sizes = [(row["size"], row["clusters"]) for row in by_size]
    counts["clusters"] = sum(clusters for _, clusters in sizes)
    counts["largest_cluster"] = max((size for size, _ in sizes), default=min(1, counts["documents"]))
    quartiles = [int(length) for length in lengths.values() if length is not None]
    return Summary(counts, sizes, dates_read(rows), quartiles, figures_of(figures) if figures else None)


def figure_queries(measure: str, samples: int = 8) -> list[str]:
    """The queries of `figures_of`."""
    score = MEASURES[measure].score
    above = SAMPLES.format(rows=JUST_ABOVE.format(score=score, count=samples), score=score, direction="ASC")
    below = SAMPLES.format(rows=JUST_BELOW.format(score=score, count=samples), score=score, direction="DESC")
    return [RESEMBLANCE, SOURCES, KINDS, LARGEST, above, below]


def figures_of(found: list[list[dict[str, Any]]]) -> Figures:
    """The figures, from the rows of `figure_queries`."""
    scores, sources, kinds, largest, above, below = found
    by_source = [(row["source"], row["documents"], row["removed"], row["removed_bytes"]) for row in sources]
    by_kind = [(row["kind"], row["documents"]) for row in kinds]
    return Figures(histogram(scores), by_source, by_kind, largest, above, below)


def dates_read(rows: Rows) -> dict[str, Any]:
    """Numbers of dates read, unread, missing and suspicious (read, but before the year 1000 or after next year), with
    examples."""
    first, last = plausible()
    counts: dict[str, Any] = rows([DATES.format(first=first, last=last)])[0][0]
    for name, condition in (("unread", UNREAD), ("suspicious", SUSPICIOUS.format(first=first, last=last))):
        counts[f"{name}_examples"] = rows([EXAMPLES.format(condition=condition)])[0] if counts[name] else []
    return counts


def histogram(rows: list[dict[str, int]]) -> tuple[list[float], list[int]]:
    """Bins of one hundredth, from the lowest that is not empty to 1."""
    if not rows:
        return [], []
    low = min(row["bin"] for row in rows)
    counts = [0] * (100 - low)
    for row in rows:
        counts[row["bin"] - low] += row["documents"]
    return [edge / 100 for edge in range(low, 101)], counts
