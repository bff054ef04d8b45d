"""The Parquet files that roughly writes: their metadata, and one sentence for one that is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from roughly.errors import InputError, InputMissing, RoughlyError, first_line
from roughly.sources.parquet_open import parquet_schema

_DAMAGE = (
    OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError,
    pa.ArrowException,
)  # fmt: skip
"""What reading bytes raises that someone else has changed."""


def read_metadata(path: Path, what: str, command: str) -> dict[bytes, bytes]:
    """The metadata of a file of `what`, made by `command`."""
    try:
        return dict(parquet_schema(path).metadata or {})
    except FileNotFoundError:
        raise InputMissing(f"no {what} in {path}; make them with {command}") from None
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise unreadable(path, problem, what) from problem


def values_in(path: Path) -> int:
    """The values in all columns of a Parquet file, by its footer; 0 if it has none, which reading it will say."""
    from roughly.sources.parquetfooter import group_sizes, read_footer

    try:
        with path.open("rb") as file:
            groups = group_sizes(read_footer(file))
    except OSError:
        return 0
    return sum(column.values for group in groups for column in group.columns)


def unreadable(path: Path, problem: Exception, what: str) -> InputError:
    """The error for a file that pyarrow does not read, in one line."""
    return InputError(f"{path} cannot be read as Parquet: {' '.join(str(problem).split())}; make the {what} again")


def refuse_nulls(data: pa.RecordBatch | pa.Table) -> None:
    """Refuse nulls in columns that have none, and lists that do not fit their values: only damage makes them."""
    data.validate(full=True)
    for field in data.schema:
        if not field.nullable and data.column(field.name).null_count:
            raise ValueError(f"nulls in {field.name}")


@contextmanager
def refuse_damage(path: Path, remedy: str) -> Iterator[None]:
    """Raise whatever a damaged file causes while it is read as an `InputError` that names the file."""
    try:
        yield
    except RoughlyError:
        raise
    except _DAMAGE as problem:
        raise InputError(f"{path} is damaged ({first_line(problem)}); {remedy}") from problem
