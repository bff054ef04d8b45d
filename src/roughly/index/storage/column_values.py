"""Values of an SQLite file that cannot be those of an index: SQLite stores any value in any column.

PostgreSQL checks types itself. Here a damaged or edited file is found out when a value of it causes an error, and by
`verify`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Column, Connection, Integer, LargeBinary
from sqlalchemy.exc import DBAPIError

from roughly.errors import IndexDamaged, RoughlyError, first_line
from roughly.index.storage.bodies import MARK_WORDS
from roughly.index.storage.schema import METADATA
from roughly.index.storage.store import IndexStore

_ODD = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
_RANGES = {
    ("contents", "marks"): f"length(marks) = {8 * MARK_WORDS}",
    ("documents", "day"): "day BETWEEN 1 AND 3652059",
    ("documents", "content"): "content IN (SELECT content FROM contents)",
}


def wrong_values(store: IndexStore, connection: Connection) -> list[str]:
    """The columns with values of a wrong type or range, each as a sentence."""
    if store.postgres:
        return []
    problems = []
    for table in METADATA.sorted_tables:
        columns = list(table.columns)
        counts = ", ".join(f"sum(NOT coalesce({_fits(table.name, column)}, 0))" for column in columns)
        row = connection.exec_driver_sql(f"SELECT {counts} FROM {table.name}").one()
        for column, count in zip(columns, row, strict=True):
            if count:
                problems.append(f"{count:,} values of {table.name}.{column.name} cannot be those of an index")
    return problems


def _fits(table: str, column: Column[Any]) -> str:
    """The SQL condition for one column."""
    kind = column.type
    wanted = "integer" if isinstance(kind, Integer) else "blob" if isinstance(kind, LargeBinary) else "text"
    condition = f"typeof({column.name}) = '{wanted}'"
    if more := _RANGES.get((table, column.name)):
        condition = f"({condition} AND {more})"
    return f"(typeof({column.name}) = 'null' OR {condition})" if column.nullable else condition


@contextmanager
def refuse_wrong_values(store: IndexStore, connection: Connection) -> Iterator[None]:
    """Raise an error that values of a damaged file cause as `IndexDamaged`; any other error is left as it is."""
    try:
        yield
    except (RoughlyError, DBAPIError):
        raise
    except _ODD as problem:
        if found := wrong_values(store, connection):
            raise IndexDamaged(
                f"{store.name} is damaged: {found[0]} ({first_line(problem)}); "
                "restore it from a copy, or import it again"
            ) from problem
        raise
