"""Texts of an index: put in, found by their digest, taken out with all that hangs on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection, delete, func, select, update

from roughly.cluster.scoring import slice_of
from roughly.index.config import IndexConfig
from roughly.index.matching import matcher as matching
from roughly.index.matching.signed_batch import KeyRows, SignedBatch, key_rows
from roughly.index.search import search as searching
from roughly.index.storage import hot_keys as crowds
from roughly.index.storage import stored_keys as keys_
from roughly.index.storage.bodies import marks_of, pack_sets, pack_texts, unpack_texts
from roughly.index.storage.schema import BODIES, CONTENTS, DOCUMENTS, LIVE, META, REVOKED, SIGNS
from roughly.index.storage.store import IndexStore
from roughly.signing.text_batch import TextBatch

Ints = npt.NDArray[np.int64]
_STEP = 1_000


@dataclass(frozen=True)
class KnownContent:
    """A text that is there."""

    content: int
    cluster: int
    state: int


def known(store: IndexStore, connection: Connection, hi: Ints, lo: Ints) -> dict[tuple[int, int], KnownContent]:
    """The texts with these digests that are there."""
    columns = [CONTENTS.c[name] for name in ("hi", "lo", "content", "cluster", "state")]
    wanted = set(zip(hi.tolist(), lo.tolist(), strict=True))
    rows = store.fetch(connection, columns, CONTENTS.c.hi, np.unique(hi))
    return {(row[0], row[1]): KnownContent(*row[2:]) for row in rows if (row[0], row[1]) in wanted}


def take_numbers(connection: Connection, name: str, count: int) -> int:
    """The first of so many new numbers, which are never given again."""
    first = int(connection.execute(select(META.c.value).where(META.c.name == name)).scalar_one())
    if count:
        connection.execute(update(META).where(META.c.name == name).values(value=str(first + count)))
    return first


def put(
    store: IndexStore,
    connection: Connection,
    bound: IndexConfig,
    signed: SignedBatch,
    rows: Ints,
    numbers: Ints,
    *,
    keys: bool = True,
) -> None:
    """Store the texts of some documents as contents of these numbers, each in a cluster of its own."""
    sets = None
    if bound.marked or (bound.judge.on == "text" and not bound.method.equality):
        sets = matching.judged_sets(bound, signed, rows)
    sizes = np.diff(sets.offsets) if sets is not None else np.zeros(len(rows), np.int64)
    marks: Sequence[bytes | None] = marks_of(sets) if bound.marked and sets is not None else [None] * len(rows)
    listed = numbers.tolist()
    columns = (signed.hi[rows], signed.lo[rows], signed.lengths[rows], sizes, numbers)
    store.insert(
        connection,
        "contents",
        ("content", "hi", "lo", "tokens", "size", "cluster", "state", "marks"),
        [
            (n, *facts, LIVE, mark)
            for n, *facts, mark in zip(listed, *(c.tolist() for c in columns), marks, strict=True)
        ],
    )
    put_bodies(store, connection, bound, signed, rows, listed)
    put_signs(store, connection, bound, signed, rows, listed, "signs")
    if keys:
        keys_.put(store, connection, *numbered(signed.keys, rows, numbers))


def put_bodies(
    store: IndexStore, connection: Connection, bound: IndexConfig, signed: SignedBatch, rows: Ints, numbers: list[int]
) -> None:
    """What the index stores of texts."""
    if bound.store == "text":
        texts = signed.text.take(pa.array(rows))
        packed = pack_texts(texts)
        searching.put_texts(store, connection, numbers, texts.to_pylist)
    elif bound.store == "shingles" or bound.judge.on == "text":
        packed = pack_sets(matching.body_sets(bound, matching.tokens_of(signed.tokens, rows)))
    else:
        return
    store.insert(connection, "bodies", ("content", "body"), list(zip(numbers, packed, strict=True)))


def put_signs(
    store: IndexStore,
    connection: Connection,
    bound: IndexConfig,
    signed: SignedBatch,
    rows: Ints,
    numbers: list[int],
    table: str,
) -> None:
    """The method's sketches, and the keys where they cannot be made again."""
    no = [None] * len(rows)
    sketches = no if signed.sketch is None else pack_sets(slice_of(signed.sketch, rows))
    keys = no if bound.store == "text" else pack_keys(signed.keys, rows)
    if signed.sketch is not None or bound.store != "text":
        store.insert(
            connection, table, ("content", "sketch", "packed"), list(zip(numbers, sketches, keys, strict=True))
        )


def numbered(keys: KeyRows, rows: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """(keys, members) of the texts of some rows, which get these numbers."""
    if not len(keys.keys):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    number_of = np.full(int(max(keys.owners.max(), rows.max())) + 1, -1, np.int64)
    number_of[rows] = numbers
    owner = number_of[keys.owners]
    use = owner >= 0
    return keys.keys[use], 2 * owner[use] + keys.asks[use]


def pack_keys(keys: KeyRows, rows: Ints) -> list[bytes]:
    """The keys of each document, and then a byte each that says whether it asks."""
    starts = np.searchsorted(keys.owners, rows, "left")
    stops = np.searchsorted(keys.owners, rows, "right")
    return [
        keys.keys[a:b].tobytes() + keys.asks[a:b].tobytes()
        for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
    ]


def unpack_keys(packed: Sequence[bytes]) -> KeyRows:
    """The keys again; their owners are numbered 0, 1, …"""
    sizes = [len(body) // 9 for body in packed]
    keys = [np.frombuffer(body, np.int64, size) for body, size in zip(packed, sizes, strict=True)]
    asks = [np.frombuffer(body, np.bool_, size, 8 * size) for body, size in zip(packed, sizes, strict=True)]
    owners = np.repeat(np.arange(len(packed)), np.array(sizes, np.int64))
    none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
    return KeyRows(owners, np.concatenate([none, *keys]), np.concatenate([no, *asks]))


def keys_of(store: IndexStore, connection: Connection, bound: IndexConfig, contents: Ints) -> KeyRows:
    """The keys of contents, made again or as they were stored; owners are numbered 0, 1, …"""
    if bound.method.equality or not len(contents):
        return unpack_keys([])
    if bound.store == "text":
        texts = TextBatch(unpack_texts(read_bodies(store, connection, contents)))
        return key_rows(texts.sign(bound.method).keys, texts.lengths > 0)
    rows = store.fetch(connection, (SIGNS.c.content, SIGNS.c.packed), SIGNS.c.content, contents)
    held = {row[0]: bytes(row[1]) for row in rows}
    return unpack_keys([held[content] for content in contents.tolist()])


def read_bodies(store: IndexStore, connection: Connection, contents: Ints) -> list[bytes]:
    """What is stored of these contents, in this order."""
    rows = store.fetch(connection, (BODIES.c.content, BODIES.c.body), BODIES.c.content, contents)
    held = {row[0]: bytes(row[1]) for row in rows}
    return [held[content] for content in contents.tolist()]


def drop_keys(store: IndexStore, connection: Connection, bound: IndexConfig, contents: Ints) -> None:
    """Take the keys of live contents away: from now on nothing matches them."""
    packed = len(contents) > 0 and crowds.trusted(store, connection)
    for at in range(0, len(contents), _STEP):
        some = contents[at : at + _STEP]
        keys = keys_of(store, connection, bound, some)
        members = 2 * some[keys.owners] + keys.asks
        keys_.drop(store, connection, keys.keys, members)
        if packed:
            crowds.drop(store, connection, keys.keys, members)
    if len(contents):
        count = int(connection.execute(select(META.c.value).where(META.c.name == "removals")).scalar_one())
        count += len(contents)
        connection.execute(update(META).where(META.c.name == "removals").values(value=str(count)))
        if packed:
            crowds.now_right(connection, count)


def drop_orphans(store: IndexStore, connection: Connection, bound: IndexConfig, contents: Ints) -> int:
    """Take away those of these contents that no document has. The mark of a revoked one stays."""
    if not len(contents):
        return 0
    used = {row[0] for row in store.fetch(connection, (DOCUMENTS.c.content,), DOCUMENTS.c.content, contents)}
    columns = (CONTENTS.c.content, CONTENTS.c.state)
    live = [row[0] for row in store.fetch(connection, columns, CONTENTS.c.content, contents) if row[1] == LIVE]
    orphans = np.array(sorted(set(live) - used), np.int64)
    drop_keys(store, connection, bound, orphans)
    searching.drop_texts(store, connection, orphans)
    for at in range(0, len(orphans), 10_000):
        some = orphans[at : at + 10_000]
        for table in (CONTENTS, BODIES, SIGNS):
            connection.execute(delete(table).where(store.among(table.c.content, some)))
    return len(orphans)


def revoke(store: IndexStore, connection: Connection, bound: IndexConfig, contents: Ints) -> None:
    """Mark contents so that they never match again; nothing else of them is kept."""
    rows = store.fetch(connection, (CONTENTS.c.content, CONTENTS.c.state), CONTENTS.c.content, contents)
    live = np.array(sorted(row[0] for row in rows if row[1] == LIVE), np.int64)
    drop_keys(store, connection, bound, live)
    searching.drop_texts(store, connection, live)
    for at in range(0, len(live), 10_000):
        some = live[at : at + 10_000]
        connection.execute(
            update(CONTENTS).where(store.among(CONTENTS.c.content, some)).values(state=REVOKED, marks=None)
        )
        for table in (BODIES, SIGNS):
            connection.execute(delete(table).where(store.among(table.c.content, some)))


def count(connection: Connection, table: object) -> int:
    """How many rows a table has."""
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())  # type: ignore[arg-type]
