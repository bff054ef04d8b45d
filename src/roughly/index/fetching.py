"""Documents of an index with all that they are judged on, in memory, for what is built on top of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from roughly.features.shingles import Sets
from roughly.features.sketch import joined
from roughly.index import answers, contents
from roughly.index.bound import Bound
from roughly.index.index import Index
from roughly.index.matching import Matcher
from roughly.index.schema import DOCUMENTS, LIVE
from roughly.index.store import Store
from roughly.methods.method import Keys

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fetched:
    """Documents by their ids, and what each of their texts is judged on."""

    bound: Bound
    rows: dict[str, Any]  # (document, content, doc_id, day, …, cluster, tokens, state)
    place: dict[int, int]  # of a content in the keys and the sets
    keys: Keys | None  # None: equality is the whole method
    sets: Sets | None  # None: it is judged by keys in common


def fetch(index: Index, ids: Sequence[str]) -> Fetched:
    """The documents with these ids; those that are not there are left out."""
    return index._read(lambda connection, bound: _fetch(index._store, connection, bound, ids))


def _fetch(store: Store, connection: Connection, bound: Bound, ids: Sequence[str]) -> Fetched:
    rows = {}
    for at in range(0, len(ids), 10_000):
        asked = answers.told().where(store.among(DOCUMENTS.c.doc_id, ids[at : at + 10_000]))
        rows |= {row.doc_id: row for row in connection.execute(asked)}
    live = np.unique(np.array([row.content for row in rows.values() if row.state == LIVE], np.int64))
    revoked = np.unique(np.array([row.content for row in rows.values() if row.state != LIVE], np.int64))
    place = {content: at for at, content in enumerate([*live.tolist(), *revoked.tolist()])}
    if bound.method.equality:
        return Fetched(bound, rows, place, None, None)
    found = contents.keys_of(store, connection, bound, live)
    offsets = np.searchsorted(found.owners, np.arange(len(place) + 1)).astype(np.int64)
    keys = Keys(found.keys.view(np.uint64), offsets, None if found.asks.all() else found.asks)
    sets = None
    if bound.judge.on != "keys":
        sets = Matcher(store, connection, bound).load(live)
        if len(revoked):  # nothing is stored of them
            sets = joined([sets, Sets(np.empty(0, np.uint64), np.zeros(len(revoked) + 1, np.int64))])
    return Fetched(bound, rows, place, keys, sets)
