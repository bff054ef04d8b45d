"""Another lexicon for an index that is in use (Conrad 2003, §5–6).

Signatures that use collection statistics are as stable as the lexicon that they are made with, so an index has one
lexicon, frozen. Another lexicon means new keys for every text. They are made in tables beside the old ones, a few
thousand texts at a time, while documents are queried, added and removed as usual; the progress is stored with each
step, so an interrupted refresh continues where it stopped. Then the tables are exchanged in one transaction. A process
that has the index open notices (see `transactions`), and signs with the new lexicon from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection, delete, select

from roughly.errors import IndexRefused
from roughly.fast_dataclass import dataclass
from roughly.index.content_writes import put_signs
from roughly.index.index_config import IndexConfig, write_config
from roughly.index.matching.packed_keys import members_of
from roughly.index.matching.signed_batch import KeyRows, SignedBatch, key_rows
from roughly.index.storage import hot_keys, stored_keys
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.contents import live_after, live_lengths, read_bodies
from roughly.index.storage.failures import attempt
from roughly.index.storage.meta import read_number, write_meta
from roughly.index.storage.schema import LIVE, META, NEXT
from roughly.index.storage.store import IndexStore
from roughly.signing.text_batch import TextBatch

Ints = npt.NDArray[np.int64]
STEP = 2_000
_PREFIX = "refresh_"


@dataclass(frozen=True)
class Refreshed:
    """The result of a refresh."""

    contents: int  # texts that were signed again
    changed: int  # how many of these have other keys than before
    resumed: bool


@dataclass(frozen=True)
class _Progress:
    to: str  # the fingerprint of the new configuration
    cursor: int  # contents up to this number are signed
    done: int
    changed: int
    removals: int


def refresh(store: IndexStore, old: IndexConfig, new: IndexConfig, advance: Callable[[int], None]) -> Refreshed:
    """Sign all texts again and exchange the keys; an interrupted refresh is continued."""
    state, resumed = attempt(store.name, lambda: _begin(store, new))
    while True:
        state, more = attempt(store.name, partial(_step, store, old, new, state))
        advance(state.done)
        if not more and attempt(store.name, partial(_exchange, store, new, state)):
            return Refreshed(state.done, state.changed, resumed)


def _begin(store: IndexStore, new: IndexConfig) -> tuple[_Progress, bool]:
    with store.write_transaction() as connection:
        found = _read(connection)
        if found is not None and found.to == new.fingerprint:
            return found, True
        NEXT.drop_all(connection)
        NEXT.create_all(connection)
        state = _Progress(new.fingerprint, 0, 0, 0, read_number(connection, "removals"))
        _write(connection, state)
        return state, False


def _step(store: IndexStore, old: IndexConfig, new: IndexConfig, state: _Progress) -> tuple[_Progress, bool]:
    """Sign the next texts; the transaction that writes is kept short."""
    with store.read_transaction() as connection:
        numbers = live_after(connection, state.cursor, STEP)
        if not len(numbers):
            return state, False
        packed = read_bodies(store, connection, numbers)
    signed, changed = _sign(packed, old, new)
    with store.write_transaction() as connection:
        if _read(connection) != state:
            raise IndexRefused(f"{store.name} is being refreshed by another process; wait for it")
        use = np.flatnonzero(np.isin(numbers, list(live_lengths(store, connection, numbers))))
        put_signs(store, connection, new, signed, use, numbers[use], "signs_next")
        stored_keys.insert(store, connection, "keys_next", *members_of(signed.keys, use, numbers[use]))
        state = _Progress(
            state.to, int(numbers[-1]), state.done + len(use), state.changed + int(changed[use].sum()), state.removals
        )
        _write(connection, state)
    return state, True


def _sign(packed: list[bytes], old: IndexConfig, new: IndexConfig) -> tuple[SignedBatch, npt.NDArray[np.bool_]]:
    texts = TextBatch(unpack_texts(packed))
    signature, has_tokens = texts.sign(new.method), texts.lengths > 0
    keys = key_rows(signature.keys, has_tokens)
    before = key_rows(texts.sign(old.method).keys, has_tokens)
    none = np.empty(0, np.int64)
    signed = SignedBatch(
        None, texts.texts, texts.units(new.settings.shingle_unit), none, none, texts.lengths, none,
        pa.nulls(0, pa.int64()), keys, signature.sketch,
    )  # fmt: skip
    return signed, differ(before, keys, len(packed))


def differ(before: KeyRows, after: KeyRows, count: int) -> npt.NDArray[np.bool_]:
    """Which of the owners 0, 1, … have other keys."""
    one = {(o, k) for o, k in zip(before.owners.tolist(), before.keys.tolist(), strict=True)}
    other = {(o, k) for o, k in zip(after.owners.tolist(), after.keys.tolist(), strict=True)}
    changed = np.zeros(count, np.bool_)
    for owner, _ in one ^ other:
        changed[owner] = True
    return changed


def _exchange(store: IndexStore, new: IndexConfig, state: _Progress) -> bool:
    """Replace the old keys by the new ones, unless texts that have no new keys yet were added meanwhile."""
    with store.write_transaction() as connection:
        if _read(connection) != state:
            raise IndexRefused(f"{store.name} is being refreshed by another process; wait for it")
        if len(live_after(connection, state.cursor, 1)):
            return False
        if read_number(connection, "removals") != state.removals:
            for table, number in (("keys_next", "member >> 1"), ("signs_next", "content")):
                connection.exec_driver_sql(
                    f"DELETE FROM {table} WHERE {number} NOT IN (SELECT content FROM contents WHERE state = {LIVE})"
                )
        store.exchange_tables(connection)
        hot_keys.forget(connection)
        connection.execute(delete(META).where(META.c.name.startswith(_PREFIX, autoescape=True)))
        write_config(store, connection, new, new=False)
        return True


def _read(connection: Connection) -> _Progress | None:
    rows = connection.execute(select(META).where(META.c.name.startswith(_PREFIX, autoescape=True)))
    found: dict[str, Any] = {row.name.removeprefix(_PREFIX): row.value for row in rows}
    if not found:
        return None
    return _Progress(found.pop("to"), **{name: int(value) for name, value in found.items()})


def _write(connection: Connection, state: _Progress) -> None:
    write_meta(connection, {f"{_PREFIX}{name}": value for name, value in asdict(state).items()})
