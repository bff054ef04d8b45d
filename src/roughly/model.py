"""What flows between the stages: the Arrow schema at every boundary, written once, here.

Stages never import each other sideways; they meet in these schemas. Inside a stage, kernels see numpy
views of the buffers. Names are the same in Python, SQL, Parquet, JSON and on the command line.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

# sources → text. One row a document. `row` numbers the records of one part (a file, a folder, a table)
# from 0 in reading order; rejected records use up their number, so `row` finds the record again.
DOCUMENTS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("markup", pa.bool_(), nullable=False),  # the text is HTML and is to be stripped
        pa.field("title", pa.string()),
        pa.field("url", pa.string()),
        pa.field("date", pa.string()),  # as found
        pa.field("source", pa.string()),
    ]
)

# methods → engine. Sharing a key makes two documents candidates. `doc` is the number of the document
# in reading order over all parts; it never leaves the run.
KEYS = pa.schema(
    [
        pa.field("doc", pa.uint32(), nullable=False),
        pa.field("key", pa.uint64(), nullable=False),
    ]
)

# documents.parquet: every input document, sorted by doc_id.
VERDICTS = pa.schema(
    [
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("cluster_id", pa.string(), nullable=False),  # the best document of the cluster
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("kept_id", pa.string(), nullable=False),  # the witness; itself where kept
        pa.field("resemblance", pa.float64()),  # with kept_id; null where documents were judged by keys in common
        pa.field("containment", pa.float64()),  # share of this document that kept_id holds
        pa.field("contained_in", pa.float64()),  # share of kept_id that this document holds
        pa.field("kind", pa.string()),  # null where kept
    ]
)

# pairs.parquet: verified evidence, sorted by (left_id, right_id). `left` ranks below `right`: where one
# of the two was removed because of the other, `left` was removed and `witness` is true.
PAIRS = pa.schema(
    [
        pa.field("left_id", pa.string(), nullable=False),
        pa.field("right_id", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64()),
        pa.field("containment", pa.float64()),  # share of left that right holds
        pa.field("contained_in", pa.float64()),  # share of right that left holds
        pa.field("kind", pa.string()),
        pa.field("witness", pa.bool_(), nullable=False),
    ]
)

# clusters.parquet: clusters of two documents or more, sorted by cluster_id.
CLUSTERS = pa.schema(
    [
        pa.field("cluster_id", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("kept", pa.int64(), nullable=False),  # how many of them stay; 1 with `star`
        pa.field("min_resemblance", pa.float64()),  # of the removed with their witnesses
        pa.field("mean_resemblance", pa.float64()),
        pa.field("sources", pa.int64(), nullable=False),  # distinct sources among the members
        pa.field("removed_bytes", pa.int64(), nullable=False),  # UTF-8 bytes of text that go
    ]
)

# known.parquet: what is known of every input document beside the verdict, sorted by doc_id.
KNOWN = pa.schema(
    [
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("part", pa.uint32(), nullable=False),  # which of the inputs it stands in
        pa.field("row", pa.int64(), nullable=False),  # and where in it
        pa.field("bytes", pa.int64(), nullable=False),  # of its text in UTF-8, as read
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("equal_to", pa.string()),  # the best document that it is equal to, as the method collapses them
        pa.field("title", pa.string()),
        pa.field("url", pa.string()),
        pa.field("date", pa.string()),
        pa.field("source", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that could not be used: where it stands, why, and the beginning of it."""

    file: str
    record: str  # "line 17", "row 3", "message 4", "byte 1024"
    reason: str
    excerpt: str = ""
