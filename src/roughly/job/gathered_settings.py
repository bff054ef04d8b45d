"""Settings from a preset, a file and options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roughly.errors import SettingsError
from roughly.job.settings_file import read_settings
from roughly.methods.presets import preset as find_preset
from roughly.settings import Settings


def merge_settings(options: Mapping[str, Any], *, preset: str | None = None, file: Path | None = None) -> Settings:
    """Options override the file, the file overrides the preset."""
    below = dict(find_preset(preset).settings) if preset is not None else {}
    written = read_settings(file) if file is not None else {}
    try:
        return Settings.gather(below, written, options)
    except SettingsError as problem:
        raise SettingsError(*(_placed(line, file, written, options) for line in problem.problems)) from None


def _placed(problem: str, file: Path | None, written: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """The problem, prefixed with the file's name if it is about a value that only the file has."""
    words = re.findall(r"\w+", problem.split(";")[0])
    there = [name for name in written if name in words and name not in options]
    return f"{file}: {problem}" if there else problem
