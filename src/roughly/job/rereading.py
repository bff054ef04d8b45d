"""The input of a finished run, opened again: for those who judge its pairs and those who look at its documents.

run.json says how the input was read (`reading`): the paths as they were given, the folder they were given in, and the
options. `known.parquet` says where each document stands, part and row. `landmarks.json` says where the blocks of plain
files stand, so that a row is found without counting lines from the beginning; it is taken over only where size and
date of the file are what they were.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from roughly.errors import InputMissing
from roughly.job.document_texts import Place, SourceRecord, records_of
from roughly.settings import ReadOptions
from roughly.sources import open_parts
from roughly.sources.landmarks import Landmark
from roughly.sources.part import Part

LANDMARKS = "landmarks.json"


def told_of_reading(inputs: Iterable[str] | None, options: ReadOptions) -> dict[str, Any]:
    """What run.json says of how the input was read; without paths it was given as Python objects."""
    said = {name: value for name, value in dataclasses.asdict(options).items() if value is not None}
    if inputs is None:
        return {"inputs": None, "options": said}
    return {"inputs": list(inputs), "folder": str(Path.cwd()), "options": said}


def write_landmarks(parts: Sequence[Part], path: Path) -> None:
    """Keep where the blocks of plain files stand."""
    kept = {}
    for number, part in enumerate(parts):
        marks = getattr(part, "landmarks", None)
        if marks:
            rows = [[mark.first_row, mark.count, mark.offset, mark.nbytes] for mark in marks]
            kept[str(number)] = {"size": part.size, "stamp": part.stamp(), "blocks": rows}
    path.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")


class Input:
    """The parts of a run's input, open for as long as texts may be asked for."""

    def __init__(
        self, folder: Path, run: Mapping[str, Any], inputs: Sequence[str] | None = None,
        options: ReadOptions | None = None,
    ) -> None:  # fmt: skip
        self.names, self.options = _names(run, inputs), options or options_of(run)
        self.main_text = bool(run["settings"]["main_text"])
        self._spool = tempfile.TemporaryDirectory(prefix="roughly-input-")
        try:
            self.parts = open_again(self.names, self.options, Path(self._spool.name))
        except BaseException:
            self.close()
            raise
        _recall(self.parts, folder / LANDMARKS)

    def close(self) -> None:
        """Let go of what was spooled."""
        self._spool.cleanup()

    def records(self, places: Iterable[Place], threads: int = 1) -> dict[Place, SourceRecord]:
        """What stands at each place that there is."""
        there = [place for place in places if place[0] < len(self.parts)]
        return records_of(self.parts, there, self.main_text, threads)


def options_of(run: Mapping[str, Any]) -> ReadOptions:
    """How a run read its input; runs of older versions tell only about markup."""
    summary = run.get("reading", {}).get("options", {})
    known = {field.name for field in dataclasses.fields(ReadOptions)}
    return ReadOptions(
        **{"markup": run["settings"]["markup"]} | {name: summary[name] for name in summary if name in known}
    )  # fmt: skip


def _names(run: Mapping[str, Any], inputs: Sequence[str] | None) -> list[str]:
    """The paths to read; a path that was given in another folder is looked for there."""
    if inputs:
        return [str(name) for name in inputs]
    summary = run.get("reading")
    if summary is None:
        return [str(name) for name in run["inputs"]]
    if summary["inputs"] is None or "-" in summary["inputs"]:
        what = "Python objects" if summary["inputs"] is None else "standard input"
        raise InputMissing(
            f"the run was made on {what}, so the texts of removed documents are gone with it; save them to a file and "
            "give it with --input"
        )
    return [str(name) if "://" in name else str(Path(summary["folder"]) / name) for name in summary["inputs"]]


def open_again(names: Sequence[str], options: ReadOptions, spool: Path) -> list[Part]:
    """The parts of an input, or a plain word on why it cannot be had."""
    try:
        return open_parts(list(names), options, spool)
    except InputMissing as problem:
        raise InputMissing(
            f"the input of the run cannot be found: {problem}. It holds the texts; say where it lies now with --input "
            "(a run on standard input or on Python objects has none: save them to a file)"
        ) from problem


def _recall(parts: Sequence[Part], path: Path) -> None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    for number, part in enumerate(parts):
        found = kept.get(str(number))
        recall = getattr(part, "recall", None)
        if found is not None and recall is not None and [found["size"], found["stamp"]] == [part.size, part.stamp()]:
            recall([Landmark(*row) for row in found["blocks"]])
