"""`roughly.dedupe(…, spark=session)` and `--engine spark`: the same run on a cluster."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import weakref
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from roughly import methods
from roughly.engines.spark import start
from roughly.engines.spark.engine import SparkEngine
from roughly.errors import InputError, InputMissing, SettingsError
from roughly.job.account import account, report_data
from roughly.job.output_folder import OutputFolder
from roughly.meter import Listener, Meter
from roughly.settings import Resources, Settings
from roughly.sources import open_parts
from roughly.sources.part import Part, ReadOptions


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
        """Every input document with its verdict (`model.VERDICTS`), sorted by doc_id: a DataFrame."""
        return self._table("documents.parquet")

    @property
    def pairs(self) -> Any:
        """Verified pairs (`model.PAIRS`): a DataFrame."""
        return self._table("pairs.parquet")

    @property
    def clusters(self) -> Any:
        """Clusters of two documents or more (`model.CLUSTERS`): a DataFrame."""
        return self._table("clusters.parquet")

    @property
    def removed(self) -> Any:
        """The documents that go, each with its witness: a DataFrame."""
        return self.documents.where("NOT kept")

    @property
    def kept(self) -> Any:
        """The documents that stay, with all their columns, where the input was a DataFrame or Parquet: a DataFrame."""
        files = [path.absolute().as_uri() for path in sorted((self.folder / "kept").rglob("*.parquet"))]
        if not files:
            raise InputError(f"what stays is not Parquet; it lies in {self.folder / 'kept'} in its own format")
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


def run_on_spark(
    data: Any,
    paths: Iterable[str | os.PathLike[str]] | None,
    *,
    settings: Settings,
    resources: Resources,
    reading: ReadOptions,
    output: Path | None = None,
    overwrite: bool = False,
    spark: Any = None,
    master: str | None = None,
    listener: Listener | None = None,
    **engine: Any,
) -> SparkResult:
    """Run on the session given, or on one that is started for the master. `engine` goes to `SparkEngine`."""
    methods.contents(settings)  # refuses what cannot be made
    session = start.start(master) if spark is None else spark
    _check_output(session, output)
    place = OutputFolder(output, overwrite=overwrite, resumable=True, temp=resources.temp)
    try:
        with start.prepared(session):
            parts = _open(data, paths, reading, place)
            _Run(session, parts, settings, resources, place, Meter(listener), engine).run()
        shutil.rmtree(place.work, ignore_errors=True)
        folder = place.publish()
    except BaseException as problem:
        place.resumable = False
        place.abandon(problem)
        raise
    return SparkResult(session, folder, place.scratch)


def _check_output(session: Any, output: Path | None) -> None:
    if output is None and not session.sparkContext.master.startswith("local"):
        raise SettingsError(
            "name an output that all workers see under the same path: without one, tables would lie in a "
            "temporary folder of this machine"
        )


def _open(
    data: Any, paths: Iterable[str | os.PathLike[str]] | None, reading: ReadOptions, place: OutputFolder
) -> list[Part]:
    if paths is not None:
        return open_parts([os.fspath(path) for path in paths], reading, place.spool)
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
    folder = place.spool / "table"
    data.write.mode("overwrite").parquet(folder.absolute().as_uri())
    return open_parts([str(folder)], dataclasses.replace(reading, id_column=named), place.spool)


class _Run:
    """One run at work."""

    def __init__(
        self,
        session: Any,
        parts: list[Part],
        settings: Settings,
        resources: Resources,
        place: OutputFolder,
        meter: Meter,
        options: dict[str, Any],
    ) -> None:
        self.session, self.parts, self.settings, self.resources = session, parts, settings, resources
        self.place, self.meter, self.options = place, meter, options

    def run(self) -> None:
        """Find duplicates and write everything."""
        self.place.work.mkdir(parents=True, exist_ok=True)
        method = self._make()
        engine = SparkEngine(
            self.session, self.parts, method, self.settings, self.meter, work=self.place.work,
            task_memory=self.resources.memory, **self.options,
        )  # fmt: skip
        try:
            self._run(engine, method)
        finally:
            engine.close()

    def _make(self) -> methods.Method:
        if not methods.needs_count(self.settings):
            return methods.make(self.settings)
        from roughly.engines.spark.lexicon_count import count_collection

        with self.meter.stage("count"):
            lexicon = count_collection(
                self.session, self.parts, self.place.work / "collection.lexicon",
                filters=methods.counted_with(self.settings), main_text=self.settings.main_text,
                memory=self.resources.memory,
            )  # fmt: skip
        return methods.make(self.settings, lexicon)

    def _run(self, engine: SparkEngine, method: methods.Method) -> None:
        from roughly.report import write_report

        folder = self.place.result
        engine.run()
        if not engine.documents and not engine.rejected:
            names = ", ".join(part.name for part in self.parts[:3])
            raise InputMissing(f"no documents in {names}: nothing to do")
        with engine.stage("write"):
            engine.write(folder)
            engine.write_rejects(folder)
        with engine.stage("copy"):
            engine.copy_kept(folder / "kept")
        with engine.stage("report"):
            summary = engine.summary()
            data = report_data(summary, self.parts, self.settings, method, self.resources.threads)
        more = engine.counts | {"rejected": engine.rejected}
        told = account(self.settings, self.resources, method, self.parts, summary, self.meter.stages, more)
        told["engine"] = {"spark": self.session.version, "master": self.session.sparkContext.master}
        text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
        (folder / "run.json").write_text(text, encoding="utf-8")
        write_report(dataclasses.replace(data, run=told), folder / "report.html")
