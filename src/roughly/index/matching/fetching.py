"""Documents of an index with all that they are judged on, in memory, for what is built on top of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from roughly.features.shingles import Sets
from roughly.features.sketch import EVERY
from roughly.index.config import IndexConfig
from roughly.index.index import Index
from roughly.index.matching.matcher import Matcher
from roughly.index.matching.signed_batch import KeyRows
from roughly.index.storage import contents
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, LIVE, SIGNS
from roughly.index.storage.store import IndexStore
from roughly.methods.method import Keys

Ints = npt.NDArray[np.int64]
_AT_ONCE = 10_000

FACTS = ("doc_id", "content", "day", "title", "url", "date", "source", "tokens", "state")
"""What is told of a document, in this order."""


@dataclass(frozen=True)
class FetchedDocuments:
    """Documents by their ids, and what each of their texts is judged on."""

    bound: IndexConfig
    rows: dict[str, Sequence[Any]]  # the `FACTS`
    place: dict[int, int]  # of a content in the keys and the sets
    keys: Keys | None  # None: equality is the whole method
    sets: Sets | None  # of those that share a key with another; None: it is judged by keys in common


def fetch(index: Index, ids: Sequence[str]) -> FetchedDocuments:
    """The documents with these ids; those that are not there are left out."""
    return index._read(lambda connection, bound: _fetch(index._store, connection, bound, ids))


def _fetch(store: IndexStore, connection: Connection, bound: IndexConfig, ids: Sequence[str]) -> FetchedDocuments:
    rows: dict[str, Sequence[Any]] = {}
    for at in range(0, len(ids), _AT_ONCE):
        asked = store.listed(ids[at : at + _AT_ONCE])
        rows |= {row[0]: row for row in store.ask(connection, "facts by id", lambda: _facts(store), asked=asked)}
    live = np.unique(np.array([row[1] for row in rows.values() if row[-1] == LIVE], np.int64))
    revoked = np.unique(np.array([row[1] for row in rows.values() if row[-1] != LIVE], np.int64))
    place = {content: at for at, content in enumerate([*live.tolist(), *revoked.tolist()])}
    if bound.method.equality:
        return FetchedDocuments(bound, rows, place, None, None)
    found = _keys(store, connection, bound, live)
    offsets = np.searchsorted(found.owners, np.arange(len(place) + 1)).astype(np.int64)
    keys = Keys(found.keys.view(np.uint64), offsets, None if found.asks.all() else found.asks)
    sets = None
    if bound.judge.on != "keys":
        some = sharing(found)
        sets = among(Matcher(store, connection, bound).load(live[some]), some, len(place))
    return FetchedDocuments(bound, rows, place, keys, sets)


def _facts(store: IndexStore) -> Any:
    columns = [*(DOCUMENTS.c[name] for name in FACTS[:-2]), CONTENTS.c.tokens, CONTENTS.c.state]
    joint = select(*columns).join(CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content)
    return joint.where(store.one_of(DOCUMENTS.c.doc_id, strings=True))


def _keys(store: IndexStore, connection: Connection, bound: IndexConfig, live: Ints) -> KeyRows:
    if bound.store == "text":
        return contents.keys_of(store, connection, bound, live)
    signs = store.fetch(connection, (SIGNS.c.content, SIGNS.c.packed), SIGNS.c.content, live)
    signs.sort()
    return unpack_keys([bytes(row[1]) for row in signs])


def sharing(keys: KeyRows) -> Ints:
    """The owners that share a key with another: no other is compared with anyone, so no other set is wanted."""
    order = np.argsort(keys.keys)
    same = keys.keys[order[1:]] == keys.keys[order[:-1]]
    return np.unique(keys.owners[np.concatenate((order[1:][same], order[:-1][same]))])


def among(sets: Sets, places: Ints, count: int) -> Sets:
    """The sets at these places among so many; the others are empty."""
    sizes = np.zeros(count, np.int64)
    sizes[places] = np.diff(sets.offsets)
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    limits = None
    if sets.limits is not None:
        limits = np.full(count, EVERY, np.uint64)
        limits[places] = sets.limits
    return Sets(sets.values, offsets, limits, sets.most)


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
