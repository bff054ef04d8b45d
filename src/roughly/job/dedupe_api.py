"""`roughly.dedupe`: open the input, run, and move the result to its folder."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from roughly import checks, methods
from roughly.declarations import declarations, gather
from roughly.engines.workspace import Workspace
from roughly.errors import Interrupted, OutputError, RoughlyError, SettingsError, did_you_mean
from roughly.job.kept_file import KeptFile, check_parts
from roughly.job.launcher import DedupeRequest, Launcher, LocalLauncher, Paths
from roughly.job.output_folder import OutputFolder
from roughly.job.rereading import reading_record
from roughly.job.result import Result
from roughly.job.session import Session
from roughly.meter import Listener, Meter
from roughly.python_words import for_python
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import data_or_paths
from roughly.sources.part import Part
from roughly.sources.streams import SUFFIXES
from roughly.version import __version__

if TYPE_CHECKING:
    from roughly.index import Index
    from roughly.job.against import ArchiveMatches
    from roughly.job.on_spark import SparkResult
    from roughly.option_types import DedupeOptions

ENGINES = ("local", "spark")


@overload
def dedupe(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    index: str | os.PathLike[str] | None = None,
    against: Index | str | os.PathLike[str] | None = None,
    engine: Literal["local"] = "local",
    spark: None = None,
    **options: Unpack[DedupeOptions],
) -> Result: ...


@overload
def dedupe(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    index: str | os.PathLike[str] | None = None,
    against: Index | str | os.PathLike[str] | None = None,
    engine: Literal["spark"] = ...,
    spark: Any = ...,
    **options: Unpack[DedupeOptions],
) -> SparkResult: ...


@for_python
def dedupe(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    index: str | os.PathLike[str] | None = None,
    against: Index | str | os.PathLike[str] | None = None,
    engine: str = "local",
    spark: Any = None,
    **options: Any,
) -> Result | SparkResult:
    """Find the documents that are roughly the same, and which of them is kept.

    `data` is a path or glob (str or Path), a pyarrow, pandas or polars table, or an iterable of texts or of dicts with
    a text. Several files are given by `paths`. `output` is a folder for the whole run, or one file of what is kept if
    it ends in .jsonl, .parquet, .csv, .tsv or .txt. Without a folder the result is in a temporary one, deleted with the
    returned object. `index` names an index to make of the run, a file or `postgresql://…`; `against` an index:
    duplicates of its documents are removed, and the run uses its settings; or a collection, which is indexed with the
    settings of the run. With `only_against`, duplicates within the input are kept. All other options are those of
    `roughly.Settings` (`threshold`, `recall`, `measure`, `method`, `keep`, …), those of the method (`lexicon`,
    `sketch`, …), a `preset` and a file of `settings`, which the others override, and, for reading, the columns and the
    format (`text_column`, `date_column`, `format`, …). `threads`, `memory`, `temp` and `temp_limit` limit what
    the run may use. `progress` shows how far the run is: by default in a terminal and in a notebook.

    Returns a `Result`. With `spark=session`, or with `engine="spark"` and a `master`, it runs on Apache Spark:
    `data` may be a Spark DataFrame, and a `SparkResult` is returned, whose tables are Spark's.

    >>> result = dedupe(["A rose is a rose is a rose.", "a rose is a rose is a rose", "Something else entirely."])
    >>> result.kept_ids
    ['0', '2']
    """
    from roughly.console.progress import Progress, is_watched
    from roughly.console.run_estimate import dedupe_stages
    from roughly.job.gathered_settings import merge_settings

    data, paths = data_or_paths(data, paths)
    _refuse_unknown(options)
    master, progress = options.pop("master", None), options.pop("progress", None)
    only_against = options.pop("only_against", False)
    resources = gather(Resources, _of(Resources, options))
    reading = gather(ReadOptions, _of(ReadOptions, options))
    others = {"markup", "features"} | options.keys() - {
        one.name for kind in (Resources, ReadOptions) for one in declarations(kind)
    }
    wanted = {name: value for name, value in options.items() if name in others}
    preset, written = wanted.pop("preset", None), wanted.pop("settings", None)
    check_engine(engine, master, spark)
    layers = {"preset": preset, "file": None if written is None else Path(written)}
    archive = None
    if against is not None:
        archive, settings = archive_and_settings(against, wanted, reading, resources, **layers)
    else:
        settings = merge_settings(wanted, **layers)
    file = None if output is None else KeptFile.named(os.fspath(output))
    request = DedupeRequest(
        settings=settings,
        resources=resources,
        reading=settings.reading(reading),
        output=None if output is None or file is not None else Path(output),
        file=file,
        overwrite=overwrite,
        index=index,
        archive=archive,
        only_against=only_against,
    )
    stages = dedupe_stages(settings, file is not None, index is not None)
    is_shown = is_watched() if progress is None else progress
    with Progress(not is_shown, stages=stages) as listener:
        result: Result | SparkResult = run(data, paths, request, launcher_of(engine, master, spark), listener)
    from roughly.job.remarks import warn

    warn(result.summary, result.rejected.to_list())
    return result


def _refuse_unknown(options: Iterable[str]) -> None:
    """Refuse unknown options, each with the name that was probably meant."""
    from roughly.option_types import DedupeOptions
    from roughly.options import OPTIONS  # a method that was registered later has options of its own

    known = {*DedupeOptions.__annotations__, *OPTIONS, *inspect.signature(dedupe).parameters, "options"}
    problems = [f"unknown option {name!r}{did_you_mean(name, known)}" for name in options if name not in known]
    if problems:
        raise SettingsError(*problems)


def _of(kind: type, options: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that a class declares."""
    return {one.name: options[one.name] for one in declarations(kind) if one.name in options}


def launcher_of(engine: str, master: str | None = None, spark: Any = None) -> Launcher:
    """The launcher of this engine."""
    if engine != "spark" and spark is None:
        return LocalLauncher()
    from roughly.job.on_spark import SparkLauncher

    return SparkLauncher(spark, master)


def check_engine(engine: str, master: str | None, spark: Any = None) -> None:
    """Refuse an unknown engine, and a master for an engine without one."""
    if engine not in ENGINES:
        raise SettingsError(*checks.one_of("engine", engine, ENGINES))
    if master is not None and engine != "spark":
        raise SettingsError("a master belongs to the engine spark; add --engine spark")
    if master is not None and spark is not None:
        raise SettingsError("a session has its master; give one of spark and master")


def run(
    data: Any,
    paths: Paths | None,
    request: DedupeRequest,
    launcher: Launcher | None = None,
    listener: Listener | None = None,
) -> Any:
    """The same with all options in one object, and the archive opened."""
    launcher = launcher or LocalLauncher()
    launcher.check(request)
    check_only_against(request, launcher)
    paths = None if paths is None else list(paths)
    methods.contents(request.settings)  # refuses an impossible method
    if request.index is not None:
        check_index(request.index, request.archive)
    place = OutputFolder(
        request.output,
        files=request.files,
        overwrite=request.overwrite,
        resumable=request.resume is not None or launcher.shares_work,
        resume=bool(request.resume),
        temp=request.resources.temp,
    )
    session = None
    try:
        with launcher.working():
            space = place.space(request.resources.temp_limit)
            largest = launcher.record_memory(request.resources)
            reading = dataclasses.replace(request.reading, record_memory=largest, spool_limit=space.left())
            parts = launcher.open(data, paths, reading, place.spool)
            if request.file is not None:
                check_parts(request.file, parts)
            identity = _identity(parts, request)
            known = None
            if request.archive is not None:
                known = _query(request.archive, parts, request.resources)
                parts = known.parts
                identity["against"] = [*known.identity(), request.only_against]
            threads = request.resources.threads
            workspace = Workspace(place.work, identity, resume=bool(request.resume), threads=threads, space=space)
            meter = Meter(listener, check=space.check)
            engine = launcher.engine(parts, request.settings, request.resources, workspace, meter)
            read = reading_record(None if paths is None else [os.fspath(path) for path in paths], request.reading)
            session = Session(engine, workspace, request.resources, read)
            hidden = known.removed if known is not None else 0
            write = partial(_write_file, session, request, place)
            report = request.output is not None or launcher.shares_work
            outputs = (request.index, request.archive, *request.files)
            tables = report or not isinstance(data, list | tuple) or any(output is not None for output in outputs)
            within = not request.only_against
            session.run(place.result, hidden, convert=write, within=within, report=report, tables=tables)
            if known is not None:
                known.write(place.result)
            if request.drop is not None:
                from roughly.job.removed_ids import write_removed

                write_removed(place.result, place.unfinished(request.drop), SUFFIXES.get(request.drop.suffix.lower()))
            failed = None if request.index is None else _make_index(request.index, session, place)
        folder = place.publish()
        if failed is not None and request.output is not None:
            raise OutputError(
                f"{failed}; the run itself is in {folder}: make the index with `roughly index import {folder}`"
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


def _write_file(session: Session, request: DedupeRequest, place: OutputFolder) -> None:
    """Write one file of what is kept, if the request asks for one."""
    if request.file is not None:
        path, move = place.unfinished(request.file.path), request.output is None
        session.write_file(place.result, request.file, path, move=move)


def archive_and_settings(
    against: Index | str | os.PathLike[str],
    wanted: dict[str, Any],
    reading: ReadOptions,
    resources: Resources,
    *,
    preset: str | None = None,
    file: Path | None = None,
) -> tuple[Index, Settings]:
    """The opened archive, and its settings with the given options; those of the run if it is a collection."""
    from roughly.job.against import open_archive, settings_against
    from roughly.job.collection_archive import archive_of, is_collection
    from roughly.job.gathered_settings import merge_settings

    if isinstance(against, str | os.PathLike) and is_collection(against):
        settings = merge_settings(wanted, preset=preset, file=file)
        return archive_of(against, settings, settings.reading(reading), resources), settings
    given = dict(wanted)
    if preset is not None or file is not None:
        given = merge_settings(wanted, preset=preset, file=file).to_dict()
    archive = open_archive(against, given)
    try:
        return archive, settings_against(archive, given)
    except BaseException:
        archive.close()
        raise


def check_only_against(request: DedupeRequest, launcher: Launcher) -> None:
    """Refuse `only_against` without an archive, and on an engine that cannot do it."""
    if request.only_against and request.archive is None:
        raise SettingsError("only_against needs what to compare with; add --against (against=…)")
    if request.only_against and not isinstance(launcher, LocalLauncher):
        raise SettingsError("only_against is not there yet on Spark; leave out --engine spark")


def check_index(index: str | os.PathLike[str], archive: Index | None) -> None:
    """Refuse an index that cannot be made, before any work is done."""
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
    """Make an index of all documents of the run, with its clusters; returns the error, to be raised when the run is
    stored."""
    from roughly.index.index_config import make_config
    from roughly.index.upkeep.bulk_load import load

    made = session.method.method if isinstance(session.method, methods.Verified) else session.method
    config = make_config(session.settings, "text", getattr(made, "lexicon", None))
    verdicts = place.result / "documents.parquet"
    try:
        with session.meter.stage("index", session.engine.documents, "documents") as stage:
            load(
                index, config, session.parts, verdicts, resources=session.resources,
                advance=lambda done: session.meter.advance(stage, done),
            )  # fmt: skip
    except RoughlyError as problem:
        return problem
    return None


def _identity(parts: Sequence[Part], request: DedupeRequest) -> dict[str, Any]:
    """What must be the same to resume an unfinished run."""
    return {
        "version": __version__,
        "settings": _named(request.settings),
        "contents": methods.contents(request.settings),
        "reading": dataclasses.asdict(request.reading),
        "inputs": [[part.name, part.format, part.size, part.stamp()] for part in parts],
    }


def _named(settings: Settings) -> dict[str, Any]:
    """The settings without the paths of the lexicon and the key: their contents count."""
    values = settings.to_dict()
    values["options"] = {name: value for name, value in values["options"].items() if name not in settings.files()}
    return values
