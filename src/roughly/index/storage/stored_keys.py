"""The keys of contents: added, found and dropped.

Keys are hashes, so the keys of any few documents are spread over the whole table. In a file of a million documents,
every transaction that adds a few thousand would rewrite nearly every page. On SQLite, new keys therefore go into a
small table, `recent`, and move on to `keys` one range at a time: each transaction moves all recent keys between the
point where the last one stopped (`settled`, in `meta`) and a point further on. The length of the range, as a fraction
of all possible keys, is eight times the fraction that the new documents are of all documents. So the small table holds
about a sixteenth of the keys, no transaction has to move them all, and adding few documents moves few keys. Whoever
looks for a key looks in both tables.

PostgreSQL decides itself when it writes pages, so its keys go straight into `keys`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import Connection, Table, delete, func, literal, literal_column, select, tuple_

from roughly.index.storage.meta import read_meta, write_meta
from roughly.index.storage.schema import CONTENTS, KEYS, RECENT
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]

SPEED = 8
"""How many times faster than the collection grows the ranges pass over all keys."""
_NEXT_RANGE = "settled"
_IS_PROBE = {table.name: table.c.member.op("&")(literal_column("1")) == literal_column("1") for table in (KEYS, RECENT)}
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_ROWS = 200_000
_PACKED = np.dtype([("fields", ">i2"), ("n1", ">i4"), ("key", ">i8"), ("n2", ">i4"), ("member", ">i8")])
_COPY_HEAD = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_COPY_TAIL = b"\xff\xff"


def tables(store: IndexStore) -> tuple[Table, ...]:
    """The tables that hold keys."""
    return (KEYS,) if store.postgres else (KEYS, RECENT)


def add(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> None:
    """Add the keys of new contents."""
    if not len(keys):
        return
    share = 1.0 if store.postgres else SPEED * _share(connection, members)
    insert(store, connection, RECENT.name if share < 1 else KEYS.name, keys, members)
    if not store.postgres:
        _move_recent(connection, share)


def _share(connection: Connection, members: Ints) -> float:
    """The fraction that these are of all contents, by their numbers: contents that expire have the lowest ones."""
    # two statements: SQLite scans the whole table when one asks for both ends
    first, last = (connection.execute(select(end(CONTENTS.c.content))).scalar_one() for end in (func.min, func.max))
    return len(np.unique(members >> 1)) / int(last - first + 1)


def _move_recent(connection: Connection, share: float) -> None:
    """Move the recent keys of the next range to `keys`; all of them where the range covers every key."""
    found = read_meta(connection, _NEXT_RANGE)
    start = _LOWEST if found is None or share >= 1 else int(found)
    stop = _HIGHEST if share >= 1 else min(start + int(share * 2**64), _HIGHEST)
    in_range = RECENT.c.key.between(start, stop)
    moved = select(RECENT.c.key, RECENT.c.member).where(in_range).order_by(RECENT.c.key, RECENT.c.member)
    connection.execute(KEYS.insert().from_select(["key", "member"], moved))
    connection.execute(delete(RECENT).where(in_range))
    write_meta(connection, {_NEXT_RANGE: _LOWEST if stop == _HIGHEST else stop + 1})


def insert(store: IndexStore, connection: Connection, table: str, keys: Ints, members: Ints) -> None:
    """Insert keys into one table, in order."""
    order = np.lexsort((members, keys))
    keys, members = keys[order], members[order]
    if not store.postgres:
        store.insert(connection, table, ("key", "member"), zip(keys.tolist(), members.tolist(), strict=True))
        return
    packed = np.empty(len(keys), _PACKED)
    packed["fields"], packed["n1"], packed["key"], packed["n2"], packed["member"] = 2, 8, keys, 8, members
    into = f"COPY {table} (key, member) FROM STDIN (FORMAT binary)"
    with store.cursor(connection) as cursor, cursor.copy(into) as copy:
        copy.write(_COPY_HEAD)
        copy.write(packed.tobytes())
        copy.write(_COPY_TAIL)


def drop(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> None:
    """Delete keys."""
    order = np.lexsort((members, keys))
    rows = list(zip(keys[order].tolist(), members[order].tolist(), strict=True))
    mark = "%s" if store.postgres else "?"
    with store.cursor(connection) as cursor:
        for table in tables(store):
            cursor.executemany(f"DELETE FROM {table.name} WHERE key = {mark} AND member = {mark}", rows)


def find(store: IndexStore, connection: Connection, keys: Ints, *, probes_only: bool = False) -> Ints:
    """Rows (key, member) of these keys; with `probes_only`, only members that probe for the key."""
    found = []
    for table in tables(store):
        columns = (table.c.key, table.c.member)
        conditions = (_IS_PROBE[table.name],) if probes_only else ()
        found.append(store.fetch_numbers(connection, columns, table.c.key, keys, *conditions))
    return np.concatenate(found)


def find_after(store: IndexStore, connection: Connection, keys: Ints, after: Ints) -> Ints:
    """Rows (key, member) whose member is greater than `after[i]` for `keys[i]`, sorted by both."""
    if store.postgres:
        listed = "unnest(%s::bigint[], %s::bigint[]) AS wanted (key, after)"
        values: tuple[Any, ...] = (keys.tolist(), after.tolist())
        key, member = "wanted.key", "wanted.after"
    else:
        listed = "json_each(?) AS wanted"
        values = (orjson.dumps(np.column_stack((keys, after)).tolist()).decode(),)
        key, member = "json_extract(wanted.value, '$[0]')", "json_extract(wanted.value, '$[1]')"
    rows: list[Any] = []
    with store.cursor(connection) as cursor:
        for table in tables(store):
            # SQLite joins the tables of a CROSS JOIN in the order in which they are written
            cursor.execute(
                f"SELECT k.key, k.member FROM {listed} CROSS JOIN {table.name} k "
                f"WHERE k.key = {key} AND k.member > {member}",
                values,
            )
            rows += cursor.fetchall()
    found = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows)).reshape(-1, 2)
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def count(store: IndexStore, connection: Connection) -> int:
    """The number of stored keys."""
    return sum(int(connection.execute(select(func.count()).select_from(table)).scalar_one()) for table in tables(store))


def walk(store: IndexStore, connection: Connection) -> Iterator[tuple[Ints, Ints]]:
    """All stored (keys, members), up to 200,000 at a time."""
    for table in tables(store):
        columns = table.c.key, table.c.member
        last = (_LOWEST, -1)
        while True:
            after = tuple_(*columns) > tuple_(literal(last[0]), literal(last[1]))
            rows = connection.execute(select(*columns).where(after).order_by(*columns).limit(_ROWS)).all()
            if not rows:
                break
            last = (rows[-1][0], rows[-1][1])
            keys, members = (np.fromiter((row[i] for row in rows), np.int64, len(rows)) for i in (0, 1))
            yield keys, members
