"""`roughly …` run as a user would: arguments in, exit code and what was printed out. See `quick_process`."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import quick_process

_SCRIPT = Path(quick_process.__file__)
ENVIRONMENT = {"PYTHONWARNINGS": "default"}


@functools.cache
def address() -> str:
    """Where the process answers that forks for commands; it ends with this one."""
    folder = tempfile.mkdtemp(prefix="roughly-commands-")
    where = f"{folder}/socket"
    process = subprocess.Popen(
        [sys.executable, str(_SCRIPT), where],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout is not None and process.stdin is not None
    assert process.stdout.readline() == "ready\n", "the process that forks for commands did not start"

    def end() -> None:
        process.communicate()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return where


def run_roughly(
    *arguments: object,
    stdin: str | bytes | None = None,
    cwd: Path | None = None,
    text: bool = True,
    **changed: str | None,
) -> subprocess.CompletedProcess[str]:
    """One command; `changed` are variables of its environment, None for one that it does not have."""
    environment = {**os.environ, **ENVIRONMENT, **changed}
    environment = {name: value for name, value in environment.items() if value is not None}
    given = [str(argument) for argument in arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as problems:
        reading, writing = os.pipe()
        feeder = threading.Thread(target=_feed, args=(writing, stdin.encode() if isinstance(stdin, str) else stdin))
        feeder.start()
        try:
            files = [reading, out.fileno(), problems.fileno()]
            code = quick_process.ask(address(), given, str(cwd or Path.cwd()), environment, files)
        finally:
            os.close(reading)
            feeder.join()
        out.seek(0)
        problems.seek(0)
        printed, told = out.read(), problems.read()
    if not text:
        return subprocess.CompletedProcess(given, code, printed, told)  # type: ignore[arg-type]
    return subprocess.CompletedProcess(given, code, printed.decode(), told.decode())


def _feed(number: int, content: bytes | None) -> None:
    with contextlib.suppress(BrokenPipeError), open(number, "wb") as pipe:  # a command need not read it all
        pipe.write(content or b"")


@functools.cache
def folder_of_commands() -> Path:
    """A folder with a `roughly` for shells."""
    folder = Path(address()).parent
    command = folder / "roughly"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -ES "{_SCRIPT}" "{address()}" roughly "$@"\n')
    command.chmod(0o755)
    return folder
