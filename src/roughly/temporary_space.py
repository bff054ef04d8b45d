"""What a run may write to disk for its own use: counted while it runs, and refused before the disk is full."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from roughly.errors import DiskFull
from roughly.threads import map_in_order

RESERVE = 1 << 30
"""Bytes of a disk that a run without a limit leaves free; a tenth of what was free at the start if that is less."""

_MUCH = 1 << 28
"""From this number of bytes on, files are deleted by several threads."""
_DELETING = 16
_NEW = 60.0
"""Seconds in which a folder that is not locked is left alone."""


class TemporarySpace:
    """The temporary files of one run, in these folders.

    With a limit, they may take this many bytes. Without one, a reserve is left free on every disk that is written to.
    """

    def __init__(self, limit: int | None, *folders: Path, output: Path | None = None, again: str = "run again") -> None:
        """`again` says how to go on when there is more room."""
        self.limit, self.folders, self._output, self._again = limit, list(folders), output, again
        self._reserves: dict[int, int] = {}
        self.left()

    def left(self) -> int:
        """Bytes that may still be written."""
        if self.limit is not None:
            return self.limit - self.used()
        return min((self._left_on(folder) for folder in self._places()), default=0)

    def used(self) -> int:
        """Bytes of all temporary files."""
        return sum(map(_size, self.folders))

    def check(self, more: int = 0) -> None:
        """Refuse to write this many bytes more if there is no room for them."""
        if self.left() >= more:
            return
        if self.limit is not None:
            raise DiskFull(
                f"temporary files take {_megabytes(self.used() + more)}, and --temp-limit allows "
                f"{_megabytes(self.limit)}; nothing was written to the output. Raise it and {self._again}"
            )
        full = min(self._places(), key=self._left_on)
        free = _megabytes(shutil.disk_usage(full).free)
        raise DiskFull(
            f"{full}: the disk is full except for a reserve ({free} are free); nothing was written to the output. Free "
            f"some space or use the reserve by setting --temp-limit, and {self._again}"
        )

    def _places(self) -> Iterator[Path]:
        """The folders whose disks are written to."""
        for folder in (*self.folders, *([self._output] if self._output is not None else [])):
            while not folder.exists() and folder != folder.parent:
                folder = folder.parent  # not made yet
            yield folder

    def _left_on(self, folder: Path) -> int:
        free = shutil.disk_usage(folder).free
        return free - self._reserves.setdefault(folder.stat().st_dev, min(RESERVE, free // 10))


class LockedFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder of this process, which only its owner can read; those of killed processes are deleted.

    The system releases the lock on a folder when its process ends, however that happens.
    """

    def __init__(self, prefix: str) -> None:
        for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            with suppress(OSError):
                _delete_abandoned(folder)
        super().__init__(prefix=prefix)
        lock = os.open(self.name, os.O_RDONLY)
        weakref.finalize(self, os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _delete_abandoned(folder: Path) -> None:
    """Delete a folder of this user that no process has locked; a new one may be about to be locked."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(lock)
        if status.st_uid == os.geteuid() and time.time() - status.st_mtime > _NEW:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            delete_folder(folder)
    finally:
        os.close(lock)


def delete_folder(folder: Path, last: str = "", *, at_once: bool = True) -> None:
    """Delete a folder with all files; with `at_once`, large ones several at a time: freeing them takes the system long.

    Files named `last` are deleted after all others, so that what a kill leaves does not look like foreign files. A link
    in its place, which someone else must have put there, is not followed.
    """
    if not folder.is_symlink():
        found = (os.path.join(root, name) for root, _, names in os.walk(folder) for name in names if name != last)  # noqa: PTH118
        for _ in map_in_order(_delete, list(found), _DELETING if at_once and _size(folder) > _MUCH else 1):
            pass
    shutil.rmtree(folder, ignore_errors=True)


def _delete(path: str) -> None:
    with suppress(OSError):  # `rmtree` deletes what it may
        os.unlink(path)  # noqa: PTH108


def _size(folder: Path) -> int:
    """Bytes of the files in a folder; one that is deleted meanwhile does not count."""
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    total += _size(Path(entry.path))
                else:
                    total += _stored(entry)
    except FileNotFoundError:
        pass
    return total


def _stored(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MB"
