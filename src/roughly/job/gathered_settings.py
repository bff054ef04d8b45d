"""Settings from a preset, a file and options.

A file that `roughly tune` writes may also name the columns of the text (`text_column`). They are no setting but say how
documents are read, so callers that read documents take them with `read_with`, and others refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from roughly.errors import SettingsError
from roughly.job.settings_file import read_settings
from roughly.methods.presets import preset as find_preset
from roughly.settings import ReadOptions, Settings

_TEXT = "text_column"


def read_with(reading: ReadOptions, file: Path | None) -> ReadOptions:
    """The options with the columns of the text that the file names, unless the options name some."""
    named = None if file is None else read_settings(file).get(_TEXT)
    if named is not None and not isinstance(named, str):
        raise SettingsError(f"{file}: {_TEXT} must be a name, not {named!r}")
    if named is None or reading.text_column is not None or reading.features is not None:
        return reading
    return replace(reading, text_column=named)


def merge_settings(
    options: Mapping[str, Any], *, preset: str | None = None, file: Path | None = None, reads: bool = True
) -> Settings:
    """Options override the file, the file overrides the preset. `reads`: the caller uses `read_with`, or needs not."""
    below = dict(find_preset(preset).settings) if preset is not None else {}
    written = read_settings(file) if file is not None else {}
    columns = written.pop(_TEXT, None)
    if columns is not None and not reads:
        raise SettingsError(
            f"{file}: {_TEXT} says how documents are read, which no index stores; remove that line, and name "
            f"--text-column {columns} where documents are added"
        )
    try:
        return Settings.gather(below, written, options)
    except SettingsError as problem:
        raise SettingsError(*(_placed(line, file, written, options) for line in problem.problems)) from None


def _placed(problem: str, file: Path | None, written: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """The problem, prefixed with the file's name if it is about a value that only the file has."""
    words = problem.split(";")[0].replace("'", " ").split()
    there = [name for name in written if name in words and name not in options]
    return f"{file}: {problem}" if there else problem
