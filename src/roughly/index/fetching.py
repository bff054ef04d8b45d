"""Documents of an index with all that they are judged on, in memory, for what is built on top of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from roughly.features.shingles import Sets
from roughly.features.sketch import joined
from roughly.index import contents
from roughly.index.bodies import unpack_sets
from roughly.index.bound import Bound
from roughly.index.index import Index
from roughly.index.matching import Matcher
from roughly.index.schema import CONTENTS, DOCUMENTS, LIVE, SIGNS
from roughly.index.signing import KeyRows
from roughly.index.store import Store
from roughly.methods.method import Keys

Ints = npt.NDArray[np.int64]


FACTS = ("doc_id", "content", "day", "title", "url", "date", "source", "tokens", "state")
"""What is told of a document, in this order."""


@dataclass(frozen=True)
class Fetched:
    """Documents by their ids, and what each of their texts is judged on."""

    bound: Bound
    rows: dict[str, Sequence[Any]]  # the `FACTS`
    place: dict[int, int]  # of a content in the keys and the sets
    keys: Keys | None  # None: equality is the whole method
    sets: Sets | None  # None: it is judged by keys in common


def fetch(index: Index, ids: Sequence[str]) -> Fetched:
    """The documents with these ids; those that are not there are left out."""
    return index._read(lambda connection, bound: _fetch(index._store, connection, bound, ids))


def _fetch(store: Store, connection: Connection, bound: Bound, ids: Sequence[str]) -> Fetched:
    columns = [*(DOCUMENTS.c[name] for name in FACTS[:-2]), CONTENTS.c.tokens, CONTENTS.c.state]
    joint = select(*columns).join(CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content)
    rows: dict[str, Sequence[Any]] = {}
    for at in range(0, len(ids), 10_000):
        asked = joint.where(store.among(DOCUMENTS.c.doc_id, ids[at : at + 10_000]))
        rows |= {row[0]: row for row in connection.execute(asked).all()}
    live = np.unique(np.array([row[1] for row in rows.values() if row[-1] == LIVE], np.int64))
    revoked = np.unique(np.array([row[1] for row in rows.values() if row[-1] != LIVE], np.int64))
    place = {content: at for at, content in enumerate([*live.tolist(), *revoked.tolist()])}
    if bound.method.equality:
        return Fetched(bound, rows, place, None, None)
    sets = None
    if bound.store == "text":
        found = contents.keys_of(store, connection, bound, live)
    else:
        signs = store.fetch(connection, (SIGNS.c.content, SIGNS.c.packed, SIGNS.c.sketch), SIGNS.c.content, live)
        signs.sort(key=lambda row: row[0])
        found = unpack_keys([bytes(row[1]) for row in signs])
        if bound.judge.on == "sketch":
            sets = unpack_sets([bytes(row[2]) for row in signs], bound.most)
    offsets = np.searchsorted(found.owners, np.arange(len(place) + 1)).astype(np.int64)
    keys = Keys(found.keys.view(np.uint64), offsets, None if found.asks.all() else found.asks)
    if bound.judge.on != "keys":
        sets = Matcher(store, connection, bound).load(live) if sets is None else sets
        if len(revoked):  # nothing is stored of them
            sets = joined([sets, Sets(np.empty(0, np.uint64), np.zeros(len(revoked) + 1, np.int64))])
    return Fetched(bound, rows, place, keys, sets)


def unpack_keys(packed: list[bytes]) -> KeyRows:
    """As `contents.unpack_keys`, at once where all have as many keys: one a band, or one a lexicon."""
    sizes = {len(body) for body in packed}
    if len(sizes) != 1 or sizes == {0}:
        return contents.unpack_keys(packed)
    count = sizes.pop() // 9
    table = np.frombuffer(b"".join(packed), np.uint8).reshape(len(packed), 9 * count)
    keys = np.ascontiguousarray(table[:, : 8 * count]).view(np.int64).ravel()
    asks = np.ascontiguousarray(table[:, 8 * count :]).view(np.bool_).ravel()
    return KeyRows(np.repeat(np.arange(len(packed)), count), keys, asks)
