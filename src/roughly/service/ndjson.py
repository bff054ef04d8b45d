"""Lines in, lines out: one JSON object a line, answered in order while more come, in bounded memory.

Three tasks. One reads lines as they arrive and holds a few megabytes of them; one takes all that are there, has them
worked on and writes their answers to a spool; one sends what is in the spool. So a client that waits for an answer
before it sends the next line gets it at once, one that only sends has its documents go in by the thousand, and one that
reads nothing before it has sent everything finds its answers on disk, and nobody waits for the other.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
from fastapi.responses import Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from roughly.service.error_responses import ErrorResponse, broken, refusal_of
from roughly.service.limits import body_too_large
from roughly.service.request_stream import ClientGone

HELD_BYTES = 4_000_000
AT_ONCE = 2_000
_IN_MEMORY = 1_000_000
_SENT_AT_ONCE = 1 << 16
Work = Callable[[list[bytes]], Awaitable[list[dict[str, Any]]]]


class Stopped(Exception):
    """The work cannot go on: these answers are the last."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        super().__init__()
        self.answers = answers


async def lines_of(chunks: AsyncIterator[bytes], longest: int) -> AsyncIterator[bytes]:
    """The lines of a body, blank ones left out; one that is too long ends it."""
    pieces: list[bytes] = []
    size = 0
    async for chunk in chunks:
        first, *others = chunk.split(b"\n")
        pieces.append(first)
        size += len(first)
        for other in others:
            line = b"".join(pieces)
            pieces, size = [other], len(other)
            if line.strip():
                yield line
        if size > longest:
            raise body_too_large(longest)
    line = b"".join(pieces)
    if line.strip():
        yield line


class ByteSpool:
    """Bytes written at one end and read at the other; what is not read yet lies on disk."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="roughly-")  # noqa: SIM115 - `close`
        self._read = self._written = 0
        self._ended = False
        self._change = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Put bytes in."""
        self._file.seek(self._written)
        self._file.write(data)
        self._written += len(data)
        self._change.set()

    def end(self) -> None:
        """Nothing more comes."""
        self._ended = True
        self._change.set()

    async def read(self) -> bytes:
        """Some bytes, as soon as there are some; none: it is over."""
        while self._read == self._written:
            if self._ended:
                return b""
            self._change.clear()
            await self._change.wait()
        self._file.seek(self._read)
        data = self._file.read(min(_SENT_AT_ONCE, self._written - self._read))
        self._read += len(data)
        if self._read == self._written:  # room for more, and none of it on disk
            self._file.seek(0)
            self._file.truncate()
            self._read = self._written = 0
        return data

    def close(self) -> None:
        """Delete it."""
        self._file.close()


class _Held:
    """Lines between the reader and the work."""

    def __init__(self) -> None:
        self.lines: deque[bytes] = deque()
        self.size = 0
        self.ended = False
        self.change = asyncio.Condition()

    async def put(self, line: bytes) -> None:
        async with self.change:
            await self.change.wait_for(lambda: self.size < HELD_BYTES)
            self.lines.append(line)
            self.size += len(line)
            self.change.notify_all()

    async def end(self) -> None:
        async with self.change:
            self.ended = True
            self.change.notify_all()

    async def take(self) -> list[bytes]:
        """All that are there, up to a number; none: it is over."""
        async with self.change:
            await self.change.wait_for(lambda: self.lines or self.ended)
            taken = [self.lines.popleft() for _ in range(min(AT_ONCE, len(self.lines)))]
            self.size -= sum(map(len, taken))
            self.change.notify_all()
            return taken


class StreamedAnswers(Response):
    """Answers to the lines of a request, sent as they are made."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: AsyncIterator[bytes], work: Work) -> None:
        super().__init__(media_type=self.media_type)
        del self.headers["content-length"]
        self._lines, self._work = lines, work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, work and send at the same time."""
        held, spool = _Held(), ByteSpool()
        reader = asyncio.ensure_future(self._reading(held))
        worker = asyncio.ensure_future(self._working(held, spool, reader))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while data := await spool.read():
                await send({"type": "http.response.body", "body": data, "more_body": True})
            await worker
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            for task in (reader, worker):
                task.cancel()
            await asyncio.gather(reader, worker, return_exceptions=True)
            spool.close()

    async def _reading(self, held: _Held) -> ErrorResponse | None:
        """Hold the lines; what ended them, where it was not their end."""
        try:
            async for line in self._lines:
                await held.put(line)
        except ErrorResponse as refused:
            return refused
        except ClientDisconnect as problem:
            raise ClientGone from problem
        finally:
            await held.end()
        return None

    async def _working(self, held: _Held, spool: ByteSpool, reader: asyncio.Future[ErrorResponse | None]) -> None:
        number = 0
        try:
            while lines := await held.take():
                try:
                    answers = await self._work(lines)
                except Stopped as stopped:
                    spool.write(_joined(stopped.answers, number))
                    reader.cancel()
                    return
                spool.write(_joined(answers, number))
                number += len(lines)
            if refused := await reader:
                spool.write(_joined([refused.to_dict()], number))
        finally:
            spool.end()


def _joined(answers: list[dict[str, Any]], before: int) -> bytes:
    return b"".join(
        orjson.dumps({"line": number} | answer) + b"\n" for number, answer in enumerate(answers, before + 1)
    )


def refused_line(problem: Exception) -> dict[str, Any]:
    """An error as the answer to a line."""
    refused = refusal_of(problem) or broken()
    return {**refused.to_dict(), "code": refused.status}
