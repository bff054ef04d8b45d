"""Options that many commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roughly.declarations import argument, option

COLUMNS = ("text_column", "id_column", "title_column", "url_column", "date_column", "source_column", "format")
"""Options of `ReadOptions` that name columns, and the format."""
INPUTS = "Files, folders, globs, URLs, or - for standard input."


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What is read."""

    inputs: list[str] = argument(help=INPUTS)


@dataclass(frozen=True, kw_only=True)
class Printing:
    """What is printed, and whether outputs may be replaced."""

    overwrite: bool = option(False, "Replace the output where it exists.")
    as_json: bool = option(False, "Print the summary as JSON.", "--json")
    quiet: bool = option(False, "No progress, no summary.")


@dataclass(frozen=True, kw_only=True)
class IndexPlace:
    """Which index."""

    where: str = argument(help="A file, or postgresql://user@host/database.", metavar="INDEX")
    key_file: Path | None = option(None, "The secret key, where the index was made with one.")


@dataclass(frozen=True, kw_only=True)
class SettingsLayers:
    """Settings from elsewhere: a file overrules a preset, and what was typed overrules both."""

    preset: str | None = option(None, "Settings of a paper, such as broder-1997.")
    settings_file: Path | None = option(None, "Settings in a TOML file, as `roughly tune` writes them.", "--settings")
