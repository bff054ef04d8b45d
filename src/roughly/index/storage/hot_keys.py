"""Keys that many contents share, packed: one row for some hundred of them, with what rules most of them out.

A key of a page that was copied ten thousand times, or of boilerplate that stands in as many, is read for every document
that has it. As rows of `keys` that takes half a microsecond each, and a lookup each for sizes and bitmaps. So members
of such a key are also kept in blocks (`crowds`), in the order in which they came, as

| bytes | what |
|---|---|
| 8 | member (see `schema`) |
| 4, 4 | tokens; distinct values of the set it is judged on |
| 32 | its bitmap of 1,024 bits, folded to 256: bit b is the sum of the bits b, b + 256, b + 512 and b + 768 |

A folded bitmap is the bitmap of the same set with B = 256 (`kernels.bitmaps`), so it rules out for certain too.

Blocks repeat what stands in `keys` and `contents`. Numbers of contents only rise, so the members of a key are those of
its blocks and the rows of `keys` behind the last of them: a key gets a new block when 128 such rows have gathered, and
nothing has to be moved. What is taken out leaves its block in the same transaction.

An index of an earlier version has no such table, and that version does not know it. So `meta` says for how many
removals the blocks are right (`crowds`); where that is not the number of removals, they are not looked at, and the next
writer begins them anew.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, delete, select, update

from roughly.index.storage.bodies import MARK_WORDS, unpack_marks
from roughly.index.storage.schema import CONTENTS, CROWDS, META
from roughly.index.storage.store import IndexStore
from roughly.index.storage.stored_keys import find_after

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

LEAST = 128
"""Members that are worth a block; one has at most twice as many."""
FOLDED = 4
ENTRY = np.dtype([("member", "<i8"), ("tokens", "<i4"), ("size", "<i4"), ("map", "<u8", (FOLDED,))])
_TRUSTED = (
    "SELECT count(*) FROM meta AS packed JOIN meta AS now ON packed.value = now.value "
    "WHERE packed.name = 'crowds' AND now.name = 'removals'"
)


def trusted(store: IndexStore, connection: Connection) -> bool:
    """Whether there are blocks, and they are right."""
    return bool(store.value(connection, _TRUSTED))


def read(store: IndexStore, connection: Connection, keys: Ints) -> tuple[Ints, npt.NDArray[np.void]]:
    """(keys, entries) of the blocks of these keys, sorted by both."""
    rows = store.fetch(connection, (CROWDS.c.key, CROWDS.c.last, CROWDS.c.body), CROWDS.c.key, keys)
    rows.sort(key=lambda row: (row[0], row[1]))
    entries = np.frombuffer(b"".join(bytes(row[2]) for row in rows), ENTRY)
    counts = [len(row[2]) // ENTRY.itemsize for row in rows]
    return np.repeat(np.array([row[0] for row in rows], np.int64), counts), entries


def pack(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> int:
    """Put members that stand behind the blocks of their keys, sorted by both, into blocks; how many were made."""
    if not len(keys):
        return 0
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    sizes = np.diff(np.r_[first, len(keys)])
    many = sizes >= LEAST
    if not many.any():
        return 0
    if not trusted(store, connection):
        _begin(store, connection)
    use = np.repeat(many, sizes)
    entries = _entries(store, connection, members[use])
    ends = np.cumsum(sizes[many])
    rows = []
    for key, size, end in zip(keys[first[many]].tolist(), sizes[many].tolist(), ends.tolist(), strict=True):
        for block in np.array_split(entries[end - size : end], -(-size // (2 * LEAST))):
            rows.append((key, int(block["member"][-1]), block.tobytes()))
    store.insert(connection, "crowds", ("key", "last", "body"), rows)
    return len(rows)


def _begin(store: IndexStore, connection: Connection) -> None:
    CROWDS.create(connection, checkfirst=True)
    connection.execute(delete(CROWDS))
    connection.execute(delete(META).where(META.c.name == "crowds"))
    removals = connection.execute(select(META.c.value).where(META.c.name == "removals")).scalar_one()
    store.insert(connection, "meta", ("name", "value"), [("crowds", removals)])


def _entries(store: IndexStore, connection: Connection, members: Ints) -> npt.NDArray[np.void]:
    contents, place = np.unique(members >> 1, return_inverse=True)
    columns = (CONTENTS.c.content, CONTENTS.c.tokens, CONTENTS.c.size, CONTENTS.c.marks)
    rows = store.fetch(connection, columns, CONTENTS.c.content, contents)
    rows.sort(key=lambda row: row[0])
    known = np.zeros(len(contents), ENTRY)
    known["tokens"], known["size"] = [row[1] for row in rows], [row[2] for row in rows]
    if rows and rows[0][3] is not None:
        known["map"] = folded(unpack_marks([bytes(row[3]) for row in rows]))
    entries = known[place]
    entries["member"] = members
    return entries


def folded(marks: Hashes) -> Hashes:
    """Bitmaps of 256 bits from those of 1,024."""
    small: Hashes = np.bitwise_xor.reduce(marks.reshape(-1, MARK_WORDS // FOLDED, FOLDED), axis=1)
    return small


def drop(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> None:
    """Take members out of the blocks of their keys, where these are right."""
    asked = np.unique(keys)
    rows = store.fetch(connection, (CROWDS.c.key, CROWDS.c.last, CROWDS.c.body), CROWDS.c.key, asked)
    order = np.lexsort((members, keys))
    keys, members = keys[order], members[order]
    for key, last, body in rows:
        block = np.frombuffer(bytes(body), ENTRY)
        gone = members[np.searchsorted(keys, key, "left") : np.searchsorted(keys, key, "right")]
        rest = block[~np.isin(block["member"], gone)]
        if len(rest) == len(block):
            continue
        this = delete(CROWDS).where(CROWDS.c.key == key, CROWDS.c.last == last)
        connection.execute(this)
        if len(rest):
            store.insert(connection, "crowds", ("key", "last", "body"), [(key, last, rest.tobytes())])


def now_right(connection: Connection, removals: int) -> None:
    """The blocks are right for so many removals."""
    connection.execute(update(META).where(META.c.name == "crowds").values(value=str(removals)))


def forget(connection: Connection) -> None:
    """The keys are others now: what the blocks say is wrong."""
    connection.execute(delete(META).where(META.c.name == "crowds"))


def problems(store: IndexStore, connection: Connection) -> list[str]:
    """Blocks that are not what `keys` and `contents` say."""
    if not trusted(store, connection):
        return []
    found = connection.execute(select(CROWDS.c.key).distinct().order_by(CROWDS.c.key)).scalars().all()
    wrong = 0
    for key in found:
        keys, entries = read(store, connection, np.array([key], np.int64))
        stored = find_after(store, connection, keys[:1], np.array([-1], np.int64))[:, 1]
        expected = stored[stored <= entries["member"][-1]]
        same = np.array_equal(expected, entries["member"])
        wrong += not (same and entries.tobytes() == _entries(store, connection, expected).tobytes())
    return [f"{wrong:,} keys that many contents share are packed wrongly"] if wrong else []
