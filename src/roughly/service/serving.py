"""Runs the application under uvicorn: signals, the socket, and a log that contains no token and no text.

On SIGTERM or Ctrl-C it accepts no more connections, finishes open requests, adds the waiting documents, and ends.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from roughly.errors import OutputError
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig


class _Server(uvicorn.Server):
    """A server that ends with exit code 0: uvicorn's own raises the signal again at its end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {one: signal.signal(one, self._on_signal) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit and number == signal.SIGINT
        self.should_exit = True


def serve(
    served: ServedData,
    config: ServiceConfig,
    *,
    quiet: bool = False,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until a signal arrives; `ready` is called with the address once connections are accepted."""
    _set_up_log(quiet)
    listener = _listen(config)
    host = f"[{config.host}]" if ":" in config.host else config.host
    ready(f"http://{host}:{listener.getsockname()[1]}")
    _Server(server_settings(create_app(served, config), config)).run(sockets=[listener])


def server_settings(app: FastAPI, config: ServiceConfig) -> uvicorn.Config:
    """How uvicorn runs the application: no log of its own, no header that names it."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        ws="none",
        timeout_graceful_shutdown=max(1, int(config.timeout)),
        h11_max_incomplete_event_size=64 * 1024,
        limit_concurrency=None,
    )


def _listen(config: ServiceConfig) -> socket.socket:
    """The socket, opened before anything else, so that a port in use gives a plain message."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # with the protocol named, asyncio sets TCP_NODELAY; else a response in two pieces waits 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((config.host, config.port))
        listener.listen(2048)
    except OSError as problem:
        listener.close()
        raise OutputError(
            f"cannot listen on {config.host}, port {config.port}: {problem.strerror}; choose another with --port"
        ) from problem
    listener.set_inheritable(True)
    return listener


def _set_up_log(quiet: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    for name, level in (("roughly.service", logging.WARNING if quiet else logging.INFO), ("uvicorn", logging.WARNING)):
        logger: Any = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
