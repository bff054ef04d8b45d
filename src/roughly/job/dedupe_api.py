"""`roughly.dedupe`: open the input, run, put the result in its place."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import methods
from roughly.declarations import declarations, gather
from roughly.engines.workspace import Workspace
from roughly.errors import Interrupted, OutputError, RoughlyError, SettingsError
from roughly.job.gathered_settings import settle
from roughly.job.launcher import DedupeRequest, Launcher, LocalLauncher, Paths
from roughly.job.output_folder import OutputFolder
from roughly.job.rereading import told_of_reading
from roughly.job.result import Result
from roughly.job.session import Session
from roughly.meter import Listener, Meter
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import data_or_paths
from roughly.sources.part import Part
from roughly.version import __version__

if TYPE_CHECKING:
    from roughly.index import Index
    from roughly.job.against import ArchiveMatches
    from roughly.job.on_spark import SparkResult

ENGINES = ("local", "spark")


def dedupe(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    index: str | os.PathLike[str] | None = None,
    against: str | os.PathLike[str] | None = None,
    engine: str = "local",
    spark: Any = None,
    **options: Any,
) -> Result | SparkResult:
    """Find the documents that are roughly the same, and which of them is kept.

    `data` is a path or glob (str or Path), a pyarrow, pandas or polars table, or an iterable of texts or of dicts with
    a text. Several files are given by `paths`. Without `output` the result lies in a temporary folder that goes with
    the object returned. `index` names an index to make of the run, a file or `postgresql://…`; `against` one whose
    documents are removed from the input, with whose settings the run is made. All other options are those of
    `roughly.Settings` (`threshold`, `recall`, `measure`, `method`, `keep`, …), those of the method (`lexicon`,
    `sketch`, …), a `preset` and a file of `settings`, over which the others have precedence, and, for reading, the
    columns and the format (`text_column`, `date_column`, `format`, …). `threads`, `memory` and `temp` say what the
    run may use.

    Returns a `Result`. With `spark=session`, or with `engine="spark"` and a `master`, the run is one of Apache Spark:
    `data` may be a Spark DataFrame, and a `SparkResult` is returned, whose tables are Spark's.

    >>> result = dedupe(["A rose is a rose is a rose.", "a rose is a rose is a rose", "Something else entirely."])
    >>> result.kept
    ['0', '2']
    """
    data, paths = data_or_paths(data, paths)
    master = options.pop("master", None)
    resources = gather(Resources, _of(Resources, options))
    reading = gather(ReadOptions, _of(ReadOptions, options))
    others = {"markup"} | options.keys() - {one.name for kind in (Resources, ReadOptions) for one in declarations(kind)}
    wanted = {name: value for name, value in options.items() if name in others}
    preset, file = wanted.pop("preset", None), wanted.pop("settings", None)
    check_engine(engine, master, spark)
    layers = {"preset": preset, "file": None if file is None else Path(file)}
    archive = None
    if against is not None:
        archive, settings = archive_and_settings(against, wanted, **layers)
    else:
        settings = settle(wanted, **layers)
    request = DedupeRequest(
        settings=settings,
        resources=resources,
        reading=reading,
        output=None if output is None else Path(output),
        overwrite=overwrite,
        index=index,
        archive=archive,
    )
    result: Result | SparkResult = run(data, paths, request, launcher_of(engine, master, spark))
    return result


def _of(kind: type, options: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that a class declares."""
    return {one.name: options[one.name] for one in declarations(kind) if one.name in options}


def launcher_of(engine: str, master: str | None = None, spark: Any = None) -> Launcher:
    """How a run is made on this engine."""
    if engine != "spark" and spark is None:
        return LocalLauncher()
    from roughly.job.on_spark import SparkLauncher

    return SparkLauncher(spark, master)


def check_engine(engine: str, master: str | None, spark: Any = None) -> None:
    """Refuse an engine that there is not, and a master for one that has none."""
    if engine not in ENGINES:
        raise SettingsError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if master is not None and engine != "spark":
        raise SettingsError("a master belongs to the engine spark; add --engine spark (engine='spark')")
    if master is not None and spark is not None:
        raise SettingsError("a session has its master; give one of spark and master")


def run(
    data: Any,
    paths: Paths | None,
    request: DedupeRequest,
    launcher: Launcher | None = None,
    listener: Listener | None = None,
) -> Any:
    """The same with everything that is asked for in one object, and the archive opened."""
    launcher = launcher or LocalLauncher()
    launcher.check(request)
    paths = None if paths is None else list(paths)
    methods.contents(request.settings)  # refuses what cannot be made
    if request.index is not None:
        check_index(request.index, request.archive)
    place = OutputFolder(
        request.output,
        overwrite=request.overwrite,
        resumable=request.resume is not None or launcher.shares_work,
        resume=bool(request.resume),
        temp=request.resources.temp,
    )
    session = None
    try:
        with launcher.working():
            parts = launcher.open(data, paths, request.reading, place.spool)
            identity = _identity(parts, request)
            known = None
            if request.archive is not None:
                known = _query(request.archive, parts, request.resources)
                parts = known.parts
                identity["against"] = known.identity()
            workspace = Workspace(place.work, identity, resume=bool(request.resume))
            engine = launcher.engine(parts, request.settings, request.resources, workspace, Meter(listener))
            read = told_of_reading(None if paths is None else [os.fspath(path) for path in paths], request.reading)
            session = Session(engine, workspace, request.resources, read)
            session.run(place.result, hidden=known.removed if known is not None else 0)
            if known is not None:
                known.write(place.result)
            failed = None if request.index is None else _make_index(request.index, session, place)
        folder = place.publish()
        if failed is not None and request.output is not None:
            raise OutputError(
                f"{failed}; the run itself stands in {folder}: make the index with `roughly index import {folder}`"
            ) from failed
        if failed is not None:
            raise failed
    except BaseException as problem:
        if session is not None:
            session.engine.close()
        place.resumable = place.resumable and request.resume is not None
        place.abandon(problem)
        if isinstance(problem, KeyboardInterrupt) and not isinstance(problem, Interrupted):
            raise Interrupted(place.how_to_go_on()) from None
        raise
    return launcher.result(folder, session, place.scratch)


def archive_and_settings(
    against: str | os.PathLike[str], wanted: dict[str, Any], *, preset: str | None = None, file: Path | None = None
) -> tuple[Index, Settings]:
    """The archive, opened, and its settings with what was asked for beside them."""
    from roughly.job.against import open_archive, settings_against

    given = dict(wanted)
    if preset is not None or file is not None:
        given = settle(wanted, preset=preset, file=file).to_dict()
    archive = open_archive(against, given)
    try:
        return archive, settings_against(archive, given)
    except BaseException:
        archive.close()
        raise


def check_index(index: str | os.PathLike[str], archive: Index | None) -> None:
    """Refuse, before any work is done, an index that cannot be made."""
    from roughly.index.storage.store import check_place

    if archive is not None:
        raise SettingsError("a run against an archive makes no index of its own; add the new documents to the archive")
    check_place(index, new=True)


def _query(archive: Index, parts: Sequence[Part], resources: Resources) -> ArchiveMatches:
    from roughly.job.against import ArchiveMatches

    try:
        return ArchiveMatches(archive, parts, resources.threads, resources.temp)
    finally:
        archive.close()


def _make_index(index: str | os.PathLike[str], session: Session, place: OutputFolder) -> RoughlyError | None:
    """An index of all documents of the run, with its clusters; what went wrong is raised when the run is safe."""
    from roughly.index.index_config import make_config
    from roughly.index.upkeep.bulk_load import load

    made = session.method.method if isinstance(session.method, methods.Verified) else session.method
    config = make_config(session.settings, "text", getattr(made, "lexicon", None))
    verdicts = place.result / "documents.parquet"
    try:
        with session.meter.stage("index", session.engine.documents, "documents") as stage:
            load(
                index, config, session.parts, verdicts, threads=session.resources.threads,
                temp=session.resources.temp, advance=lambda done: session.meter.advance(stage, done),
            )  # fmt: skip
    except RoughlyError as problem:
        return problem
    return None


def _identity(parts: Sequence[Part], request: DedupeRequest) -> dict[str, Any]:
    """What must be the same for an unfinished run to go on."""
    return {
        "version": __version__,
        "settings": _named(request.settings),
        "contents": methods.contents(request.settings),
        "reading": dataclasses.asdict(request.reading),
        "inputs": [[part.name, part.format, part.size, part.stamp()] for part in parts],
    }


def _named(settings: Settings) -> dict[str, Any]:
    """The settings without where the lexicon and the key lie: what these hold is what counts."""
    values = settings.to_dict()
    values["options"] = {name: value for name, value in values["options"].items() if name not in settings.files()}
    return values
