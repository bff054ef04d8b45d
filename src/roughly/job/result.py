"""The result of a run in Python: its tables, the rows that it keeps, and another threshold without hashing again."""

from __future__ import annotations

import json
import os
import shutil
import weakref
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputMissing, SettingsError
from roughly.features.metadata import refuse_damage
from roughly.model import REJECTS
from roughly.result_table import ResultTable
from roughly.sources.parquet_open import parquet_table

if TYPE_CHECKING:
    from roughly.job.result_plots import ResultPlots
    from roughly.job.row_filter import RowFilter

Rows = TypeVar("Rows")
_AGAIN = "run dedupe again"


class OpenRun(Protocol):
    """A run whose keys and tokens still exist."""

    def rethreshold(self, threshold: float) -> Path:
        """Write the result at another threshold; returns a temporary folder."""
        ...

    def complete(self, folder: Path, table: str | None = None) -> None:
        """Write what is not in the folder of the run yet: one table, or everything but the report."""

    def write_report(self, folder: Path) -> None:
        """Write the report of the run into its folder."""

    def close(self) -> None:
        """Free memory and disk."""


class Result:
    """The result of `roughly.dedupe`, or the output folder of a run, opened. Tables are read on first use.

    Without an output folder everything is in a temporary one, deleted with this object.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        session: OpenRun | None = None,
        *,
        scratch: Path | None = None,
        temporary: bool = False,
    ) -> None:
        self._folder = Path(folder)
        if not (self._folder / "run.json").is_file():
            raise InputMissing(f"{folder} is not a run: it has no run.json; name the output folder of a run")
        self._session = session
        self._parent: Result | None = None  # keeps the session open
        if scratch is not None:
            self._finalise = weakref.finalize(self, _clear, scratch, session)
        elif temporary:
            self._finalise = weakref.finalize(self, _clear, self._folder, None)

    @property
    def folder(self) -> Path:
        """The output folder. Of texts in memory without one, a temporary folder is filled on first use."""
        if self._session is not None:
            self._session.complete(self._folder)
        return self._folder

    @cached_property
    def documents(self) -> ResultTable:
        """Every input document with its verdict (`model.WRITTEN`), sorted by doc_id."""
        return self._table("documents")

    @cached_property
    def kept(self) -> ResultTable:
        """The rows of `documents` that are kept."""
        return ResultTable(self.documents.to_arrow().filter(pc.field("kept")))

    @cached_property
    def removed(self) -> ResultTable:
        """The rows of `documents` that are removed, each with its witness."""
        return ResultTable(self.documents.to_arrow().filter(~pc.field("kept")))

    @property
    def kept_ids(self) -> list[str]:
        """The ids of the kept documents, sorted."""
        ids: list[str] = self.kept["doc_id"].to_pylist()
        return ids

    @cached_property
    def pairs(self) -> ResultTable:
        """Verified pairs."""
        return self._table("pairs")

    @cached_property
    def clusters(self) -> ResultTable:
        """Clusters of two documents or more."""
        return self._table("clusters")

    @cached_property
    def rejected(self) -> ResultTable:
        """The records that could not be used, such as rows without a text: position, reason and beginning."""
        return read_rejects(self._folder)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of run.json: settings, counts, seconds and memory per stage."""
        path = self._folder / "run.json"
        with refuse_damage(path, _AGAIN):
            return dict(json.loads(path.read_text(encoding="utf-8")))

    @property
    def report(self) -> Path:
        """The page of the run, `report.html`; without an output folder it is written on first use."""
        path = self._folder / "report.html"
        if not path.exists() and self._session is not None:
            self._session.write_report(self._folder)
        return path

    @property
    def remarks(self) -> list[str]:
        """What a caller should know: rejected records, and guesses that may be wrong."""
        from roughly.job.remarks import remarks_on

        return remarks_on(self.summary)

    def filter(self, data: Rows) -> Rows:
        """The rows of the input that are kept: in the same type and order, with all columns, a pandas index as it was.

        `data` is what was deduplicated, or other rows with the same ids: a pandas, polars or Arrow table, a Hugging
        Face `Dataset` or `DatasetDict`, a list of dictionaries or strings.
        """
        return self._filter.filter(data)  # type: ignore[no-any-return]

    def mask(self, data: Any) -> npt.NDArray[np.bool_]:
        """Which rows of the input are kept, for `data` as in `filter`: an array of booleans."""
        return self._filter.mask(data)

    @cached_property
    def _filter(self) -> RowFilter:
        from roughly.job.row_filter import RowFilter

        return RowFilter(self.summary, self.documents.to_arrow(), lambda: self._stored("known"))

    def to_arrow(self) -> pa.Table:
        """`documents` as a pyarrow table."""
        return self.documents.to_arrow()

    @property
    def equal_ids(self) -> list[str]:
        """The ids of documents that are equal to one that ranks before them: removed at every threshold."""
        known = self._stored("known", ["doc_id", "equal_to"])
        ids: list[str] = known.filter(pc.field("equal_to").is_valid())["doc_id"].to_pylist()
        return ids

    @property
    def plot(self) -> ResultPlots:
        """Plots: `result.plot.thresholds()` shows how many documents other thresholds would keep."""
        from roughly.job.result_plots import ResultPlots

        return ResultPlots(self)

    def rethreshold(self, threshold: float) -> Result:
        """The result at another threshold, at or above this run's, from the same keys and tokens."""
        if self._session is None:
            raise SettingsError("this result was opened from a folder; run dedupe again for another threshold")
        result = Result(self._session.rethreshold(threshold), self._session, temporary=True)
        result._parent = self
        return result

    def _table(self, name: str) -> ResultTable:
        return ResultTable(self._stored(name))

    def _stored(self, name: str, columns: list[str] | None = None) -> pa.Table:
        if self._session is not None:
            self._session.complete(self._folder, name)
        path = self._folder / f"{name}.parquet"
        with refuse_damage(path, _AGAIN):
            return parquet_table(path, columns)

    def __repr__(self) -> str:
        from roughly.job.remarks import one_line

        return f"<Result: {one_line(self.summary)}>"

    def _repr_html_(self) -> str:
        from roughly.job.result_html import result_html

        return result_html(self.summary, self.removed.to_arrow())


def read_rejects(folder: Path) -> ResultTable:
    """The table of rejected records in a run's folder."""
    path = folder / "quarantine.jsonl"
    files = sorted(path.glob("part-*")) if path.is_dir() else [path] if path.is_file() else []  # Spark writes a folder
    lines = (line for file in files for line in file.read_bytes().split(b"\n") if line)
    with refuse_damage(path, _AGAIN):
        return ResultTable(pa.Table.from_pylist([json.loads(line) for line in lines], REJECTS))


def _clear(folder: Path, session: OpenRun | None) -> None:
    if session is not None:
        session.close()
    shutil.rmtree(folder, ignore_errors=True)
