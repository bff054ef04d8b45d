"""A command as a process that is killed at a moment."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

TESTS = Path(__file__).resolve().parents[1] / "tests"
_LONGEST = 120.0
"""Seconds after which a command that should end is said to hang."""
_POLLED = 0.003


def start_command(arguments: list[str], said: int, **environment: str) -> tuple[int, IO[bytes]]:
    """Start a command that writes its messages to a file; its process, and where its exit code is told.

    It is forked by a process that has loaded the libraries, so most kills come when it is at work.
    """
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from commands import ENVIRONMENT, address

    told = json.dumps([arguments, str(Path.cwd()), {**os.environ, **ENVIRONMENT, **environment}]).encode()
    with Path(os.devnull).open("r+b") as nothing, socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address())
        socket.send_fds(connection, [len(told).to_bytes(8, "big")], [nothing.fileno(), nothing.fileno(), said])
        connection.sendall(told)
        answers = connection.makefile("rb", buffering=0)  # nothing is read ahead, so `select` sees what comes
        return int(answers.readline()), answers


@dataclass
class Moment:
    """When a command is killed: after so many seconds, or when its folder has had so many names and sizes of files."""

    place: Path | None = None
    seconds: float = _LONGEST
    changes: float = math.inf
    seen: set[tuple[str, int]] = field(default_factory=set)

    def came(self) -> bool:
        """Whether so many changes were seen."""
        if self.place is not None:
            for folder, _, names in os.walk(self.place):
                for name in names:
                    with contextlib.suppress(OSError):  # just removed
                        self.seen.add((f"{folder}/{name}", os.stat(f"{folder}/{name}").st_size))  # noqa: PTH116
        return len(self.seen) > self.changes


def run_command(arguments: list[str], moment: Moment | None = None) -> tuple[int, str]:
    """Run a command, and kill it at a moment; its exit code, negative for a signal, and what it said."""
    until = time.monotonic() + (_LONGEST if moment is None else moment.seconds)
    with tempfile.TemporaryFile() as said:
        child, answers = start_command(arguments, said.fileno())
        with answers:
            while not select.select([answers], [], [], _POLLED)[0]:
                if time.monotonic() > until or (moment is not None and moment.came()):
                    with contextlib.suppress(ProcessLookupError):  # it has just ended
                        os.kill(child, signal.SIGKILL)
                    break
            code = int(answers.readline())
        if code == -signal.SIGKILL and moment is None:
            raise RuntimeError(f"{arguments} did not end within {_LONGEST:.0f} s")
        said.seek(0)
        return code, said.read().decode()
