"""Transactions of an open index, each with the configuration that holds in it.

Another process may refresh the index at any time, which changes its configuration. So every transaction first compares
the generation in the database with the one in memory; where they differ, the configuration is read again, and the
transaction is run once more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from roughly.errors import IndexDamaged, IndexRefused, RoughlyError, first_line
from roughly.index.index_config import IndexConfig, read_config
from roughly.index.storage.column_values import refuse_wrong_values
from roughly.index.storage.failures import attempt, not_text, translated
from roughly.index.storage.store import IndexStore

T = TypeVar("T")
_REFRESHES = 5  # that may happen while one call is running
_GENERATION = "SELECT value FROM meta WHERE name = 'generation'"


class _ConfigChanged(Exception):
    pass


class IndexTransactions:
    """Runs work in transactions of an index. Threads may share it."""

    def __init__(self, store: IndexStore, config: IndexConfig, key_file: str | os.PathLike[str] | None = None) -> None:
        self.store, self.config, self._key_file = store, config, key_file

    @classmethod
    def open(cls, store: IndexStore, key_file: str | os.PathLike[str] | None = None) -> IndexTransactions:
        """Read the configuration of an index."""
        return cls(store, _read_config(store, key_file), key_file)

    def read(self, work: Callable[[Connection, IndexConfig], T]) -> T:
        """Run `work` in a transaction that reads, and return its result."""
        return self._run(self.store.read_transaction, work)

    def write(self, work: Callable[[Connection, IndexConfig], T]) -> T:
        """Run `work` in a transaction that writes, and return its result."""
        return self._run(self.store.write_transaction, work)

    def _run(self, transaction: Callable[[], Any], work: Callable[[Connection, IndexConfig], T]) -> T:
        def once() -> T:
            config = self.config
            with transaction() as connection:
                generation = self.store.value(connection, _GENERATION)
                if str(generation) != str(config.generation):
                    raise _ConfigChanged
                with refuse_wrong_values(self.store, connection):
                    return work(connection, config)

        for _ in range(_REFRESHES):
            try:
                return attempt(self.store.name, once)
            except _ConfigChanged:
                self.config = _read_config(self.store, self._key_file)
        raise IndexRefused(f"{self.store.name} is being refreshed again and again; try when that is over")

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """The connection of a transaction that reads; errors are raised at once, without another try."""
        try:
            with self.store.read_transaction() as connection, refuse_wrong_values(self.store, connection):
                yield connection
        except DBAPIError as problem:
            raise translated(self.store.name, problem) from problem
        except UnicodeDecodeError as problem:
            raise not_text(self.store.name) from problem


def _read_config(store: IndexStore, key_file: str | os.PathLike[str] | None) -> IndexConfig:
    key = None if key_file is None else os.fspath(key_file)

    def work() -> IndexConfig:
        with store.read_transaction() as connection:
            store.refuse_foreign_code(connection)
            try:
                return read_config(connection, store.name, key)
            except RoughlyError:
                raise
            except (ValueError, TypeError, LookupError, AttributeError) as problem:
                raise IndexDamaged(
                    f"{store.name} is damaged: its settings cannot be read ({first_line(problem)}); restore it from a "
                    "copy, or import it again"
                ) from problem

    return attempt(store.name, work)
