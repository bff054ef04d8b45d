"""The output folder: it appears whole or not at all, and never takes the place of something else.

A run works in `OUT.partial` beside the output and renames its result when everything is in it. What was there
before stays until that moment.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from roughly.errors import OutputError, OutputExists


class OutputFolder:
    """Where a run's result goes."""

    def __init__(self, path: Path, *, overwrite: bool = False, resume: bool = False) -> None:
        self.path = path
        self.partial = path.with_name(path.name + ".partial")
        self.result = self.partial / "result"
        self.work = self.partial / "work"
        self._check(overwrite, resume)
        try:
            self.partial.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(self.result, ignore_errors=True)
            self.result.mkdir()
        except OSError as problem:
            raise OutputError(f"cannot write to {path.parent}: {problem.strerror}; choose another output") from problem

    def _check(self, overwrite: bool, resume: bool) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise OutputExists(f"{self.path} is a file; the output is a folder, choose another name")
        if self.path.is_dir() and any(self.path.iterdir()):
            if not (self.path / "run.json").exists():
                raise OutputExists(f"{self.path} holds files that are no run of roughly; choose another output")
            if not overwrite:
                raise OutputExists(f"{self.path} already holds a run; add --overwrite to replace it")
        if self.partial.exists() and not (overwrite or resume):
            raise OutputExists(
                f"{self.partial} holds an unfinished run; go on with --resume, or start anew with --overwrite"
            )
        if self.partial.exists() and overwrite and not resume:
            shutil.rmtree(self.partial)

    def publish(self) -> None:
        """Put the result in its place, in one step."""
        old = self.partial / "replaced"
        shutil.rmtree(old, ignore_errors=True)
        if self.path.exists():
            self.path.rename(old)
        self.result.rename(self.path)
        shutil.rmtree(self.partial, ignore_errors=True)
