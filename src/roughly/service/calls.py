"""What a client sends and how it reads the answers: the same for `Client` and `AsyncClient`, which only carry it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import orjson

from roughly.errors import IndexAway, InputError, InputMissing, ServiceRefused
from roughly.index.answers import Added, Entry, Match, Stats
from roughly.index.sweeps.copies import Copies, DocumentCopy
from roughly.index.sweeps.lost import FoundPage, Lost
from roughly.results.groups import Grouped, RankedResult, ResultGroup
from roughly.service.api.responses import Compared
from roughly.verify.diff import Segment
from roughly.verify.passages import Passage

T = TypeVar("T")
PIECE_BYTES = 4_000_000
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
    """One request, and what its answer means."""

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    lines: bool = False
    again: bool = True  # it may be sent twice where nobody knows whether it arrived

    @property
    def headers(self) -> dict[str, str]:
        """What is said of the body."""
        if self.body is None:
            return {}
        return {"content-type": "application/x-ndjson" if self.lines else "application/json"}


def problem_of(status: int, body: bytes, address: str) -> Exception:
    """The error that an answer tells."""
    try:
        told = orjson.loads(body)
        error, remedy = str(told["error"]), told.get("remedy")
    except (orjson.JSONDecodeError, KeyError, TypeError):
        error, remedy = f"the answer has the code {status} and says nothing else", None
    message = error if remedy is None else f"{error}; {remedy}"
    if status in AWAY:
        return IndexAway(f"{address}: {message}")
    return InputMissing(message) if status == 404 else ServiceRefused(message, status)


# ---------------------------------------------------------------------- calls


def check(asked: Any, limit: int, narrowed: Mapping[str, Any]) -> Call[list[Match]]:
    """Match a document without storing it."""
    document = {"text": asked} if isinstance(asked, str) else dict(asked)
    body = _json({**document, "limit": limit, **_given(narrowed)})
    return Call("POST", "/api/check", lambda raw: [_match(one) for one in orjson.loads(raw)["matches"]], body=body)


def check_lines(lines: Sequence[bytes], first: int, limit: int) -> Call[list[list[Match] | NotAdded]]:
    """Match several."""

    def read(raw: bytes) -> list[list[Match] | NotAdded]:
        return [
            _not_added(one, first) if "error" in one else [_match(match) for match in one["matches"]]
            for one in _lines(raw, len(lines))
        ]

    return Call("POST", "/api/check/batch", read, {"limit": limit}, b"\n".join(lines), lines=True)


def add(document: Mapping[str, Any]) -> Call[Added]:
    """Add a document."""
    return Call("POST", "/api/documents", lambda raw: _added(orjson.loads(raw)), body=_json(document))


def add_lines(lines: Sequence[bytes], first: int) -> Call[list[Added | NotAdded]]:
    """Add several."""

    def read(raw: bytes) -> list[Added | NotAdded]:
        return [_not_added(one, first) if "error" in one else _added(one) for one in _lines(raw, len(lines))]

    return Call("POST", "/api/documents/batch", read, body=b"\n".join(lines), lines=True)


def removals(ids: str | Iterable[str]) -> Iterator[Call[list[str]]]:
    """Take documents out; ids are in the address, which must not grow too long."""
    held: list[str] = []
    size = 0
    for doc_id in _listed(ids):
        length = len(quote(doc_id, safe="")) + 4
        if held and size + length > ADDRESS_BYTES:
            yield Call("DELETE", "/api/documents", _ids, {"id": held}, again=False)
            held, size = [], 0
        held.append(doc_id)
        size += length
    if held:
        yield Call("DELETE", "/api/documents", _ids, {"id": held}, again=False)


def revoke(ids: str | Iterable[str]) -> Call[list[str]]:
    """Declare that texts match nothing."""
    return Call("POST", "/api/revoke", _ids, body=_json({"ids": _listed(ids)}), again=False)


def group(results: Iterable[Any], show: str, threshold: float | None) -> Call[Grouped]:
    """Group ranked results."""
    listed = [{"doc_id": one} if isinstance(one, str) else dict(one) for one in results]
    body = _json({"results": listed, "show": show, **_given({"threshold": threshold})})
    return Call("POST", "/api/group", lambda raw: _grouped(orjson.loads(raw)), body=body)


def compare(left: Any, right: Any, options: Mapping[str, Any]) -> Call[Compared]:
    """Compare two documents."""
    sides = {
        name: {"text": side} if isinstance(side, str) else dict(side)
        for name, side in (("left", left), ("right", right))
    }
    return Call(
        "POST", "/api/compare", lambda raw: _compared(orjson.loads(raw)), body=_json({**sides, **_given(options)})
    )


def cluster(cluster_id: int) -> Call[list[Entry]]:
    """The documents of a cluster."""
    return Call(
        "GET", f"/api/clusters/{int(cluster_id)}", lambda raw: [_entry(e) for e in orjson.loads(raw)["documents"]]
    )


def documents(query: Mapping[str, Any]) -> Call[list[tuple[Entry, str | None]]]:
    """Documents by id or url."""

    def read(raw: bytes) -> list[tuple[Entry, str | None]]:
        return [(_entry(one["entry"]), one["text"]) for one in orjson.loads(raw)["documents"]]

    return Call("GET", "/api/documents", read, query)


def lost(url: str, limit: int) -> Call[Lost]:
    """Where a page went."""

    def read(raw: bytes) -> Lost:
        told = orjson.loads(raw)
        found = tuple(_made(FoundPage, {**one, "via": tuple(one["via"])}) for one in told["found"])
        return _made(Lost, {**told, "found": found})

    return Call("GET", "/api/lost", read, {"url": url, "limit": limit})


def copies(doc_id: str, minimum: float, limit: int) -> Call[Copies]:
    """Copies of a document."""

    def read(raw: bytes) -> Copies:
        told = orjson.loads(raw)
        return _made(Copies, {**told, "found": tuple(_made(DocumentCopy, one) for one in told["found"])})

    return Call("GET", "/api/copies", read, {"id": doc_id, "minimum": minimum, "limit": limit})


def stats() -> Call[Stats]:
    """How much the index holds."""
    return Call("GET", "/api/stats", lambda raw: _made(Stats, orjson.loads(raw)))


class Pieces:
    """Documents gathered into requests: so many of them, and so many bytes, at once."""

    def __init__(self, at_once: int) -> None:
        if at_once < 1:
            raise InputError(f"at_once must be 1 or more, not {at_once!r}")
        self._at_once = at_once
        self._held: list[bytes] = []
        self._size = 0
        self._number = 1

    def put(self, document: Any) -> tuple[int, list[bytes]] | None:
        """Hold a document; the number of the first one and all that are held, where that is enough."""
        line = _json({"text": document} if isinstance(document, str) else dict(document))
        full = None
        if self._held and (len(self._held) == self._at_once or self._size + len(line) > PIECE_BYTES):
            full = self.rest()
        self._held.append(line)
        self._size += len(line)
        return full

    def rest(self) -> tuple[int, list[bytes]] | None:
        """What is still held."""
        if not self._held:
            return None
        full = (self._number, self._held)
        self._number += len(self._held)
        self._held, self._size = [], 0
        return full


def pieces(documents_: Iterable[Any], at_once: int) -> Iterator[tuple[int, list[bytes]]]:
    """All documents, in requests."""
    held = Pieces(at_once)
    for document in documents_:
        if full := held.put(document):
            yield full
    if rest := held.rest():
        yield rest


# ---------------------------------------------------------------------- reading answers


def _made(kind: type[T], told: Mapping[str, Any]) -> T:
    """A frozen object; what a newer service says besides is left out."""
    names = [one.name for one in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: told[name] for name in names if name in told})


def _match(told: Mapping[str, Any]) -> Match:
    return _made(Match, told)


def _entry(told: Mapping[str, Any]) -> Entry:
    return _made(Entry, told)


def _added(told: Mapping[str, Any]) -> Added:
    return _made(Added, {**told, "match": None if told["match"] is None else _match(told["match"])})


def _not_added(told: Mapping[str, Any], first: int) -> NotAdded:
    return NotAdded(first + told["line"] - 1, told["error"], told.get("remedy"))


def _compared(told: Mapping[str, Any]) -> Compared:
    diff = None if told["diff"] is None else [_made(Segment, one) for one in told["diff"]]
    return _made(Compared, {**told, "passages": [_made(Passage, one) for one in told["passages"]], "diff": diff})


def _grouped(told: Mapping[str, Any]) -> Grouped:
    groups = (
        ResultGroup(RankedResult(**one["shown"]), tuple(RankedResult(**other) for other in one["duplicates"]))
        for one in told["groups"]
    )
    return Grouped(tuple(groups), told["scores"])


def _ids(raw: bytes) -> list[str]:
    return list(orjson.loads(raw)["ids"])


def _lines(raw: bytes, count: int) -> list[dict[str, Any]]:
    """The answers to so many lines. Where the storage failed under way, all may be sent again."""
    found = [orjson.loads(line) for line in raw.splitlines()]
    for one in found:
        if one.get("code") in AWAY:
            raise IndexAway(f"{one['error']}; {one.get('remedy') or 'try again later'}")
    if len(found) != count:
        raise IndexAway(f"{len(found):,} of {count:,} documents were answered before the answers ended; send all again")
    return found


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)
    except TypeError as problem:
        raise InputError(f"a document cannot be sent as JSON: {problem}; repair it first") from problem


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _listed(ids: str | Iterable[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)
