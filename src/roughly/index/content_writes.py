"""Contents added to an index and removed from it, with their bodies, signatures, keys and searchable words.

`storage` has the rows; here it is decided what is stored of a text, and the search index is kept consistent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection

from roughly.cluster.scoring import slice_of, tokens_of
from roughly.index.index_config import IndexConfig
from roughly.index.matching.content_sets import body_sets, content_keys, judged_sets
from roughly.index.matching.packed_keys import members_of, pack_keys
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.search import search_index
from roughly.index.storage import contents as stored_contents
from roughly.index.storage import stored_keys
from roughly.index.storage.bodies import marks_of, pack_sets, pack_texts
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
_STEP = 1_000


def put_contents(
    store: IndexStore,
    connection: Connection,
    config: IndexConfig,
    signed: SignedBatch,
    rows: Ints,
    numbers: Ints,
    *,
    keys: bool = True,
) -> None:
    """Store the texts of the documents at these rows as contents with these numbers, each in a cluster of its own."""
    sets = None
    if config.marked or (config.judge.on == "text" and not config.method.equality):
        sets = judged_sets(config, signed, rows)
    sizes = np.diff(sets.offsets) if sets is not None else np.zeros(len(rows), np.int64)
    marks: Sequence[bytes | None] = marks_of(sets) if config.marked and sets is not None else [None] * len(rows)
    facts = (numbers, signed.hi[rows], signed.lo[rows], signed.lengths[rows], sizes)
    stored_contents.insert_contents(
        store, connection, zip(*(column.tolist() for column in facts), marks, strict=True)
    )  # fmt: skip
    _put_bodies(store, connection, config, signed, rows, numbers)
    put_signs(store, connection, config, signed, rows, numbers, "signs")
    if keys:
        stored_keys.add(store, connection, *members_of(signed.keys, rows, numbers))


def _put_bodies(
    store: IndexStore, connection: Connection, config: IndexConfig, signed: SignedBatch, rows: Ints, numbers: Ints
) -> None:
    """Store what contents are compared on, and the words of their texts."""
    contents = numbers.tolist()
    if config.store == "text":
        texts = signed.text.take(pa.array(rows))
        packed = pack_texts(texts)
        search_index.add_texts(store, connection, contents, texts.to_pylist)
    elif config.store == "shingles" or config.judge.on == "text":
        packed = pack_sets(body_sets(config, tokens_of(signed.tokens, rows)))
    else:
        return
    store.insert(connection, "bodies", ("content", "body"), list(zip(contents, packed, strict=True)))


def put_signs(
    store: IndexStore,
    connection: Connection,
    config: IndexConfig,
    signed: SignedBatch,
    rows: Ints,
    numbers: Ints,
    table: str,
) -> None:
    """Store the method's sketches, and the keys where no text is stored to make them from again."""
    if signed.sketch is None and config.store == "text":
        return
    nothing = [None] * len(rows)
    sketches = nothing if signed.sketch is None else _pack(config, signed, rows)
    packed = nothing if config.store == "text" or config.packed is not None else pack_keys(signed.keys, rows)
    signs = list(zip(numbers.tolist(), sketches, packed, strict=True))
    store.insert(connection, table, ("content", "sketch", "packed"), signs)


def _pack(config: IndexConfig, signed: SignedBatch, rows: Ints) -> list[bytes]:
    """The method's sketches as bytes; where they are packed, with length and day of the document."""
    assert signed.sketch is not None
    sketch = slice_of(signed.sketch, rows)
    if config.packed is None:
        return pack_sets(sketch)
    days = signed.days
    return config.packed.pack(sketch, signed.lengths[rows].tolist(), [days[row] for row in rows.tolist()])


def _drop_keys_and_words(store: IndexStore, connection: Connection, config: IndexConfig, contents: Ints) -> None:
    """Delete the keys and the searchable words of live contents: from now on nothing matches them."""
    if not len(contents):
        return
    for at in range(0, len(contents), _STEP):
        some = contents[at : at + _STEP]
        keys = content_keys(store, connection, config, some)
        stored_contents.drop_keys(store, connection, keys.keys, 2 * some[keys.owners] + keys.is_probe)
    stored_contents.count_removals(store, connection, len(contents))
    search_index.drop_texts(store, connection, contents)


def drop_orphans(store: IndexStore, connection: Connection, config: IndexConfig, contents: Ints) -> None:
    """Delete those of these contents that belong to no document; a revoked content keeps its row."""
    orphans = stored_contents.find_orphans(store, connection, contents) if len(contents) else contents
    _drop_keys_and_words(store, connection, config, orphans)
    stored_contents.delete_contents(store, connection, orphans)


def revoke_contents(store: IndexStore, connection: Connection, config: IndexConfig, contents: Ints) -> None:
    """Mark contents so that they never match again; nothing else of them is kept."""
    live = np.array(sorted(stored_contents.live_lengths(store, connection, contents)), np.int64)
    _drop_keys_and_words(store, connection, config, live)
    stored_contents.mark_revoked(store, connection, live)
