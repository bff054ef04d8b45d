"""The size of an index in numbers."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Connection, func, select

from roughly.index.answers import Stats
from roughly.index.index_config import IndexConfig
from roughly.index.storage import stored_keys
from roughly.index.storage.contents import count_rows
from roughly.index.storage.meta import read_number
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, REVOKED
from roughly.index.storage.store import IndexStore


def count_stats(store: IndexStore, connection: Connection, config: IndexConfig) -> Stats:
    """Count documents, texts, clusters, keys, bytes and days."""
    rows = connection.execute(select(CONTENTS.c.state, func.count()).group_by(CONTENTS.c.state))
    by_state = {row[0]: row[1] for row in rows}
    clusters = connection.execute(select(func.count(func.distinct(CONTENTS.c.cluster)))).scalar_one()
    days = connection.execute(select(func.min(DOCUMENTS.c.day), func.max(DOCUMENTS.c.day))).one()
    return Stats(
        store.name,
        read_number(connection, "format"),
        config.method.name,
        config.fingerprint,
        config.form,
        count_rows(connection, DOCUMENTS),
        sum(count for state, count in by_state.items() if state != REVOKED),
        by_state.get(REVOKED, 0),
        clusters,
        stored_keys.count(store, connection),
        store.size(connection),
        *(None if day is None else date.fromordinal(day).isoformat() for day in days),
    )
