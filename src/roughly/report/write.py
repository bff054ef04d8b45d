"""Writes the page and its JSON twin; reads the twin.

Both files are written under another name and then renamed, so that a reader never sees half a page, and
a run that is stopped leaves the old page.
"""

from __future__ import annotations

import errno
from pathlib import Path

from roughly.errors import DiskFull, InputMissing, OutputError
from roughly.report.data import RunData
from roughly.report.html_page import render
from roughly.report.twin import from_json, to_json


def write_report(run: RunData, path: Path) -> None:
    """Write the page to ``path`` and its twin beside it: ``report.html`` and ``report.json``."""
    twin = twin_path(path)
    data = run.bounded()
    write_page(path, render(data))
    write_page(twin, to_json(data))


def read_report(path: Path) -> RunData:
    """The data of a written report, from the path of its page or of its twin."""
    twin = path if path.suffix == ".json" else twin_path(path)
    try:
        text = twin.read_bytes()
    except FileNotFoundError as error:
        raise InputMissing(f"{twin} does not exist; every run writes it beside the page") from error
    return from_json(text, str(twin))


def twin_path(path: Path) -> Path:
    """The path of the JSON twin of a page."""
    twin = path.with_suffix(".json")
    if twin == path or twin.name == "run.json":
        raise OutputError(f"a report at {path} would overwrite {twin} with its JSON twin; name it report.html")
    return twin


def write_page(path: Path, text: str) -> None:
    """Write a file in one step."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no disk space left to write {path}; free some space and write the report again") from error
        raise OutputError(
            f"cannot write {path} ({error.strerror or error}); check that its folder exists and may be written to"
        ) from error
