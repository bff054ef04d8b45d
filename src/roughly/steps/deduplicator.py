"""`roughly.Deduplicator`: rows in, the rows that are kept out.

    >>> deduplicate = Deduplicator(threshold=0.8)
    >>> frame = deduplicate(frame)                                    # pandas, polars, Arrow, lists, datasets
    >>> dataset = dataset.map(deduplicate, batched=True, batch_size=None)
    >>> make_pipeline(deduplicate, TfidfVectorizer()).fit(texts)

With an `archive`, an index, it has a memory: rows that resemble one of an earlier call are removed too, and what is
kept is added. So a stream is deduplicated batch by batch.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import SettingsError
from roughly.index import Index
from roughly.index.incoming import read_part
from roughly.index.storage.store import MEMORY, check_place, is_postgres
from roughly.job import dedupe
from roughly.option_types import DedupeOptions, IndexOptions, ReadingOptions
from roughly.settings import ReadOptions
from roughly.sources import parts_from_objects
from roughly.sources.frames import select_rows

Rows = TypeVar("Rows")


class Deduplicator:
    """Keeps one row of each cluster of near-duplicates: call it with rows, and the kept ones come back.

    `archive` is an index, or where one is or is to be made (`:memory:` for as long as this object exists); it gets
    what is kept, and what resembles its documents is removed. `options` are those of `roughly.dedupe`.
    """

    def __init__(
        self, *, archive: Index | str | os.PathLike[str] | None = None, **options: Unpack[DedupeOptions]
    ) -> None:
        self.archive, self.options = archive, options
        self._index: Index | None = None

    def __call__(self, rows: Rows) -> Rows:
        """The rows that are kept, in the same type; a dictionary of columns, as `datasets` has batches, too."""
        return self._select(rows, self.mask(rows))  # type: ignore[no-any-return]

    def mask(self, rows: Any) -> npt.NDArray[np.bool_]:
        """Which of the rows are kept."""
        data = _table(rows) if _is_columns(rows) else rows
        if self.archive is None:
            return dedupe(data, **self.options).mask(data)
        result = dedupe(data, against=self._opened(), **self.options)
        keep = result.mask(data)
        self._remember(select_rows(data, keep))
        return keep

    # ------------------------------------------------------------------ as scikit-learn has it

    def fit(self, rows: Any, y: Any = None) -> Self:
        """Learn nothing: which rows are kept depends on the rows, and on the archive."""
        return self

    def transform(self, rows: Rows) -> Rows:
        """The rows that are kept."""
        return self(rows)

    def fit_transform(self, rows: Rows, y: Any = None) -> Rows:
        """The rows that are kept."""
        return self(rows)

    def fit_resample(self, rows: Rows, y: Any) -> tuple[Rows, Any]:
        """The rows that are kept with their labels, as imbalanced-learn has it."""
        keep = self.mask(rows)
        return self._select(rows, keep), select_rows(y, keep)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options, and the archive."""
        return {"archive": self.archive, **self.options}

    def set_params(self, **params: Any) -> Self:
        """Change options, or the archive."""
        self.archive = params.pop("archive", self.archive)
        self.options |= params  # type: ignore[typeddict-item]
        self._index = None
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    # ------------------------------------------------------------------ the archive

    def _opened(self) -> Index:
        """The archive, made with the options where there is none."""
        if self._index is None:
            self._index = self.archive if isinstance(self.archive, Index) else self._make()
        return self._index

    def _make(self) -> Index:
        where = self.archive
        assert where is not None and not isinstance(where, Index)
        known: Any = {name: self.options[name] for name in IndexOptions.__annotations__ if name in self.options}  # type: ignore[literal-required]
        if where == MEMORY:
            return Index(MEMORY, **known)
        if not is_postgres(where) and not Path(where).exists():
            check_place(where, new=True)
            return Index.create(where, **known)
        return Index.open(where, key_file=self.options.get("key_file"))

    def _remember(self, kept: Any) -> None:
        """Add what is kept; without a column of ids, by ids made from the texts."""
        reading: Any = {n: self.options[n] for n in ReadingOptions.__annotations__ if n in self.options}  # type: ignore[literal-required]
        if not len(kept):
            return
        with tempfile.TemporaryDirectory(prefix="roughly-step-") as spool:
            parts = parts_from_objects(kept, ReadOptions(**reading), Path(spool))
            self._opened().add([batch for part in parts for batch in read_part(part, by_content=True)])

    def __getstate__(self) -> dict[str, Any]:
        if self._index is not None and (isinstance(self.archive, Index) or self.archive == MEMORY):
            raise SettingsError(
                "an archive in memory cannot be sent to another process; name a file: archive='archive.db'"
            )
        return {**self.__dict__, "_index": None}

    def __repr__(self) -> str:
        given = {name: value for name, value in self.get_params().items() if value is not None}
        return f"Deduplicator({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @staticmethod
    def _select(rows: Any, keep: npt.NDArray[np.bool_]) -> Any:
        if not _is_columns(rows):
            return select_rows(rows, keep)
        return {name: [value for value, kept in zip(rows[name], keep, strict=True) if kept] for name in rows}


def _is_columns(rows: object) -> bool:
    """Whether this is a batch of `datasets`: a dictionary of columns."""
    return isinstance(rows, Mapping) and all(isinstance(rows[name], list) for name in rows)


def _table(columns: Mapping[str, list[Any]]) -> pa.Table:
    """A dictionary of columns as a table, without those that Arrow has no type for, such as pictures."""
    found = {}
    for name in columns:
        try:
            found[name] = pa.array(columns[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            continue
    return pa.table(found)
