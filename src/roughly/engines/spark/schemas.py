"""The tables between the stages on a cluster, as Arrow and as Spark schemas.

Spark has no unsigned numbers: hashes and keys are sent as signed numbers of the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.model import FACTS, Column, decision_schemas

DOCUMENT, REJECT, COUNTS = 0, 1, 2


def signed_type(kind: pa.DataType) -> pa.DataType:
    """Spark's type of the same bits."""
    return {pa.uint32(): pa.int32(), pa.uint64(): pa.int64()}.get(kind, kind)


def _spark_fields(schema: pa.Schema) -> list[pa.Field]:
    return [pa.field(field.name, signed_type(field.type)) for field in schema]


# One row per document (its facts, keys and sketch), per rejected record, and per chunk for what the method counted
# (both in `note`, as JSON).
SIGNED = pa.schema(
    [
        pa.field("what", pa.int8()),
        pa.field("chunk", pa.int32()),
        pa.field("doc", pa.int64()),  # part and row in one number, in reading order
        *_spark_fields(FACTS),
        pa.field("day", pa.int32()),
        pa.field("keys", pa.list_(pa.int64())),
        pa.field("probes", pa.list_(pa.bool_())),  # null: all of them are probes
        pa.field("sketch", pa.binary()),
        pa.field("limit", pa.int64()),
        pa.field("note", pa.string()),
    ]
)
NO_FACTS = ("what", "keys", "probes", "sketch", "limit", "note")
"""Columns of SIGNED that are not facts of a document."""
ROW_BITS = 40
"""A document's number is its part in the high bits and its row in the low bits: a part has 2^40 rows at most."""

# What a worker needs to resolve its share of the candidates: documents (band −1), then the members of buckets.
SHARE = pa.schema(
    [
        pa.field("root", pa.int64()),
        pa.field("band", pa.int32()),
        pa.field("key", pa.int64()),
        pa.field("rank", pa.int64()),
        pa.field("probes", pa.bool_()),
        pa.field("tokens", pa.int64()),
        pa.field("day", pa.int32()),
        pa.field("limit", pa.int64()),
        pa.field("content", pa.binary()),  # tokens, or the values of the sketch
        pa.field("fields", pa.binary()),  # what else a verdict compares (`Fields.packed`); null: nothing
    ]
)

# Candidates that were read again.
FETCHED = pa.schema([SHARE.field(name) for name in ("rank", "root", "tokens", "day", "content", "fields")])


def decided_rows(reasons: Sequence[Column]) -> pa.Schema:
    """What the workers found: rows of all tables of `model.decision_schemas` in one, and counts."""
    links = decision_schemas(reasons)["links"]
    return pa.schema(
        [
            pa.field("table", pa.string()),  # the name of the table, or counts
            pa.field("left_rank", pa.int64()),
            pa.field("right_rank", pa.int64()),
            *_spark_fields(pa.schema([field for field in links if not field.name.endswith("_rank")])),
            pa.field("compared", pa.int64()),
            pa.field("hot", pa.int64()),
            pa.field("equivalent", pa.int64()),
        ]
    )


def to_spark(schema: pa.Schema) -> Any:
    """The schema in Spark's types."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(pa.schema(_spark_fields(schema)))


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
