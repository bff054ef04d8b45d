"""From an older format of an index to this one, one step per format, resumable.

| from | to | what is done |
|---|---|---|
| 1 | 2 | `contents` gets a column `marks`, and every text its bitmap |
| 2 | 3 | a table `recent`, empty, for keys on their way to `keys` |

A step handles a few thousand texts per transaction, and raises the format in the last one. So after a kill the index
still has the old format, and `upgrade` continues with what is missing.

A format says how an index is stored; its fingerprint says which answers it gives. An index whose answers differ from
those of this version (`settings.ANSWER_VERSION`) is refused before anything is changed: its keys and digests are of no
use here. `tests/index/formats` has indexes as earlier versions made them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sqlalchemy import inspect, select

from roughly.index.index_config import IndexConfig, format_of, read_config
from roughly.index.matching.content_sets import ContentSets
from roughly.index.storage.bodies import marks_of
from roughly.index.storage.contents import set_marks
from roughly.index.storage.failures import attempt
from roughly.index.storage.meta import write_meta
from roughly.index.storage.schema import CONTENTS, FORMAT, LIVE, META, RECENT
from roughly.index.storage.store import IndexStore

_AT_ONCE = 2_000


def upgrade(store: IndexStore, key_file: str | None = None) -> tuple[int, int]:
    """Bring an index to this version's format; (format before, format now)."""
    before = attempt(store.name, lambda: _format(store))
    if before < FORMAT:
        config = attempt(store.name, lambda: _config(store, key_file))
        for version in range(before, FORMAT):
            STEPS[version](store, config)
    return before, FORMAT


def _format(store: IndexStore) -> int:
    with store.read_transaction() as connection:
        return format_of({row.name: row.value for row in connection.execute(select(META))}, store.name)


def _config(store: IndexStore, key_file: str | None) -> IndexConfig:
    with store.read_transaction() as connection:
        return read_config(connection, store.name, key_file, any_format=True)


def _add_marks(store: IndexStore, config: IndexConfig) -> None:
    """1 → 2: a bitmap for every text."""

    def add_column() -> None:
        with store.write_transaction() as connection:
            if "marks" not in {column["name"] for column in inspect(connection).get_columns("contents")}:
                kind = "BYTEA" if store.postgres else "BLOB"
                connection.exec_driver_sql(f"ALTER TABLE contents ADD COLUMN marks {kind}")

    def step() -> bool:
        with store.write_transaction() as connection:
            missing = (
                select(CONTENTS.c.content)
                .where(CONTENTS.c.marks.is_(None), CONTENTS.c.state == LIVE)
                .order_by(CONTENTS.c.content)
                .limit(_AT_ONCE)
            )
            numbers = np.array(connection.scalars(missing).all() if config.marked else [], np.int64)
            if len(numbers):
                marks = marks_of(ContentSets(store, connection, config).load(numbers))
                set_marks(connection, zip(numbers.tolist(), marks, strict=True))
            else:
                write_meta(connection, {"format": 2})
            return bool(len(numbers))

    attempt(store.name, add_column)
    while attempt(store.name, step):
        pass


def _add_recent(store: IndexStore, config: IndexConfig) -> None:
    """2 → 3: a table for new keys."""

    def step() -> None:
        with store.write_transaction() as connection:
            RECENT.create(connection, checkfirst=True)
            write_meta(connection, {"format": 3})

    attempt(store.name, step)


STEPS: dict[int, Callable[[IndexStore, IndexConfig], None]] = {1: _add_marks, 2: _add_recent}
