"""A PostgreSQL server of one's own: private, in a temporary folder, gone afterwards.

The server refuses to run as root, so where the tests do, it runs as the user `postgres` that its package makes.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_NUMBERS = itertools.count(1)


def binaries() -> Path | None:
    """Where initdb and postgres lie, or None where there is no server."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent  # a link to initdb alone has no createdb beside it
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    return folders[-1] if folders else None


class Server:
    """A server on a Unix socket."""

    def __init__(self, options: str = "-c shared_buffers=64MB") -> None:
        self.options = options
        folder = binaries()
        if folder is None:
            raise FileNotFoundError("no PostgreSQL server here; install it with `make system`")
        self.bin = folder
        self.home = Path(tempfile.mkdtemp(prefix="rpg-"))  # short: a socket's path has 107 characters at most
        self.home.chmod(0o755)
        self.data = self.home / "data"
        if os.getuid() == 0:
            shutil.chown(self.home, "postgres")
        self._run("initdb", "-D", self.data, "-U", "tester", "--auth=trust", "-E", "UTF8", "--no-sync", "--locale=C")
        self.start()

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.home} {self.options}"
        log = self.home / "log"
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop(self, how: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", how, "stop")

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.home, ignore_errors=True)

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"d{os.getpid()}_{next(_NUMBERS)}"
        self._run("createdb", "-h", self.home, "-U", "tester", name)
        return self.address(name)

    def address(self, name: str, user: str = "tester") -> str:
        return f"postgresql://{user}@/{name}?host={self.home}"

    def sql(self, text: str, name: str = "postgres") -> None:
        self._run("psql", "-q", "-h", self.home, "-U", "tester", "-c", text, name)

    def _run(self, command: str, *given: object) -> None:
        line = [str(self.bin / command), *map(str, given)]
        if os.getuid() == 0:
            line = ["runuser", "-u", "postgres", "--", *line]
        done = subprocess.run(
            line, capture_output=command != "pg_ctl", text=True, cwd="/", check=False, stdin=subprocess.DEVNULL,
            **({} if command != "pg_ctl" else {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}),
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{command} failed: {done.stderr or done.stdout}")
