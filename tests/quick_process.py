"""`roughly …` as a process of its own, without loading the same libraries for more than a second each time.

One process for each worker of pytest loads them once and forks for every command. The child gets the caller's
arguments, environment, folder and files, and runs what the installed command runs, to its exit code. Nothing is
mocked, only the start is shared; tests of the start itself (`dedupe/test_start.py`), of kills and of `serve` begin real
processes.

As a script: `quick_process.py SOCKET` serves until its standard input ends; `quick_process.py SOCKET roughly ARGUMENTS`
is the command.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

NAME = "ROUGHLY_TEST_PROCESSES"
"""The variable with the address of the server."""


# ---------------------------------------------------------------------- who asks


def ask(address: str, arguments: list[str], cwd: str, environment: dict[str, str], files: list[int]) -> int:
    """Run a command with these three files; its exit code, negative for a signal. Signals to us go to it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        told = json.dumps([arguments, cwd, environment]).encode()
        socket.send_fds(connection, [len(told).to_bytes(8, "big")], files)
        connection.sendall(told)
        answers = connection.makefile()
        child = int(answers.readline())
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if __name__ == "__main__" else ():
            signal.signal(number, lambda number, _: os.kill(child, number))
        return int(answers.readline())


# ---------------------------------------------------------------------- who answers


def serve(address: str) -> list[str] | None:
    """Fork for every question; returns in the child, with its arguments, and in the server at its end."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(16)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            listener.close()
            return None
        connection, _ = listener.accept()
        if os.fork():
            connection.close()
            continue
        listener.close()
        return _answer(connection)


def _answer(connection: socket.socket) -> list[str]:
    """In a process of its own: fork the command, wait for it, tell how it ended; returns in the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, files, _, _ = socket.recv_fds(connection, 8, 3)
    told = b""
    while len(told) < int.from_bytes(size, "big"):
        told += connection.recv(1 << 16)
    arguments, cwd, environment = json.loads(told)
    child = os.fork()
    if not child:
        connection.close()
        _become(cwd, environment, files)
        return ["roughly", *arguments]
    for number in files:
        os.close(number)
    connection.sendall(f"{child}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(f"{code}\n".encode())
    os._exit(0)


def _become(cwd: str, environment: dict[str, str], files: list[int]) -> None:
    for number, given in enumerate(files):
        os.dup2(given, number)
        os.close(given)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)


def load() -> None:
    """Everything that commands load anyway."""
    from roughly.console.light import travel_light

    travel_light()
    import jinja2  # noqa: F401

    import roughly.cli.app
    import roughly.cli.summary_text
    import roughly.console.progress
    import roughly.engines.local
    import roughly.index
    import roughly.job.dedupe_api
    import roughly.report
    import roughly.sources.jsonl
    import roughly.sources.parquet  # noqa: F401


def main() -> Any:
    """The script."""
    address = sys.argv[1]
    if sys.argv[2:]:
        arguments = sys.argv[3:]
        if arguments[:1] == ["serve"]:
            os.execv(sys.executable, [sys.executable, "-m", "roughly", *arguments])
        code = ask(address, arguments, str(Path.cwd()), dict(os.environ), [0, 1, 2])
        if code < 0:
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        sys.exit(code)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    load()
    arguments = serve(address)
    if arguments is not None:
        atexit._clear()  # what was registered is the server's
        from roughly.cli import run

        sys.argv = arguments
        run()


if __name__ == "__main__":
    main()
