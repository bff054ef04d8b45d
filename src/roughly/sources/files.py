"""From what the user typed to files: paths, globs, folders, URLs.

`find(given)` returns the files in a stable order (by path, code point by code point), each with the
path as the user would write it, for messages, and its path below the folder that was given, for naming.
Local paths are opened directly; anything with `://` goes through fsspec. Files that start with a dot, folders that
Spark and archive programs create, and folders with the result of a run are not documents.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, BinaryIO, cast

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.sources.unread import Unread, cannot_look_at, check_special

_NOT_DOCUMENTS = frozenset({"_delta_log", "_temporary", "_SUCCESS", "_metadata", "_common_metadata", "__MACOSX"})

_RESULT = ("run.json", "documents.parquet", "pairs.parquet", "clusters.parquet")


@dataclass(frozen=True, slots=True)
class File:
    """One file: its location, its name in messages, and its path below the given folder."""

    path: str
    name: str
    relative: str
    size: int | None = None
    changed: int | None = None  # time of the last change in ns; local files only
    fs: Any = None  # an fsspec filesystem; None for local files
    touched: int | None = None  # the same of its status, which no program can set back

    @property
    def key(self) -> str:
        """An identity of the file, the same however it was given."""
        return str(Path(self.path).resolve()) if self.fs is None else self.name

    def open(self) -> BinaryIO:
        """Open for reading; a local file must be unchanged since it was found, or rows would not match."""
        try:
            if self.fs is not None:
                return cast(BinaryIO, self.fs.open(self.path, "rb"))
            file = Path(self.path).open("rb")  # noqa: SIM115 - the caller closes it
        except FileNotFoundError as error:
            raise InputMissing(f"{self.name}: no such file; it was there when the run began") from error
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror or error}") from error
        status = os.fstat(file.fileno())
        if self.changed is not None and (status.st_size, status.st_mtime_ns) != (self.size, self.changed):
            file.close()
            raise InputError(f"{self.name}: changed while it was being read; run again when it is complete")
        return file

    def is_untouched(self) -> bool:
        """Whether nothing has written to it since it was found, not even with its time set back; True for a remote
        file, which is replaced rather than edited."""
        try:
            return self.fs is not None or Path(self.path).stat().st_ctime_ns == self.touched
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class MatchedFiles:
    """What one argument stands for. `root` is the folder that the files' relative paths start from."""

    given: str
    root: str  # absolute path or URL
    files: list[File]
    maildirs: list[Path] = field(default_factory=list)  # folders with `cur` and `new`, below `root`
    named: bool = False  # a single file, given by name
    notes: list[str] = field(default_factory=list)  # on what is not read


def local_file(path: Path, relative: str) -> File:
    """A `File` for a local path."""
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    times = {"changed": status.st_mtime_ns, "touched": status.st_ctime_ns}
    return File(str(path), readable(str(path)), readable(relative), status.st_size, **times)


def readable(name: str) -> str:
    """A name that is not UTF-8, with its invalid bytes escaped (`caf\\xe9.txt`), so that it can be shown and
    written."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def find(given: str | Path) -> MatchedFiles:
    """The files that one path, glob, folder or URL stands for."""
    text = os.fspath(given)
    if "://" in text:
        if not text.startswith("file://"):
            return _find_remote(text)
        text = text.removeprefix("file://")
    if not text.strip():
        raise InputMissing("an input is empty; give a file, a folder, a glob, a URL, or - for standard input")
    path = Path(text)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if _has_magic(text):
            return _find_glob(path)
        if isinstance(error, OSError):
            raise cannot_look_at(readable(text), path, error) from error
        raise InputMissing(f"{text!r}: no file has such a name: {error}") from error
    if stat.S_ISDIR(mode):
        return _find_in_folder(path)
    check_special(readable(text), mode)
    return MatchedFiles(text, str(path.absolute().parent), [local_file(path, path.name)], named=True)


def _find_in_folder(folder: Path) -> MatchedFiles:
    maildirs: list[Path] = []
    unread = Unread()
    files = [local_file(path, path.relative_to(folder).as_posix()) for path in _walk(folder, maildirs, unread)]
    if not files and not maildirs:
        raise InputMissing("; ".join([f"{folder}: the folder has no files", *unread.notes()]))
    files.sort(key=lambda file: file.relative)
    return MatchedFiles(str(folder), str(folder.resolve()), files, sorted(maildirs), notes=unread.notes())


def _walk(folder: Path, maildirs: list[Path], unread: Unread, depth: int = 1) -> Iterator[Path]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be read: {error.strerror}") from error
    folders = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    is_maildir = {"cur", "new"} <= folders
    if is_maildir:
        maildirs.append(folder)
    for entry in entries:
        if entry.name in folders:
            skipped = entry.name in ("cur", "new", "tmp") if is_maildir else not _is_document(entry.name)
            inner = folder / entry.name
            if not skipped and not _is_result(inner) and not unread.is_too_deep(depth, readable(str(inner))):
                yield from _walk(inner, maildirs, unread, depth + 1)
        elif not is_maildir and _is_document(entry.name) and unread.is_file(entry, readable(entry.path)):
            yield folder / entry.name


def _is_result(folder: Path) -> bool:
    """Whether a folder inside the input is what a run wrote there, or is about to write."""
    return folder.name.endswith(".partial") or all((folder / name).is_file() for name in _RESULT)


def _is_document(name: str) -> bool:
    return not name.startswith(".") and name not in _NOT_DOCUMENTS


def _has_magic(text: str) -> bool:
    return any(letter in text for letter in "*?[")


def _find_glob(pattern: Path) -> MatchedFiles:
    root = Path(_fixed_folder(pattern))
    files = []
    unread = Unread()
    for path in _matching(root, pattern):
        relative = path.relative_to(root)
        if path.is_dir() or not all(map(_is_document, relative.parts)):
            continue
        if unread.is_file(path, readable(str(path))):
            files.append(local_file(path, relative.as_posix()))
    if not files:
        missing = f"{pattern}: no file matches; check the pattern and the working folder"
        raise InputMissing("; ".join([missing, *unread.notes()]))
    files.sort(key=lambda file: file.relative)
    return MatchedFiles(str(pattern), str(root.resolve()), files, notes=unread.notes())


def _matching(root: Path, pattern: Path) -> list[Path]:
    try:
        return sorted(root.glob(str(pattern.relative_to(root))))
    except (OSError, ValueError, RecursionError, NotImplementedError) as error:
        raise InputError(f"{pattern}: cannot be looked up ({error}); name the folder instead of a pattern") from error


def _fixed_folder(pattern: PurePath) -> str:
    """The longest leading folder of a glob without wildcards."""
    folder = pattern.parent
    while _has_magic(str(folder)):
        folder = folder.parent
    return str(folder)


def _find_remote(url: str) -> MatchedFiles:
    import fsspec  # imported here: it takes as long to load as all the rest

    try:
        fs, path = fsspec.url_to_fs(url)
        named = bool(fs.isfile(path))
        if _has_magic(path) and not named:
            root, details = _fixed_folder(PurePosixPath(path)), fs.glob(path, detail=True)
        elif named:
            root, details = str(PurePosixPath(path).parent), {path: fs.info(path)}
        else:
            root, details = path, fs.find(path, detail=True)
    except ImportError as error:
        raise InputError(f"{url}: this kind of address needs another package: {error}") from error
    except FileNotFoundError as error:
        raise InputMissing(f"{url}: no such file or folder") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{url}: cannot be opened: {error}") from error
    files = []
    for found, info in sorted(details.items()):
        relative = found.removeprefix(root).lstrip("/")
        if info.get("type") == "file" and (named or all(map(_is_document, relative.split("/")))):
            files.append(File(found, fs.unstrip_protocol(found), relative, info.get("size"), fs=fs))
    if not files:
        raise InputMissing(f"{url}: nothing there to read")
    return MatchedFiles(url, fs.unstrip_protocol(root), files, named=named)
