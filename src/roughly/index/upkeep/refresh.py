"""Another lexicon for an index that is in use (Conrad 2003, §5–6).

Signatures of collection statistics are as stable as the lexicon that they are made with, so an index keeps one, frozen.
A new one means new keys for every text. They are made beside the old ones, a few thousand texts at a time, while
documents are asked for, put in and taken out as ever; how far it has come is stored with each step, so it goes on
where it was stopped. Then the tables are exchanged in one transaction. Who has the index open notices, and signs
with the new lexicon from there on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection, delete, select

from roughly.errors import IndexRefused
from roughly.index import config as binding
from roughly.index.config import IndexConfig
from roughly.index.matching.signed_batch import KeyRows, SignedBatch, key_rows
from roughly.index.storage import contents
from roughly.index.storage import hot_keys as crowds
from roughly.index.storage import stored_keys as keys
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.failures import attempt
from roughly.index.storage.schema import CONTENTS, LIVE, META, NEXT
from roughly.index.storage.store import IndexStore
from roughly.signing.text_batch import TextBatch

Ints = npt.NDArray[np.int64]
STEP = 2_000
_PREFIX = "refresh_"


@dataclass(frozen=True)
class Refreshed:
    """What came of it."""

    contents: int  # texts that were signed again
    changed: int  # of these, how many have other keys than before
    resumed: bool


@dataclass(frozen=True)
class _State:
    to: str
    cursor: int
    done: int
    changed: int
    removals: int


def refresh(store: IndexStore, old: IndexConfig, new: IndexConfig, advance: Callable[[int], None]) -> Refreshed:
    """Sign all texts again and exchange the keys; goes on with what an interrupted one has done."""
    state, resumed = attempt(store.name, lambda: _begin(store, new))
    while True:
        state, more = attempt(store.name, partial(_step, store, old, new, state))
        advance(state.done)
        if not more and attempt(store.name, partial(_exchange, store, new, state)):
            return Refreshed(state.done, state.changed, resumed)


def _begin(store: IndexStore, new: IndexConfig) -> tuple[_State, bool]:
    with store.writing() as connection:
        found = _read(connection)
        if found is not None and found.to == new.fingerprint:
            return found, True
        NEXT.drop_all(connection)
        NEXT.create_all(connection)
        removals = connection.execute(select(META.c.value).where(META.c.name == "removals")).scalar_one()
        state = _State(new.fingerprint, 0, 0, 0, int(removals))
        _write(store, connection, state)
        return state, False


def _step(store: IndexStore, old: IndexConfig, new: IndexConfig, state: _State) -> tuple[_State, bool]:
    """Sign the next texts; the transaction that writes is kept short."""
    with store.reading() as connection:
        numbers = _next(connection, state.cursor)
        if not len(numbers):
            return state, False
        packed = contents.read_bodies(store, connection, numbers)
    signed, changed = _sign(packed, old, new)
    with store.writing() as connection:
        if _read(connection) != state:
            raise IndexRefused(f"{store.name} is being refreshed by another process; wait for it")
        rows = store.fetch(connection, (CONTENTS.c.content, CONTENTS.c.state), CONTENTS.c.content, numbers)
        live = np.isin(numbers, [row[0] for row in rows if row[1] == LIVE])
        use = np.flatnonzero(live)
        contents.put_signs(store, connection, new, signed, use, numbers[use].tolist(), "signs_next")
        keys.insert(store, connection, "keys_next", *contents.numbered(signed.keys, use, numbers[use]))
        state = _State(
            state.to, int(numbers[-1]), state.done + len(use), state.changed + int(changed[use].sum()), state.removals
        )
        _write(store, connection, state)
    return state, True


def _next(connection: Connection, cursor: int) -> Ints:
    asked = (
        select(CONTENTS.c.content)
        .where(CONTENTS.c.content > cursor, CONTENTS.c.state == LIVE)
        .order_by(CONTENTS.c.content)
        .limit(STEP)
    )
    return np.array(connection.scalars(asked).all(), np.int64)


def _sign(packed: list[bytes], old: IndexConfig, new: IndexConfig) -> tuple[SignedBatch, npt.NDArray[np.bool_]]:
    texts = TextBatch(unpack_texts(packed))
    signature, has_tokens = texts.sign(new.method), texts.lengths > 0
    keys = key_rows(signature.keys, has_tokens)
    before = key_rows(texts.sign(old.method).keys, has_tokens)
    none = np.empty(0, np.int64)
    signed = SignedBatch(
        None, texts.texts, texts.tokens, none, none, texts.lengths, none, pa.nulls(0, pa.int64()), keys,
        signature.sketch,
    )  # fmt: skip
    return signed, differ(before, keys, len(packed))


def differ(before: KeyRows, after: KeyRows, count: int) -> npt.NDArray[np.bool_]:
    """Which owners have other keys."""
    one = {(o, k) for o, k in zip(before.owners.tolist(), before.keys.tolist(), strict=True)}
    other = {(o, k) for o, k in zip(after.owners.tolist(), after.keys.tolist(), strict=True)}
    changed = np.zeros(count, np.bool_)
    for owner, _ in one ^ other:
        changed[owner] = True
    return changed


def _exchange(store: IndexStore, new: IndexConfig, state: _State) -> bool:
    """Put the new keys in the place of the old ones, unless texts have come meanwhile that have none yet."""
    with store.writing() as connection:
        if _read(connection) != state:
            raise IndexRefused(f"{store.name} is being refreshed by another process; wait for it")
        if len(_next(connection, state.cursor)):
            return False
        removals = connection.execute(select(META.c.value).where(META.c.name == "removals")).scalar_one()
        if int(removals) != state.removals:
            for table, number in (("keys_next", "member >> 1"), ("signs_next", "content")):
                connection.exec_driver_sql(
                    f"DELETE FROM {table} WHERE {number} NOT IN (SELECT content FROM contents WHERE state = {LIVE})"
                )
        store.exchange(connection)
        crowds.forget(connection)
        connection.execute(delete(META).where(META.c.name.startswith(_PREFIX, autoescape=True)))
        binding.write(connection, store, new, fresh=False)
        return True


def _read(connection: Connection) -> _State | None:
    rows = connection.execute(select(META).where(META.c.name.startswith(_PREFIX, autoescape=True)))
    found: dict[str, Any] = {row.name.removeprefix(_PREFIX): row.value for row in rows}
    if not found:
        return None
    return _State(found.pop("to"), **{name: int(value) for name, value in found.items()})


def _write(store: IndexStore, connection: Connection, state: _State) -> None:
    connection.execute(delete(META).where(META.c.name.startswith(_PREFIX, autoescape=True)))
    rows = [(f"{_PREFIX}{name}", str(getattr(state, name))) for name in _State.__dataclass_fields__]
    store.insert(connection, "meta", ("name", "value"), rows)
