"""Ids of records that have none, for an index: from the content, or from a prefix and their place.

Reading numbers such records by file and line. In an index the next file of that name would replace them, so there they
are named by their content, as `roughly match` names them; or by `PREFIX` and the place.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.sources.collector import identify, numbered
from roughly.sources.part import COLUMN, IdOrigin, Part

_TABLES = ("jsonl", "parquet", "csv")


def with_own_ids(part: Part, batch: pa.RecordBatch, prefix: str | None = None) -> pa.RecordBatch:
    """The batch with other ids for documents that were numbered."""
    ids = batch.column("doc_id")
    places = numbered(part.kept_name, batch.column("row").to_numpy())
    if part.format in _TABLES:
        is_numbered = np.full(batch.num_rows, getattr(part, "ids_from", IdOrigin()).kind != COLUMN)
    else:
        is_numbered = pc.equal(ids, places.cast(ids.type)).to_numpy(zero_copy_only=False)
    if not is_numbered.any():
        return batch
    if prefix is not None:
        made = [prefix + place for place in places.to_pylist()]
    else:
        texts = batch.column("text").to_pylist()
        made = [identify(text) if new else "" for text, new in zip(texts, is_numbered, strict=True)]
    named = pc.if_else(pa.array(is_numbered), pa.array(made, ids.type), ids)
    return batch.set_column(batch.schema.get_field_index("doc_id"), batch.schema.field("doc_id"), named)
