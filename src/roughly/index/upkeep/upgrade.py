"""From an older format of an index to this one, one step per format.

A format says how an index is stored; its fingerprint says which answers it gives. An index whose answers differ from
those of this version (`settings.ANSWER_VERSION`) is refused before anything is changed: its keys and digests are of no
use here. That is so for every index of format 1 or 2, so there is no step yet; a change of the format adds one to
`STEPS`. A step handles a few thousand texts per transaction and raises the format in the last one, so that `upgrade`
can be repeated after a kill. `tests/index/formats` has indexes as earlier versions made them.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select

from roughly.errors import IndexRefused
from roughly.index.index_config import IndexConfig, format_of, read_config
from roughly.index.storage.failures import attempt
from roughly.index.storage.schema import FORMAT, META
from roughly.index.storage.store import IndexStore

STEPS: dict[int, Callable[[IndexStore, IndexConfig], None]] = {}
"""Format → what brings an index of it to the next one."""


def upgrade(store: IndexStore, key_file: str | None = None) -> tuple[int, int]:
    """Bring an index to this version's format; (format before, format now)."""
    before = attempt(store.name, lambda: _format(store))
    steps = range(before, FORMAT)
    if steps:
        config = attempt(store.name, lambda: _config(store, key_file))
        if any(version not in STEPS for version in steps):
            raise IndexRefused(
                f"{store.name} has format {before}, which this version cannot bring to format {FORMAT}; make the index "
                "again"
            )
        for version in steps:
            STEPS[version](store, config)
    return before, FORMAT


def _format(store: IndexStore) -> int:
    with store.read_transaction() as connection:
        return format_of({row.name: row.value for row in connection.execute(select(META))}, store.name)


def _config(store: IndexStore, key_file: str | None) -> IndexConfig:
    with store.read_transaction() as connection:
        return read_config(connection, store.name, key_file, any_format=True)
