"""The input of a finished run, opened again, to judge its pairs and to show its documents.

run.json says how the input was read (`reading`): the paths as they were given, the folder they were given in, and the
options. `known.parquet` has the position of each document, part and row. `landmarks.json` has the offsets of the blocks
of plain files, so that a row is found without counting lines from the beginning; it is used only if size and date of
the file are unchanged.
"""

from __future__ import annotations

import dataclasses
import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from roughly.errors import InputMissing
from roughly.features.metadata import refuse_damage
from roughly.job.document_texts import Place, SourceRecord, records_of
from roughly.settings import ReadOptions
from roughly.sources import open_parts
from roughly.sources.landmarks import Landmark
from roughly.sources.part import Part
from roughly.temporary_space import LockedFolder
from roughly.text.markup import PageText, page_text

LANDMARKS = "landmarks.json"


def reading_record(inputs: Iterable[str] | None, options: ReadOptions) -> dict[str, Any]:
    """How the input was read, for run.json; without paths it was given as Python objects."""
    given = {name: value for name, value in dataclasses.asdict(options).items() if value is not None}
    if inputs is None:
        return {"inputs": None, "options": given}
    return {"inputs": list(inputs), "folder": str(Path.cwd()), "options": given}


def write_landmarks(parts: Sequence[Part], path: Path) -> None:
    """Store the offsets of the blocks of plain files."""
    kept = {}
    for number, part in enumerate(parts):
        marks = getattr(part, "landmarks", None)
        if marks:
            rows = [[mark.first_row, mark.count, mark.offset, mark.nbytes] for mark in marks]
            kept[str(number)] = {"size": part.size, "stamp": part.stamp(), "blocks": rows}
    path.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")


class Input:
    """The parts of a run's input, open while texts may be needed."""

    def __init__(
        self, folder: Path, run: Mapping[str, Any], inputs: Sequence[str] | None = None,
        options: ReadOptions | None = None,
    ) -> None:  # fmt: skip
        with refuse_damage(folder / "run.json", "make the run again"):
            self.names, self.options = input_names(run, inputs), options or options_of(run)
            settings = run.get("settings", {})
            self.page: PageText = (
                "dom" if settings.get("tokens") == "dom" else page_text(bool(settings.get("main_text")))
            )
        self._spool = LockedFolder("roughly-input-")
        try:
            self.parts = open_again(self.names, self.options, Path(self._spool.name))
        except BaseException:
            self.close()
            raise
        _recall(self.parts, folder / LANDMARKS)

    def close(self) -> None:
        """Delete the spooled files."""
        self._spool.cleanup()

    def records(self, places: Iterable[Place], threads: int = 1) -> dict[Place, SourceRecord]:
        """The document at each existing position."""
        there = [place for place in places if place[0] < len(self.parts)]
        return records_of(self.parts, there, self.page, threads)


def options_of(run: Mapping[str, Any]) -> ReadOptions:
    """How a run read its input; runs of older versions record only the markup."""
    given = run.get("reading", {}).get("options", {})
    known = {field.name for field in dataclasses.fields(ReadOptions)}
    markup = run.get("settings", {}).get("markup", "auto")
    return ReadOptions(**{"markup": markup} | {name: given[name] for name in given if name in known})


def input_names(run: Mapping[str, Any], inputs: Sequence[str] | None = None) -> list[str]:
    """The paths to read, those of a test set last; a path that was given in another folder is looked for there."""
    if inputs:
        return [str(name) for name in inputs]
    reading = run.get("reading")
    if reading is None:
        return [str(name) for name in run["inputs"]]
    if reading["inputs"] is None or "-" in reading["inputs"]:
        what = "Python objects" if reading["inputs"] is None else "standard input"
        raise InputMissing(
            f"the run was made on {what}, so the texts of removed documents are gone with it; save them to a file and "
            "give it with --input"
        )
    tests = reading.get("against") or []
    names = [*reading["inputs"], *([] if "-" in tests else tests)]
    return [str(name) if "://" in name else str(Path(reading["folder"]) / name) for name in names]


def open_again(names: Sequence[str], options: ReadOptions, spool: Path) -> list[Part]:
    """The parts of an input, or an error that says why it cannot be read."""
    try:
        return open_parts(list(names), options, spool)
    except InputMissing as problem:
        raise InputMissing(
            f"the input of the run cannot be found: {problem}. It holds the texts; say where it is now with --input "
            "(a run on standard input or on Python objects has none: save them to a file)"
        ) from problem


def _recall(parts: Sequence[Part], path: Path) -> None:
    """Give the parts their offsets; without the file, or with a damaged one, they are read in order."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        found = {number: kept[str(number)] for number in range(len(parts)) if str(number) in kept}
        stamps = {number: [one["size"], one["stamp"]] for number, one in found.items()}
        marks = {number: _landmarks(one["blocks"], one["size"]) for number, one in found.items()}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    for number, part in enumerate(parts):
        recall = getattr(part, "recall", None)
        if number in marks and recall is not None and stamps[number] == [part.size, part.stamp()]:
            recall(marks[number])


def _landmarks(rows: list[list[int]], size: int) -> list[Landmark]:
    """The landmarks of a file of this size, which must cover consecutive rows and bytes of it."""
    marks = [Landmark(*map(operator.index, row)) for row in rows]
    row, offset = (marks[0].first_row, marks[0].offset) if marks else (0, 0)
    for mark in marks:
        if mark.first_row != row or mark.offset < offset or mark.count < 0 or mark.nbytes < 0:
            raise ValueError("the blocks are not consecutive")
        row, offset = row + mark.count, mark.offset + mark.nbytes
    if offset > size or row < 0:
        raise ValueError("the blocks are beyond the end of the file")
    return marks
