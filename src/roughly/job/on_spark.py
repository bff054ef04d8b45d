"""`roughly.dedupe(…, spark=session)` and `--engine spark`: the same run on a cluster."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from roughly.engines.relational.base_engine import RelationalEngine
from roughly.engines.spark import start
from roughly.engines.spark.engine import SparkEngine
from roughly.engines.workspace import Workspace
from roughly.errors import InputError, SettingsError
from roughly.job.launcher import DedupeRequest, Paths
from roughly.job.session import Session
from roughly.meter import Meter
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import open_parts
from roughly.sources.part import Part


class SparkResult:
    """The outcome of a run on Spark. Tables are Spark's, and lie in `folder` as Parquet."""

    def __init__(self, spark: Any, folder: Path, scratch: Path | None = None) -> None:
        self.spark, self.folder = spark, folder
        if scratch is not None:
            self._finalise = weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)

    def _table(self, name: str) -> Any:
        return self.spark.read.parquet((self.folder / name).absolute().as_uri())

    @property
    def documents(self) -> Any:
        """Every input document with its verdict, sorted by doc_id: a DataFrame."""
        return self._table("documents.parquet")

    @property
    def pairs(self) -> Any:
        """Verified pairs: a DataFrame."""
        return self._table("pairs.parquet")

    @property
    def clusters(self) -> Any:
        """Clusters of two documents or more: a DataFrame."""
        return self._table("clusters.parquet")

    @property
    def removed(self) -> Any:
        """The documents that are removed, each with its witness: a DataFrame."""
        return self.documents.where("NOT kept")

    @property
    def kept(self) -> Any:
        """The documents that are kept, with all columns, where the input was a DataFrame or Parquet: a DataFrame."""
        files = [path.absolute().as_uri() for path in sorted((self.folder / "kept").rglob("*.parquet"))]
        if not files:
            raise InputError(f"what is kept is not Parquet; it lies in {self.folder / 'kept'} in its own format")
        return self.spark.read.option("recursiveFileLookup", "true").parquet(*files)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of run.json."""
        content: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return content

    def __repr__(self) -> str:
        counts = self.summary["counts"]
        return (
            f"<SparkResult: {counts['documents']:,} documents, {counts['kept']:,} kept, {counts['removed']:,} removed>"
        )


class SparkLauncher:
    """A run on the session given, or on one that is started for the master. `options` go to `SparkEngine`."""

    shares_work = True

    def __init__(self, spark: Any = None, master: str | None = None, **options: Any) -> None:
        self._given, self._master, self._options = spark, master, options

    @cached_property
    def spark(self) -> Any:
        """The session, started when it is first needed."""
        return start.start(self._master) if self._given is None else self._given

    def check(self, request: DedupeRequest) -> None:
        """Refuse tables that only this machine would see."""
        if request.output is None and not self.spark.sparkContext.master.startswith("local"):
            raise SettingsError(
                "name an output that all workers see under the same path: without one, tables would lie in a "
                "temporary folder of this machine"
            )

    def working(self) -> AbstractContextManager[None]:
        """The session is set up for a run."""
        return start.prepared(self.spark)

    def open(self, data: Any, paths: Paths | None, reading: ReadOptions, spool: Path) -> list[Part]:
        """The parts of files, or of a Spark DataFrame, which is stored first."""
        if paths is not None:
            return open_parts([os.fspath(path) for path in paths], reading, spool)
        if not hasattr(data, "sparkSession"):
            raise InputError(
                f"the engine spark reads paths or a Spark DataFrame, not an object of type {type(data).__name__}; "
                "give it without spark=, or write it to files"
            )
        names = data.columns
        named = reading.id_column or next((n for n in names if n.lower() in ("id", "doc_id", "docid", "_id")), None)
        if named is None:
            raise InputError(
                f"a DataFrame has no order, so its documents need ids; it has the columns {', '.join(names)}. "
                "Name the one that holds the id: id_column=…"
            )
        folder = spool / "table"
        data.write.mode("overwrite").parquet(folder.absolute().as_uri())
        return open_parts([str(folder)], dataclasses.replace(reading, id_column=named), spool)

    def engine(
        self, parts: Sequence[Part], settings: Settings, resources: Resources, workspace: Workspace, meter: Meter
    ) -> RelationalEngine:
        """The engine on this session."""
        return SparkEngine(parts, settings, resources, workspace, meter, spark=self.spark, **self._options)

    def result(self, folder: Path, session: Session, scratch: Path | None) -> SparkResult:
        """A `SparkResult`."""
        session.close()
        return SparkResult(self.spark, folder, scratch)
