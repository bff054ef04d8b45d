"""What a run gives back to Python: the tables it wrote, and another threshold without hashing again."""

from __future__ import annotations

import json
import shutil
import weakref
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.errors import SettingsError


class OpenRun(Protocol):
    """A run that can still be asked for another threshold."""

    def rethreshold(self, threshold: float) -> Result:
        """The answer at another threshold."""
        ...

    def close(self) -> None:
        """Give memory and disk back."""


class Result:
    """The outcome of `roughly.dedupe`. Tables are read when first asked for.

    Without an output folder everything lies in a temporary one that goes with this object.
    """

    def __init__(
        self, folder: Path, session: OpenRun | None = None, *, scratch: Path | None = None, temporary: bool = False
    ) -> None:
        self.folder = folder
        self._session = session
        self._parent: Result | None = None  # holds the session open
        if scratch is not None:
            self._finalise = weakref.finalize(self, _clear, scratch, session)
        elif temporary:
            self._finalise = weakref.finalize(self, _clear, folder, None)

    @cached_property
    def documents(self) -> pa.Table:
        """Every input document with its verdict (`model.WRITTEN`), sorted by doc_id."""
        return pq.read_table(self.folder / "documents.parquet")

    @cached_property
    def pairs(self) -> pa.Table:
        """Verified pairs."""
        return pq.read_table(self.folder / "pairs.parquet")

    @cached_property
    def clusters(self) -> pa.Table:
        """Clusters of two documents or more."""
        return pq.read_table(self.folder / "clusters.parquet")

    @property
    def kept(self) -> list[str]:
        """The ids of the documents that stay."""
        ids: list[str] = self.documents.filter(pc.field("kept"))["doc_id"].to_pylist()
        return ids

    @property
    def removed(self) -> pa.Table:
        """The documents that go, each with its witness."""
        return self.documents.filter(~pc.field("kept"))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of run.json: settings, counts, seconds and memory a stage."""
        content: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return content

    def to_arrow(self) -> pa.Table:
        """The same as `documents`."""
        return self.documents

    def rethreshold(self, threshold: float) -> Result:
        """The answer at another threshold, at or above this run's, from the same keys and tokens."""
        if self._session is None:
            raise SettingsError("this result was opened from a folder; run dedupe again for another threshold")
        result = self._session.rethreshold(threshold)
        result._parent = self
        return result

    def __repr__(self) -> str:
        counts = self.summary["counts"]
        return f"<Result: {counts['documents']:,} documents, {counts['kept']:,} kept, {counts['removed']:,} removed>"


def _clear(folder: Path, session: OpenRun | None) -> None:
    if session is not None:
        session.close()
    shutil.rmtree(folder, ignore_errors=True)
