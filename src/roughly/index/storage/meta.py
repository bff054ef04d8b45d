"""The table `meta`: named facts about an index, each a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select

from roughly.index.storage.schema import META


def read_meta(connection: Connection, name: str) -> str | None:
    """The value with this name, or None."""
    value: str | None = connection.execute(select(META.c.value).where(META.c.name == name)).scalar()
    return value


def read_number(connection: Connection, name: str) -> int:
    """The value with this name, which must be there, as a whole number."""
    return int(connection.execute(select(META.c.value).where(META.c.name == name)).scalar_one())


def write_meta(connection: Connection, values: Mapping[str, Any]) -> None:
    """Store values under their names, in place of what was there."""
    connection.execute(delete(META).where(META.c.name.in_(list(values))))
    connection.execute(META.insert(), [{"name": name, "value": str(value)} for name, value in values.items()])


def delete_meta(connection: Connection, name: str) -> None:
    """Delete the value with this name, if there is one."""
    connection.execute(delete(META).where(META.c.name == name))
