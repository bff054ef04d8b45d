"""From an older format of an index to this one, a step a version, resumable.

| from | to | what is done |
|---|---|---|
| 1 | 2 | `contents` gets a column `marks`, and every text its bitmap |
| 2 | 3 | a table `recent`, empty, for keys on their way to `keys` |

A step works a few thousand texts at a time, each in a transaction of its own, and raises the version in the last
one. So after a kill the index has the old format still, and `upgrade` goes on with what is missing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sqlalchemy import bindparam, select, update
from sqlalchemy import inspect as inspected

from roughly.errors import IndexRefused
from roughly.index import config as binding
from roughly.index.config import IndexConfig
from roughly.index.matching.matcher import Matcher
from roughly.index.storage.bodies import marks_of
from roughly.index.storage.failures import attempt
from roughly.index.storage.schema import CONTENTS, FORMAT, LIVE, META, RECENT
from roughly.index.storage.store import IndexStore

_AT_ONCE = 2_000


def upgrade(store: IndexStore, key_file: str | None = None) -> tuple[int, int]:
    """Bring an index to this version's format; (format before, format now)."""
    before = attempt(store.name, lambda: _format(store))
    if before > FORMAT:
        raise IndexRefused(
            f"{store.name} has format {before}, and this version knows formats up to {FORMAT}; use a newer roughly"
        )
    for version in range(before, FORMAT):
        STEPS[version](store, key_file)
    return before, FORMAT


def _format(store: IndexStore) -> int:
    with store.reading() as connection:
        values = {row.name: row.value for row in connection.execute(select(META))}
    if "format" not in values or "settings" not in values:
        raise IndexRefused(f"{store.name} holds no index of roughly; make one with `roughly index create`")
    return int(values["format"])


def _marks(store: IndexStore, key_file: str | None) -> None:
    """1 → 2: a bitmap for every text."""

    def prepare() -> IndexConfig:
        with store.writing() as connection:
            columns = {column["name"] for column in inspected(connection).get_columns("contents")}
            if "marks" not in columns:
                kind = "BYTEA" if store.postgres else "BLOB"
                connection.exec_driver_sql(f"ALTER TABLE contents ADD COLUMN marks {kind}")
            return binding.read(connection, store.name, key_file, any_format=True)

    bound = attempt(store.name, prepare)

    def step() -> bool:
        with store.writing() as connection:
            missing = (
                select(CONTENTS.c.content)
                .where(CONTENTS.c.marks.is_(None), CONTENTS.c.state == LIVE)
                .order_by(CONTENTS.c.content)
                .limit(_AT_ONCE)
            )
            numbers = np.array(connection.scalars(missing).all() if bound.marked else [], np.int64)
            if len(numbers):
                marks = marks_of(Matcher(store, connection, bound).load(numbers))
                connection.execute(
                    update(CONTENTS).where(CONTENTS.c.content == bindparam("number")).values(marks=bindparam("bits")),
                    [{"number": n, "bits": bits} for n, bits in zip(numbers.tolist(), marks, strict=True)],
                )
            else:
                connection.execute(update(META).where(META.c.name == "format").values(value="2"))
            return bool(len(numbers))

    while attempt(store.name, step):
        pass


def _recent(store: IndexStore, key_file: str | None) -> None:
    """2 → 3: a table for new keys."""

    def step() -> None:
        with store.writing() as connection:
            RECENT.create(connection, checkfirst=True)
            connection.execute(update(META).where(META.c.name == "format").values(value="3"))

    attempt(store.name, step)


STEPS: dict[int, Callable[[IndexStore, str | None], None]] = {1: _marks, 2: _recent}
