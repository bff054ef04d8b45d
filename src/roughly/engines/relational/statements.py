"""The SQL of a run, in DuckDB's dialect: ids, ranks, verdicts and the tables that are written.

`engines.spark.dialect` translates it for Spark. Tables that the statements read, in the order in which they appear:

| table | rows |
|---|---|
| `read_facts` | every document as it was read (`model.FACTS`, and its number `doc` in reading order) |
| `renamed` | the new ids of documents whose id was used before, with `--on-duplicate-id number` |
| `facts` | every document with its final id |
| `ranked` | `model.CARRIED`, `rank` (0 = best) and `rep`, the best rank among documents equal to it |
| `decided` | what resolution decided about a removed representative: its witness and the scores |
| `clustered` | the best rank of its component, with `--cluster components` |
| `links`, `near` | verified pairs; the best pairs below the threshold |
| `verdicts` | `ranked` with `kept`, `kept_rank`, `cluster_rank`, scores and kind |

Select lists come from `model.WRITTEN`.
"""

from __future__ import annotations

from collections.abc import Sequence

from roughly.model import CARRIED, WRITTEN, Column

TABLES = (
    "read_facts", "renamed", "facts", "numbered", "ranked", "decided", "clustered", "links", "near", "verdicts",
)  # fmt: skip

COUNT_REPEATED_IDS = """
    SELECT count(*) AS n FROM (SELECT doc_id FROM {table} GROUP BY doc_id HAVING count(*) > 1) AS repeated
"""
FIRST_REPEATED_ID = """
    SELECT doc_id, part, row FROM read_facts WHERE doc_id = (
        SELECT doc_id FROM (
            SELECT doc_id, min(doc) AS first_doc FROM read_facts GROUP BY doc_id HAVING count(*) > 1
        ) AS repeated ORDER BY first_doc LIMIT 1
    ) ORDER BY doc LIMIT 2
"""
RENAMED = """
    SELECT doc, doc_id || '#' || n::VARCHAR AS new_id FROM (
        SELECT doc, doc_id, row_number() OVER (PARTITION BY doc_id ORDER BY doc) AS n FROM read_facts
        WHERE doc_id IN (SELECT doc_id FROM read_facts GROUP BY doc_id HAVING count(*) > 1)
    ) AS repeated WHERE n > 1
"""
ALL_FACTS = "SELECT * FROM read_facts"
RENAMED_FACTS = """
    SELECT coalesce(r.new_id, f.doc_id) AS doc_id, f.* EXCLUDE (doc_id)
    FROM read_facts f LEFT JOIN renamed r ON f.doc = r.doc
"""

COUNT_DATED = "SELECT count(published) AS n FROM facts"
COUNT_FIELDS = """
    SELECT count(title) AS title, count(source) AS source, count(published) AS date,
           count(*) FILTER (WHERE url LIKE '%//%') AS url
    FROM facts
"""

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

# A kept document needs no id but its own; the witnesses of removed documents are few.
_DOCUMENTS = """
    WITH leads AS (
        SELECT rank, doc_id FROM verdicts
        WHERE rank IN (SELECT kept_rank FROM verdicts WHERE NOT kept
                       UNION SELECT cluster_rank FROM verdicts WHERE cluster_rank != rank)
    ), named AS (
        SELECT v.*, v.doc_id AS cluster_id, v.doc_id AS kept_id FROM verdicts v WHERE v.kept AND v.cluster_rank = v.rank
        UNION ALL
        SELECT v.*, c.doc_id AS cluster_id, k.doc_id AS kept_id
        FROM verdicts v JOIN leads k ON v.kept_rank = k.rank JOIN leads c ON v.cluster_rank = c.rank WHERE NOT v.kept
        UNION ALL
        SELECT v.*, c.doc_id AS cluster_id, v.doc_id AS kept_id
        FROM verdicts v JOIN leads c ON v.cluster_rank = c.rank WHERE v.kept AND v.cluster_rank != v.rank
    )
    SELECT {columns} FROM named d ORDER BY doc_id
"""

# Evidence among representatives, and every document that was collapsed into another with its own witness.
_EVIDENCE = """
    WITH all_pairs AS (
        SELECT l.left_rank, l.right_rank, l.resemblance, l.containment, l.contained_in, l.kind,
               coalesce(v.kept_rank = l.right_rank AND NOT v.kept, false) AS witness{reasons}
        FROM links l JOIN verdicts v ON v.rank = l.left_rank
        UNION ALL
        SELECT v.rank, v.kept_rank, v.resemblance, v.containment, v.contained_in, v.kind, true{reasons}
        FROM verdicts v {reasons_of_equal} WHERE NOT v.kept AND v.rank != v.rep
    ), named AS (
        SELECT rank, doc_id FROM verdicts
        WHERE rank IN (SELECT left_rank FROM all_pairs UNION SELECT right_rank FROM all_pairs)
    )
    SELECT {columns} FROM all_pairs p JOIN named a ON a.rank = p.left_rank JOIN named b ON b.rank = p.right_rank
    ORDER BY left_id, right_id
"""

# Every pair: links between representatives hold for all documents equal to them. Documents without a token are
# equal to each other and to nothing else; only the pair with the witness is written for them.
_ALL_PAIRS = """
    WITH equal_pairs AS (
        SELECT a.rank AS left_rank, b.rank AS right_rank, 1.0 AS resemblance, 1.0 AS containment, 1.0 AS contained_in,
               'exact' AS kind{no_reasons}
        FROM ranked a JOIN ranked b ON a.rep = b.rep AND a.rank > b.rank
        WHERE a.tokens > 0 OR b.rank = b.rep
    ), linked_pairs AS (
        SELECT greatest(a.rank, b.rank) AS left_rank, least(a.rank, b.rank) AS right_rank, l.resemblance,
               CASE WHEN a.rank > b.rank THEN l.containment ELSE l.contained_in END AS containment,
               CASE WHEN a.rank > b.rank THEN l.contained_in ELSE l.containment END AS contained_in,
               CASE WHEN a.rank > b.rank THEN l.kind END AS kind{reasons}
        FROM links l JOIN ranked a ON a.rep = l.left_rank JOIN ranked b ON b.rep = l.right_rank
    ), every_pair AS (SELECT * FROM equal_pairs UNION ALL SELECT * FROM linked_pairs), all_pairs AS (
        SELECT e.*, NOT v.kept AND v.kept_rank = e.right_rank AS witness
        FROM every_pair e JOIN verdicts v ON v.rank = e.left_rank
    ), named AS (
        SELECT rank, doc_id FROM verdicts
        WHERE rank IN (SELECT left_rank FROM every_pair UNION SELECT right_rank FROM every_pair)
    )
    SELECT {columns} FROM all_pairs p JOIN named a ON a.rank = p.left_rank JOIN named b ON b.rank = p.right_rank
    ORDER BY left_id, right_id
"""

COUNT_ALL_PAIRS = """
    WITH groups AS (SELECT rep, count(*) AS n, max(tokens) AS tokens FROM ranked GROUP BY rep)
    SELECT coalesce((SELECT sum(n * (n - 1) // 2) FROM groups WHERE tokens > 0), 0)
         + coalesce((SELECT sum(a.n * b.n) FROM links l JOIN groups a ON a.rep = l.left_rank
                     JOIN groups b ON b.rep = l.right_rank), 0) AS n
"""

_CLUSTERS = """
    WITH sized AS (
        SELECT v.cluster_rank, count(*) AS size, count(*) FILTER (WHERE v.kept) AS kept,
               CASE WHEN count(*) FILTER (WHERE NOT v.kept AND v.resemblance IS NULL) = 0
                   THEN min(v.resemblance) FILTER (WHERE NOT v.kept) END AS min_resemblance,
               CASE WHEN count(*) FILTER (WHERE NOT v.kept AND v.resemblance IS NULL) = 0
                   THEN sum(floor(v.resemblance * 1e15 + 0.5)::HUGEINT) FILTER (WHERE NOT v.kept) END AS total,
               count(*) FILTER (WHERE NOT v.kept) AS removed,
               count(DISTINCT v.source) AS sources,
               coalesce(sum(v.bytes) FILTER (WHERE NOT v.kept), 0)::BIGINT AS removed_bytes
        FROM verdicts v WHERE v.cluster_rank IN (SELECT cluster_rank FROM verdicts WHERE cluster_rank != rank)
        GROUP BY v.cluster_rank
    )
    SELECT {columns} FROM sized s JOIN verdicts n ON n.rank = s.cluster_rank ORDER BY cluster_id
"""

_KNOWN = """
    WITH firsts AS (SELECT rank, doc_id FROM verdicts WHERE rank IN (SELECT rep FROM verdicts WHERE rep != rank))
    SELECT {columns} FROM verdicts v JOIN facts f ON f.doc = v.doc LEFT JOIN firsts e ON e.rank = v.rep ORDER BY doc_id
"""

KEPT_ROWS = "SELECT part, row FROM verdicts WHERE kept"
DIGESTS_OF_KEPT = """
    SELECT v.part, v.row, f.raw_lo FROM verdicts v JOIN facts f ON f.doc = v.doc WHERE v.kept AND v.part IN ({parts})
    ORDER BY v.part, v.row
"""
KEPT_OF_PART = "SELECT row, doc_id FROM verdicts WHERE kept AND part = {part} ORDER BY row"


def digest_columns(collapse: str) -> tuple[str, str]:
    """The two halves of the digest by which documents are equal at this level; at the level `none`, no two are."""
    if collapse == "none":
        return "doc", "doc"
    return ("raw_hi", "raw_lo") if collapse == "identical" else ("lex_hi", "lex_lo")


def ranked(numbered: str = "", more: Sequence[str] = ()) -> str:
    """Every document with `rank` and `rep`, from the table `numbered`, whose rows have `rank` and the digest.

    `numbered`: the query of that table, if it does not exist; `more`: columns in addition to `model.CARRIED`. Only
    digests of two documents or more are joined back: usually few.
    """
    columns = ", ".join(f"t.{name}" for name in (*CARRIED, *more, "rank"))
    first = f"numbered AS MATERIALIZED ({numbered}), " if numbered else ""
    return f"""
        WITH {first}repeated AS (
            SELECT hi, lo, min(rank) AS rep FROM numbered GROUP BY hi, lo HAVING count(*) > 1
        )
        SELECT {columns}, coalesce(e.rep, t.rank) AS rep
        FROM numbered t LEFT JOIN repeated e ON e.hi = t.hi AND e.lo = t.lo
    """


_REASONS_OF_EQUAL = "LEFT JOIN links l ON l.left_rank = v.rep AND l.right_rank = v.kept_rank"


def written(all_pairs: bool, reasons: Sequence[Column] = ()) -> dict[str, str]:
    """The query of each table that a run writes; `reasons` are the columns of a learned verdict."""
    names = [column.name for column in reasons]
    of_pairs = {
        "reasons": "".join(f", l.{name}" for name in names),
        "no_reasons": "".join(f", NULL AS {name}" for name in names),
        "reasons_of_equal": _REASONS_OF_EQUAL if names else "",
    }
    pairs = "".join(f", p.{name}" for name in names)
    rows = {
        "documents": (_DOCUMENTS, "d"),
        "pairs": (_ALL_PAIRS if all_pairs else _EVIDENCE, "p"),
        "clusters": (_CLUSTERS, "s"),
        "known": (_KNOWN, "v"),
    }
    return {
        name: sql.format(columns=WRITTEN[name].select(source) + (pairs if name == "pairs" else ""), **of_pairs)
        for name, (sql, source) in rows.items()
    }
