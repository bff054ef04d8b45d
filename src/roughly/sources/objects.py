"""From the objects of a Python caller to parts: tables, frames, iterables.

Tables, frames and short lists stay in memory (`frames`); whatever can be read only once is stored in `spool` first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from roughly.errors import InputError, SettingsError
from roughly.settings import ReadOptions
from roughly.sources.open import open_parts
from roughly.sources.part import Part
from roughly.sources.spool import spool_batches, spool_records, table_of_records

_FILE = "table.parquet"
_LONGEST_NAME = 4096  # characters of a path


def data_or_paths(data: Any, paths: Any) -> tuple[Any, Any]:
    """The caller's input as (data, paths), one of them None; a single path may be given as either."""
    if (data is None) == (paths is None):
        raise SettingsError("give either data or paths")
    if isinstance(data, str | os.PathLike):
        return None, [data]
    _refuse_names_of_files(data)
    return data, [paths] if isinstance(paths, str | os.PathLike) else paths


def open_data(
    data: Any, paths: Iterable[str | os.PathLike[str]] | None, options: ReadOptions, spool: Path
) -> list[Part]:
    """The parts of paths if given, and of objects otherwise."""
    if paths is None:
        return parts_from_objects(data, options, spool)
    return open_parts([os.fspath(path) for path in paths], options, spool)


def parts_from_objects(data: Any, options: ReadOptions, spool: Path) -> list[Part]:
    """The parts of a table, a frame, a dataset with splits, or an iterable of strings or mappings."""
    from roughly.sources.frames import is_from, read_frame  # the command line needs neither
    from roughly.sources.memory_table import MemoryTable, SpooledTable

    frames: Sequence[Part] | None = read_frame(data, options)
    if frames is not None:
        return list(frames)
    if isinstance(data, list | tuple):
        table = table_of_records(data, options.text_column)
        if table is not None:
            return [MemoryTable(table, options, of_records=True)]
    spool.mkdir(parents=True, exist_ok=True)
    path = spool / _FILE
    if isinstance(data, pa.RecordBatchReader):
        spool_batches(data, data.schema, path, options.spool_limit)
    elif is_from(data, "polars") and hasattr(data, "sink_parquet"):
        data.sink_parquet(path)
    elif hasattr(data, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(data)
        spool_batches(reader, reader.schema, path, options.spool_limit)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        spool_records(data, options.text_column, path, options.spool_limit)
        return [SpooledTable(path, options, of_records=True)]
    else:
        raise InputError(
            f"documents cannot be read from an object of type {type(data).__name__}; "
            f"give a table, a data frame, or an iterable of strings or mappings"
        )
    return [SpooledTable(path, options)]


def _refuse_names_of_files(data: Any) -> None:
    """Refuse a list of paths, and one of strings that all are paths of existing files: what is meant is not clear."""
    if not isinstance(data, list | tuple) or not data:
        return
    if all(isinstance(item, os.PathLike) for item in data):
        raise InputError(f"a list of paths is given as paths=[…], so that {os.fspath(data[0])!r} is read as a file")
    if all(isinstance(item, str) and _is_file(item) for item in data):
        raise InputError(
            f"all strings of the list are names of existing files, such as {data[0]!r}: to read the files, give "
            "paths=[…]; to compare the names themselves, give mappings: [{'text': name} for name in names]"
        )


def _is_file(text: str) -> bool:
    try:
        return len(text) < _LONGEST_NAME and bool(text.strip()) and Path(text).exists()
    except (OSError, ValueError):
        return False
