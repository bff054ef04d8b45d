"""Tables and frames of Python packages: as Arrow tables, and the rows that a mask keeps, in the same type.

pandas, polars and Hugging Face datasets are recognised by the name of their module, so none of them is ever imported.
The ids of documents are a column if there is one; otherwise the index of a pandas frame, if no value of it is repeated;
otherwise positions from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.errors import InputError
from roughly.settings import ReadOptions
from roughly.sources.arrowcolumns import as_text, filtered
from roughly.sources.memory_table import MemoryTable
from roughly.sources.part import INDEX, POSITION, IdOrigin, Mask

REPEATED = "no id column, and the index of the frame has repeated values: ids are positions"


def read_frame(data: Any, options: ReadOptions) -> list[MemoryTable] | None:
    """The parts of a table or frame in memory, one per split of a dataset; None for any other object."""
    if is_dataset_dict(data):
        return [
            MemoryTable(_arrow(split, options), options, name=name, id_prefix=f"{name}/")
            for name, split in data.items()
        ]
    table = _arrow(data, options)
    if table is None:
        return None
    if not is_from(data, "pandas"):
        return [MemoryTable(table, options)]
    ids = index_ids(data)
    return [MemoryTable(table, options, ids=ids, ids_note=REPEATED if ids is None else "")]


def index_ids(frame: Any) -> list[str] | None:
    """The index of a pandas frame as ids; None if values are repeated."""
    ids = [str(value) for value in frame.index.tolist()]
    return ids if len(set(ids)) == len(ids) else None


def row_ids(data: Any, origin: IdOrigin) -> list[str | None]:
    """The id of each row, found as it was when the documents were read."""
    if origin.kind == POSITION:
        return [str(number) for number in range(len(data))]
    if origin.kind == INDEX:
        if not is_from(data, "pandas"):
            raise InputError(f"the ids of this run are the index of a pandas frame; filter one, not {_kind(data)}")
        return [str(value) for value in data.index.tolist()]
    column = origin.column or ""
    if isinstance(data, Sequence):
        if not all(isinstance(row, Mapping) for row in data):
            raise InputError(f"the ids of this run are the column {column!r}; filter mappings that have it")
        return [None if (value := row.get(column)) is None else str(value) for row in data]
    names = data.columns if hasattr(data, "columns") and not hasattr(data, "column_names") else data.column_names
    if column not in list(names):
        raise InputError(f"the ids of this run are the column {column!r}, and the rows have no such column")
    table: Any = _arrow(_only(data, column), ReadOptions())
    ids: list[str | None] = as_text(table.column(column)).to_pylist()
    return ids


def select_rows(data: Any, keep: Mask) -> Any:
    """The kept rows, in the same type and order; a pandas frame keeps its index."""
    if isinstance(data, pa.Table):
        return data.filter(pa.array(keep))
    if isinstance(data, pa.RecordBatch):
        return filtered(data, keep)
    if is_from(data, "pandas") or isinstance(data, np.ndarray):
        return data[keep]
    if is_from(data, "polars"):
        return data.filter(keep)
    if is_from(data, "datasets"):
        return data.select(np.flatnonzero(keep))
    kept = [row for row, is_kept in zip(data, keep.tolist(), strict=True) if is_kept]
    return tuple(kept) if isinstance(data, tuple) else kept


def can_filter(data: Any) -> bool:
    """Whether rows can be selected from an object, by `row_ids` and `select_rows`."""
    if isinstance(data, pa.Table | pa.RecordBatch | list | tuple | np.ndarray):
        return True
    return any(is_from(data, package) for package in ("pandas", "polars", "datasets")) and hasattr(data, "__len__")


def is_from(data: object, package: str) -> bool:
    """Whether an object is of a class of this package."""
    return any(kind.__module__.split(".")[0] == package for kind in type(data).__mro__)


def is_dataset_dict(data: object) -> bool:
    """Whether this is a dictionary of Hugging Face datasets by split."""
    return isinstance(data, Mapping) and bool(data) and all(is_from(split, "datasets") for split in data.values())


def _arrow(data: Any, options: ReadOptions) -> pa.Table | None:
    """The table if the data is one, or is a frame that is cheap to convert."""
    named = options.text_column or "text"
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if is_from(data, "pandas"):
        frame = data.to_frame(named) if hasattr(data, "to_frame") else data
        return pa.Table.from_pandas(frame) if hasattr(frame, "columns") else None
    if is_from(data, "polars") and hasattr(data, "to_arrow"):
        return (data.alias(named).to_frame() if hasattr(data, "to_frame") else data).to_arrow()
    if is_from(data, "datasets") and hasattr(data, "select"):
        return data.with_format("arrow")[:]
    return None


def _only(data: Any, column: str) -> Any:
    """The same type with one column."""
    if isinstance(data, pa.Table | pa.RecordBatch):
        return data.select([column])
    return data.select_columns([column]) if is_from(data, "datasets") else data[[column]]


def _kind(data: Any) -> str:
    return f"an object of type {type(data).__name__}"
