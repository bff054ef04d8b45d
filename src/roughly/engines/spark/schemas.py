"""What flows between the stages on a cluster, as Arrow and as Spark has it.

Spark has no unsigned numbers: hashes and keys travel as the signed numbers of the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

DOCUMENT, REJECT, COUNTS = 0, 1, 2

# One row a document, a rejected record, or what the method counted in a chunk (both in `note`, as JSON).
SIGNED = pa.schema(
    [
        pa.field("what", pa.int8()),
        pa.field("part", pa.int32()),
        pa.field("chunk", pa.int32()),
        pa.field("row", pa.int64()),
        pa.field("doc", pa.int64()),  # part and row in one number, in reading order
        pa.field("doc_id", pa.string()),
        pa.field("url", pa.string()),
        pa.field("source", pa.string()),
        pa.field("when_published", pa.int64()),
        pa.field("day", pa.int32()),
        pa.field("bytes", pa.int64()),
        pa.field("tokens", pa.int64()),
        pa.field("raw_hi", pa.int64()),
        pa.field("raw_lo", pa.int64()),
        pa.field("lex_hi", pa.int64()),
        pa.field("lex_lo", pa.int64()),
        pa.field("keys", pa.list_(pa.int64())),
        pa.field("asks", pa.list_(pa.bool_())),  # null: all of them ask
        pa.field("sketch", pa.binary()),
        pa.field("limit", pa.int64()),
        pa.field("note", pa.string()),
    ]
)
ROW_BITS = 40
"""A document's number is its part above, its row below: a part has a thousand billion rows at most."""

# What a worker needs to resolve its share of the candidates: documents (band −1), then who stands in which bucket.
SHARE = pa.schema(
    [
        pa.field("root", pa.int64()),
        pa.field("band", pa.int32()),
        pa.field("key", pa.int64()),
        pa.field("rank", pa.int64()),
        pa.field("asks", pa.bool_()),
        pa.field("tokens", pa.int64()),
        pa.field("day", pa.int32()),
        pa.field("limit", pa.int64()),
        pa.field("content", pa.binary()),  # tokens, or the values of the sketch
    ]
)

# What a worker found: rows of several tables in one.
DECIDED = pa.schema(
    [
        pa.field("table", pa.string()),  # links, decided, clustered, near, counts
        pa.field("left_rank", pa.int64()),
        pa.field("right_rank", pa.int64()),
        pa.field("resemblance", pa.float64()),
        pa.field("containment", pa.float64()),
        pa.field("contained_in", pa.float64()),
        pa.field("kind", pa.string()),
        pa.field("compared", pa.int64()),
        pa.field("crowded", pa.int64()),
    ]
)


def to_spark(schema: pa.Schema) -> Any:
    """The schema as Spark has it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def signed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The same bits."""
    return np.ascontiguousarray(values).view(np.int64)


def unsigned(values: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The same bits."""
    return np.ascontiguousarray(values).view(np.uint64)


def filled(schema: pa.Schema, count: int, **columns: Any) -> pa.RecordBatch:
    """A batch with these columns; the others are null."""
    arrays = []
    for field in schema:
        values = columns.get(field.name)
        if values is None:
            arrays.append(pa.nulls(count, field.type))
        else:
            arrays.append(values.cast(field.type) if isinstance(values, pa.Array) else pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
