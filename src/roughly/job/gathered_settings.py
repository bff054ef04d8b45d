"""Settings from everywhere: a preset, over it a file, over both what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roughly.errors import SettingsError
from roughly.job.settings_file import read_settings
from roughly.methods.presets import preset as find_preset
from roughly.settings import Settings


def settle(request: Mapping[str, Any], *, preset: str | None = None, file: Path | None = None) -> Settings:
    """What was asked for wins over the file, the file over the preset."""
    below = dict(find_preset(preset).settings) if preset is not None else {}
    written = read_settings(file) if file is not None else {}
    try:
        return Settings.gather(below, written, request)
    except SettingsError as problem:
        raise SettingsError(*(_placed(line, file, written, request) for line in problem.problems)) from None


def _placed(problem: str, file: Path | None, written: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """The problem, with the file's name before it where it is about something that only the file says."""
    words = problem.split(";")[0].replace("'", " ").split()
    there = [name for name in written if name in words and name not in request]
    return f"{file}: {problem}" if there else problem
