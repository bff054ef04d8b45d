"""Documents of an index as a Parquet file: for other programs, for `roughly dedupe`, or for another index.

Documents that the method treats as equal all get the one text that is stored for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection

from roughly.index.index_config import IndexConfig
from roughly.index.storage.bodies import text_bytes, unpack_texts
from roughly.index.storage.contents import read_bodies
from roughly.index.storage.document_rows import select_documents
from roughly.index.storage.schema import DOCUMENTS, REVOKED
from roughly.index.storage.store import IndexStore
from roughly.lexicon.lexicon_writer import room
from roughly.signing.signature_file import check_output
from roughly.sources.streams import replacing

_BLOCK = 5_000
_BYTES = 256 << 20
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
            for table in _tables(store, connection, config, rows):
                writer.write_table(table)
            count += len(rows)


def _tables(store: IndexStore, connection: Connection, config: IndexConfig, rows: Sequence[Any]) -> Iterator[pa.Table]:
    """The rows with their texts, as many at once as have `_BYTES` of text; more only if one document has."""
    bodies: dict[int, bytes] = {}
    if config.store == "text":
        live = np.unique(np.array([row.content for row in rows if row.state != REVOKED], np.int64))
        bodies = dict(zip(live.tolist(), read_bodies(store, connection, live), strict=True))
    some: list[Any] = []
    size = 0
    for row in rows:
        more = text_bytes(bodies[row.content]) if row.content in bodies else 0
        if some and size + more > _BYTES:
            yield _table(some, bodies)
            some, size = [], 0
        some.append(row)
        size += more
    yield _table(some, bodies)


def _table(rows: Sequence[Any], bodies: Mapping[int, bytes]) -> pa.Table:
    places = {content: place for place, content in enumerate({row.content for row in rows} & bodies.keys())}
    texts = unpack_texts([bodies[content] for content in places])
    columns = {
        "doc_id": [row.doc_id for row in rows],
        "cluster_id": [row.cluster for row in rows],
        "state": ["revoked" if row.state == REVOKED else "live" for row in rows],
        **{
            name: [getattr(row, name) for row in rows] for name in ("tokens", "added", "title", "url", "date", "source")
        },
    }
    arrays = {f.name: pa.array(columns[f.name], f.type) for f in SCHEMA if f.name in columns}
    arrays["text"] = texts.take(pa.array([places.get(row.content) for row in rows], pa.int64()))
    return pa.table(arrays, schema=SCHEMA)
