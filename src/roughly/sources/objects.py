"""From what a Python caller hands over to parts: tables, frames, iterables.

pandas and polars are recognised by the name of their module, so neither is ever imported here. Whatever can
be read only once is stored in `spool` first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from roughly.errors import InputError, SettingsError
from roughly.settings import ReadOptions
from roughly.sources.memory_table import MemoryTable, SpooledTable
from roughly.sources.open import open_parts
from roughly.sources.part import Part
from roughly.sources.spool import spool_batches, spool_records

_FILE = "table.parquet"


def data_or_paths(data: Any, paths: Any) -> tuple[Any, Any]:
    """What a caller gave as (data, paths), one of them None; a single path may be given as either."""
    if (data is None) == (paths is None):
        raise SettingsError("give either data or paths")
    if isinstance(data, str | os.PathLike):
        return None, [data]
    return data, [paths] if isinstance(paths, str | os.PathLike) else paths


def open_data(
    data: Any, paths: Iterable[str | os.PathLike[str]] | None, options: ReadOptions, spool: Path
) -> list[Part]:
    """Parts of paths where there are any, and of objects otherwise."""
    if paths is None:
        return parts_from_objects(data, options, spool)
    return open_parts([os.fspath(path) for path in paths], options, spool)


def parts_from_objects(data: Any, options: ReadOptions, spool: Path) -> list[Part]:
    """One part of a table, a frame, or an iterable of strings or mappings."""
    table = _table_in_memory(data, options)
    if table is not None:
        return [MemoryTable(table, options)]
    spool.mkdir(parents=True, exist_ok=True)
    path = spool / _FILE
    if isinstance(data, pa.RecordBatchReader):
        spool_batches(data, data.schema, path)
    elif _is_from(data, "polars") and hasattr(data, "sink_parquet"):
        data.sink_parquet(path)
    elif hasattr(data, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(data)
        spool_batches(reader, reader.schema, path)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        spool_records(data, options.text_column, path)
    else:
        raise InputError(
            f"documents cannot be read from an object of type {type(data).__name__}; "
            f"give a table, a data frame, or an iterable of strings or mappings"
        )
    return [SpooledTable(path, options)]


def _table_in_memory(data: Any, options: ReadOptions) -> pa.Table | None:
    """The table if the data is one, or a frame that becomes one at little cost."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if _is_from(data, "pandas"):
        frame = data.to_frame(data.name or options.text_column or "text") if hasattr(data, "to_frame") else data
        return pa.Table.from_pandas(frame) if hasattr(frame, "columns") else None
    if _is_from(data, "polars") and hasattr(data, "to_arrow"):
        if hasattr(data, "to_frame"):
            data = data.alias(data.name or options.text_column or "text").to_frame()
        return data.to_arrow()
    return None


def _is_from(data: object, package: str) -> bool:
    return type(data).__module__.split(".")[0] == package
