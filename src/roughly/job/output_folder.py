"""Where a run works and where its result goes: it appears whole or not at all, and never in place of something else.

With an output, the result is built in `OUT.partial` beside it and renamed when everything is in it; what was there
before stays until that moment. The work (keys, tokens, spill) lies in the same folder where the run may be
resumed, and otherwise in a temporary one that outlives the run, so that its result can be asked for another threshold.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from roughly.errors import DiskFull, Interrupted, MemoryTooSmall, OutputError, OutputExists, RoughlyError


class OutputFolder:
    """The folders of one run. In a `with` block, a failure leaves only what `--resume` can go on with."""

    def __init__(
        self,
        output: Path | None,
        *,
        overwrite: bool = False,
        resumable: bool = False,
        resume: bool = False,
        temp: Path | None = None,
    ) -> None:
        self.output, self.resumable, self.resume = output, resumable and output is not None, resume
        if output is not None and output.name in ("", ".."):  # "." or "..": a folder without a name of its own
            self.output = output = Path(os.path.abspath(output))  # noqa: PTH100 - a link stays a link
        self.partial = None if output is None or not output.name else output.with_name(output.name + ".partial")
        if output is not None and self.partial is not None:
            _check(output, self.partial, overwrite, resume)
        if temp is not None and not temp.is_dir():
            raise OutputError(f"{temp} is no folder to spill to; make it, or name another with --temp")
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
        """Put the result in its place and keep nothing else."""
        folder = self.publish()
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
        return folder

    def publish(self) -> Path:
        """Put the result in its place, in one step, and say where that is."""
        if self.output is None or self.partial is None:
            self.release()
            return self.result
        old = self.partial / "replaced"
        shutil.rmtree(old, ignore_errors=True)
        if self.output.exists():
            self.output.rename(old)
        self.result.rename(self.output)
        self.release()
        shutil.rmtree(self.partial, ignore_errors=True)
        return self.output

    def abandon(self, problem: BaseException) -> None:
        """The run failed: leave only what `--resume` can go on with."""
        self.release()
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
        same_again = isinstance(problem, RoughlyError) and not isinstance(
            problem, DiskFull | Interrupted | MemoryTooSmall
        )
        if self.partial is not None and (not self.resumable or (same_again and not self.resume)):
            shutil.rmtree(self.partial, ignore_errors=True)

    def release(self) -> None:
        """Let others have the folder."""
        self._lock.close()

    def how_to_go_on(self) -> str:
        """What to tell a user who stopped the run."""
        where = f"nothing was written to {self.output}" if self.output else "nothing was written"
        return f"stopped; {where}: " + ("go on with --resume" if self.resumable else "run it again")


def _locked(folder: Path) -> TextIO:
    """Hold the folder for this process; the lock goes with it, however it ends."""
    handle = (folder / "lock").open("a+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise OutputExists(f"another run is at work in {folder}; wait for it, or choose another output") from None
    return handle


def _check(output: Path, partial: Path, overwrite: bool, resume: bool) -> None:
    if output.is_mount():
        raise OutputExists(f"{output} is a mount point, which cannot appear in one step; name a folder inside it")
    if output.exists() and not output.is_dir():
        raise OutputExists(f"{output} is a file; the output is a folder, choose another name")
    if output.is_dir() and any(output.iterdir()):
        if not (output / "run.json").exists():
            raise OutputExists(f"{output} holds files that are no run of roughly; choose another output")
        if not overwrite:
            done = "; it is complete, so there is nothing to resume" if resume and not partial.exists() else ""
            raise OutputExists(f"{output} already holds a run{done}; add --overwrite to replace it")
    if partial.exists() and not resume:
        if not overwrite:
            raise OutputExists(
                f"{partial} holds an unfinished run; go on with --resume, or start anew with --overwrite"
            )
        _locked(partial).close()
        shutil.rmtree(partial)
