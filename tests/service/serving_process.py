"""`roughly serve` in a process of its own, on a free port; what it logs is kept."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.service.serving import server_settings

WRITE = "write-token-of-the-tests-0001"
READ = "read-token-of-the-tests-00001"
ADMIN = "admin-token-of-the-tests-0001"
TOKENS = f"read {READ}\nwrite {WRITE}\nadmin {ADMIN}\n"


class Service:
    """A running service."""

    def __init__(self, *paths: str | Path, options: tuple[str, ...] = (), tokens: str | None = None) -> None:
        self.command = [sys.executable, "-m", "roughly", "serve", *map(str, paths), "--port", "0", *options]
        environment = {name: value for name, value in os.environ.items() if name != "ROUGHLY_TOKENS"}
        if tokens is not None:
            environment["ROUGHLY_TOKENS"] = tokens
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True, env=environment)
        self.log: list[str] = []
        self._ready = threading.Event()
        self.address = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(120) or not self.address:
            self.process.kill()
            raise AssertionError(f"the service did not start: {self.log}")

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"serving at (http://\S+)/ ", line):
                self.address = found[1]
                self._ready.set()
        self._ready.set()

    def http(self, token: str | None = None, **more: Any) -> httpx.Client:
        """A plain client."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60, **more)

    def end(self, how: int = signal.SIGTERM) -> int:
        """Send a signal and wait; the exit code."""
        self.process.send_signal(how)
        code = self.process.wait(90)
        self._reader.join(10)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextlib.contextmanager
def serving(served: ServedData, config: ServiceConfig | None = None) -> Iterator[httpx.Client]:
    """A service in a thread of this process, and a client of it."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    config = config or ServiceConfig()
    server = uvicorn.Server(server_settings(create_app(served, config), config))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{bound.getsockname()[1]}", timeout=60) as http:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.01)
            yield http
    finally:
        server.should_exit = True
        thread.join(60)
        bound.close()
