"""One request and its response: counted, timed, and with the headers that every response has."""

from __future__ import annotations

import asyncio
import math
import time

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from roughly.service.error_responses import ErrorResponse
from roughly.service.limits import body_too_large
from roughly.service.security import HEADERS
from roughly.service.service_config import ServiceConfig

NDJSON = ("application/x-ndjson", "application/jsonl")
_STREAMS = ("/api/documents/batch", "/api/check/batch")
_BODY_TIMEOUTS = 10  # a whole request must arrive within this many timeouts
_FOR_THE_ERROR = 0.1  # of the timeout
_DISCARDED_BYTES, _DISCARD_SECONDS = 1 << 28, 10.0
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class ClientGone(Exception):
    """The client has closed the connection."""


class RequestStream:
    """Receives the body of one request and sends its response."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, config: ServiceConfig) -> None:
        self._receive, self._send, self._timeout = receive, send, config.timeout
        lines = scope["path"] in _STREAMS and media_type(Headers(scope=scope)) in NDJSON
        self._limit = config.max_stream if lines else config.max_body
        self._end = None if lines else time.monotonic() + _BODY_TIMEOUTS * config.timeout
        self._last = time.monotonic()
        self._received = 0
        self._is_page = not scope["path"].startswith("/static/")
        self.body_ended = False
        self.headers: list[tuple[bytes, bytes]] = []  # added to the response
        self.started = self.ended = False
        self.status, self.bytes_sent = 499, 0  # of a response that was never begun

    def check_length(self, headers: Headers) -> None:
        """Refuse a request whose declared length is above the limit."""
        length = headers.get("content-length")
        if length is None:
            self.body_ended = "transfer-encoding" not in headers
        elif not length.isdigit() or int(length) > self._limit:
            raise body_too_large(self._limit)
        elif int(length) == 0:
            self.body_ended = True

    def seconds_left(self) -> float:
        """Until a response must have begun. While the body still arrives, `receive` checks the time instead."""
        return self._last + self._timeout - time.monotonic() if self.body_ended else self._timeout

    def seconds_for_queries(self) -> float:
        """Until queries are ended: a little earlier, so that the response can say so. One that has begun may go on."""
        return math.inf if self.started else self.seconds_left() - _FOR_THE_ERROR * self._timeout

    async def receive(self) -> Message:
        """The next piece of the request body."""
        if self.body_ended:
            return await self._receive()
        wait = self._timeout if self._end is None else min(self._timeout, self._end - time.monotonic())
        try:
            async with asyncio.timeout(max(wait, 0.001)):
                message = await self._receive()
        except TimeoutError:
            raise ErrorResponse(
                408, "the rest of the request did not arrive in time", "send it faster, or send less"
            ) from None
        self._last = time.monotonic()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            self.body_ended = not message.get("more_body", False)
            if self._received > self._limit:
                raise body_too_large(self._limit)
        return message

    async def whole_body(self) -> bytes:
        """The whole body of the request."""
        pieces = []
        while True:
            message = await self.receive()
            if message["type"] != "http.request":
                raise ClientGone
            pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                return b"".join(pieces)

    async def discard_body(self) -> None:
        """Receive the rest of a refused request, up to a size and a time.

        If the connection were closed while the client is still sending, the client would not see the response.
        """
        until, discarded = time.monotonic() + _DISCARD_SECONDS, 0
        while not self.body_ended and discarded <= _DISCARDED_BYTES:
            try:
                async with asyncio.timeout(max(until - time.monotonic(), 0.001)):
                    message = await self._receive()
            except TimeoutError:
                return
            if message["type"] != "http.request":
                return
            discarded += len(message.get("body", b""))
            self.body_ended = not message.get("more_body", False)

    async def send_all_but_end(self, message: Message) -> None:
        """Send a piece of the response and leave the response open."""
        await self.send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    async def send(self, message: Message) -> None:
        """Send a piece of the response; after its end, nothing more is sent."""
        if self.ended:
            return
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            given = {name.lower() for name, _ in message.get("headers", [])}
            more = [(name, value) for name, value in _HEADERS if name not in given]
            if self._is_page and b"cache-control" not in given:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message.get("headers", []), *more, *self.headers]}
        elif message["type"] == "http.response.body":
            self.bytes_sent += len(message.get("body", b""))
        try:
            async with asyncio.timeout(self._timeout):
                await self._send(message)
        except (TimeoutError, OSError) as problem:
            raise ClientGone from problem


def media_type(headers: Headers) -> str:
    """The content type of a request, without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()
