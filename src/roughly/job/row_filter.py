"""The rows of a caller's own table that a run keeps.

A row is found by its id, which is taken from where the run took it (`ids` in run.json): a column, the index of a pandas
frame, or the position. A run that numbered repeated ids has the positions in `known.parquet`. Rows that the run
rejected are not kept; more rows that it has not seen are refused, since nothing is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.errors import InputError
from roughly.sources.frames import can_filter, is_dataset_dict, row_ids, select_rows
from roughly.sources.part import FILE, POSITION, IdOrigin, Mask


class RowFilter:
    """Selects the kept rows of tables; `run` is run.json, `documents` has the verdicts and `known` the positions."""

    def __init__(self, run: Mapping[str, Any], documents: pa.Table, known: Callable[[], pa.Table]) -> None:
        self._origin = IdOrigin(**run["ids"]) if "ids" in run else IdOrigin()
        self._rejected = int(run["counts"]["rejected"])
        self._known = known if run["settings"]["on_duplicate_id"] == "number" else None
        self._verdicts = dict(zip(documents["doc_id"].to_pylist(), documents["kept"].to_pylist(), strict=True))

    def filter(self, data: Any) -> Any:
        """The kept rows, in the same type."""
        if is_dataset_dict(data):
            splits = {name: self._ids(split, f"{name}/") for name, split in data.items()}
            self._check([doc_id for ids in splits.values() for doc_id in ids])
            return type(data)({name: select_rows(data[name], self._kept(ids)) for name, ids in splits.items()})
        if hasattr(data, "collect") and hasattr(data, "lazy"):  # a lazy frame of polars
            return self.filter(data.collect()).lazy()
        return select_rows(data, self.mask(data))

    def mask(self, data: Any) -> Mask:
        """Which rows are kept."""
        ids = self._ids(data)
        if self._known is not None:
            return self._positions(self._known(), len(ids))
        self._check(ids)
        return self._kept(ids)

    def _ids(self, data: Any, prefix: str = "") -> list[str | None]:
        if not can_filter(data):
            raise InputError(
                f"rows cannot be selected from an object of type {type(data).__name__}; give a table, a data frame, a "
                "dataset or a list, and not an iterator that was read already"
            )
        if self._origin.kind == FILE:
            raise InputError(
                "the ids of this run are positions in files, so rows cannot be found by them; name a column of ids "
                "(id_column=) when you run dedupe, or use the files in result.folder / 'kept'"
            )
        return [None if doc_id is None else f"{prefix}{doc_id}" for doc_id in row_ids(data, self._origin)]

    def _check(self, ids: list[str | None]) -> None:
        """Refuse rows that are not those of the run."""
        if self._origin.kind == POSITION:
            self._check_count(len(ids))
        unknown = [doc_id for doc_id in ids if doc_id not in self._verdicts]
        if len(unknown) > self._rejected:
            raise InputError(
                f"{len(unknown):,} of {len(ids):,} rows have an id that this run has not seen, such as {unknown[0]!r}; "
                "filter the rows that were deduplicated"
            )

    def _kept(self, ids: list[str | None]) -> Mask:
        return np.array([doc_id is not None and self._verdicts.get(doc_id, False) for doc_id in ids], np.bool_)

    def _check_count(self, count: int) -> None:
        """Where rows are found by their positions, they must be as many as the run read."""
        rows = len(self._verdicts) + self._rejected
        if count != rows:
            raise InputError(
                f"this run read {rows:,} rows, which are found by their positions; filter the same rows, not {count:,}"
            )

    def _positions(self, known: pa.Table, count: int) -> Mask:
        """The mask of a run that numbered repeated ids: its ids are not those of the rows."""
        self._check_count(count)
        rows = known["row"].to_numpy()
        if known["part"].to_numpy().any() or (len(rows) and rows.max() >= count):
            raise InputError("this run numbered repeated ids, so its rows can be found in one table only; filter that")
        mask = np.zeros(count, np.bool_)
        mask[rows] = [self._verdicts[doc_id] for doc_id in known["doc_id"].to_pylist()]
        return mask
