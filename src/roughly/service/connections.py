"""Limits on connections: how many there may be, how many per client, and how long a request may take to arrive.

uvicorn limits none of these before the headers of a request are complete, so half-sent requests would stay open until
no file descriptor is left. A connection above a limit gets 503 and is closed; one whose headers do not arrive in time
gets 408. The number of connections stays below the file descriptors that the process may open.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from roughly.service.service_config import ServiceConfig

HEADER_SECONDS = 10.0
_OTHER_FILES = 64  # descriptors for the database, the log and libraries
_CLIENT_SHARE = 4  # a client may have the fourth part of all connections
_REFUSED = b"HTTP/1.1 %s\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_Base: Any = AutoHTTPProtocol


def most_connections(config: ServiceConfig) -> int:
    """How many connections fit the file descriptors of the process; its limit is raised if the system allows it."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return config.max_connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return config.max_connections
    wanted = _OTHER_FILES + 2 * config.max_connections  # a request may need a temporary file as well
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, min(config.max_connections, (soft - _OTHER_FILES) // 2))


def limited_protocol(config: ServiceConfig, most: int) -> type[asyncio.Protocol]:
    """uvicorn's protocol with limits, for one server with at most this many connections."""
    per_client = max(1, most // _CLIENT_SHARE)
    seconds = min(HEADER_SECONDS, config.timeout)
    clients = Counter[str]()

    class LimitedProtocol(_Base):  # type: ignore[misc]
        """One connection."""

        _counted: str | None = None
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            address = str((self.client or ("-",))[0])
            crowded = clients[address] >= per_client and address not in config.proxies
            if crowded or len(self.connections) > most:
                self._refuse(b"503 Service Unavailable")
                return
            self._counted = address
            clients[address] += 1
            self._timer = self.loop.call_later(seconds, self._refuse, b"408 Request Timeout")

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(seconds, self._refuse, b"408 Request Timeout")

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            if self._counted is not None:
                clients[self._counted] -= 1
                if not clients[self._counted]:
                    del clients[self._counted]
            super().connection_lost(exc)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _refuse(self, status: bytes) -> None:
            if not self.transport.is_closing():
                self.transport.write(_REFUSED % status)
                self.transport.close()

    return LimitedProtocol
