"""Documents of an index as a Parquet file: for other programs, for `roughly dedupe`, or for another index.

Documents that the method treats as equal all get the one text that is stored for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection

from roughly.index.index_config import IndexConfig
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.contents import read_bodies
from roughly.index.storage.document_rows import select_documents
from roughly.index.storage.schema import DOCUMENTS, REVOKED
from roughly.index.storage.store import IndexStore
from roughly.lexicon.lexicon_writer import room
from roughly.signing.signature_file import check_output
from roughly.sources.streams import replacing

_BLOCK = 5_000
SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("cluster_id", pa.int64(), nullable=False),
        pa.field("state", pa.string(), nullable=False),
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("added", pa.int64(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("url", pa.string()),
        pa.field("date", pa.string()),
        pa.field("source", pa.string()),
        pa.field("text", pa.large_string()),  # null where texts are not stored, or were revoked
    ]
)


def export(store: IndexStore, connection: Connection, config: IndexConfig, path: Path, overwrite: bool) -> int:
    """Write every document, in the order in which they were added; returns how many."""
    check_output(path, overwrite)
    count, last = 0, 0
    with room(path), replacing(path) as target, pq.ParquetWriter(target, SCHEMA, compression="zstd") as writer:
        while True:
            following = select_documents().where(DOCUMENTS.c.document > last).order_by(DOCUMENTS.c.document)
            rows = connection.execute(following.limit(_BLOCK)).all()
            if not rows:
                return count
            last = rows[-1].document
            writer.write_table(_table(store, connection, config, rows))
            count += len(rows)


def _table(store: IndexStore, connection: Connection, config: IndexConfig, rows: Sequence[Any]) -> pa.Table:
    texts: dict[int, str] = {}
    if config.store == "text":
        live = np.unique(np.array([row.content for row in rows if row.state != REVOKED], np.int64))
        unpacked = unpack_texts(read_bodies(store, connection, live)).to_pylist()
        texts = dict(zip(live.tolist(), unpacked, strict=True))
    columns = {
        "doc_id": [row.doc_id for row in rows],
        "cluster_id": [row.cluster for row in rows],
        "state": ["revoked" if row.state == REVOKED else "live" for row in rows],
        "text": [texts.get(row.content) for row in rows],
        **{
            name: [getattr(row, name) for row in rows] for name in ("tokens", "added", "title", "url", "date", "source")
        },
    }
    return pa.table({f.name: pa.array(columns[f.name], f.type) for f in SCHEMA}, schema=SCHEMA)
