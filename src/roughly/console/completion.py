"""Completion in the shell: scripts for bash, zsh and fish, values of options, and the columns of the input.

Nothing heavy is imported before columns of a Parquet file are needed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import click

SHELLS = ("bash", "zsh", "fish")
_HEAD = 1 << 18


def script(shell: str) -> str:
    """The script that a shell reads to complete the commands of `roughly`."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"must be one of {', '.join(SHELLS)}, not {shell!r}")
    made = found(click.Command("roughly"), {}, "roughly", "_ROUGHLY_COMPLETE")
    return found.source_template % made.source_vars()


def complete_values(choices: Callable[[], Iterable[str]], typed: str) -> list[str]:
    """Complete the values of an option; those of a list, such as `newest,longest`, after each comma."""
    before, comma, last = typed.rpartition(",")
    return [before + comma + name for name in choices() if name.startswith(last)]


def complete_columns(ctx: click.Context, typed: str) -> list[str]:
    """Complete the columns of the first input that has some."""
    given = ctx.params.get("inputs") or ()
    for name in [*given, *ctx.args]:  # while an option lacks its value, arguments are not yet sorted
        path = Path(name)
        with contextlib.suppress(Exception):  # the shell must not see a traceback
            if path.is_dir():
                path = next(file for file in sorted(path.rglob("*")) if file.is_file())
            found = columns_of(path)
            if found:
                return [column for column in found if column.startswith(typed)]
    return []


def columns_of(path: Path) -> list[str]:
    """The columns of a file of JSON lines, CSV or Parquet, from its beginning."""
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            from roughly.sources.parquet_open import parquet_schema

            return list(parquet_schema(path).names)
    head = _head(path).decode("utf-8-sig", "replace")
    lines = [line for line in head.splitlines()[:100] if line.strip()]
    if lines and lines[0].lstrip().startswith("{"):
        return list(dict.fromkeys(name for line in lines[:-1] or lines for name in _keys(line)))
    import csv

    delimiter = max(",\t;|", key=lines[0].count) if lines else ","
    return next(csv.reader(lines, delimiter=delimiter), [])


def _head(path: Path) -> bytes:
    """The beginning of a file, decompressed."""
    with path.open("rb") as raw:
        if path.suffix == ".gz":
            import gzip

            return gzip.GzipFile(fileobj=raw).read(_HEAD)
        if path.suffix == ".zst":
            import zstandard

            return bytes(zstandard.ZstdDecompressor().stream_reader(raw).read(_HEAD))
        return raw.read(_HEAD)


def _keys(line: str) -> list[str]:
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        return list(found) if isinstance(found, dict) else []
    return []
