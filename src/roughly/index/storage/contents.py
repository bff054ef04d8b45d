"""Rows of contents: found by digest, inserted, revoked and deleted, and the bytes stored for them.

Nothing here makes or interprets what is stored: keys arrive as numbers, sets and texts as bytes (see `bodies`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, delete, func, select, update

from roughly.amounts import counted
from roughly.errors import IndexDamaged
from roughly.fast_dataclass import dataclass
from roughly.index.storage import hot_keys, stored_keys
from roughly.index.storage.bodies import REMEDY, stored_bytes
from roughly.index.storage.meta import read_number, write_meta
from roughly.index.storage.schema import BODIES, CONTENTS, DOCUMENTS, LIVE, REVOKED, SIGNS
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
_AT_ONCE = 10_000


class NothingStored(IndexDamaged):
    """Contents whose rows are missing in a table that has one for each."""


@dataclass(frozen=True)
class KnownContent:
    """A content that the index has."""

    content: int
    cluster: int
    state: int


def find_by_digest(
    store: IndexStore, connection: Connection, hi: Ints, lo: Ints
) -> dict[tuple[int, int], KnownContent]:
    """The contents that have one of these digests, by digest."""
    columns = [CONTENTS.c[name] for name in ("hi", "lo", "content", "cluster", "state")]
    wanted = set(zip(hi.tolist(), lo.tolist(), strict=True))
    rows = store.fetch(connection, columns, CONTENTS.c.hi, np.unique(hi))
    return {(row[0], row[1]): KnownContent(*row[2:]) for row in rows if (row[0], row[1]) in wanted}


def live_lengths(store: IndexStore, connection: Connection, contents: Ints) -> dict[int, int]:
    """Those of the contents that are there and not revoked, with their lengths in tokens."""
    columns = (CONTENTS.c.content, CONTENTS.c.tokens, CONTENTS.c.state)
    rows = store.fetch(connection, columns, CONTENTS.c.content, contents)
    return {row[0]: row[1] for row in rows if row[2] == LIVE}


def live_after(connection: Connection, last: int, limit: int) -> Ints:
    """The next live contents after a number, rising."""
    rows = (
        select(CONTENTS.c.content)
        .where(CONTENTS.c.content > last, CONTENTS.c.state == LIVE)
        .order_by(CONTENTS.c.content)
        .limit(limit)
    )
    return np.array(connection.scalars(rows).all(), np.int64)


def take_numbers(connection: Connection, name: str, count: int) -> int:
    """Reserve `count` new numbers, which are never reused; returns the first."""
    first = read_number(connection, name)
    if count:
        write_meta(connection, {name: first + count})
    return first


def insert_contents(store: IndexStore, connection: Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows (content, hi, lo, tokens, size, marks), each content live and in a cluster of its own."""
    columns = ("content", "hi", "lo", "tokens", "size", "marks", "cluster", "state")
    store.insert(connection, "contents", columns, [(*row, row[0], LIVE) for row in rows])


def set_clusters(connection: Connection, clusters: Iterable[tuple[int, int]]) -> None:
    """Put contents into clusters: pairs (content, cluster)."""
    rows = [{"b_content": content, "b_cluster": cluster} for content, cluster in clusters]
    if rows:
        statement = update(CONTENTS).where(CONTENTS.c.content == bindparam("b_content"))
        connection.execute(statement.values(cluster=bindparam("b_cluster")), rows)


def read_stored(store: IndexStore, connection: Connection, column: Any, contents: Ints) -> list[bytes]:
    """The bytes that a column holds for these contents, in this order."""
    key = column.table.c.content
    found = {row[0]: stored_bytes(row[1]) for row in store.fetch(connection, (key, column), key, contents)}
    if missing := set(contents.tolist()) - found.keys():
        raise NothingStored(f"the index has nothing stored for {counted(len(missing), 'content')}; {REMEDY}")
    return [found[content] for content in contents.tolist()]


def read_bodies(store: IndexStore, connection: Connection, contents: Ints) -> list[bytes]:
    """The stored bodies of these contents, in this order."""
    return read_stored(store, connection, BODIES.c.body, contents)


def drop_keys(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> None:
    """Delete keys of contents, in the table and in the blocks of hot keys."""
    stored_keys.drop(store, connection, keys, members)
    if hot_keys.trusted(store, connection):
        hot_keys.drop(store, connection, keys, members)


def count_removals(store: IndexStore, connection: Connection, count: int) -> None:
    """Note that the keys of `count` more contents were dropped; blocks of hot keys that were right remain so."""
    removals = read_number(connection, "removals") + count
    blocks_are_right = hot_keys.trusted(store, connection)
    write_meta(connection, {"removals": removals})
    if blocks_are_right:
        hot_keys.trust_at(connection, removals)


def find_orphans(store: IndexStore, connection: Connection, contents: Ints) -> Ints:
    """Those of these contents that are live and belong to no document."""
    used = {row[0] for row in store.fetch(connection, (DOCUMENTS.c.content,), DOCUMENTS.c.content, contents)}
    return np.array(sorted(live_lengths(store, connection, contents).keys() - used), np.int64)


def delete_contents(store: IndexStore, connection: Connection, contents: Ints) -> None:
    """Delete contents with their bodies and signatures; their keys must be dropped before."""
    _delete_rows(store, connection, contents, (CONTENTS, BODIES, SIGNS))


def mark_revoked(store: IndexStore, connection: Connection, contents: Ints) -> None:
    """Keep of these contents only the row that says that they are revoked; their keys must be dropped before."""
    for at in range(0, len(contents), _AT_ONCE):
        some = store.among(CONTENTS.c.content, contents[at : at + _AT_ONCE])
        connection.execute(update(CONTENTS).where(some).values(state=REVOKED, marks=None))
    _delete_rows(store, connection, contents, (BODIES, SIGNS))


def _delete_rows(store: IndexStore, connection: Connection, contents: Ints, tables: Iterable[Any]) -> None:
    for at in range(0, len(contents), _AT_ONCE):
        some = contents[at : at + _AT_ONCE]
        for table in tables:
            connection.execute(delete(table).where(store.among(table.c.content, some)))


def count_rows(connection: Connection, table: Any) -> int:
    """The number of rows of a table."""
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())
