"""A stream of documents against everything seen: each is answered in its turn, with the verdicts of the index.

    >>> for answer in roughly.match(index, documents, add=True):
    ...     answer.verdict, answer.match, answer.score

A document is **known** where the index holds a duplicate of it, itself included, and **new** otherwise. With `add` it
is learnt as well, after it was judged, so the next copy of it is known. With `revoke` everything that makes it known is
taken back for good (`Index.revoke`). A document that cannot be used is **rejected** with the reason, and the stream
goes on; only the index itself can stop it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal

from sqlalchemy import Connection

from roughly.dates import NO_DAY, day_of
from roughly.errors import InputError, SettingsError
from roughly.index.answers import Match
from roughly.index.config import IndexConfig
from roughly.index.incoming import from_mappings
from roughly.index.index import Index
from roughly.index.matching.signed_batch import storable
from roughly.index.storage.schema import DOCUMENTS
from roughly.measures import FOR_QUERY

Verdict = Literal["known", "new", "revoked", "rejected"]


@dataclass(frozen=True, slots=True)
class MatchAnswer:
    """What is told of one document of a stream."""

    record: str  # where it stood: "line 17", "message 4"
    doc_id: str | None
    verdict: Verdict
    match: Match | None = None  # the document that it is most like
    score: float | None = None  # how much, by the measure asked for; None: not measured
    status: Literal["added", "updated", "unchanged"] | None = None  # with `add`
    revoked: tuple[str, ...] = ()  # the ids taken back
    reason: str | None = None  # of a rejection

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"revoked": list(self.revoked)}


@dataclass(frozen=True, kw_only=True)
class MatchRequest:
    """What is to be done with each document of a stream."""

    add: bool = False
    revoke: bool = False
    window: int | None = None  # days that a match may be older or newer
    minimum: float | None = None
    measure: str | None = None

    def __post_init__(self) -> None:
        problems = []
        if self.add and self.revoke:
            problems.append("add learns and revoke takes back; give one of them")
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
        """Whether not every duplicate counts."""
        return self.window is not None or self.minimum is not None or self.measure is not None


def match(
    index: Index,
    documents: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    add: bool = False,
    revoke: bool = False,
    window: int | None = None,
    minimum: float | None = None,
    measure: str | None = None,
) -> Iterator[MatchAnswer]:
    """Answer documents one by one as they come; each is answered before the next is asked for.

    `window` is how many days a match may be older or newer than the document, which is of today where it has no date;
    `minimum` is the least score by `measure`.
    """
    asked = MatchRequest(add=add, revoke=revoke, window=window, minimum=minimum, measure=measure)
    listed = [documents] if isinstance(documents, Mapping) else documents
    return _each(index, listed, asked)


def _each(index: Index, documents: Iterable[Any], asked: MatchRequest) -> Iterator[MatchAnswer]:
    for number, document in enumerate(documents, 1):
        yield from answer(index, [(f"document {number}", document)], asked)


def answer(index: Index, records: list[tuple[str, Any]], asked: MatchRequest) -> list[MatchAnswer]:
    """Answer documents that came together, each as if those before it had been answered first."""
    told: dict[int, MatchAnswer] = {}
    good: list[int] = []
    for place, (record, document) in enumerate(records):
        if problem := _problem(document, asked.add):
            told[place] = MatchAnswer(record, None, "rejected", reason=problem)
        else:
            good.append(place)
    if asked.add and not asked.narrowed:
        # where dates decide, a text counts by the date of its best document, which may be one that comes later
        step = len(good) or 1 if index.bound.judge.dates is None else 1
        for at in range(0, len(good), step):
            told |= _learn(index, records, good[at : at + step], asked)
    elif asked.add or asked.revoke:
        for place in good:
            told[place] = _one(index, *records[place], asked)
    else:
        told |= _look(index, records, good, asked)
    return [told[place] for place in range(len(records))]


def _problem(document: Any, named: bool) -> str | None:
    try:
        storable(from_mappings([document], named=named))
    except InputError as problem:
        return str(problem)
    return None


def _learn(
    index: Index, records: list[tuple[str, Any]], places: list[int], asked: MatchRequest
) -> dict[int, MatchAnswer]:
    """Add them together; what each was added for is what it is known by.

    Of a document that is there already, or was a moment ago, the version before counts as well: it is asked for first.
    """
    told: dict[int, MatchAnswer] = {}
    for some in _unrepeated(records, places):
        there = _there(index, [_id(records[place][1]) for place in some])
        before = {p: _best(index, records[p][1], asked) for p in some if _id(records[p][1]) in there}
        added = index.add([records[place][1] for place in some])
        for place, result in zip(some, added, strict=True):
            found = before.get(place) or result.match
            told[place] = _answer(index, *records[place], found, asked, status=result.status)
    return told


def _unrepeated(records: list[tuple[str, Any]], places: list[int]) -> Iterator[list[int]]:
    """The places in pieces in which no id stands twice."""
    some: list[int] = []
    seen: set[str] = set()
    for place in places:
        doc_id = _id(records[place][1])
        if doc_id in seen:
            yield some
            some, seen = [], set()
        some.append(place)
        seen.add(doc_id)
    if some:
        yield some


def _there(index: Index, ids: list[str]) -> set[str]:
    """Those of the ids that the index holds."""

    def work(connection: Connection, bound: IndexConfig) -> set[str]:
        return {row[0] for row in index._store.fetch(connection, (DOCUMENTS.c.doc_id,), DOCUMENTS.c.doc_id, ids)}

    return index._read(work)


def _id(document: Mapping[str, Any]) -> str:
    return str(document.get("doc_id", document.get("id")))


def _look(
    index: Index, records: list[tuple[str, Any]], places: list[int], asked: MatchRequest
) -> dict[int, MatchAnswer]:
    if asked.window is not None:  # each has a window of its own
        return {place: _one(index, *records[place], asked) for place in places}
    documents = [{"doc_id": "?", **records[place][1]} for place in places]
    found = index.queries(documents, limit=1, minimum=asked.minimum, measure=asked.measure) if places else []
    return {
        place: _answer(index, *records[place], matches[0] if matches else None, asked)
        for place, matches in zip(places, found, strict=True)
    }


def _one(index: Index, record: str, document: Mapping[str, Any], asked: MatchRequest) -> MatchAnswer:
    found = _best(index, document, asked)
    if asked.add:
        return _answer(index, record, document, found, asked, status=index.add([document])[0].status)
    if not asked.revoke or found is None:
        return _answer(index, record, document, found, asked)
    gone = index.revoke([match.doc_id for match in _matches(index, document, asked, None)])
    return _answer(index, record, document, found, asked, revoked=tuple(sorted(gone)))


def _best(index: Index, document: Mapping[str, Any], asked: MatchRequest) -> Match | None:
    found = _matches(index, document, asked, 1)
    return found[0] if found else None


def _matches(index: Index, document: Mapping[str, Any], asked: MatchRequest, limit: int | None) -> list[Match]:
    since, until = _around(document.get("date"), asked.window, index.settings.date_format)
    return index.query(
        document, limit=limit, minimum=asked.minimum, measure=asked.measure, since=since, until=until
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
    index: Index, record: str, document: Mapping[str, Any], found: Match | None, asked: MatchRequest, **more: Any
) -> MatchAnswer:
    doc_id = document.get("doc_id", document.get("id"))
    named = None if doc_id is None else str(doc_id)
    verdict: Verdict = "revoked" if more.get("revoked") else "new" if found is None else "known"
    score = None if found is None else score_of(found, asked.measure or index.settings.measure)
    return MatchAnswer(record, named, verdict, found, score, **more)


def score_of(match: Match, measure: str) -> float | None:
    """How alike the two are; with containment, how much of the one the other holds, whichever is more."""
    if measure == "containment" and match.containment is not None and match.contained_in is not None:
        return max(match.containment, match.contained_in)
    return match.contained_in if measure == "contained_in" else match.resemblance
