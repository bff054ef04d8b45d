"""A file of JSON lines that people add to: a first line that says what the file is, then one line per entry.

The first line appears complete or not at all. Each further line is one write under a lock, followed by fsync, so
several processes may write at once. A line that was cut by a kill is dropped at the next write and ignored in reading.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from pathlib import Path
from typing import Any

from roughly.errors import InputError


def create(path: Path, head: dict[str, Any]) -> None:
    """Make the file with its first line; FileExistsError if another process has just made it."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with unfinished.open("wb") as target:
            target.write(_line(head))
            target.flush()
            os.fsync(target.fileno())
        os.link(unfinished, path)  # does not replace a file
    finally:
        unfinished.unlink(missing_ok=True)


def append(path: Path, entry: dict[str, Any]) -> None:
    """Add a line; it is on disk when this returns."""
    with path.open("r+b") as target:
        fcntl.flock(target, fcntl.LOCK_EX)
        _drop_torn_end(target)
        target.write(_line(entry))
        target.flush()
        os.fsync(target.fileno())


def read(path: Path) -> list[Any]:
    """The values of all whole lines."""
    lines = path.read_bytes().split(b"\n")
    return [_parsed(line, path, number) for number, line in enumerate(lines[:-1] or lines, 1)]


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path}, line {number}: not JSON; repair or remove the line") from problem


def _drop_torn_end(target: Any) -> None:
    """Seek to the end of the last whole line."""
    end = target.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - 4096)
        target.seek(start)
        at = target.read(end - start).rfind(b"\n")
        if at >= 0:
            target.seek(start + at + 1)
            target.truncate()
            return
        end = start
