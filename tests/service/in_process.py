"""The application served from a thread of the tests' own process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from roughly.service.service_config import ServiceConfig

PATIENT = ServiceConfig(timeout=600, rate=0)
"""Machines that run tests may be slow."""


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The application on a free port of this machine; the address of it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive() and time.monotonic() < until, "the server did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(30)


@contextmanager
def client_of(app: Any) -> Iterator[httpx.Client]:
    """A client of the application."""
    with serving(app) as address, httpx.Client(base_url=address, timeout=600, trust_env=False) as client:
        yield client
