"""Entries of a folder that are not read, told apart before they are opened.

A pipe would wait for a writer and a device may have no end; a link to a folder may lead back to where it is. Inside a
folder they are left out with a note (`Unread`); given by name they are an error (`not_a_file`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from roughly.errors import InputError, InputMissing

DEEPEST = 100
"""Levels of folders within folders."""
_SHOWN = 3  # names in a note
_SPECIAL: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_DEEP = f"folders more than {DEEPEST} deep"
_REMEDIES = {
    "links to folders": "name them to read them too",
    "links that lead nowhere": "restore their targets, or remove them",
    _DEEP: "name them to read them too",
    "pipes, devices and sockets": "save what they hold to files",
}


class Unread:
    """What was left out of one input, by reason."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def is_file(self, entry: os.DirEntry[str] | Path, name: str) -> bool:
        """Whether an entry that is not a folder is a file; otherwise remember why it is not."""
        try:
            mode = entry.stat().st_mode
        except OSError:
            self._add("links that lead nowhere" if entry.is_symlink() else "files that cannot be looked at", name)
            return False
        if stat.S_ISREG(mode):
            return True
        self._add("links to folders" if stat.S_ISDIR(mode) else "pipes, devices and sockets", name)
        return False

    def is_too_deep(self, depth: int, name: str) -> bool:
        """Whether a folder is nested too deep to be read."""
        if depth <= DEEPEST:
            return False
        self._add(_DEEP, name)
        return True

    def notes(self) -> list[str]:
        """A sentence per reason."""
        return [
            f"not read: {reason}: {len(names)} ({', '.join(names[:_SHOWN])}{', …' if len(names) > _SHOWN else ''})"
            + (f"; {_REMEDIES[reason]}" if reason in _REMEDIES else "")
            for reason, names in self._names.items()
        ]

    def _add(self, reason: str, name: str) -> None:
        self._names.setdefault(reason, []).append(name)


def check_special(name: str, mode: int) -> None:
    """Refuse what is neither a file nor a folder."""
    kind = next((kind for is_kind, kind in _SPECIAL if is_kind(mode)), None)
    if kind is not None:
        raise InputError(
            f"{name}: is {kind}, not a file. Give - for standard input, or save the documents to a file first: "
            "they are read more than once"
        )


def cannot_look_at(name: str, path: Path, error: OSError) -> InputError:
    """The error for a path that the system has no answer about."""
    if error.errno == errno.ENAMETOOLONG:
        return InputMissing(f"{name[:80]}…: the name has {len(name)} characters, too many for the system")
    if error.errno == errno.ELOOP:
        return InputMissing(f"{name}: is a link that leads back to itself; name the file itself")
    if path.is_symlink():
        return InputMissing(f"{name}: is a link to {path.readlink()}, which does not exist")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return InputMissing(f"{name}: no such file or folder; check the spelling and the working folder")
    return InputError(f"{name}: cannot be read: {error.strerror}")
