"""Lines in, lines out: one JSON object per line, answered in order while more arrive, in bounded memory.

There are three tasks. One reads lines as they arrive and queues a few megabytes of them; one takes all queued lines,
processes them and writes the answers to a spool; one sends the spool. So a client that waits for each answer before it
sends the next line gets it at once; the documents of a client that only sends are added by the thousand; the answers
for a client that sends everything before it reads wait on disk; and no side blocks the other.
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

from roughly.service.error_responses import ErrorResponse, internal_error, to_error_response
from roughly.service.limits import body_too_large
from roughly.service.request_stream import ClientGone

QUEUED_BYTES = 4_000_000
BATCH_LINES = 2_000
_SPOOL_IN_MEMORY = 1_000_000
_SEND_BYTES = 1 << 16
Work = Callable[[list[bytes]], Awaitable[list[dict[str, Any]]]]


class StreamAborted(Exception):
    """The processing cannot continue: these answers are the last."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        super().__init__()
        self.answers = answers


async def split_lines(chunks: AsyncIterator[bytes], longest: int) -> AsyncIterator[bytes]:
    """The lines of a body without blank ones; a line above the limit is an error."""
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
    """A queue of bytes; what is not read yet lies on disk."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY, prefix="roughly-")  # noqa: SIM115 - `close`
        self._read = self._written = 0
        self._ended = False
        self._change = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.seek(self._written)
        self._file.write(data)
        self._written += len(data)
        self._change.set()

    def end(self) -> None:
        """Say that nothing more will be written."""
        self._ended = True
        self._change.set()

    async def read(self) -> bytes:
        """The next bytes, as soon as there are some; empty at the end."""
        while self._read == self._written:
            if self._ended:
                return b""
            self._change.clear()
            await self._change.wait()
        self._file.seek(self._read)
        data = self._file.read(min(_SEND_BYTES, self._written - self._read))
        self._read += len(data)
        if self._read == self._written:  # everything is read: start at the beginning again
            self._file.seek(0)
            self._file.truncate()
            self._read = self._written = 0
        return data

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


class _LineQueue:
    """Lines that were received and not processed yet."""

    def __init__(self) -> None:
        self.lines: deque[bytes] = deque()
        self.size = 0
        self.ended = False
        self.change = asyncio.Condition()

    async def put(self, line: bytes) -> None:
        async with self.change:
            await self.change.wait_for(lambda: self.size < QUEUED_BYTES)
            self.lines.append(line)
            self.size += len(line)
            self.change.notify_all()

    async def end(self) -> None:
        async with self.change:
            self.ended = True
            self.change.notify_all()

    async def take(self) -> list[bytes]:
        """All queued lines, up to a number, as soon as there are some; empty at the end."""
        async with self.change:
            await self.change.wait_for(lambda: self.lines or self.ended)
            batch = [self.lines.popleft() for _ in range(min(BATCH_LINES, len(self.lines)))]
            self.size -= sum(map(len, batch))
            self.change.notify_all()
            return batch


class StreamedAnswers(Response):
    """Answers to the lines of a request, sent as soon as they exist."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: AsyncIterator[bytes], work: Work) -> None:
        super().__init__(media_type=self.media_type)
        del self.headers["content-length"]
        self._lines, self._work = lines, work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, process and send at the same time."""
        queue, spool = _LineQueue(), ByteSpool()
        reader = asyncio.ensure_future(self._read(queue))
        worker = asyncio.ensure_future(self._process(queue, spool, reader))
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

    async def _read(self, queue: _LineQueue) -> ErrorResponse | None:
        """Queue the lines; returns the error that ended them, if one did."""
        try:
            async for line in self._lines:
                await queue.put(line)
        except ErrorResponse as error:
            return error
        except ClientDisconnect as problem:
            raise ClientGone from problem
        finally:
            await queue.end()
        return None

    async def _process(self, queue: _LineQueue, spool: ByteSpool, reader: asyncio.Future[ErrorResponse | None]) -> None:
        number = 0
        try:
            while lines := await queue.take():
                try:
                    answers = await self._work(lines)
                except StreamAborted as aborted:
                    spool.write(_numbered(aborted.answers, number))
                    reader.cancel()
                    return
                spool.write(_numbered(answers, number))
                number += len(lines)
            if error := await reader:
                spool.write(_numbered([error.to_dict()], number))
        finally:
            spool.end()


def _numbered(answers: list[dict[str, Any]], before: int) -> bytes:
    return b"".join(
        orjson.dumps({"line": number} | answer) + b"\n" for number, answer in enumerate(answers, before + 1)
    )


def refused_line(problem: Exception) -> dict[str, Any]:
    """An error as the answer to a line."""
    error = to_error_response(problem) or internal_error()
    return {**error.to_dict(), "code": error.status}
