"""Runs the application under uvicorn: signals, the socket, and a log that contains no token and no text.

On SIGTERM or Ctrl-C it accepts no more connections, finishes open requests, adds the waiting documents, and ends.
"""

from __future__ import annotations

import contextlib
import logging
import math
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from roughly.errors import OutputError
from roughly.service.application import create_app
from roughly.service.connections import limited_protocol, most_connections
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig

_BACKLOG = 128
"""Connections that wait to be accepted. asyncio accepts as many in a row before any of them can be refused."""
_LOG_SECONDS = 10.0


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
    most = most_connections(config)
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
        http=limited_protocol(config, most),
        backlog=min(_BACKLOG, most),
        proxy_headers=bool(config.proxies),
        forwarded_allow_ips=sorted(config.proxies),
    )


def _listen(config: ServiceConfig) -> socket.socket:
    """The socket, opened before anything else, so that a port in use gives a plain message."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # with the protocol named, asyncio sets TCP_NODELAY; else a response in two pieces waits 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((config.host, config.port))
        listener.listen(_BACKLOG)
    except OSError as problem:
        listener.close()
        raise OutputError(
            f"cannot listen on {config.host}, port {config.port}: {problem.strerror}; choose another with --port"
        ) from problem
    listener.set_inheritable(True)
    return listener


class OnceInAWhile(logging.Filter):
    """Lets each message of a library pass once per period: strangers decide how often they are caused."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds, self._clock = seconds, clock
        self._last: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the message was not logged for a period; it is known by the line of code that logs it."""
        place, now = (record.pathname, record.lineno), self._clock()
        if now - self._last.get(place, -math.inf) < self._seconds:
            return False
        self._last[place] = now
        return True


def _set_up_log(quiet: bool) -> None:
    ours, theirs = (logging.StreamHandler(sys.stderr) for _ in range(2))
    theirs.addFilter(OnceInAWhile(_LOG_SECONDS))
    for handler in (ours, theirs):
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    for name, level, handler in (
        ("roughly.service", logging.WARNING if quiet else logging.INFO, ours),
        ("uvicorn", logging.WARNING, theirs),
        ("asyncio", logging.WARNING, theirs),
    ):
        logger: Any = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
