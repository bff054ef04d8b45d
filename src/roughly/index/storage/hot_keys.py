"""Hot keys: keys that many contents share, packed into blocks together with what rules most of the contents out.

The key of a page that was copied ten thousand times, or of boilerplate that occurs as often, is read for every document
that has it. As rows of `keys` that takes half a microsecond per row, and one lookup each for size and bitmap. So the
members of such a key are also stored in blocks, in the order in which they were added. An entry of a block is

| bytes | what |
|---|---|
| 8 | member (see `schema`) |
| 4, 4 | tokens; distinct values of the set that the content is compared on |
| 32 | its bitmap of 1,024 bits, folded to 256: bit b is the XOR of the bits b, b + 256, b + 512 and b + 768 |

A folded bitmap is the bitmap of the same set with B = 256 (`kernels.bitmaps`), so what it rules out is certain too.

Blocks repeat rows of `keys` and `contents`. Numbers of contents only rise, so the members of a key are those of
its blocks and the rows of `keys` after the last of them. A key gets a new block when 128 such rows have gathered, and
nothing has to be moved. A content that is deleted leaves its blocks in the same transaction.

An index of an earlier version has no such table, and that version does not maintain it. So `meta` says at which number
of removals the blocks are right; where that is not the current number, they are not used, and the next writer builds
them again. In the database, table and entry are called `crowds`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, delete, select

from roughly.index.storage.bodies import MARK_WORDS, stored_bytes, unpack_marks
from roughly.index.storage.meta import delete_meta, read_number, write_meta
from roughly.index.storage.schema import CONTENTS, HOT_KEYS
from roughly.index.storage.store import IndexStore
from roughly.index.storage.stored_keys import find_after

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

BLOCK_MEMBERS = 128
"""The number of members from which a block is made; it has at most twice as many."""
FOLDED = 4
_TRUSTED_AT = "crowds"
ENTRY = np.dtype([("member", "<i8"), ("tokens", "<i4"), ("size", "<i4"), ("map", "<u8", (FOLDED,))])
_IS_TRUSTED = (
    "SELECT count(*) FROM meta AS packed JOIN meta AS now ON packed.value = now.value "
    f"WHERE packed.name = '{_TRUSTED_AT}' AND now.name = 'removals'"
)


def trusted(store: IndexStore, connection: Connection) -> bool:
    """Whether there are blocks, and they are right."""
    return bool(store.value(connection, _IS_TRUSTED))


def read(store: IndexStore, connection: Connection, keys: Ints) -> tuple[Ints, npt.NDArray[np.void]]:
    """(keys, entries) of the blocks of these keys, sorted by both."""
    rows = store.fetch(connection, (HOT_KEYS.c.key, HOT_KEYS.c.last, HOT_KEYS.c.body), HOT_KEYS.c.key, keys)
    rows.sort(key=lambda row: (row[0], row[1]))
    entries = np.frombuffer(b"".join(stored_bytes(row[2]) for row in rows), ENTRY)
    counts = [len(row[2]) // ENTRY.itemsize for row in rows]
    return np.repeat(np.array([row[0] for row in rows], np.int64), counts), entries


def pack(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> int:
    """Make blocks of members, sorted by key and member, that no block of their key has yet; returns how many."""
    if not len(keys):
        return 0
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    sizes = np.diff(np.r_[first, len(keys)])
    many = sizes >= BLOCK_MEMBERS
    if not many.any():
        return 0
    if not trusted(store, connection):
        _start_anew(connection)
    use = np.repeat(many, sizes)
    entries = _entries(store, connection, members[use])
    ends = np.cumsum(sizes[many])
    rows = []
    for key, size, end in zip(keys[first[many]].tolist(), sizes[many].tolist(), ends.tolist(), strict=True):
        for block in np.array_split(entries[end - size : end], -(-size // (2 * BLOCK_MEMBERS))):
            rows.append((key, int(block["member"][-1]), block.tobytes()))
    store.insert(connection, HOT_KEYS.name, ("key", "last", "body"), rows)
    return len(rows)


def _start_anew(connection: Connection) -> None:
    HOT_KEYS.create(connection, checkfirst=True)
    connection.execute(delete(HOT_KEYS))
    trust_at(connection, read_number(connection, "removals"))


def _entries(store: IndexStore, connection: Connection, members: Ints) -> npt.NDArray[np.void]:
    contents, place = np.unique(members >> 1, return_inverse=True)
    columns = (CONTENTS.c.content, CONTENTS.c.tokens, CONTENTS.c.size, CONTENTS.c.marks)
    rows = store.fetch(connection, columns, CONTENTS.c.content, contents)
    rows.sort(key=lambda row: row[0])
    known = np.zeros(len(contents), ENTRY)
    known["tokens"], known["size"] = [row[1] for row in rows], [row[2] for row in rows]
    if rows and rows[0][3] is not None:
        known["map"] = folded(unpack_marks([row[3] for row in rows]))
    entries = known[place]
    entries["member"] = members
    return entries


def folded(marks: Hashes) -> Hashes:
    """Bitmaps of 256 bits from those of 1,024."""
    small: Hashes = np.bitwise_xor.reduce(marks.reshape(-1, MARK_WORDS // FOLDED, FOLDED), axis=1)
    return small


def drop(store: IndexStore, connection: Connection, keys: Ints, members: Ints) -> None:
    """Delete members from the blocks of their keys; the blocks must be right."""
    rows = store.fetch(connection, (HOT_KEYS.c.key, HOT_KEYS.c.last, HOT_KEYS.c.body), HOT_KEYS.c.key, np.unique(keys))
    order = np.lexsort((members, keys))
    keys, members = keys[order], members[order]
    for key, last, body in rows:
        block = np.frombuffer(stored_bytes(body), ENTRY)
        gone = members[np.searchsorted(keys, key, "left") : np.searchsorted(keys, key, "right")]
        rest = block[~np.isin(block["member"], gone)]
        if len(rest) == len(block):
            continue
        connection.execute(delete(HOT_KEYS).where(HOT_KEYS.c.key == key, HOT_KEYS.c.last == last))
        if len(rest):
            store.insert(connection, HOT_KEYS.name, ("key", "last", "body"), [(key, last, rest.tobytes())])


def trust_at(connection: Connection, removals: int) -> None:
    """Note that the blocks are right at this number of removals."""
    write_meta(connection, {_TRUSTED_AT: removals})


def forget(connection: Connection) -> None:
    """Note that the keys have changed, so that the blocks are wrong."""
    delete_meta(connection, _TRUSTED_AT)


def problems(store: IndexStore, connection: Connection) -> list[str]:
    """What is wrong with the blocks: they must repeat what `keys` and `contents` say."""
    if not trusted(store, connection):
        return []
    found = connection.execute(select(HOT_KEYS.c.key).distinct().order_by(HOT_KEYS.c.key)).scalars().all()
    wrong = 0
    for key in found:
        keys, entries = read(store, connection, np.array([key], np.int64))
        stored = find_after(store, connection, keys[:1], np.array([-1], np.int64))[:, 1]
        expected = stored[stored <= entries["member"][-1]]
        same = np.array_equal(expected, entries["member"])
        wrong += not (same and entries.tobytes() == _entries(store, connection, expected).tobytes())
    return [f"{wrong:,} keys that many contents share are packed wrongly"] if wrong else []
