"""A stream of documents matched against an index, one answer per document, in order.

    >>> for answer in roughly.match(index, documents, add=True):
    ...     answer.verdict, answer.match, answer.score

A document is **known** where the index has a duplicate of it, itself included, and **new** otherwise; one without words
is new, unless `match_empty`. With `add` it is
added after it was matched, so the next copy of it is known. With `revoke` all documents that make it known are revoked
for good (`Index.revoke`). A document that cannot be used is **rejected** with the reason, and the stream continues;
only a failure of the index stops it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import date
from typing import Any, Literal

from sqlalchemy import Connection

from roughly.dates import NO_DAY, day_of
from roughly.errors import InputError, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.index.answers import Match, PlainAnswer
from roughly.index.incoming import from_mappings, unrepeated, with_default_id
from roughly.index.index import Index
from roughly.index.index_config import IndexConfig
from roughly.index.matching.signed_batch import storable
from roughly.index.storage.schema import DOCUMENTS
from roughly.measures import FOR_QUERY
from roughly.settings import ReadOptions

Verdict = Literal["known", "new", "revoked", "rejected"]


@dataclass(frozen=True, slots=True)
class MatchAnswer(PlainAnswer):
    """The answer for one document of a stream."""

    record: str  # its place in the stream: "line 17", "message 4"
    doc_id: str | None
    verdict: Verdict
    match: Match | None = None  # the document that it resembles most
    score: float | None = None  # by the measure of the request; None: not measured
    status: Literal["added", "updated", "unchanged"] | None = None  # with `add`
    revoked: tuple[str, ...] = ()  # the ids that were revoked
    reason: str | None = None  # of a rejection

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"revoked": list(self.revoked)}


@dataclass(frozen=True, kw_only=True)
class MatchRequest:
    """What to do with each document of a stream."""

    add: bool = False
    revoke: bool = False
    window: int | None = None  # days that a match may be older or newer
    minimum: float | None = None
    measure: str | None = None
    match_empty: bool = False  # whether a document without words is known by others without words

    def __post_init__(self) -> None:
        problems = []
        if self.add and self.revoke:
            problems.append("add stores documents and revoke makes them match nothing; give one of them")
        if self.window is not None and (not isinstance(self.window, int) or self.window < 0):
            problems.append(f"window must be a number of days, 0 or more, not {self.window!r}")
        if self.minimum is not None and not 0 <= self.minimum <= 1:
            problems.append(f"minimum must be from 0 to 1, not {self.minimum!r}")
        if self.measure is not None and self.measure not in FOR_QUERY:
            problems.append(f"measure must be one of {', '.join(FOR_QUERY)}, not {self.measure!r}")
        if problems:
            raise SettingsError(*problems)

    @property
    def narrowed(self) -> bool:
        """Whether only some duplicates count."""
        return self.window is not None or self.minimum is not None or self.measure is not None

    @property
    def adds_at_once(self) -> bool:
        """Whether adding a document tells what it matches, so that no query is needed."""
        return self.add and not self.narrowed and not self.match_empty


def match(
    index: Index,
    documents: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    add: bool = False,
    revoke: bool = False,
    window: int | None = None,
    minimum: float | None = None,
    measure: str | None = None,
    match_empty: bool = False,
) -> Iterator[MatchAnswer]:
    """Answer documents one by one; each is answered before the next is read.

    `window` is how many days a match may be older or newer than the document, which counts as of today where it has no
    date; `minimum` is the least score by `measure`. A document without words is new, unless `match_empty`.
    """
    request = MatchRequest(
        add=add, revoke=revoke, window=window, minimum=minimum, measure=measure, match_empty=match_empty
    )
    listed = [documents] if isinstance(documents, Mapping) else documents
    return _each(index, listed, request)


def _each(index: Index, documents: Iterable[Any], request: MatchRequest) -> Iterator[MatchAnswer]:
    for number, document in enumerate(documents, 1):
        yield from answer(index, [(f"document {number}", document)], request)


def answer(index: Index, records: list[tuple[str, Any]], request: MatchRequest) -> list[MatchAnswer]:
    """Answer documents that arrived together, each as if those before it had been answered first."""
    answers: dict[int, MatchAnswer] = {}
    good: list[int] = []
    for place, (record, document) in enumerate(records):
        if problem := _problem(document, index.settings.reading(), request.add):
            answers[place] = MatchAnswer(record, None, "rejected", reason=problem)
        else:
            good.append(place)
    if request.adds_at_once:
        # where dates decide, a text counts by the date of its best document, which may be one that comes later
        step = len(good) or 1 if index.config.judge.dates is None else 1
        for at in range(0, len(good), step):
            answers |= _add(index, records, good[at : at + step], request)
    elif request.add or request.revoke:
        for place in good:
            answers[place] = _one(index, *records[place], request)
    else:
        answers |= _query_all(index, records, good, request)
    return [answers[place] for place in range(len(records))]


def _problem(document: Any, reading: ReadOptions, named: bool) -> str | None:
    try:
        storable(from_mappings([document], reading, named=named))
    except InputError as problem:
        return str(problem)
    return None


def _add(
    index: Index, records: list[tuple[str, Any]], places: list[int], request: MatchRequest
) -> dict[int, MatchAnswer]:
    """Add documents together; a document is known by the one whose cluster it joins.

    Where a document with the same id is in the index, that earlier version counts too, so it is queried first.
    """
    answers: dict[int, MatchAnswer] = {}
    ids = [_id(records[place][1]) for place in places]
    for run in unrepeated(ids):
        some, present = places[run], _present(index, ids[run])
        before = {p: _best(index, records[p][1], request) for p in some if _id(records[p][1]) in present}
        added = index.add([records[place][1] for place in some])
        for place, result in zip(some, added, strict=True):
            found = before.get(place) or result.match
            answers[place] = _answer(index, *records[place], found, request, status=result.status)
    return answers


def _present(index: Index, ids: list[str]) -> set[str]:
    """Those of the ids that the index has."""

    def work(connection: Connection, config: IndexConfig) -> set[str]:
        rows = index.transactions.store.fetch(connection, (DOCUMENTS.c.doc_id,), DOCUMENTS.c.doc_id, ids)
        return {row[0] for row in rows}

    return index.transactions.read(work)


def _id(document: Mapping[str, Any]) -> str:
    return str(document.get("doc_id", document.get("id")))


def _query_all(
    index: Index, records: list[tuple[str, Any]], places: list[int], request: MatchRequest
) -> dict[int, MatchAnswer]:
    if request.window is not None:  # each has a window of its own
        return {place: _one(index, *records[place], request) for place in places}
    documents = [with_default_id(records[place][1], "?") for place in places]
    asked = {"minimum": request.minimum, "measure": request.measure, "match_empty": request.match_empty}
    found = index.queries(documents, limit=1, **asked) if places else []  # type: ignore[arg-type]
    return {
        place: _answer(index, *records[place], matches[0] if matches else None, request)
        for place, matches in zip(places, found, strict=True)
    }


def _one(index: Index, record: str, document: Mapping[str, Any], request: MatchRequest) -> MatchAnswer:
    found = _best(index, document, request)
    if request.add:
        return _answer(index, record, document, found, request, status=index.add([document])[0].status)
    if not request.revoke or found is None:
        return _answer(index, record, document, found, request)
    revoked = index.revoke([match.doc_id for match in _matches(index, document, request, None)])
    return _answer(index, record, document, found, request, revoked=tuple(sorted(revoked)))


def _best(index: Index, document: Mapping[str, Any], request: MatchRequest) -> Match | None:
    found = _matches(index, document, request, 1)
    return found[0] if found else None


def _matches(index: Index, document: Mapping[str, Any], request: MatchRequest, limit: int | None) -> list[Match]:
    since, until = _around(document.get("date"), request.window, index.settings.date_format)
    return index.query(
        document, limit=limit, minimum=request.minimum, measure=request.measure, since=since, until=until,
        match_empty=request.match_empty,
    )  # fmt: skip


def _around(found: Any, window: int | None, form: str | None) -> tuple[str | None, str | None]:
    """The first and the last day of the window around a date."""
    if window is None:
        return None, None
    day = day_of(None if found is None else str(found), form)
    day = date.today().toordinal() if day == NO_DAY else day
    first, last = max(day - window, 1), min(day + window, date.max.toordinal())
    return date.fromordinal(first).isoformat(), date.fromordinal(last).isoformat()


def _answer(
    index: Index, record: str, document: Mapping[str, Any], found: Match | None, request: MatchRequest, **more: Any
) -> MatchAnswer:
    doc_id = document.get("doc_id", document.get("id"))
    named = None if doc_id is None else str(doc_id)
    verdict: Verdict = "revoked" if more.get("revoked") else "new" if found is None else "known"
    score = None if found is None else score_of(found, request.measure or index.settings.measure)
    return MatchAnswer(record, named, verdict, found, score, **more)


def score_of(match: Match, measure: str) -> float | None:
    """How similar the two are; by containment, the greater fraction of the one that the other contains."""
    if measure == "containment" and match.containment is not None and match.contained_in is not None:
        return max(match.containment, match.contained_in)
    return match.contained_in if measure == "contained_in" else match.resemblance
