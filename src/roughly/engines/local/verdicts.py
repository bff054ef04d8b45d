"""From what was decided of candidates to a verdict for every document: SQL, and the tables it reads.

Tables: `facts` (every document, as read), `ranked` (the same with its `rank`, and `rep`, the best rank among documents
equal to it), and from here on `decided` (what resolution said of a representative), `clustered` (the best rank
of its component), `links` (verified pairs) and `near` (the best of those below the threshold).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.evidence import witnesses
from roughly.cluster.scoring import ScoredPairs
from roughly.methods import Judge
from roughly.pipeline import Decision

VERDICTS = """
    SELECT r.*, coalesce(d.witness, r.rep) AS kept_rank,
           coalesce(c.cluster, d.witness, r.rep) AS cluster_rank,
           r.rank = coalesce(d.witness, r.rep) AS kept,
           CASE WHEN d.rank IS NULL THEN 1.0 ELSE d.resemblance END AS resemblance,
           CASE WHEN d.rank IS NULL THEN 1.0 ELSE d.containment END AS containment,
           CASE WHEN d.rank IS NULL THEN 1.0 ELSE d.contained_in END AS contained_in,
           CASE WHEN r.rank = coalesce(d.witness, r.rep) THEN NULL WHEN d.rank IS NULL THEN 'exact'
                ELSE d.kind END AS kind
    FROM ranked r LEFT JOIN decided d ON r.rep = d.rank LEFT JOIN clustered c ON r.rep = c.rank
"""

# What stays needs no name but its own; for what goes, the names of witnesses are few.
DOCUMENTS = """
    WITH leads AS (
        SELECT rank, doc_id FROM verdicts
        WHERE rank IN (SELECT kept_rank FROM verdicts WHERE NOT kept
                       UNION SELECT cluster_rank FROM verdicts WHERE cluster_rank != rank)
    )
    SELECT * FROM (
        SELECT doc_id, doc_id AS cluster_id, kept, doc_id AS kept_id, resemblance, containment, contained_in, kind
        FROM verdicts WHERE kept AND cluster_rank = rank
        UNION ALL
        SELECT v.doc_id, c.doc_id, v.kept, k.doc_id, v.resemblance, v.containment, v.contained_in, v.kind
        FROM verdicts v JOIN leads k ON v.kept_rank = k.rank JOIN leads c ON v.cluster_rank = c.rank
        WHERE NOT v.kept
        UNION ALL
        SELECT v.doc_id, c.doc_id, v.kept, v.doc_id, v.resemblance, v.containment, v.contained_in, v.kind
        FROM verdicts v JOIN leads c ON v.cluster_rank = c.rank WHERE v.kept AND v.cluster_rank != v.rank
    ) ORDER BY doc_id
"""

# Evidence among representatives, and every document that was collapsed into another with its own witness.
EVIDENCE = """
    WITH all_pairs AS (
        SELECT l.left_rank, l.right_rank, l.resemblance, l.containment, l.contained_in, l.kind,
               coalesce(v.kept_rank = l.right_rank AND NOT v.kept, false) AS witness
        FROM links l JOIN verdicts v ON v.rank = l.left_rank
        UNION ALL
        SELECT rank, kept_rank, resemblance, containment, contained_in, kind, true
        FROM verdicts WHERE NOT kept AND rank != rep
    ), named AS (
        SELECT rank, doc_id FROM verdicts
        WHERE rank IN (SELECT left_rank FROM all_pairs UNION SELECT right_rank FROM all_pairs)
    )
    SELECT a.doc_id AS left_id, b.doc_id AS right_id, resemblance, containment, contained_in, kind, witness
    FROM all_pairs JOIN named a ON a.rank = left_rank JOIN named b ON b.rank = right_rank
    ORDER BY left_id, right_id
"""

# Every pair: links between representatives stand for all documents equal to them. Documents without a token are
# equal to each other and to nothing else; of those only the witness is written.
ALL_PAIRS = """
    WITH equal AS (
        SELECT a.rank AS left_rank, b.rank AS right_rank, 1.0 AS resemblance, 1.0 AS containment, 1.0 AS contained_in,
               'exact' AS kind
        FROM ranked a JOIN ranked b ON a.rep = b.rep AND a.rank > b.rank
        WHERE a.tokens > 0 OR b.rank = b.rep
    ), linked AS (
        SELECT greatest(a.rank, b.rank) AS left_rank, least(a.rank, b.rank) AS right_rank, l.resemblance,
               CASE WHEN a.rank > b.rank THEN l.containment ELSE l.contained_in END AS containment,
               CASE WHEN a.rank > b.rank THEN l.contained_in ELSE l.containment END AS contained_in,
               CASE WHEN a.rank > b.rank THEN l.kind END AS kind
        FROM links l JOIN ranked a ON a.rep = l.left_rank JOIN ranked b ON b.rep = l.right_rank
    ), every AS (SELECT * FROM equal UNION ALL SELECT * FROM linked), named AS (
        SELECT rank, doc_id FROM verdicts WHERE rank IN (SELECT left_rank FROM every UNION SELECT right_rank FROM every)
    )
    SELECT a.doc_id AS left_id, b.doc_id AS right_id, e.resemblance, e.containment, e.contained_in,
           e.kind, NOT v.kept AND v.kept_rank = e.right_rank AS witness
    FROM every e JOIN verdicts v ON v.rank = e.left_rank
    JOIN named a ON a.rank = e.left_rank JOIN named b ON b.rank = e.right_rank
    ORDER BY left_id, right_id
"""

COUNT_ALL_PAIRS = """
    WITH groups AS (SELECT rep, count(*) AS n, max(tokens) AS tokens FROM ranked GROUP BY rep)
    SELECT coalesce((SELECT sum(n * (n - 1) // 2) FROM groups WHERE tokens > 0), 0)
         + coalesce((SELECT sum(a.n * b.n) FROM links l JOIN groups a ON a.rep = l.left_rank
                     JOIN groups b ON b.rep = l.right_rank), 0)
"""

CLUSTERS = """
    WITH sized AS (
        SELECT v.cluster_rank, count(*) AS size, count(*) FILTER (WHERE v.kept) AS kept,
               -- null where one of them was not measured
               CASE WHEN count(*) FILTER (WHERE NOT v.kept AND v.resemblance IS NULL) = 0
                   THEN min(v.resemblance) FILTER (WHERE NOT v.kept) END AS min_resemblance,
               -- whole numbers add up to the same in any order; doubles do not
               CASE WHEN count(*) FILTER (WHERE NOT v.kept AND v.resemblance IS NULL) = 0
                   THEN sum(floor(v.resemblance * 1e15 + 0.5)::HUGEINT) FILTER (WHERE NOT v.kept) END AS total,
               count(*) FILTER (WHERE NOT v.kept) AS removed,
               count(DISTINCT v.source) AS sources,
               coalesce(sum(v.bytes) FILTER (WHERE NOT v.kept), 0)::BIGINT AS removed_bytes
        FROM verdicts v WHERE v.cluster_rank IN (SELECT cluster_rank FROM verdicts WHERE cluster_rank != rank)
        GROUP BY v.cluster_rank
    )
    SELECT n.doc_id AS cluster_id, size, s.kept, min_resemblance,
           greatest(min_resemblance, ((2 * total + removed) // (2 * removed))::DOUBLE / 1e15) AS mean_resemblance,
           sources, removed_bytes
    FROM sized s JOIN verdicts n ON n.rank = s.cluster_rank ORDER BY cluster_id
"""

# What the verdict leaves out: where a document stands in the input, and what it is called.
KNOWN = """
    WITH firsts AS (SELECT rank, doc_id FROM verdicts WHERE rank IN (SELECT rep FROM verdicts WHERE rep != rank))
    SELECT v.doc_id, v.part, v.row, v.bytes, v.tokens, CASE WHEN v.rank != v.rep THEN e.doc_id END AS equal_to,
           f.title, f.url, f.date, f.source
    FROM verdicts v JOIN facts f ON f.doc = v.doc LEFT JOIN firsts e ON e.rank = v.rep ORDER BY v.doc_id
"""

Ranks = npt.NDArray[np.uint32] | npt.NDArray[np.int64]


def links_table(pairs: ScoredPairs, ranks: Ranks, judge: Judge, kinds: pa.Array | None) -> pa.Table:
    """Every pair found, by rank. Where pairs were judged by keys in common, nothing was measured."""
    c, m, n = (pairs[:, column].astype(np.float64) for column in (2, 3, 4))
    scores = {
        "resemblance": c / np.maximum(m + n - c, 1),
        "containment": c / np.maximum(m, 1),
        "contained_in": c / np.maximum(n, 1),
    }
    measured = judge.on != "keys"
    return pa.table(
        {
            "left_rank": ranks[pairs[:, 0]],
            "right_rank": ranks[pairs[:, 1]],
            **{name: pa.array(s) if measured else pa.nulls(len(s), pa.float64()) for name, s in scores.items()},
            "kind": pa.nulls(len(pairs), pa.string()) if kinds is None else kinds,
        }
    )


def tables_of(
    decision: Decision, pairs: ScoredPairs, ranks: Ranks, kinds: pa.Array | None, linked: bool
) -> dict[str, pa.Table]:
    """What resolution says of candidates 0, 1, …, whose ranks are `ranks`; with `linked`, clusters are components."""
    resolution, judge = decision.resolution, decision.judge
    tables = empty_tables()
    tables["links"] = links_table(pairs, ranks, judge, kinds)
    best = witnesses(pairs, resolution.kept, judge.measure)
    tables["decided"] = tables["links"].take(pa.array(best)).rename_columns(tables["decided"].column_names)
    if linked:
        tables["clustered"] = pa.table({"rank": ranks, "cluster": ranks[decision.cluster]})
    tables["near"] = links_table(resolution.near, ranks, judge, None).drop_columns("kind")
    return tables


def empty_tables() -> dict[str, pa.Table]:
    """What resolution says where nothing but equality was asked."""
    scores = {name: pa.array([], pa.float64()) for name in ("resemblance", "containment", "contained_in")}
    none = pa.array([], pa.uint32())
    kind = pa.array([], pa.string())
    return {
        "decided": pa.table({"rank": none, "witness": none, **scores, "kind": kind}),
        "clustered": pa.table({"rank": none, "cluster": none}),
        "links": pa.table({"left_rank": none, "right_rank": none, **scores, "kind": kind}),
        "near": pa.table({"left_rank": none, "right_rank": none, **scores}),
    }
