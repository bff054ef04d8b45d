"""Options that many commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from roughly.declarations import argument, option
from roughly.fast_dataclass import dataclass

COLUMNS = ("text_column", "id_column", "title_column", "url_column", "date_column", "source_column", "format")
"""Options of `ReadOptions` that name columns, and the format."""
INPUTS = (
    "Files, folders, globs, URLs, or - for standard input. JSONL, Parquet, CSV, TSV, text, HTML, WARC, mbox, Maildir, "
    "eml and SGML, also compressed (.gz, .zst)."
)


@dataclass(frozen=True, kw_only=True)
class Printing:
    """What is printed, and whether outputs may be replaced."""

    overwrite: bool = option(False, "Replace an existing output.")
    as_json: bool = option(False, "Print the summary as JSON.", "--json")
    quiet: bool = option(False, "No progress, no summary.", "-q", "--quiet")
    verbose: bool = option(False, "Print every stage with its time and memory to standard error.")


@dataclass(frozen=True, kw_only=True)
class IndexPlace:
    """Which index."""

    where: str = argument(help="A file, or postgresql://user@host/database.", metavar="INDEX")
    key_file: Path | None = option(None, "The secret key, if the index was made with one.")


def _presets() -> Iterable[str]:
    from roughly.methods.presets import PRESETS

    return PRESETS


@dataclass(frozen=True, kw_only=True)
class SettingsLayers:
    """Settings from a preset and a file: the file overrides the preset, typed options override both."""

    preset: str | None = option(
        None, "Settings of a paper, such as broder-1997, or learnt: versions, pages, records.", choices=_presets
    )
    settings_file: Path | None = option(None, "Settings in a TOML file, as `roughly tune` writes them.", "--settings")
