"""How much an index holds."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Connection, func, select

from roughly.index.answers import Stats
from roughly.index.config import IndexConfig
from roughly.index.storage import contents
from roughly.index.storage import stored_keys as keys
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, META, REVOKED
from roughly.index.storage.store import IndexStore


def stats(store: IndexStore, connection: Connection, bound: IndexConfig) -> Stats:
    """Documents, texts, clusters, keys, bytes and days."""
    counted = connection.execute(select(CONTENTS.c.state, func.count()).group_by(CONTENTS.c.state))
    state = {row[0]: row[1] for row in counted}
    clusters = connection.execute(select(func.count(func.distinct(CONTENTS.c.cluster)))).scalar_one()
    days = connection.execute(select(func.min(DOCUMENTS.c.day), func.max(DOCUMENTS.c.day))).one()
    return Stats(
        store.name,
        int(connection.execute(select(META.c.value).where(META.c.name == "format")).scalar_one()),
        bound.method.name,
        bound.fingerprint,
        bound.store,
        contents.count(connection, DOCUMENTS),
        sum(count for name, count in state.items() if name != REVOKED),
        state.get(REVOKED, 0),
        clusters,
        keys.count(store, connection),
        store.size(connection),
        *(None if day is None else date.fromordinal(day).isoformat() for day in days),
    )
