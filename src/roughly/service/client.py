"""`roughly.Client` and `roughly.AsyncClient`: a service asked from Python, with the objects that an index answers with.

    >>> with roughly.Client("http://127.0.0.1:8080") as client:
    ...     client.add({"doc_id": "a", "text": "…"})
    ...     client.check("…")

A request that the service could not take (busy, too many, database away) is sent again, later and later, a bounded
number of times; one of which nobody knows whether it arrived only where doing it twice is doing it once.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from roughly.errors import IndexAway, InputMissing, SettingsError
from roughly.index.answers import Added, Entry, Match, Stats
from roughly.index.sweeps.copies import MINIMUM, Copies
from roughly.index.sweeps.lost import Lost
from roughly.results.groups import Grouped
from roughly.service import calls
from roughly.service.api.responses import Compared
from roughly.service.calls import AWAY, Call, NotAdded

T = TypeVar("T")
AT_ONCE = 500
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
VARIABLE = "ROUGHLY_TOKEN"


class _Sending:
    """What the two clients have in common: where the service is, and when to try again."""

    def __init__(self, address: str, token: str | None, retries: int) -> None:
        if not address.startswith(("http://", "https://")):
            raise SettingsError(f"{address!r} is no address of a service; write http://127.0.0.1:8080 for instance")
        if retries < 0:
            raise SettingsError(f"retries must be 0 or more, not {retries!r}")
        self.address = address.rstrip("/")
        token = token if token is not None else os.environ.get(VARIABLE)
        self._headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._retries = retries

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.address}>"

    def _request(self, call: Call[Any]) -> dict[str, Any]:
        return {
            "method": call.method, "url": self.address + call.path, "params": dict(call.query), "content": call.body,
            "headers": call.headers,
        }  # fmt: skip

    def _wait(self, call: Call[Any], tried: int, outcome: httpx.Response | Exception) -> float:
        """Seconds until another try; raises where there is to be none."""
        if isinstance(outcome, httpx.Response):
            if outcome.status_code not in AWAY or tried >= self._retries:
                raise calls.problem_of(outcome.status_code, outcome.content, self.address)
            asked = outcome.headers.get("retry-after", "")
            least = float(asked) if asked.isdigit() else 0.0
        elif isinstance(outcome, IndexAway):  # told in the answer to a line
            if tried >= self._retries:
                raise outcome
            least = 0.0
        else:
            never_arrived = isinstance(outcome, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
            if tried >= self._retries or not (call.again or never_arrived):
                said = str(outcome) or type(outcome).__name__
                raise IndexAway(f"{self.address} cannot be reached: {said}; is the service running?") from outcome
            least = 0.0
        return float(min(_LONGEST_WAIT, max(least, _FIRST_WAIT * 2**tried * random.uniform(0.5, 1.5))))


class Client(_Sending):
    """A service, asked one question after another. Threads may share one."""

    def __init__(self, address: str, *, token: str | None = None, timeout: float = 60.0, retries: int = 4) -> None:
        """`token`, or else the environment variable `ROUGHLY_TOKEN`, where the service needs one."""
        super().__init__(address, token, retries)
        self._http = httpx.Client(headers=self._headers, timeout=timeout, follow_redirects=False)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _do(self, call: Call[T]) -> T:
        for tried in range(self._retries + 1):
            outcome: httpx.Response | Exception
            try:
                outcome = self._http.request(**self._request(call))
                if outcome.is_success:
                    return call.read(outcome.content)
            except (httpx.TransportError, IndexAway) as problem:
                outcome = problem
            time.sleep(self._wait(call, tried, outcome))
        raise AssertionError("unreachable")

    def check(
        self, asked: str | Mapping[str, Any], *, limit: int = 10, minimum: float | None = None,
        measure: str | None = None, since: str | None = None, until: str | None = None,
    ) -> list[Match]:  # fmt: skip
        """The documents that a text, or a document, is a duplicate of; nothing is stored."""
        return self._do(calls.check(asked, limit, _narrowed(minimum, measure, since, until)))

    def checking(
        self, asked: Iterable[str | Mapping[str, Any]], *, limit: int = 1, at_once: int = AT_ONCE
    ) -> Iterator[list[Match] | NotAdded]:
        """The same for many, in order, `at_once` of them in a request."""
        for first, lines in calls.pieces(asked, at_once):
            yield from self._do(calls.check_lines(lines, first, limit))

    def add(self, document: Mapping[str, Any]) -> Added:
        """Put a document in; it is on disk when this returns."""
        return self._do(calls.add(document))

    def adding(self, documents: Iterable[Mapping[str, Any]], *, at_once: int = AT_ONCE) -> Iterator[Added | NotAdded]:
        """Put many in, `at_once` of them in a request; what was handed out is safe."""
        for first, lines in calls.pieces(documents, at_once):
            yield from self._do(calls.add_lines(lines, first))

    def remove(self, ids: str | Iterable[str]) -> list[str]:
        """Take documents out; the ids that were there."""
        return sorted(doc_id for call in calls.removals(ids) for doc_id in self._do(call))

    def revoke(self, ids: str | Iterable[str]) -> list[str]:
        """Declare that the texts of documents match nothing; the ids that were there."""
        return self._do(calls.revoke(ids))

    def get(self, doc_id: str) -> Entry | None:
        """A document by its id, or None."""
        found = self._found({"id": doc_id})
        return found[0][0] if found else None

    def text(self, doc_id: str) -> str | None:
        """The stored text of a document; None where there is none."""
        found = self._found({"id": doc_id, "text": "true"})
        return found[0][1] if found else None

    def by_url(self, url: str) -> list[Entry]:
        """The documents with this url."""
        return [entry for entry, _ in self._found({"url": url})]

    def _found(self, query: Mapping[str, str]) -> list[tuple[Entry, str | None]]:
        try:
            return self._do(calls.documents(query))
        except InputMissing:
            return []

    def cluster(self, cluster_id: int) -> list[Entry]:
        """The documents of a cluster; none where there is no such cluster."""
        try:
            return self._do(calls.cluster(cluster_id))
        except InputMissing:
            return []

    def group(self, results: Iterable[Any], *, show: str = "rank", threshold: float | None = None) -> Grouped:
        """Group ranked results: ids that the index holds, or mappings with texts."""
        return self._do(calls.group(results, show, threshold))

    def compare(
        self, left: str | Mapping[str, Any], right: str | Mapping[str, Any], *, shingle_size: int = 5,
        diff: bool = True, context: int | None = None,
    ) -> Compared:  # fmt: skip
        """Compare two texts, or stored documents given as `{"doc_id": …}`."""
        return self._do(calls.compare(left, right, _compared(shingle_size, diff, context)))

    def lost(self, url: str, *, limit: int = 10) -> Lost:
        """Where the page of an address is now."""
        return self._do(calls.lost(url, limit))

    def copies(self, doc_id: str, *, minimum: float = MINIMUM, limit: int = 100) -> Copies:
        """Whole and partial copies of a document."""
        return self._do(calls.copies(doc_id, minimum, limit))

    def stats(self) -> Stats:
        """How much the index holds."""
        return self._do(calls.stats())

    def ready(self) -> bool:
        """Whether the service answers and reaches what it serves."""
        try:
            return self._http.get(f"{self.address}/health").is_success
        except httpx.TransportError:
            return False


class AsyncClient(_Sending):
    """The same for asyncio: many questions at once."""

    def __init__(self, address: str, *, token: str | None = None, timeout: float = 60.0, retries: int = 4) -> None:
        """`token`, or else the environment variable `ROUGHLY_TOKEN`, where the service needs one."""
        super().__init__(address, token, retries)
        self._http = httpx.AsyncClient(headers=self._headers, timeout=timeout, follow_redirects=False)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _do(self, call: Call[T]) -> T:
        for tried in range(self._retries + 1):
            outcome: httpx.Response | Exception
            try:
                outcome = await self._http.request(**self._request(call))
                if outcome.is_success:
                    return call.read(outcome.content)
            except (httpx.TransportError, IndexAway) as problem:
                outcome = problem
            await asyncio.sleep(self._wait(call, tried, outcome))
        raise AssertionError("unreachable")

    async def check(
        self, asked: str | Mapping[str, Any], *, limit: int = 10, minimum: float | None = None,
        measure: str | None = None, since: str | None = None, until: str | None = None,
    ) -> list[Match]:  # fmt: skip
        """The documents that a text, or a document, is a duplicate of; nothing is stored."""
        return await self._do(calls.check(asked, limit, _narrowed(minimum, measure, since, until)))

    async def checking(
        self, asked: Iterable[Any] | AsyncIterable[Any], *, limit: int = 1, at_once: int = AT_ONCE
    ) -> AsyncIterator[list[Match] | NotAdded]:
        """The same for many, in order, `at_once` of them in a request."""
        async for first, lines in _pieces(asked, at_once):
            for one in await self._do(calls.check_lines(lines, first, limit)):
                yield one

    async def add(self, document: Mapping[str, Any]) -> Added:
        """Put a document in; it is on disk when this returns."""
        return await self._do(calls.add(document))

    async def adding(
        self, documents: Iterable[Any] | AsyncIterable[Any], *, at_once: int = AT_ONCE
    ) -> AsyncIterator[Added | NotAdded]:
        """Put many in, `at_once` of them in a request; what was handed out is safe."""
        async for first, lines in _pieces(documents, at_once):
            for one in await self._do(calls.add_lines(lines, first)):
                yield one

    async def remove(self, ids: str | Iterable[str]) -> list[str]:
        """Take documents out; the ids that were there."""
        return sorted([doc_id for call in calls.removals(ids) for doc_id in await self._do(call)])

    async def revoke(self, ids: str | Iterable[str]) -> list[str]:
        """Declare that the texts of documents match nothing; the ids that were there."""
        return await self._do(calls.revoke(ids))

    async def get(self, doc_id: str) -> Entry | None:
        """A document by its id, or None."""
        found = await self._found({"id": doc_id})
        return found[0][0] if found else None

    async def text(self, doc_id: str) -> str | None:
        """The stored text of a document; None where there is none."""
        found = await self._found({"id": doc_id, "text": "true"})
        return found[0][1] if found else None

    async def by_url(self, url: str) -> list[Entry]:
        """The documents with this url."""
        return [entry for entry, _ in await self._found({"url": url})]

    async def _found(self, query: Mapping[str, str]) -> list[tuple[Entry, str | None]]:
        try:
            return await self._do(calls.documents(query))
        except InputMissing:
            return []

    async def cluster(self, cluster_id: int) -> list[Entry]:
        """The documents of a cluster; none where there is no such cluster."""
        try:
            return await self._do(calls.cluster(cluster_id))
        except InputMissing:
            return []

    async def group(self, results: Iterable[Any], *, show: str = "rank", threshold: float | None = None) -> Grouped:
        """Group ranked results: ids that the index holds, or mappings with texts."""
        return await self._do(calls.group(results, show, threshold))

    async def compare(
        self, left: str | Mapping[str, Any], right: str | Mapping[str, Any], *, shingle_size: int = 5,
        diff: bool = True, context: int | None = None,
    ) -> Compared:  # fmt: skip
        """Compare two texts, or stored documents given as `{"doc_id": …}`."""
        return await self._do(calls.compare(left, right, _compared(shingle_size, diff, context)))

    async def lost(self, url: str, *, limit: int = 10) -> Lost:
        """Where the page of an address is now."""
        return await self._do(calls.lost(url, limit))

    async def copies(self, doc_id: str, *, minimum: float = MINIMUM, limit: int = 100) -> Copies:
        """Whole and partial copies of a document."""
        return await self._do(calls.copies(doc_id, minimum, limit))

    async def stats(self) -> Stats:
        """How much the index holds."""
        return await self._do(calls.stats())

    async def ready(self) -> bool:
        """Whether the service answers and reaches what it serves."""
        try:
            return (await self._http.get(f"{self.address}/health")).is_success
        except httpx.TransportError:
            return False


def _narrowed(minimum: float | None, measure: str | None, since: str | None, until: str | None) -> dict[str, Any]:
    return {"minimum": minimum, "measure": measure, "since": since, "until": until}


def _compared(shingle_size: int, diff: bool, context: int | None) -> dict[str, Any]:
    return {"shingle_size": shingle_size, "diff": diff, "context": context}


async def _pieces(
    documents: Iterable[Any] | AsyncIterable[Any], at_once: int
) -> AsyncIterator[tuple[int, list[bytes]]]:
    if not isinstance(documents, AsyncIterable):
        for piece in calls.pieces(documents, at_once):
            yield piece
        return
    held = calls.Pieces(at_once)
    async for document in documents:
        if full := held.put(document):
            yield full
    if rest := held.rest():
        yield rest
