"""The tables that flow between the stages and the tables that are written: every column is declared once, here.

A `Column` has a name, an Arrow type, a meaning (the docs print it) and the SQL expression that gives it. The Arrow
schemas, the select lists of both engines and the tables of the docs follow from these declarations. So a new column
of documents.parquet is one line in `WRITTEN` below.

Stages never import each other; they exchange these tables. Inside a stage, kernels see numpy views of the
buffers. Names are the same in Python, SQL, Parquet, JSON and on the command line. The schemas of files with a format
of their own (lexicon, signatures, sketches) are beside the code that reads and writes that format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import pyarrow as pa

from roughly.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    type: pa.DataType
    meaning: str = ""
    nullable: bool = True
    sql: str = ""  # its expression in DuckDB's dialect; empty: the column of that name

    @property
    def field(self) -> pa.Field:
        """The column as Arrow has it."""
        return pa.field(self.name, self.type, nullable=self.nullable)


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table, in their order."""

    columns: tuple[Column, ...]

    @property
    def schema(self) -> pa.Schema:
        """The table as Arrow has it."""
        return pa.schema([column.field for column in self.columns])

    def pick(self, *names: str) -> Table:
        """Some of the columns."""
        return Table(tuple(column for name in names for column in self.columns if column.name == name))

    def select(self, source: str = "") -> str:
        """The select list that gives all columns; those without an expression are taken from `source`."""
        before = f"{source}." if source else ""
        return ", ".join(f"{column.sql or before + column.name} AS {column.name}" for column in self.columns)


_TEXT, _WHOLE, _FLAG, _SCORE = pa.string(), pa.int64(), pa.bool_(), pa.float64()

# sources → text. One row per document. `row` numbers the records of one part (a file, a folder, a table)
# from 0 in reading order; rejected records use up their number, so `row` finds the record again.
DOCUMENTS = Table(
    (
        Column("row", _WHOLE, nullable=False),
        Column("doc_id", _TEXT, nullable=False),
        Column("text", pa.large_string(), nullable=False),
        Column("markup", _FLAG, "the text is HTML and is to be stripped", nullable=False),
        Column("title", _TEXT),
        Column("url", _TEXT),
        Column("date", _TEXT, "as found"),
        Column("source", _TEXT),
    )
).schema

# reading → engine. What is known of every document after reading; the text itself is not kept.
FACTS = Table(
    (
        Column("part", pa.uint32(), nullable=False),
        Column("row", _WHOLE, nullable=False),
        Column("doc_id", _TEXT, nullable=False),
        Column("url", _TEXT),
        Column("date", _TEXT, "as found"),
        Column("published", _WHOLE, "its moment: microseconds since 1970 in UTC; null where unread"),
        Column("source", _TEXT),
        Column("bytes", _WHOLE, nullable=False),
        Column("tokens", _WHOLE, nullable=False),
        Column("raw_hi", pa.uint64(), "digest of the text as read", nullable=False),
        Column("raw_lo", pa.uint64(), nullable=False),
        Column(
            "lex_hi", pa.uint64(), "digest of the canonical tokens, and of the fields that are compared", nullable=False
        ),
        Column("lex_lo", pa.uint64(), nullable=False),
        Column("title", _TEXT),
    )
).schema

# The same with the number of the document in reading order over all parts; it never leaves the run.
NUMBERED_FACTS = FACTS.insert(0, pa.field("doc", pa.uint32(), nullable=False))

DIGEST = (1 << 62) - 1
"""The bits of `raw_lo` that are stored with a run: they are a positive number in every engine."""

CARRIED = ("doc", "part", "row", "doc_id", "source", "bytes", "tokens")
"""The facts that are stored with a document's rank and verdict; documents.parquet may select any of them."""

_SCORE_NAMES = ("resemblance", "containment", "contained_in")
_SCORES = tuple(Column(name, _SCORE) for name in _SCORE_NAMES)
_KIND = Column("kind", _TEXT)


def _ranked_pair(left: str, right: str) -> tuple[Column, Column]:
    return Column(left, pa.uint32(), nullable=False), Column(right, pa.uint32(), nullable=False)


# resolution → verdicts. Documents are named by their rank.
DECISION = {
    "decided": Table((*_ranked_pair("rank", "witness"), *_SCORES, _KIND)).schema,
    "clustered": Table(_ranked_pair("rank", "cluster")).schema,
    "links": Table((*_ranked_pair("left_rank", "right_rank"), *_SCORES, _KIND)).schema,
    "near": Table((*_ranked_pair("left_rank", "right_rank"), *_SCORES)).schema,
}

# What a run writes: NAME.parquet in the output folder. `engines.relational.statements` has the rows of each.
WRITTEN = {
    "documents": Table(
        (
            Column("doc_id", _TEXT, "the id, from the input or given in reading (see [Sources](sources.md))", False),
            Column(
                "cluster_id", _TEXT,
                "the id of the best-ranked document of its cluster; its own if it has no duplicate", False,
            ),
            Column("kept", _FLAG, "whether it is kept", False),
            Column(
                "kept_id", _TEXT,
                "its witness: the document that is kept in its place; its own id where it is kept itself", False,
            ),
            Column("resemblance", _SCORE, "resemblance of it and `kept_id`; 1 where it is kept itself"),
            Column("containment", _SCORE, "the share of this document that `kept_id` holds"),
            Column("contained_in", _SCORE, "the share of `kept_id` that this document holds"),
            Column(
                "kind", _TEXT,
                "the [kind](kinds.md) of duplicate; null where it is kept, and where no text was read",
            ),
        )
    ),
    "pairs": Table(
        (
            Column("left_id", _TEXT, "the document that ranks lower", False, "a.doc_id"),
            Column("right_id", _TEXT, "the document that ranks higher", False, "b.doc_id"),
            Column("resemblance", _SCORE, "resemblance of the two; null as above"),
            Column("containment", _SCORE, "the share of left that right holds"),
            Column("contained_in", _SCORE, "the share of right that left holds"),
            Column("kind", _TEXT, "what left is to right"),
            Column("witness", _FLAG, "whether left was removed and names right as its witness", False),
        )
    ),
    "clusters": Table(
        (
            Column("cluster_id", _TEXT, "the id of its best-ranked document", False, "n.doc_id"),
            Column("size", _WHOLE, "documents in it", False),
            Column("kept", _WHOLE, "how many of them are kept: 1 with `--cluster star`", False),
            Column(
                "min_resemblance", _SCORE,
                "lowest resemblance of a removed document and its witness; null where one of them was not measured",
            ),
            Column(
                "mean_resemblance", _SCORE, "mean of the same",
                # whole numbers add up to the same in any order; doubles do not
                sql="greatest(s.min_resemblance, "
                "((2 * s.total + s.removed) // nullif(2 * s.removed, 0))::DOUBLE / 1e15)",
            ),
            Column("sources", _WHOLE, "distinct sources among its documents", False),
            Column("removed_bytes", _WHOLE, "UTF-8 bytes of text that are removed", False),
        )
    ),
    "known": Table(
        (
            Column("doc_id", _TEXT, "the id", False),
            Column(
                "part", pa.uint32(), "the file, folder or table that has it, from 0, in the order of reading", False
            ),
            Column("row", _WHOLE, "where in it, from 0", False),
            Column("bytes", _WHOLE, "UTF-8 bytes of its text, as read", False),
            Column("tokens", _WHOLE, "words in its [canonical form](canonical-form.md)", False),
            Column(
                "digest", _WHOLE, "62 bits of a digest of its text, as read", False, f"(f.raw_lo & {DIGEST})::BIGINT"
            ),
            Column(
                "equal_to", _TEXT, "the best-ranked document that it is equal to, where there is a better one",
                sql="CASE WHEN v.rank != v.rep THEN e.doc_id END",
            ),
            Column("title", _TEXT, "as in the input", sql="f.title"),
            Column("url", _TEXT, "as in the input", sql="f.url"),
            Column("date", _TEXT, "as in the input", sql="f.date"),
            Column("source", _TEXT, "as in the input", sql="f.source"),
        )
    ),
}  # fmt: skip


def reason_columns(comparisons: Sequence[str]) -> tuple[Column, ...]:
    """The columns of pairs.parquet that only runs with a learned verdict have; `comparisons` are those it weights."""
    probability = Column("probability", _SCORE, "the probability that the two are the same; null for equal documents")
    return probability, *(
        Column(f"adds_{name}", pa.float32(), f"what `{name}` adds to the log-odds; null as `probability`")
        for name in comparisons
    )


def decision_schemas(reasons: Sequence[Column]) -> dict[str, pa.Schema]:
    """DECISION for a run whose links have these columns too."""
    links = pa.schema([*DECISION["links"], *(column.field for column in reasons)])
    return DECISION | {"links": links}


# A pair and its scores, without what only a run knows: what an index finds, and what an archive has.
SCORED_PAIRS = WRITTEN["pairs"].pick("left_id", "right_id", *_SCORE_NAMES).schema

# The same where every score is measured: what `roughly truth` writes, and part of what `roughly audit` does.
EXACT_SCORES = tuple(replace(column, nullable=False) for column in WRITTEN["pairs"].pick(*_SCORE_NAMES).columns)
EXACT_PAIRS = Table((*WRITTEN["pairs"].pick("left_id", "right_id").columns, *EXACT_SCORES)).schema
COSINE_PAIRS = Table(
    (*WRITTEN["pairs"].pick("left_id", "right_id").columns, Column("cosine", _SCORE, nullable=False))
).schema

# What `roughly cluster` writes: scores are estimates, with the standard error of the resemblance.
_ERROR = pa.field("resemblance_error", _SCORE)
ESTIMATED_PAIRS = SCORED_PAIRS.insert(3, _ERROR)
ESTIMATED_DOCUMENTS = (
    WRITTEN["documents"].pick("doc_id", "cluster_id", "kept", "kept_id", *_SCORE_NAMES).schema.insert(5, _ERROR)
)


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that could not be used: its position, the reason, and its beginning. A line of quarantine.jsonl."""

    file: str
    record: str  # "line 17", "row 3", "message 4", "byte 1024"
    reason: str
    excerpt: str = ""


REJECTS = pa.schema([(field.name, _TEXT) for field in fields(Reject)])
