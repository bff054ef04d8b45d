"""`roughly.Client` and `roughly.AsyncClient`: a service used from Python, with the objects that an index returns.

    >>> with roughly.Client("http://127.0.0.1:8080") as client:
    ...     client.add({"doc_id": "a", "text": "…"})
    ...     client.check("…")

A request that the service could not take (busy, too many requests, no database) is sent again a limited number of
times, after longer and longer waits. If it is unknown whether a request arrived, it is sent again only if doing it
twice has the same effect as doing it once.
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

from roughly.errors import IndexAway, SettingsError
from roughly.index.answers import Added, Entry, Match, Stats
from roughly.index.sweeps.copies import MINIMUM, Copies
from roughly.index.sweeps.lost import Lost
from roughly.results.groups import Grouped
from roughly.service import calls
from roughly.service.calls import Call, NotAdded
from roughly.service.response_models import ComparedPair

T = TypeVar("T")
AT_ONCE = 500
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 10.0
_NEVER_ARRIVED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
VARIABLE = "ROUGHLY_TOKEN"


class _ClientBase:
    """What the two clients have in common: the address of the service, and when to try again."""

    def __init__(self, address: str, token: str | None, retries: int) -> None:
        if not address.startswith(("http://", "https://")):
            raise SettingsError(f"{address!r} is no address of a service; write for example http://127.0.0.1:8080")
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

    def _wait(self, call: Call[Any], tried: int, problem: Exception, response: httpx.Response | None) -> float:
        """Seconds until the next attempt; raises if there is to be none."""
        last = tried >= self._retries
        if isinstance(problem, IndexAway):
            if last:
                raise problem
        elif last or not (call.again or isinstance(problem, _NEVER_ARRIVED)):
            reason = str(problem) or type(problem).__name__
            raise IndexAway(f"{self.address} cannot be reached: {reason}; is the service running?") from problem
        retry_after = "" if response is None else response.headers.get("retry-after", "")
        least = float(retry_after) if retry_after.isdigit() else 0.0
        return float(min(_LONGEST_WAIT, max(least, _FIRST_WAIT * 2**tried * random.uniform(0.5, 1.5))))


class Client(_ClientBase):
    """A service, called with one request after another. Threads may share a client."""

    def __init__(self, address: str, *, token: str | None = None, timeout: float = 60.0, retries: int = 4) -> None:
        """`token`, or else the environment variable `ROUGHLY_TOKEN`, if the service needs one."""
        super().__init__(address, token, retries)
        self._http = httpx.Client(headers=self._headers, timeout=timeout, follow_redirects=False)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _do(self, call: Call[T]) -> T:
        for tried in range(self._retries + 1):
            response: httpx.Response | None = None
            try:
                response = self._http.request(**self._request(call))
                return call.result(response.status_code, response.content, self.address)
            except (httpx.TransportError, IndexAway) as problem:
                time.sleep(self._wait(call, tried, problem, response))
        raise AssertionError("unreachable")

    def check(
        self, wanted: str | Mapping[str, Any], *, limit: int = 10, minimum: float | None = None,
        measure: str | None = None, since: str | None = None, until: str | None = None,
        match_empty: bool = False,
    ) -> list[Match]:  # fmt: skip
        """The stored documents that a text, or a document, duplicates; nothing is stored."""
        options = {
            "minimum": minimum, "measure": measure, "since": since, "until": until, "match_empty": match_empty or None,
        }  # fmt: skip
        return self._do(calls.check(wanted, limit, options))

    def checking(
        self, wanted: Iterable[str | Mapping[str, Any]], *, limit: int = 1, at_once: int = AT_ONCE
    ) -> Iterator[list[Match] | NotAdded]:
        """The same for many documents, in order, `at_once` of them per request."""
        for first, lines in calls.batches(wanted, at_once):
            yield from self._do(calls.check_lines(lines, first, limit))

    def add(self, document: Mapping[str, Any]) -> Added:
        """Add a document; it is on disk when this returns."""
        return self._do(calls.add(document))

    def adding(self, documents: Iterable[Mapping[str, Any]], *, at_once: int = AT_ONCE) -> Iterator[Added | NotAdded]:
        """Add many documents, `at_once` of them per request; those whose answers were returned are on disk."""
        for first, lines in calls.batches(documents, at_once):
            yield from self._do(calls.add_lines(lines, first))

    def remove(self, ids: str | Iterable[str]) -> list[str]:
        """Remove documents; returns the ids that the index had."""
        return sorted(doc_id for call in calls.removals(ids) for doc_id in self._do(call))

    def revoke(self, ids: str | Iterable[str]) -> list[str]:
        """Declare that the texts of documents match nothing; returns the ids that the index had."""
        return self._do(calls.revoke(ids))

    def get(self, doc_id: str) -> Entry | None:
        """A document by its id, or None."""
        return next((one.entry for one in self._do(calls.documents(id=doc_id))), None)

    def text(self, doc_id: str) -> str | None:
        """The stored text of a document, or None."""
        return next((one.text for one in self._do(calls.documents(id=doc_id, text="true"))), None)

    def by_url(self, url: str) -> list[Entry]:
        """The documents with this url."""
        return [one.entry for one in self._do(calls.documents(url=url))]

    def cluster(self, cluster_id: int) -> list[Entry]:
        """The documents of a cluster; none if there is no such cluster."""
        return self._do(calls.cluster(cluster_id))

    def group(self, results: Iterable[Any], *, show: str = "rank", threshold: float | None = None) -> Grouped:
        """Group ranked results: ids of stored documents, or mappings with texts."""
        return self._do(calls.group(results, show, threshold))

    def compare(
        self, left: str | Mapping[str, Any], right: str | Mapping[str, Any], *, shingle_size: int = 5,
        diff: bool = True, context: int | None = None,
    ) -> ComparedPair:  # fmt: skip
        """Compare two texts, or stored documents given as `{"doc_id": …}`."""
        options = {"shingle_size": shingle_size, "diff": diff, "context": context}
        return self._do(calls.compare(left, right, options))

    def lost(self, url: str, *, limit: int = 10) -> Lost:
        """Where the page of an address is now."""
        return self._do(calls.lost(url, limit))

    def copies(self, doc_id: str, *, minimum: float = MINIMUM, limit: int = 100) -> Copies:
        """Whole and partial copies of a document."""
        return self._do(calls.copies(doc_id, minimum, limit))

    def stats(self) -> Stats:
        """The size of the index."""
        return self._do(calls.stats())

    def ready(self) -> bool:
        """Whether the service answers and reaches what it serves."""
        try:
            return self._http.get(f"{self.address}/health").is_success
        except httpx.TransportError:
            return False


class AsyncClient(_ClientBase):
    """The same for asyncio: many requests at once."""

    def __init__(self, address: str, *, token: str | None = None, timeout: float = 60.0, retries: int = 4) -> None:
        """`token`, or else the environment variable `ROUGHLY_TOKEN`, if the service needs one."""
        super().__init__(address, token, retries)
        self._http = httpx.AsyncClient(headers=self._headers, timeout=timeout, follow_redirects=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _do(self, call: Call[T]) -> T:
        for tried in range(self._retries + 1):
            response: httpx.Response | None = None
            try:
                response = await self._http.request(**self._request(call))
                return call.result(response.status_code, response.content, self.address)
            except (httpx.TransportError, IndexAway) as problem:
                await asyncio.sleep(self._wait(call, tried, problem, response))
        raise AssertionError("unreachable")

    async def check(
        self, wanted: str | Mapping[str, Any], *, limit: int = 10, minimum: float | None = None,
        measure: str | None = None, since: str | None = None, until: str | None = None,
        match_empty: bool = False,
    ) -> list[Match]:  # fmt: skip
        """The stored documents that a text, or a document, duplicates; nothing is stored."""
        options = {
            "minimum": minimum, "measure": measure, "since": since, "until": until, "match_empty": match_empty or None,
        }  # fmt: skip
        return await self._do(calls.check(wanted, limit, options))

    async def checking(
        self, wanted: Iterable[Any] | AsyncIterable[Any], *, limit: int = 1, at_once: int = AT_ONCE
    ) -> AsyncIterator[list[Match] | NotAdded]:
        """The same for many documents, in order, `at_once` of them per request."""
        async for first, lines in _batches(wanted, at_once):
            for one in await self._do(calls.check_lines(lines, first, limit)):
                yield one

    async def add(self, document: Mapping[str, Any]) -> Added:
        """Add a document; it is on disk when this returns."""
        return await self._do(calls.add(document))

    async def adding(
        self, documents: Iterable[Any] | AsyncIterable[Any], *, at_once: int = AT_ONCE
    ) -> AsyncIterator[Added | NotAdded]:
        """Add many documents, `at_once` of them per request; those whose answers were returned are on disk."""
        async for first, lines in _batches(documents, at_once):
            for one in await self._do(calls.add_lines(lines, first)):
                yield one

    async def remove(self, ids: str | Iterable[str]) -> list[str]:
        """Remove documents; returns the ids that the index had."""
        return sorted([doc_id for call in calls.removals(ids) for doc_id in await self._do(call)])

    async def revoke(self, ids: str | Iterable[str]) -> list[str]:
        """Declare that the texts of documents match nothing; returns the ids that the index had."""
        return await self._do(calls.revoke(ids))

    async def get(self, doc_id: str) -> Entry | None:
        """A document by its id, or None."""
        return next((one.entry for one in await self._do(calls.documents(id=doc_id))), None)

    async def text(self, doc_id: str) -> str | None:
        """The stored text of a document, or None."""
        return next((one.text for one in await self._do(calls.documents(id=doc_id, text="true"))), None)

    async def by_url(self, url: str) -> list[Entry]:
        """The documents with this url."""
        return [one.entry for one in await self._do(calls.documents(url=url))]

    async def cluster(self, cluster_id: int) -> list[Entry]:
        """The documents of a cluster; none if there is no such cluster."""
        return await self._do(calls.cluster(cluster_id))

    async def group(self, results: Iterable[Any], *, show: str = "rank", threshold: float | None = None) -> Grouped:
        """Group ranked results: ids of stored documents, or mappings with texts."""
        return await self._do(calls.group(results, show, threshold))

    async def compare(
        self, left: str | Mapping[str, Any], right: str | Mapping[str, Any], *, shingle_size: int = 5,
        diff: bool = True, context: int | None = None,
    ) -> ComparedPair:  # fmt: skip
        """Compare two texts, or stored documents given as `{"doc_id": …}`."""
        options = {"shingle_size": shingle_size, "diff": diff, "context": context}
        return await self._do(calls.compare(left, right, options))

    async def lost(self, url: str, *, limit: int = 10) -> Lost:
        """Where the page of an address is now."""
        return await self._do(calls.lost(url, limit))

    async def copies(self, doc_id: str, *, minimum: float = MINIMUM, limit: int = 100) -> Copies:
        """Whole and partial copies of a document."""
        return await self._do(calls.copies(doc_id, minimum, limit))

    async def stats(self) -> Stats:
        """The size of the index."""
        return await self._do(calls.stats())

    async def ready(self) -> bool:
        """Whether the service answers and reaches what it serves."""
        try:
            return (await self._http.get(f"{self.address}/health")).is_success
        except httpx.TransportError:
            return False


async def _batches(
    documents: Iterable[Any] | AsyncIterable[Any], at_once: int
) -> AsyncIterator[tuple[int, list[bytes]]]:
    if not isinstance(documents, AsyncIterable):
        for batch in calls.batches(documents, at_once):
            yield batch
        return
    builder = calls.BatchBuilder(at_once)
    async for document in documents:
        if full := builder.put(document):
            yield full
    if rest := builder.rest():
        yield rest
