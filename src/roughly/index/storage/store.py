"""The database of an index: an SQLite file, a PostgreSQL database, or SQLite in memory.

What the two do differently is here, in `stored_keys` or in `search.fulltext`.

**Writers** hold one lock for the whole transaction (`BEGIN IMMEDIATE`, an advisory lock on PostgreSQL): a document is
matched against everything that is stored when it is added, whatever other processes do, and no one sees half a
transaction. **Readers** see a snapshot and never wait.

**Durability.** SQLite writes ahead (WAL) and waits for the disk at every commit (`synchronous=FULL`); PostgreSQL does
so unless its operator has configured it otherwise. What was acknowledged survives the kill of any process, and a power
failure where the disk keeps its promises.

**In memory** there is one connection, so transactions of threads run one after another, readers too.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    Text,
    any_,
    bindparam,
    cast,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import StaticPool

from roughly.errors import IndexRefused, InputError, InputMissing, OutputError, OutputExists, SettingsError
from roughly.query_time import seconds_left

Ints = npt.NDArray[np.int64]

MEMORY = ":memory:"
"""As a place: in the memory of this process, until it is closed."""
BUSY_SECONDS = 60
"""How long a writer waits for another writer."""
_CACHE_KIB = 64 * 1024
_STEPS = 20_000
"""Steps of SQLite after which it is asked whether a query has time left; they take about a millisecond."""
_SAFE = ("journal_mode=WAL", "synchronous=FULL", f"cache_size=-{_CACHE_KIB}", "wal_autocheckpoint=8000")
_ALWAYS = ("temp_store=MEMORY", "trusted_schema=OFF")  # the schema of a file may have been changed by others
_READ_ONLY = (f"cache_size=-{_CACHE_KIB}",)
_BULK = ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{8 * _CACHE_KIB}", "locking_mode=EXCLUSIVE")
_LOCK = 0x526F7567686C79  # "Roughly", as the number of the advisory lock
_AT_ONCE = 50_000
_TABLES = (
    "contents", "documents", "keys", "recent", "crowds", "bodies", "signs", "files", "meta", "words", "titles",
)  # fmt: skip
_SIZE = func.pg_total_relation_size(func.to_regclass(bindparam("name")))  # NULL for a table that does not exist


def is_postgres(where: str | os.PathLike[str]) -> bool:
    """Whether this is the address of a server, and not a file."""
    return isinstance(where, str) and where.startswith(("postgresql://", "postgresql+psycopg://", "postgres://"))


def check_place(where: str | os.PathLike[str], new: bool) -> None:
    """Refuse, before any work is done, a file that does not exist, or with `new` one that does."""
    if is_postgres(where) or (new and where == MEMORY):
        return
    if where == MEMORY:
        raise InputMissing(f"an index in memory is made by roughly.Index({MEMORY!r}), and cannot be opened again")
    path = path_of(where)
    if not new and not path.exists():
        raise InputMissing(f"no index at {path}; make one with `roughly index create {path}`")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not an index; name the file of an index")
    if new and path.exists():
        raise OutputExists(f"{path} already exists; choose another name, or delete it first")
    if new and not path.absolute().parent.is_dir():
        raise OutputError(f"cannot write {path}: {path.absolute().parent} is not a folder; make it first")


def path_of(where: str | os.PathLike[str]) -> Path:
    """The file of an SQLite index."""
    text = os.fspath(where)
    if text.startswith("sqlite:///"):
        return Path(text[len("sqlite:///") :])
    if "://" in text:
        raise SettingsError(f"{text.split('://')[0]}:// cannot be an index; give a file, or postgresql://…")
    return Path(text)


class IndexStore:
    """The connections to the database of an index, and the statements that both databases understand."""

    def __init__(self, where: str | os.PathLike[str], *, new: bool = False, bulk: bool = False) -> None:
        """With `new` the file is created; `bulk` writes without a journal, for a file that no other process uses."""
        check_place(where, new)
        self.postgres = is_postgres(where)
        self.engine = _engine(where, new, bulk)
        self.name = self.engine.url.render_as_string(hide_password=True) if self.postgres else str(path_of(where))
        self._compiled: dict[Any, tuple[str, list[str] | None, dict[str, Any]]] = {}
        self._writers = threading.Lock()  # threads of one process queue here, since the database's own queue is unfair
        self._alone: AbstractContextManager[Any] = threading.Lock() if where == MEMORY else nullcontext()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """A transaction that reads: a snapshot of the index."""
        level = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True} if self.postgres else {}
        opened = self.engine.connect().execution_options(**level)
        with self._alone, opened as connection, connection.begin(), self._in_time(connection):
            yield connection

    @contextmanager
    def _in_time(self, connection: Connection) -> Iterator[None]:
        """Have the database end queries when the request that asks has no time left."""
        left = seconds_left()
        if left == math.inf:
            yield
        elif self.postgres:
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {max(1, int(left * 1000))}")
            yield
        else:
            driver: Any = connection.connection.driver_connection
            driver.set_progress_handler(lambda: seconds_left() <= 0, _STEPS)
            try:
                yield
            finally:
                driver.set_progress_handler(None, 0)

    @contextmanager
    def write_transaction(self) -> Iterator[Connection]:
        """The one transaction that writes at this time: committed at its end, rolled back on an error."""
        with self._writers, self._alone, self.engine.connect() as connection:
            connection = connection.execution_options(roughly_writes=True)
            with connection.begin():
                if self.postgres:
                    connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
                yield connection

    def refuse_foreign_code(self, connection: Connection) -> None:
        """Refuse a file with triggers or views: an index has none, and they would run in the name of its user."""
        if self.postgres:  # only the owner of a database can make them
            return
        query = "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') LIMIT 1"
        if found := connection.exec_driver_sql(query).first():
            raise IndexRefused(
                f"{self.name} has a {found[0]} named {str(found[1])[:60]!r}, and an index has none: someone has "
                "changed it; use a copy from before, or import it again"
            )

    def among(self, column: ColumnElement[Any], values: Ints | Sequence[str]) -> ColumnElement[bool]:
        """The condition that the column is one of any number of values, which are one parameter."""
        return self._one_of(column, self.list_parameter(values), not isinstance(values, np.ndarray))

    def one_of(self, column: Any, strings: bool = False) -> ColumnElement[bool]:
        """The same with the values in the parameter `values`, which `list_parameter` makes."""
        return self._one_of(column, bindparam("values"), strings)

    def list_parameter(self, values: Ints | Sequence[str]) -> Any:
        """Values as one parameter of a statement."""
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        return listed if self.postgres else orjson.dumps(listed).decode()

    def _one_of(self, column: Any, listed: Any, strings: bool) -> ColumnElement[bool]:
        if self.postgres:
            return column == any_(cast(listed, ARRAY(Text if strings else BigInteger)))  # type: ignore[no-any-return]
        return column.in_(select(func.json_each(listed).table_valued("value").c.value))  # type: ignore[no-any-return]

    def select_rows(self, connection: Connection, name: Any, build: Callable[[], Any], **parameters: Any) -> list[Any]:
        """Rows, as plain tuples, of a statement that is built and compiled once per name.

        Building and compiling takes longer than most statements run.
        """
        if name not in self._compiled:
            compiled = build().compile(self.engine)
            self._compiled[name] = str(compiled), compiled.positiontup, dict(compiled.params)
        text, order, fixed = self._compiled[name]
        parameters = fixed | parameters
        given: Any = parameters if order is None else tuple(parameters[name] for name in order)
        with self.cursor(connection) as cursor:  # SQLAlchemy's own takes longer than most statements run
            cursor.execute(text, given)
            rows: list[Any] = cursor.fetchall()
        return rows

    def value(self, connection: Connection, text: str) -> Any:
        """The value that a plain statement selects, or None."""
        with self.cursor(connection) as cursor:
            cursor.execute(text)
            row = cursor.fetchone()
        return None if row is None else row[0]

    def fetch(
        self, connection: Connection, columns: Sequence[Any], column: Any, values: Any, *more: Any
    ) -> list[Any]:  # fmt: skip
        """The rows, as plain tuples, whose `column` is one of the values; `more` are further conditions."""
        rows: list[Any] = []
        strings = not isinstance(values, np.ndarray)
        for lo in range(0, len(values), _AT_ONCE):
            rows += self.select_rows(
                connection,
                (*columns, column, *map(str, more)),
                lambda: select(*columns).where(self.one_of(column, strings), *more),
                values=self.list_parameter(values[lo : lo + _AT_ONCE]),
            )
        return rows

    def fetch_numbers(
        self, connection: Connection, columns: Sequence[Any], column: Any, values: Ints, *more: Any
    ) -> Ints:  # fmt: skip
        """The same as an array, where all columns are whole numbers."""
        rows = self.fetch(connection, columns, column, values, *more)
        flat = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * len(columns))
        return flat.reshape(-1, len(columns))

    def insert(self, connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows into a table by the fastest way of the database."""
        if self.postgres:
            into = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            with self.cursor(connection) as cursor, cursor.copy(into) as copy:
                for row in rows:
                    copy.write_row(row)
            return
        marks = ", ".join("?" * len(columns))
        with self.cursor(connection) as cursor:
            cursor.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    @contextmanager
    def cursor(self, connection: Connection) -> Iterator[Any]:
        """The driver's own cursor, with its errors raised as SQLAlchemy raises them."""
        driver: Any = self.engine.dialect.dbapi
        cursor: Any = connection.connection.cursor()
        try:
            yield cursor
        except driver.Error as problem:
            dialect = self.engine.dialect
            lost = dialect.is_disconnect(problem, connection.connection.dbapi_connection, cursor)
            if lost:
                connection.invalidate(problem)
            raise DBAPIError.instance(
                None, None, problem, driver.Error, connection_invalidated=lost, dialect=dialect
            ) from problem
        finally:
            cursor.close()

    def exchange_tables(self, connection: Connection) -> None:
        """Replace `keys` and `signs` by `keys_next` and `signs_next`."""
        connection.exec_driver_sql("DELETE FROM recent")
        for table in ("keys", "signs"):
            connection.exec_driver_sql(f"DROP TABLE {table}")
            connection.exec_driver_sql(f"ALTER TABLE {table}_next RENAME TO {table}")
            if self.postgres:  # an index keeps its name, which the next refresh needs
                connection.exec_driver_sql(f"ALTER INDEX {table}_next_pkey RENAME TO {table}_pkey")

    def size(self, connection: Connection) -> int:
        """Bytes on disk."""
        if self.postgres:
            return sum(int(connection.scalar(select(_SIZE), {"name": name}) or 0) for name in _TABLES)
        pages, size, free = (
            int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
            for name in ("page_count", "page_size", "freelist_count")
        )
        return (pages - free) * size


def _engine(where: str | os.PathLike[str], new: bool, bulk: bool) -> Engine:
    if is_postgres(where):
        return _postgres(str(where))
    if where == MEMORY:
        return _sqlite(URL.create("sqlite+pysqlite", database=MEMORY), _ALWAYS, poolclass=StaticPool)
    path = path_of(where)
    quoted = str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    mode = _mode(path, new)
    pragmas = (*(_READ_ONLY if mode["mode"] == "ro" else _BULK if bulk else _SAFE), *_ALWAYS)
    return _sqlite(URL.create("sqlite+pysqlite", database=f"file:{quoted}", query={**mode, "uri": "true"}), pragmas)


def _sqlite(url: URL, pragmas: Sequence[str], **options: Any) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}, **options)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver must not begin transactions by itself: `_begun` does
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchall()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("roughly_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _mode(path: Path, new: bool) -> dict[str, str]:
    """How SQLite opens the file: one that may not be written, or is in a folder that may not be, can still be read.

    SQLite reads a write-ahead log only with a file beside it. Where it cannot make one and there is no log, nobody is
    writing, and the file is read as it is.
    """
    if new:
        return {"mode": "rwc"}
    if os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK):
        return {"mode": "rw"}
    return {"mode": "ro"} if path.with_name(f"{path.name}-wal").exists() else {"mode": "ro", "immutable": "1"}


def _postgres(url: str) -> Engine:
    try:
        import psycopg  # noqa: F401 - SQLAlchemy loads it by name
    except ImportError:
        raise SettingsError("an index on PostgreSQL needs psycopg; install it with roughly[postgres]") from None
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise SettingsError(
            "that is no address of a PostgreSQL database; write postgresql://user@host/database"
        ) from None
    # statements are not prepared on the server: `refresh` exchanges tables under them
    return create_engine(
        parsed.set(drivername="postgresql+psycopg"), connect_args={"prepare_threshold": None}, pool_pre_ping=False
    )
