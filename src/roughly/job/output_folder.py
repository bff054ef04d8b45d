"""The folders of a run: its result appears complete or not at all, and never replaces something else.

With an output, the result is built in `OUT.partial` beside it and renamed when it is complete; an older result is kept
until then. Working files (keys, tokens, spill) are in the same folder if the run may be resumed, and otherwise in a
temporary one that outlives the run, so that its result can be computed at another threshold.

A run may also write single files (one of what is kept, a list of ids): each is written beside its place under another
name and renamed at the end. If only files are wanted, `FILE.partial` has the working files.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from roughly.engines.workspace import IDENTITY
from roughly.errors import DiskFull, Interrupted, MemoryTooSmall, OutputError, OutputExists, RoughlyError
from roughly.sources.streams import unfinished_name
from roughly.temporary_space import TemporarySpace, delete_folder

_LONGEST_NAME = 255  # bytes, of Linux and macOS


class OutputFolder:
    """The folders of one run. In a `with` block, a failure keeps only what `--resume` can use."""

    def __init__(
        self,
        output: Path | None,
        *,
        files: Sequence[Path] = (),
        overwrite: bool = False,
        resumable: bool = False,
        resume: bool = False,
        temp: Path | None = None,
    ) -> None:
        named = output or next(iter(files), None)
        self.output, self.resumable, self.resume = output, resumable and named is not None, resume
        self.files = list(files)
        if output is not None and output.name in ("", ".."):  # "." or "..": a folder without a name of its own
            self.output = output = Path(os.path.abspath(output))  # noqa: PTH100 - a link stays a link
        has_folder = output is not None or self.resumable
        _check_names([*self.files, *([output] if output is not None else [])])
        beside = (output or named) if has_folder else None
        self.partial = None if beside is None or not beside.name else beside.with_name(beside.name + ".partial")
        for file in self.files:
            _check_file(file, overwrite)
        if output is not None and self.partial is not None:
            _check(output, self.partial, overwrite, resume)
        if self.partial is not None:
            _check_unfinished(self.partial, overwrite, resume, self.resumable)
        if temp is not None and not temp.is_dir():
            raise OutputError(f"{temp} is not a folder to spill to; make it, or name another with --temp")
        self.scratch = None if self.resumable else Path(tempfile.mkdtemp(prefix="roughly-", dir=temp))
        base = self.partial or self.scratch
        home = self.scratch or self.partial
        if base is None or home is None or (output is not None and self.partial is None):
            raise OutputError(f"{output} cannot be the output; name a folder to be made")
        self.result, self.work, self.spool = base / "result", home / "work", home / "spool"
        try:
            base.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(base)
            shutil.rmtree(self.result, ignore_errors=True)
            for folder in (self.result, self.spool):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            if isinstance(problem, RoughlyError):
                raise
            raise OutputError(f"cannot write to {base.parent}: {problem.strerror}; choose another output") from problem

    def space(self, limit: int | None) -> TemporarySpace:
        """What the run may write for its own use."""
        again = "continue with --resume" if self.resumable else "run again"
        return TemporarySpace(limit, self.work, self.spool, output=self.result, again=again)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if problem is None:
            return
        self.abandon(problem)
        if isinstance(problem, KeyboardInterrupt) and not isinstance(problem, Interrupted):
            raise Interrupted(self.how_to_go_on()) from None

    def finish(self) -> Path:
        """Move the result to its folder and delete everything else."""
        folder = self.publish()
        if self.scratch is not None:
            delete_folder(self.scratch, IDENTITY)
        return folder

    def publish(self) -> Path:
        """Move the files to their places and the result to its folder, each in one step; returns the folder."""
        for file in self.files:
            self.unfinished(file).replace(file)
        if self.output is None or self.partial is None:
            self.release()
            self.scratch = self.scratch or self.partial
            return self.result
        old = self.partial / "replaced"
        shutil.rmtree(old, ignore_errors=True)
        if self.output.exists():
            self.output.rename(old)
        self.result.rename(self.output)
        self.release()
        delete_folder(self.partial, IDENTITY)
        return self.output

    def unfinished(self, file: Path) -> Path:
        """Where a file is written until the run has ended."""
        return file.with_name(unfinished_name(file.name))

    def abandon(self, problem: BaseException) -> None:
        """The run failed: keep only what `--resume` can use."""
        self.release()
        for file in self.files:
            self.unfinished(file).unlink(missing_ok=True)
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
        same_again = isinstance(problem, RoughlyError) and not isinstance(
            problem, DiskFull | Interrupted | MemoryTooSmall
        )
        if self.partial is not None and (not self.resumable or (same_again and not self.resume)):
            delete_folder(self.partial, IDENTITY)

    def release(self) -> None:
        """Release the folder."""
        self._lock.close()

    def how_to_go_on(self) -> str:
        """The message for a user who stopped the run."""
        named = [str(path) for path in (self.output, *self.files) if path is not None]
        where = f"nothing was written to {' and '.join(named)}" if named else "nothing was written"
        return f"stopped; {where}: " + ("continue with --resume" if self.resumable else "run it again")


def _locked(folder: Path) -> TextIO:
    """Lock the folder for this process; the lock ends with the process."""
    handle = (folder / "lock").open("a+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise OutputExists(f"another run is at work in {folder}; wait for it, or choose another output") from None
    return handle


def _check_names(outputs: Sequence[Path]) -> None:
    places = set()
    for output in outputs:
        name = os.fsencode(output.name)
        if len(name) > _LONGEST_NAME:
            raise OutputError(
                f"the name {name[:20].decode(errors='replace')}… has {len(name)} bytes; choose a shorter one"
            )
        try:
            os.fsencode(output).decode()
        except UnicodeDecodeError:
            shown = os.fsencode(output).decode(errors="replace")
            raise OutputError(f"the name {shown} is not UTF-8; choose another output") from None
        place = Path(os.path.realpath(output.parent), output.name)
        if place in places:
            raise OutputError(f"{output} is named for two outputs; give each a name of its own")
        places.add(place)


def _check_file(file: Path, overwrite: bool) -> None:
    if file.is_dir():
        raise OutputExists(
            f"{file} is a folder, and a name with this ending asks for one file; choose another name, or write {file}/ "
            "for the folder of a run"
        )
    if file.exists() and not overwrite:
        raise OutputExists(f"{file} exists; add --overwrite to replace it")
    if not file.parent.is_dir():
        raise OutputError(f"{file}: there is no folder {file.parent}; make it, or name another")


def _check(output: Path, partial: Path, overwrite: bool, resume: bool) -> None:
    if output.is_mount():
        raise OutputExists(f"{output} is a mount point, which cannot be replaced in one step; name a folder inside it")
    if output.exists() and not output.is_dir():
        raise OutputExists(f"{output} is a file; the output is a folder, choose another name")
    if output.is_dir() and any(output.iterdir()):
        if not (output / "run.json").exists():
            raise OutputExists(f"{output} holds files that are not a run of roughly; choose another output")
        if not overwrite:
            done = "; it is complete, so there is nothing to resume" if resume and not partial.exists() else ""
            raise OutputExists(f"{output} already holds a run{done}; add --overwrite to replace it")


def _check_unfinished(partial: Path, overwrite: bool, resume: bool, resumable: bool) -> None:
    if partial.is_symlink() or (partial.exists() and not partial.is_dir()):
        raise OutputExists(f"{partial}, where a run is written, is not a folder of its own; delete it, or move it away")
    if partial.exists() and not resume:
        if not overwrite:
            remedy = "continue with --resume, or start again" if resumable else "start again"
            raise OutputExists(f"{partial} holds an unfinished run; {remedy} with --overwrite")
        _locked(partial).close()
        delete_folder(partial, IDENTITY)
