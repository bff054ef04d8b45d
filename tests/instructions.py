"""Counts the instructions of a work with valgrind: the same on a busy machine as on an idle one.

One process runs `counted_work.py` under valgrind and forks for each work. Valgrind counts a fork from the start of that
process on, so the count of a work is that of its fork less that of a fork that does nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


class InstructionCounter:
    """A process under valgrind that does what it is told."""

    def __init__(self, folder: Path) -> None:
        self._logs = folder
        self._errors = (folder / "errors").open("w+")
        self._process = subprocess.Popen(
            [
                "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                f"--log-file={folder}/%p", sys.executable, str(Path(__file__).with_name("counted_work.py")),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env=os.environ | {"PYTHONHASHSEED": "0"},
        )  # fmt: skip

    def count(self, work: str, *arguments: object) -> int:
        """Instructions of a work of `counted_work.WORKS`."""
        return self._count({"work": work, "arguments": list(map(str, arguments))}) - self._count({})

    def prepare(self, work: str, *arguments: object) -> None:
        """Do a work in the process itself, so that later counts are without imports."""
        self._ask({"work": work, "arguments": list(map(str, arguments)), "here": True})

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._errors.close()

    def _count(self, asked: dict[str, object]) -> int:
        self._ask(asked)
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        child, status = json.loads(answer) if answer else (0, self._process.wait())
        if status:
            self._errors.seek(0)
            raise AssertionError(f"{asked} ended with {status}: {self._errors.read()[-2000:]}")
        log = self._logs / str(child)
        found = _COUNTED.search(log.read_text())
        assert found, log.read_text()
        log.unlink()
        return int(found[1].replace(",", ""))

    def _ask(self, asked: dict[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()


@contextmanager
def counter() -> Iterator[InstructionCounter]:
    """The process, until the end of the block."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind, which counts instructions, is missing: make system")
    with tempfile.TemporaryDirectory() as folder:
        process = InstructionCounter(Path(folder))
        try:
            yield process
        finally:
            process.close()
