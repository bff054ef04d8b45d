"""HTML is tried in a process of its own before it is used: one that takes too long, or too much memory, is ended.

Removing markup takes time that is quadratic in the depth of nested elements, and a thread cannot be ended. So every
HTML text of some length is first parsed by a child process, which is killed at its time limit; a text that passes the
trial takes as long once more in the service. Trials have threads of their own, and a request that waits too long for
one gets an error.
"""

from __future__ import annotations

import contextlib
import queue
import select
import struct
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import anyio
import anyio.to_thread

from roughly.errors import InputError
from roughly.service.error_responses import retry_later

SECONDS, SECONDS_PER_MEGABYTE = 2.0, 1.0
_UNTRIED = 4_000  # characters that take no noticeable time however they are nested
_CHILDREN = 2
_CHILD_MEMORY = 2 << 30
_LENGTH = struct.Struct("<Q")


class MarkupTrial:
    """Child processes that parse HTML. They start when first used."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._limiter = anyio.CapacityLimiter(_CHILDREN)
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()

    async def check(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Refuse documents whose markup takes too long; each has `text` and `markup`."""
        for document in documents:
            html = document.get("text") or ""
            if not document.get("markup") or len(html) <= _UNTRIED:
                continue
            with anyio.move_on_after(self._timeout) as wait:  # for a thread; a trial that has begun has its own limit
                await anyio.to_thread.run_sync(self._try, html.encode("utf-8", "replace"), limiter=self._limiter)
            if wait.cancelled_caught:
                raise retry_later(self._timeout, "too many texts with markup are waiting", "try again in a moment")

    def _try(self, html: bytes) -> None:
        child = self._child()
        seconds = SECONDS + SECONDS_PER_MEGABYTE * len(html) / 1e6
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(_LENGTH.pack(len(html)) + html)
            child.stdin.flush()
            ready, _, _ = select.select([child.stdout], [], [], seconds)
            passed = bool(ready) and child.stdout.read(1) == b"+"
        except BaseException:
            _end(child)
            raise
        if not passed:
            _end(child)
            raise InputError(f"the markup of a text takes more than {seconds:.0f} s to parse, or too much memory; "
                             "nest its elements less deeply, or send plain text")  # fmt: skip
        self._idle.put(child)

    def _child(self) -> subprocess.Popen[bytes]:
        with contextlib.suppress(queue.Empty):
            child = self._idle.get_nowait()
            if child.poll() is None:
                return child
            _end(child)
        return subprocess.Popen([sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self) -> None:
        """End the child processes."""
        with contextlib.suppress(queue.Empty):
            while True:
                _end(self._idle.get_nowait())


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def main() -> None:
    """The child: lengths and texts from standard input, a plus sign to standard output for each that was parsed."""
    from roughly.text.markup import strip

    with contextlib.suppress(ImportError, OSError, ValueError):  # no such limit on this system
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_CHILD_MEMORY, _CHILD_MEMORY))
    strip("<p>")
    while length := sys.stdin.buffer.read(_LENGTH.size):
        strip(sys.stdin.buffer.read(*_LENGTH.unpack(length)).decode("utf-8"))
        sys.stdout.buffer.write(b"+")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
