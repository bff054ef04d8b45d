"""Documents of an index by their ids, in memory, with everything they are compared on, for `results`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.features.sketch import EVERY
from roughly.index.index_config import IndexConfig
from roughly.index.matching.content_sets import ContentSets, content_keys
from roughly.index.matching.signed_batch import KeyRows
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, LIVE
from roughly.index.storage.store import IndexStore
from roughly.methods.method import Keys
from roughly.text.canonical import Tokens

Ints = npt.NDArray[np.int64]
_AT_ONCE = 10_000

FACTS = ("doc_id", "content", "day", "title", "url", "date", "source", "tokens", "state")
"""What is fetched of a document, in this order."""


@dataclass(frozen=True)
class FetchedDocuments:
    """Documents by their ids, and what each of their texts is compared on."""

    config: IndexConfig
    rows: dict[str, Sequence[Any]]  # the `FACTS`
    place: dict[int, int]  # of a content in the keys and the sets
    keys: Keys | None  # None: the method only finds equal texts
    sets: Sets | None  # of texts that share a key with another; None: the method counts shared keys
    words: Tokens | None = None  # of the same, for a learned verdict


def fetch(store: IndexStore, connection: Connection, config: IndexConfig, ids: Sequence[str]) -> FetchedDocuments:
    """The documents with these ids; ids that the index does not have are left out."""
    rows: dict[str, Sequence[Any]] = {}
    for at in range(0, len(ids), _AT_ONCE):
        values = store.list_parameter(ids[at : at + _AT_ONCE])
        found = store.select_rows(connection, "facts by id", lambda: _select_facts(store), values=values)
        rows |= {row[0]: row for row in found}
    live = np.unique(np.array([row[1] for row in rows.values() if row[-1] == LIVE], np.int64))
    revoked = np.unique(np.array([row[1] for row in rows.values() if row[-1] != LIVE], np.int64))
    place = {content: at for at, content in enumerate([*live.tolist(), *revoked.tolist()])}
    if config.method.equality:
        return FetchedDocuments(config, rows, place, None, None)
    key_rows = content_keys(store, connection, config, live)
    offsets = np.searchsorted(key_rows.owners, np.arange(len(place) + 1)).astype(np.int64)
    is_probe = None if key_rows.is_probe.all() else key_rows.is_probe
    keys = Keys(key_rows.keys.view(np.uint64), offsets, is_probe)
    sets, words = None, None
    if config.judge.on != "keys":
        some, stored = sharing(key_rows), ContentSets(store, connection, config)
        sets = spread(stored.load(live[some]), some, len(place))
        if config.settings.verdict is not None:
            tokens = stored.load_tokens(live[some])
            tokens_of_all = spread(Sets(tokens.hashes, tokens.offsets), some, len(place))
            words = Tokens(tokens_of_all.values, tokens_of_all.offsets)
    return FetchedDocuments(config, rows, place, keys, sets, words)


def _select_facts(store: IndexStore) -> Any:
    columns = [*(DOCUMENTS.c[name] for name in FACTS[:-2]), CONTENTS.c.tokens, CONTENTS.c.state]
    joint = select(*columns).join(CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content)
    return joint.where(store.one_of(DOCUMENTS.c.doc_id, strings=True))


def sharing(keys: KeyRows) -> Ints:
    """The owners that share a key with another: only they are compared, so only their sets are needed."""
    order = np.argsort(keys.keys)
    same = keys.keys[order[1:]] == keys.keys[order[:-1]]
    return np.unique(keys.owners[np.concatenate((order[1:][same], order[:-1][same]))])


def spread(sets: Sets, places: Ints, count: int) -> Sets:
    """`count` sets: these at their places, and empty ones elsewhere."""
    sizes = np.zeros(count, np.int64)
    sizes[places] = np.diff(sets.offsets)
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    limits = None
    if sets.limits is not None:
        limits = np.full(count, EVERY, np.uint64)
        limits[places] = sets.limits
    return Sets(sets.values, offsets, limits, sets.most)
