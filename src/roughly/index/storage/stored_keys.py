"""The keys of an index: put in, found, taken out.

Keys are hashes, so those of any few documents lie all over the table. In a file of a million documents, every
transaction that adds some thousand would write nearly every page of it anew. So on SQLite new keys go into a small
table, `recent`, and move on to `keys` a stretch at a time: each transaction moves all recent keys between where the
last one stopped (`settled`, in `meta`) and a bit further. A bit is eight times the share that its documents are of all,
so the small table holds about a sixteenth of the keys, no transaction ever has to move them all, and adding few
documents moves few keys. Whoever looks for a key looks in both tables.

PostgreSQL writes pages back when it sees fit, and gets its keys straight into `keys`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import Connection, Table, delete, func, literal, literal_column, select, tuple_

from roughly.index.storage.schema import CONTENTS, KEYS, META, RECENT
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]

SPEED = 8
"""How many times faster than the collection grows the stretches go round."""
_SETTLED = "settled"
_ASKS = {table.name: table.c.member.op("&")(literal_column("1")) == literal_column("1") for table in (KEYS, RECENT)}
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_ROWS = 200_000
_PACKED = np.dtype([("fields", ">i2"), ("n1", ">i4"), ("key", ">i8"), ("n2", ">i4"), ("member", ">i8")])
_COPY_HEAD = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_COPY_TAIL = b"\xff\xff"


def tables(store: IndexStore) -> tuple[Table, ...]:
    """Where the keys are."""
    return (KEYS,) if store.postgres else (KEYS, RECENT)


def put(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> None:
    """Put the keys of new contents in."""
    if not len(keys):
        return
    share = 1.0 if store.postgres else SPEED * _share(connection, members)
    insert(store, connection, RECENT.name if share < 1 else KEYS.name, keys, members)
    if not store.postgres:
        _settle(connection, share)


def _share(connection: Connection, members: Ints) -> float:
    """How much these are of all contents, by their numbers: what expires leaves at the low end."""
    # two questions: SQLite walks the whole table when both ends are asked for in one
    first, last = (connection.execute(select(end(CONTENTS.c.content))).scalar_one() for end in (func.min, func.max))
    return len(np.unique(members >> 1)) / int(last - first + 1)


def _settle(connection: Connection, share: float) -> None:
    """Move the recent keys of the next stretch on; all where it goes round once."""
    found = connection.execute(select(META.c.value).where(META.c.name == _SETTLED)).scalar()
    start = _LOWEST if found is None or share >= 1 else int(found)
    stop = _HIGHEST if share >= 1 else min(start + int(share * 2**64), _HIGHEST)
    stretch = RECENT.c.key.between(start, stop)
    moved = select(RECENT.c.key, RECENT.c.member).where(stretch).order_by(RECENT.c.key, RECENT.c.member)
    connection.execute(KEYS.insert().from_select(["key", "member"], moved))
    connection.execute(delete(RECENT).where(stretch))
    connection.execute(delete(META).where(META.c.name == _SETTLED))
    following = _LOWEST if stop == _HIGHEST else stop + 1
    connection.execute(META.insert().values(name=_SETTLED, value=str(following)))


def insert(store: IndexStore, connection: Connection, table: str, keys: Ints, members: Ints) -> None:
    """Put keys into one table, in order."""
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
    """Take keys out."""
    order = np.lexsort((members, keys))
    rows = list(zip(keys[order].tolist(), members[order].tolist(), strict=True))
    mark = "%s" if store.postgres else "?"
    with store.cursor(connection) as cursor:
        for table in tables(store):
            cursor.executemany(f"DELETE FROM {table.name} WHERE key = {mark} AND member = {mark}", rows)


def find(store: IndexStore, connection: Connection, keys: Ints, *, asking: bool = False) -> Ints:
    """Rows (key, member) of these keys; with `asking` of those members only that ask."""
    found = []
    for table in tables(store):
        columns = (table.c.key, table.c.member)
        asks = (_ASKS[table.name],) if asking else ()
        found.append(store.numbers(connection, columns, table.c.key, keys, *asks))
    return np.concatenate(found)


def find_after(store: IndexStore, connection: Connection, keys: Ints, after: Ints) -> Ints:
    """Rows (key, member) of `keys` whose member is above that of `after` for the key, sorted by both."""
    if store.postgres:
        listed = "unnest(%s::bigint[], %s::bigint[]) AS asked (key, after)"
        values: tuple[Any, ...] = (keys.tolist(), after.tolist())
        key, member = "asked.key", "asked.after"
    else:
        listed = "json_each(?) AS asked"
        values = (orjson.dumps(np.column_stack((keys, after)).tolist()).decode(),)
        key, member = "json_extract(asked.value, '$[0]')", "json_extract(asked.value, '$[1]')"
    rows: list[Any] = []
    with store.cursor(connection) as cursor:
        for table in tables(store):
            # SQLite takes the tables of a CROSS JOIN in this order
            cursor.execute(
                f"SELECT k.key, k.member FROM {listed} CROSS JOIN {table.name} k "
                f"WHERE k.key = {key} AND k.member > {member}",
                values,
            )
            rows += cursor.fetchall()
    found = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows)).reshape(-1, 2)
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def count(store: IndexStore, connection: Connection) -> int:
    """How many there are."""
    return sum(int(connection.execute(select(func.count()).select_from(table)).scalar_one()) for table in tables(store))


def walk(store: IndexStore, connection: Connection) -> Iterator[tuple[Ints, Ints]]:
    """All of them, some hundred thousand (keys, members) at a time."""
    for table in tables(store):
        columns = table.c.key, table.c.member
        last = (_LOWEST, -1)
        while True:
            behind = tuple_(*columns) > tuple_(literal(last[0]), literal(last[1]))
            rows = connection.execute(select(*columns).where(behind).order_by(*columns).limit(_ROWS)).all()
            if not rows:
                break
            last = (rows[-1][0], rows[-1][1])
            keys, members = (np.fromiter((row[i] for row in rows), np.int64, len(rows)) for i in (0, 1))
            yield keys, members
