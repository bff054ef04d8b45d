"""A table of a result: rows and columns for Python, Arrow, pandas and polars, and a preview for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from roughly.errors import SettingsError

_ROWS_SHOWN = 10
_LETTERS_SHOWN = 80


@contextmanager
def _needed(package: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as problem:
        if problem.name != package:
            raise
        raise SettingsError(f"this needs {package}; install it with pip install {package}, or use to_list()") from None


class ResultTable:
    """A table. `to_list`, `to_pandas`, `to_polars` and `to_arrow` convert it; iteration gives rows as dictionaries.

    Whatever else a pyarrow table has, this has too: `num_rows`, `select`, `filter`, `sort_by`, `schema`, ….
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def to_arrow(self) -> pa.Table:
        """As a pyarrow table."""
        return self._table

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        with _needed("pandas"):
            return self._table.to_pandas()

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        with _needed("polars"):
            import polars
        return polars.from_arrow(self._table)

    def to_list(self) -> list[dict[str, Any]]:
        """As a list of dictionaries, one per row."""
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    def equals(self, other: Any) -> bool:
        """Whether the other table has the same columns and rows."""
        return bool(self._table.equals(other.to_arrow() if isinstance(other, ResultTable) else other))

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (row for batch in self._table.to_batches() for row in batch.to_pylist())

    def __getitem__(self, column: str) -> pa.ChunkedArray:
        return self._table[column]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__arrow_c_stream__":  # copying and pickling ask for names of their own
            raise AttributeError(name)
        return getattr(self._table, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return ResultTable, (self._table,)

    def __repr__(self) -> str:
        return f"<{len(self):,} row{'' if len(self) == 1 else 's'}: {', '.join(self._table.schema.names)}>"

    def _repr_html_(self) -> str:
        return table_html(self._table.schema.names, self._table.slice(0, _ROWS_SHOWN).to_pylist(), len(self))


def table_html(names: Sequence[str], rows: Sequence[dict[str, Any]], count: int) -> str:
    """The first rows of a table as HTML."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{shown(row[name])}</td>' for name in names)}</tr>" for row in rows)
    more = f"<p>{len(rows):,} of {count:,} rows</p>" if count > len(rows) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def shown(value: Any) -> str:
    """A value as HTML: short, and never as markup of its own."""
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return html.escape(text if len(text) <= _LETTERS_SHOWN else text[: _LETTERS_SHOWN - 1] + "…")
