"""One request and its answer, on their way: counted, timed, and given the headers that every answer has."""

from __future__ import annotations

import asyncio
import time

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from roughly.service.config import Config
from roughly.service.error_responses import ErrorResponse
from roughly.service.limits import body_too_large
from roughly.service.security import HEADERS

_STREAMS = ("/api/documents/batch", "/api/check/batch")
_PATIENCE = 10  # times the timeout in which a whole request must have come
_LITTLE, _SOON = 1 << 20, 1.0  # bytes and seconds
_OURS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class ClientGone(Exception):
    """Nobody is there to take the answer."""


class RequestStream:
    """The two ends of a connection, for one request."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, config: Config) -> None:
        self._receive, self._send, self._timeout = receive, send, config.timeout
        lines = scope["path"] in _STREAMS and _is_ndjson(Headers(scope=scope))
        self._limit = config.max_stream if lines else config.max_body
        self._end = None if lines else time.monotonic() + _PATIENCE * config.timeout
        self._last = time.monotonic()
        self._got = 0
        self._is_page = not scope["path"].startswith("/static/")
        self.body_is_over = False
        self.headers: list[tuple[bytes, bytes]] = []  # that the answer gets as well
        self.started = self.over = False
        self.status, self.bytes_sent = 499, 0  # of an answer that was never begun

    def check_length(self, headers: Headers) -> None:
        """Refuse a request that says itself that it is too large."""
        said = headers.get("content-length")
        if said is None:
            self.body_is_over = "transfer-encoding" not in headers
        elif not said.isdigit() or int(said) > self._limit:
            raise body_too_large(self._limit)
        elif int(said) == 0:
            self.body_is_over = True

    def seconds_left(self) -> float:
        """Until an answer should have begun. While the request still comes, `receive` sees that it does."""
        return self._last + self._timeout - time.monotonic() if self.body_is_over else self._timeout

    async def receive(self) -> Message:
        """The next piece of the request."""
        if self.body_is_over:
            return await self._receive()
        wait = self._timeout if self._end is None else min(self._timeout, self._end - time.monotonic())
        try:
            async with asyncio.timeout(max(wait, 0.001)):
                message = await self._receive()
        except TimeoutError:
            raise ErrorResponse(
                408, "the rest of the request did not come in time", "send it faster, or less of it"
            ) from None
        self._last = time.monotonic()
        if message["type"] == "http.request":
            self._got += len(message.get("body", b""))
            self.body_is_over = not message.get("more_body", False)
            if self._got > self._limit:
                raise body_too_large(self._limit)
        return message

    async def whole_body(self) -> bytes:
        """All of the request."""
        pieces = []
        while True:
            message = await self.receive()
            if message["type"] != "http.request":
                raise ClientGone
            pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                return b"".join(pieces)

    async def pass_over(self) -> None:
        """Take what is left of a request that is refused, where it is little and comes soon.

        A connection that is closed while the client is still sending would take the answer with it.
        """
        until, taken = time.monotonic() + _SOON, 0
        while not self.body_is_over and taken <= _LITTLE:
            try:
                async with asyncio.timeout(max(until - time.monotonic(), 0.001)):
                    message = await self._receive()
            except TimeoutError:
                return
            if message["type"] != "http.request":
                return
            taken += len(message.get("body", b""))
            self.body_is_over = not message.get("more_body", False)

    async def send(self, message: Message) -> None:
        """A piece of the answer. After its end, nothing is sent any more."""
        if self.over:
            return
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            own = {name.lower() for name, _ in message.get("headers", [])}
            more = [(name, value) for name, value in _OURS if name not in own]
            if self._is_page and b"cache-control" not in own:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message.get("headers", []), *more, *self.headers]}
        elif message["type"] == "http.response.body":
            self.bytes_sent += len(message.get("body", b""))
        try:
            async with asyncio.timeout(self._timeout):
                await self._send(message)
        except (TimeoutError, OSError) as problem:
            raise ClientGone from problem


def _is_ndjson(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() in (
        "application/x-ndjson",
        "application/jsonl",
    )
