"""`roughly.passages`: repeated passages of a collection, from any source to a folder of tables."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from roughly.declarations import gather
from roughly.engines.local.memory_budget import record_memory
from roughly.engines.workspace import Workspace
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.job.kept_file import KeptFile
from roughly.job.output_folder import OutputFolder
from roughly.job.session import check_memory
from roughly.meter import Listener, Meter
from roughly.option_types import PassagesRunOptions
from roughly.python_words import for_python
from roughly.sources import data_or_paths, open_data
from roughly.sources.open import file_keys
from roughly.sources.part import Part
from roughly.tools.passages.passage_search import PassageSearch, PassagesInputs
from roughly.tools.passages.passages_result import PassagesResult
from roughly.tools.passages.request import PassagesRun
from roughly.version import __version__

Paths = Sequence[str | os.PathLike[str]]
_SPARK = {"spark", "engine", "master"}
"""Options of `dedupe` for a cluster."""


@dataclass(frozen=True, kw_only=True)
class PassagesPlace:
    """Where the result goes, and whether an unfinished run is continued (None: nothing is stored for that)."""

    output: Path | None = None
    overwrite: bool = False
    resume: bool | None = None


@for_python
def passages(
    data: Any = None,
    *,
    paths: Paths | None = None,
    against: Any = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    **options: Unpack[PassagesRunOptions],
) -> PassagesResult:
    """Find what occurs more than once in a collection: lines, sentences, paragraphs, or runs of tokens.

    `data` and `paths` are those of `roughly.dedupe`. `against` is a test set, in the same forms: then only passages
    that occur in it count. `options` are those of `PassagesRequest` (`unit`, `least`, `do`, `times`, …), the columns
    and the format, `threads`, `memory`, `temp` and `temp_limit`.

    >>> text = "one two three four five six seven"
    >>> result = passages([text + " eight", "Zero, " + text.upper()], least=5)
    >>> result.spans.select(["doc_id", "char_start", "kept", "witness_id"]).to_pylist()[1]
    {'doc_id': '1', 'char_start': 6, 'kept': False, 'witness_id': '0'}
    >>> result.texts()["text"].to_pylist()
    ['one two three four five six seven eight', 'Zero, ']
    """
    from roughly.sources.frames import is_from  # the command line does not need it

    if is_from(data, "pyspark") or not _SPARK.isdisjoint(options):
        raise SettingsError(
            "passages run on one machine: there is no Spark engine for them yet. Write the table as Parquet files and "
            "give their folder"
        )
    data, paths = data_or_paths(data, paths)
    run = gather(PassagesRun, options)
    place = PassagesPlace(output=None if output is None else Path(output), overwrite=overwrite)
    return run_passages(data, paths, run, place, against=against)


def run_passages(
    data: Any,
    paths: Paths | None,
    run: PassagesRun,
    where: PassagesPlace,
    *,
    against: Any = None,
    listener: Listener | None = None,
) -> PassagesResult:
    """The same with the options as objects."""
    check_memory(run.resources)
    _check_output(where.output)
    if against is not None and against is data:
        raise SettingsError("against is the input itself; every passage would occur in both")
    place = OutputFolder(
        where.output,
        overwrite=where.overwrite,
        resumable=where.resume is not None,
        resume=bool(where.resume),
        temp=run.resources.temp,
    )
    with place:
        space = place.space(run.resources.temp_limit)
        reading = replace(run.reading, record_memory=record_memory(run.resources), spool_limit=space.left())
        parts = open_data(data, paths, reading, place.spool)
        tests: list[Part] = []
        listed: Paths | None = None
        if against is not None:
            test_data, listed = _test_set(against)
            tests = open_data(test_data, listed, reading, place.spool / "test")
            _refuse_same(_given(paths) or [], _given(listed) or [])
        identity, threads = _identity(run, parts, tests), run.resources.threads
        work = Workspace(place.work, identity, resume=bool(where.resume), threads=threads, space=space)
        inputs = PassagesInputs(parts, tests, _given(paths), _given(listed))
        PassageSearch(run, inputs, work, Meter(listener, check=space.check)).write(place.result)
        folder = place.publish()
    return PassagesResult(folder, parts, place.scratch)


def _check_output(output: Path | None) -> None:
    """Refuse the name of a file, which `dedupe` writes and this does not."""
    name = "" if output is None else str(output)
    if name == "-" or (KeptFile.named(name) is not None and not Path(name).is_dir()):
        raise SettingsError(f"--output {name}: passages writes a folder, with the texts in kept/; name a folder")


def _given(paths: Paths | None) -> list[str] | None:
    return None if paths is None else [os.fspath(path) for path in paths]


def _test_set(against: Any) -> tuple[Any, Any]:
    """The test set as (data, paths)."""
    if isinstance(against, list | tuple) and all(isinstance(one, os.PathLike) for one in against):
        return None, list(against)
    return data_or_paths(against, None)


def _refuse_same(paths: list[str], tests: list[str]) -> None:
    """Refuse a test set that has files of the input, however they are given."""
    both = sorted(file_keys(paths) & file_keys(tests))
    if both:
        raise SettingsError(f"{both[0]} is both the input and the test set; every passage would occur in both")


def _identity(run: PassagesRun, parts: Sequence[Part], tests: Sequence[Part]) -> dict[str, Any]:
    """What must be the same to resume an unfinished run."""
    return {
        "version": __version__,
        "request": dataclasses.asdict(run.request),
        "reading": dataclasses.asdict(run.reading),
        "inputs": [[part.name, part.format, part.size, part.stamp()] for part in (*parts, *tests)],
        "tests": len(tests),
    }
