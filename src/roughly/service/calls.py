"""What a client sends and how it reads the answers: the same for `Client` and `AsyncClient`, which only send it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import orjson
from pydantic import TypeAdapter, ValidationError

from roughly.errors import IndexAway, InputError, InputMissing, ServiceRefused
from roughly.fast_dataclass import dataclass
from roughly.index.answers import Added, Entry, Match, Stats
from roughly.index.sweeps.copies import Copies
from roughly.index.sweeps.lost import Lost
from roughly.results.groups import Grouped
from roughly.service.response_models import (
    AffectedIds,
    CheckResult,
    ComparedPair,
    ErrorMessage,
    FoundDocuments,
    IndexCluster,
    RefusedLine,
    StoredDocument,
)

T = TypeVar("T")
A = TypeVar("A")
REQUEST_BYTES = 4_000_000
ADDRESS_BYTES = 16_000
AWAY = (408, 429, 503)


@dataclass(frozen=True, slots=True)
class NotAdded:
    """A document of a stream that was refused."""

    number: int  # its place in the stream, from 1
    error: str
    remedy: str | None = None


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    lines: bool = False
    again: bool = True  # it may be sent twice, if it is unknown whether it arrived
    missing: T | None = None  # the result if the service answers 404; None: an error

    @property
    def headers(self) -> dict[str, str]:
        """The content type of the body."""
        if self.body is None:
            return {}
        return {"content-type": "application/x-ndjson" if self.lines else "application/json"}

    def result(self, status: int, body: bytes, address: str) -> T:
        """The result that an answer means, or the error that it means."""
        if 200 <= status < 300:
            try:
                return self.read(body)
            except ValidationError as problem:
                raise ServiceRefused(f"{address} sent an answer of another form: {problem}", status) from problem
        if status == 404 and self.missing is not None:
            return self.missing
        raise error_of(status, body, address)


def error_of(status: int, body: bytes, address: str) -> Exception:
    """The error that an answer means."""
    try:
        error = _adapter(ErrorMessage).validate_json(body)
    except ValidationError:
        error = ErrorMessage(f"the answer has the status {status} and no message")
    message = error.error if error.remedy is None else f"{error.error}; {error.remedy}"
    if status in AWAY:
        return IndexAway(f"{address}: {message}")
    return InputMissing(message) if status == 404 else ServiceRefused(message, status)


# ---------------------------------------------------------------------- calls


def check(document: Any, limit: int, options: Mapping[str, Any]) -> Call[list[Match]]:
    """Match a document without storing it."""
    body = _json({**_document(document), "limit": limit, **_given(options)})
    return Call("POST", "/api/check", lambda raw: _read(CheckResult, raw).matches, body=body)


def check_lines(lines: Sequence[bytes], first: int, limit: int) -> Call[list[list[Match] | NotAdded]]:
    """Match several documents."""

    def read(raw: bytes) -> list[list[Match] | NotAdded]:
        return [
            one if isinstance(one, NotAdded) else one.matches for one in _read_lines(CheckResult, raw, lines, first)
        ]

    return Call("POST", "/api/check/batch", read, {"limit": limit}, b"\n".join(lines), lines=True)


def add(document: Mapping[str, Any]) -> Call[Added]:
    """Add a document."""
    return Call("POST", "/api/documents", lambda raw: _read(Added, raw), body=_json(document))


def add_lines(lines: Sequence[bytes], first: int) -> Call[list[Added | NotAdded]]:
    """Add several documents."""
    return Call(
        "POST", "/api/documents/batch", lambda raw: _read_lines(Added, raw, lines, first), body=b"\n".join(lines),
        lines=True,
    )  # fmt: skip


def removals(ids: str | Iterable[str]) -> Iterator[Call[list[str]]]:
    """Remove documents. Ids are in the address, whose length is limited, so there may be several calls."""
    batch: list[str] = []
    size = 0
    for doc_id in _listed(ids):
        length = len(quote(doc_id, safe="")) + 4
        if batch and size + length > ADDRESS_BYTES:
            yield _removal(batch)
            batch, size = [], 0
        batch.append(doc_id)
        size += length
    if batch:
        yield _removal(batch)


def _removal(ids: list[str]) -> Call[list[str]]:
    return Call("DELETE", "/api/documents", _read_ids, {"id": ids}, again=False)


def revoke(ids: str | Iterable[str]) -> Call[list[str]]:
    """Declare that texts match nothing."""
    return Call("POST", "/api/revoke", _read_ids, body=_json({"ids": _listed(ids)}), again=False)


def group(results: Iterable[Any], show: str, threshold: float | None) -> Call[Grouped]:
    """Group ranked results."""
    listed = [{"doc_id": one} if isinstance(one, str) else dict(one) for one in results]
    body = _json({"results": listed, "show": show, **_given({"threshold": threshold})})
    return Call("POST", "/api/group", lambda raw: _read(Grouped, raw), body=body)


def compare(left: Any, right: Any, options: Mapping[str, Any]) -> Call[ComparedPair]:
    """Compare two documents."""
    body = _json({"left": _document(left), "right": _document(right), **_given(options)})
    return Call("POST", "/api/compare", lambda raw: _read(ComparedPair, raw), body=body)


def cluster(cluster_id: int) -> Call[list[Entry]]:
    """The documents of a cluster; none if there is no such cluster."""
    path = f"/api/clusters/{int(cluster_id)}"
    return Call("GET", path, lambda raw: _read(IndexCluster, raw).documents, missing=[])


def documents(**query: str) -> Call[list[StoredDocument]]:
    """Documents by id or url; none if there is none."""
    return Call("GET", "/api/documents", lambda raw: _read(FoundDocuments, raw).documents, query, missing=[])


def lost(url: str, limit: int) -> Call[Lost]:
    """Where a page is now."""
    return Call("GET", "/api/lost", lambda raw: _read(Lost, raw), {"url": url, "limit": limit})


def copies(doc_id: str, minimum: float, limit: int) -> Call[Copies]:
    """Copies of a document."""
    query = {"id": doc_id, "minimum": minimum, "limit": limit}
    return Call("GET", "/api/copies", lambda raw: _read(Copies, raw), query)


def stats() -> Call[Stats]:
    """The size of the index."""
    return Call("GET", "/api/stats", lambda raw: _read(Stats, raw))


class BatchBuilder:
    """Documents gathered into requests of a limited number of documents and bytes."""

    def __init__(self, at_once: int) -> None:
        if at_once < 1:
            raise InputError(f"at_once must be 1 or more, not {at_once!r}")
        self._at_once = at_once
        self._lines: list[bytes] = []
        self._size = 0
        self._number = 1

    def put(self, document: Any) -> tuple[int, list[bytes]] | None:
        """Take a document; (the number of the first one, all lines so far) if they fill a request without it."""
        line = _json(_document(document))
        full = None
        if len(self._lines) == self._at_once or self._size + len(line) > REQUEST_BYTES:
            full = self.rest()
        self._lines.append(line)
        self._size += len(line)
        return full

    def rest(self) -> tuple[int, list[bytes]] | None:
        """The lines that have not been returned yet."""
        if not self._lines:
            return None
        batch = (self._number, self._lines)
        self._number += len(self._lines)
        self._lines, self._size = [], 0
        return batch


def batches(documents: Iterable[Any], at_once: int) -> Iterator[tuple[int, list[bytes]]]:
    """All documents as batches: the number of the first document, and a line per document."""
    builder = BatchBuilder(at_once)
    for document in documents:
        if full := builder.put(document):
            yield full
    if rest := builder.rest():
        yield rest


# ---------------------------------------------------------------------- reading answers


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Parses JSON into the classes of the service; fields that only a newer service sends are ignored."""
    return TypeAdapter(kind)


def _read(kind: type[A], raw: bytes) -> A:
    parsed: A = _adapter(kind).validate_json(raw)  # type: ignore[arg-type]
    return parsed


def _read_ids(raw: bytes) -> list[str]:
    return _read(AffectedIds, raw).ids


def _read_lines(kind: type[A], raw: bytes, lines: Sequence[bytes], first: int) -> list[A | NotAdded]:
    """The answers to these lines. If the storage failed in between, all may be sent again."""
    answers = _adapter(list[RefusedLine | kind]).validate_json(b"[" + b",".join(raw.splitlines()) + b"]")  # type: ignore[valid-type]
    for one in answers:
        if isinstance(one, RefusedLine) and one.code in AWAY:
            raise IndexAway(f"{one.error}; {one.remedy or 'try again later'}")
    if len(answers) != len(lines):
        raise IndexAway(
            f"{len(answers):,} of {len(lines):,} documents were answered before the answers ended; send all again"
        )
    return [
        NotAdded(first + one.line - 1, one.error, one.remedy) if isinstance(one, RefusedLine) else one
        for one in answers
    ]


def _document(given: Any) -> dict[str, Any]:
    return {"text": given} if isinstance(given, str) else dict(given)


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)
    except TypeError as problem:
        raise InputError(f"a document cannot be sent as JSON: {problem}; repair it first") from problem


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _listed(ids: str | Iterable[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)
