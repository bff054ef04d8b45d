"""A server around the application: uvicorn, the signals that end it, and a log that names no token and no text.

On SIGTERM or Ctrl-C it takes no more connections, finishes what is under way, adds what waits to be added, and goes.
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

from roughly.errors import OutputError
from roughly.service.application import create_app
from roughly.service.config import Config
from roughly.service.served_data import ServedData


class _Server(uvicorn.Server):
    """One that ends quietly: uvicorn's own raises the signal again when it has finished, which ends in an error."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {one: signal.signal(one, self._told) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _told(self, number: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit and number == signal.SIGINT
        self.should_exit = True


def serve(
    holdings: ServedData, config: Config, *, quiet: bool = False, ready: Callable[[str], None] = lambda address: None
) -> None:
    """Serve until a signal comes; `ready` is told the address once connections are taken."""
    _log(quiet)
    bound = _bound(config)
    host = f"[{config.host}]" if ":" in config.host else config.host
    settings = uvicorn.Config(
        create_app(holdings, config),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        ws="none",
        timeout_graceful_shutdown=max(1, int(config.timeout)),
        h11_max_incomplete_event_size=64 * 1024,
        limit_concurrency=None,
    )
    ready(f"http://{host}:{bound.getsockname()[1]}")
    _Server(settings).run(sockets=[bound])


def _bound(config: Config) -> socket.socket:
    """The socket, taken before anything is said, so that a port in use is told plainly."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # with the protocol named, asyncio sends at once what there is; else an answer in two pieces waits 40 ms
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((config.host, config.port))
        bound.listen(2048)
    except OSError as problem:
        bound.close()
        raise OutputError(
            f"cannot listen on {config.host}, port {config.port}: {problem.strerror}; choose another with --port"
        ) from problem
    bound.set_inheritable(True)
    return bound


def _log(quiet: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    for name, level in (("roughly.service", logging.WARNING if quiet else logging.INFO), ("uvicorn", logging.WARNING)):
        logger: Any = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
