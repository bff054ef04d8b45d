"""`roughly.dedupe(…, spark=session)` and `--engine spark`: the same run on a cluster."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from roughly.engines.relational.base_engine import RelationalEngine
from roughly.engines.spark import start
from roughly.engines.spark.engine import SparkEngine
from roughly.engines.workspace import Workspace
from roughly.errors import InputError, SettingsError
from roughly.job.launcher import DedupeRequest, Paths
from roughly.job.remarks import one_line, remarks_on
from roughly.job.result import read_rejects
from roughly.job.session import Session
from roughly.meter import Meter
from roughly.result_table import ResultTable
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import open_parts
from roughly.sources.part import Part


class SparkTable:
    """A table of a result on Spark: a DataFrame, with the conversions of `ResultTable`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def to_spark(self) -> Any:
        """As a Spark DataFrame."""
        return self._frame

    def to_arrow(self) -> pa.Table:
        """As a pyarrow table; all rows are brought to this machine."""
        return self._frame.toArrow()

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        return ResultTable(self.to_arrow()).to_pandas()

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        return ResultTable(self.to_arrow()).to_polars()

    def to_list(self) -> list[dict[str, Any]]:
        """As a list of dictionaries, one per row."""
        return ResultTable(self.to_arrow()).to_list()

    def __len__(self) -> int:
        return int(self._frame.count())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (row.asDict() for row in self._frame.toLocalIterator())

    def __getitem__(self, column: str) -> Any:
        return self._frame[column]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._frame, name)

    def __repr__(self) -> str:
        return repr(self._frame)


class SparkResult:
    """The result of a run on Spark, with the names of `Result`. Tables are stored in `folder` as Parquet."""

    def __init__(self, spark: Any, folder: Path, scratch: Path | None = None) -> None:
        self.spark, self.folder = spark, folder
        if scratch is not None:
            self._finalise = weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)

    def _table(self, name: str) -> Any:
        return self.spark.read.parquet((self.folder / name).absolute().as_uri())

    @property
    def documents(self) -> SparkTable:
        """Every input document with its verdict, sorted by doc_id."""
        return SparkTable(self._table("documents.parquet"))

    @property
    def kept(self) -> SparkTable:
        """The rows of `documents` that are kept."""
        return SparkTable(self._table("documents.parquet").where("kept"))

    @property
    def removed(self) -> SparkTable:
        """The rows of `documents` that are removed, each with its witness."""
        return SparkTable(self._table("documents.parquet").where("NOT kept"))

    @property
    def kept_ids(self) -> list[str]:
        """The ids of the kept documents, sorted."""
        ids: list[str] = self.kept.select("doc_id").toArrow()["doc_id"].to_pylist()
        return sorted(ids)

    @property
    def pairs(self) -> SparkTable:
        """Verified pairs."""
        return SparkTable(self._table("pairs.parquet"))

    @property
    def clusters(self) -> SparkTable:
        """Clusters of two documents or more."""
        return SparkTable(self._table("clusters.parquet"))

    @cached_property
    def rejected(self) -> ResultTable:
        """The records that could not be used: position, reason and beginning."""
        return read_rejects(self.folder)

    def filter(self, frame: Any) -> Any:
        """The rows of a Spark DataFrame that are kept, found by their ids."""
        column = self.summary["ids"]["column"]
        if not hasattr(frame, "sparkSession"):
            raise InputError(f"a run on Spark filters a Spark DataFrame, not an object of type {type(frame).__name__}")
        if column is None or column not in frame.columns:
            raise InputError(f"rows are found by their ids, and the DataFrame has no column {column or 'of ids'!r}")
        kept = self.kept.select("doc_id").localCheckpoint()  # the rows outlive the files of this result
        return frame.join(kept, frame[column].cast("string") == kept["doc_id"], "left_semi")

    @property
    def kept_rows(self) -> Any:
        """The kept rows with all columns, as stored in `kept/`: a DataFrame; for input that was a DataFrame or
        Parquet."""
        files = [path.absolute().as_uri() for path in sorted((self.folder / "kept").rglob("*.parquet"))]
        if not files:
            raise InputError(f"what is kept is not Parquet; it is in {self.folder / 'kept'} in its own format")
        return self.spark.read.option("recursiveFileLookup", "true").parquet(*files)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of run.json."""
        content: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return content

    @property
    def remarks(self) -> list[str]:
        """What a caller should know: rejected records, and guesses that may be wrong."""
        return remarks_on(self.summary)

    def __repr__(self) -> str:
        return f"<SparkResult: {one_line(self.summary)}>"


class SparkLauncher:
    """A run on the given session, or on a new one for the master. `options` are passed to `SparkEngine`."""

    shares_work = True

    def __init__(self, spark: Any = None, master: str | None = None, **options: Any) -> None:
        self._given, self._master, self._options = spark, master, options

    @cached_property
    def spark(self) -> Any:
        """The session, started when it is first needed."""
        return start.start(self._master) if self._given is None else self._given

    def check(self, request: DedupeRequest) -> None:
        """Refuse tables that only this machine would see, and a limit that Spark's own files would not obey."""
        if request.resources.temp_limit is not None:
            raise SettingsError("Spark decides where its workers spill and how much; leave out --temp-limit")
        if request.output is None and not request.files and not self.spark.sparkContext.master.startswith("local"):
            raise SettingsError(
                "name an output that all workers see under the same path: without one, tables would be in a "
                "temporary folder of this machine"
            )

    def working(self) -> AbstractContextManager[None]:
        """Context in which the session has the settings of a run."""
        return start.prepared(self.spark)

    def record_memory(self, resources: Resources) -> int | None:
        """The workers' memory decides, which Spark sets."""
        return None

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
