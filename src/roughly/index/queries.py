"""Queries of an index: matches of documents, documents by a condition, texts, and all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection, bindparam, select

from roughly import checks
from roughly.dates import NO_DAY, day_of
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.index.answers import Entry, Match
from roughly.index.index_config import IndexConfig
from roughly.index.matching.candidate_finder import QueryKeys
from roughly.index.matching.content_sets import content_keys
from roughly.index.matching.match_verdicts import MatchVerdicts, best_first
from roughly.index.matching.matcher import Matcher, query_for
from roughly.index.matching.pair_scores import EQUAL, PairScores
from roughly.index.matching.rank_order import RankedDocument
from roughly.index.matching.scored_answers import key_count, match_of, measure_of, scores_of
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.contents import find_by_digest, read_bodies
from roughly.index.storage.document_rows import DocumentRow, select_documents
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, LIVE, REVOKED
from roughly.index.storage.store import IndexStore
from roughly.measures import FOR_QUERY
from roughly.model import SCORED_PAIRS

Ints = npt.NDArray[np.int64]
_BLOCK = 2_000


@dataclass(frozen=True)
class QueryRequest:
    """Which matches are wanted."""

    limit: int | None = 10
    minimum: float | None = None
    since: int | None = None  # day
    until: int | None = None
    measure: str | None = None  # of `minimum`, and of the order
    match_empty: bool = False  # whether a document without words matches other such documents

    @classmethod
    def of_days(
        cls,
        limit: int | None,
        minimum: float | None,
        since: str | None,
        until: str | None,
        measure: str | None,
        match_empty: bool = False,
    ) -> Self:
        """A request as callers write it, with days as dates; checked."""
        if measure is not None:
            checks.refuse(checks.one_of("measure", measure, FOR_QUERY))
        if limit is not None and limit < 1:
            raise SettingsError(f"limit must be 1 or more, or None for all, not {limit!r}")
        return cls(limit, minimum, read_day("since", since), read_day("until", until), measure, match_empty)


def idle_minimum(config: IndexConfig, minimum: float | None, measure: str | None) -> str | None:
    """A note where a minimum changes nothing, since every match reaches the threshold of the index anyway."""
    judge = config.judge
    if minimum is None or judge.measure == "common" or (measure or "resemblance") != judge.measure:
        return None
    if minimum >= judge.threshold:
        return None
    return (
        f"note: this index finds documents with a {judge.measure} of at least {judge.threshold:g}; a minimum of "
        f"{minimum:g} does not find more. Make an index with a lower threshold, or use index copies"
    )


def read_day(name: str, given: str | None) -> int | None:
    """The day of a date that a caller gives for the option `name`."""
    day = None if given is None else day_of(given)
    if day == NO_DAY:
        raise SettingsError(f"{name} must be a date such as 2024-03-31, not {given!r}")
    return day


def matches(
    store: IndexStore, connection: Connection, config: IndexConfig, signed: SignedBatch, request: QueryRequest
) -> list[list[Match]]:
    """The matches of each document, the most similar first."""
    known = find_by_digest(store, connection, signed.hi, signed.lo)
    digests = list(zip(signed.hi.tolist(), signed.lo.tolist(), strict=True))
    equal = np.array([known[d].content if d in known else -1 for d in digests], np.int64)
    query = query_for(config, signed, equal=equal)
    found: list[list[Match]] = [[] for _ in range(len(signed))]
    for owner, digest in enumerate(digests):
        counts = request.match_empty or signed.lengths[owner] > 0
        if counts and digest in known and known[digest].state != REVOKED:
            rows = _documents(store, connection, known[digest].content, request, request.limit)
            found[owner] += [match_of(row, None, 0, key_count(query, owner)) for row in rows]
    matcher = Matcher(store, connection, config)
    verdicts = best_first(_duplicates(matcher, query, request, found), request.measure or measure_of(config))
    scores = scores_of(matcher, signed, verdicts)
    order = _order(verdicts, scores, request)
    documents = None
    if len(signed) > 1:  # one statement for all contents is cheaper than one per content
        documents = _all_documents(store, connection, np.unique(verdicts.pairs.content[order]), request)
    for place in order:
        owner, content = int(verdicts.pairs.owner[place]), int(verdicts.pairs.content[place])
        left = None if request.limit is None else request.limit - len(found[owner])
        if left is not None and left <= 0:
            continue
        if documents is None:
            rows = _documents(store, connection, content, request, left)
        else:
            rows = documents.get(content, [])[:left]
        shared_keys = int(verdicts.pairs.shared_keys[place])
        found[owner] += [match_of(row, scores, place, shared_keys) for row in rows]
    return found


def _duplicates(
    matcher: Matcher, query: QueryKeys, request: QueryRequest, found: list[list[Match]]
) -> MatchVerdicts:  # fmt: skip
    """The wanted duplicates other than the equal ones, which are `found` already."""
    if matcher.config.method.equality:
        return MatchVerdicts.none()
    if request.limit is None:
        return matcher.match(query)
    incomplete = np.array([len(listed) < request.limit for listed in found], np.bool_)
    if not incomplete.all():
        query = replace(query, keys=query.keys.of(incomplete))
    return matcher.match(query, request.limit if _first_texts_suffice(matcher.config, request) else None)


def _first_texts_suffice(config: IndexConfig, request: QueryRequest) -> bool:
    """Whether the documents of the first `limit` texts, in the order of the verdict, include all that are wanted.

    Every text has a document, so `limit` texts are enough, unless documents outside a window of days are left out, or
    the request orders or limits the matches by another measure than the verdict's.
    """
    if request.since is not None or request.until is not None:
        return False
    if config.judge.measure == "resemblance":
        return request.measure in (None, "resemblance")
    return request.measure is None and request.minimum is None


def _order(verdicts: MatchVerdicts, scores: PairScores, request: QueryRequest) -> list[int]:
    """Places of the wanted verdicts, by owner, the most similar first."""
    measured = getattr(scores, request.measure or "resemblance")
    use = np.ones(len(verdicts), np.bool_)
    if request.minimum is not None:
        use = measured >= request.minimum  # a score that was not measured does not reach it
    places = np.flatnonzero(use)
    if request.measure is not None:
        places = places[np.lexsort((places, -np.nan_to_num(measured[places]), verdicts.pairs.owner[places]))]
    return [int(place) for place in places]


def _documents(
    store: IndexStore, connection: Connection, content: int, request: QueryRequest, limit: int | None
) -> list[DocumentRow]:
    """Documents of a content, the earliest first."""
    days = _window(request)
    rows = store.select_rows(
        connection,
        ("documents of a content", *days),
        lambda: _select_within(days).where(DOCUMENTS.c.content == bindparam("content")).limit(bindparam("most")),
        content=content,
        most=2**62 if limit is None else limit,
        **days,
    )
    return list(map(DocumentRow._make, rows))


def _all_documents(
    store: IndexStore, connection: Connection, contents: Ints, request: QueryRequest
) -> dict[int, list[DocumentRow]]:
    """Documents of each of the contents, the earliest first."""
    found: dict[int, list[DocumentRow]] = {}
    days = _window(request)
    rows = store.select_rows(
        connection,
        ("documents of contents", *days),
        lambda: _select_within(days).where(store.one_of(DOCUMENTS.c.content)),
        values=store.list_parameter(contents),
        **days,
    )
    for row in map(DocumentRow._make, rows):
        found.setdefault(row.content, []).append(row)
    return found


def _window(request: QueryRequest) -> dict[str, int]:
    return {name: day for name, day in (("since", request.since), ("until", request.until)) if day is not None}


def _select_within(days: dict[str, int]) -> Any:
    """A select of documents in a window of days, in the order in which they were added."""
    documents = select_documents().order_by(DOCUMENTS.c.document)
    if "since" in days:
        documents = documents.where(DOCUMENTS.c.day >= bindparam("since"))
    if "until" in days:
        documents = documents.where(DOCUMENTS.c.day <= bindparam("until"))
    return documents


def entries(connection: Connection, where: Any) -> list[Entry]:
    """Documents that fulfil a condition, in the order in which they were added."""
    rows = connection.execute(select_documents().where(where).order_by(DOCUMENTS.c.document))
    return [
        Entry(
            row.doc_id, row.cluster, "revoked" if row.state == REVOKED else "live", row.tokens, row.added, row.title,
            row.url, row.date, row.source,
        )
        for row in rows
    ]  # fmt: skip


def urls_with(connection: Connection, host: str) -> list[str]:
    """The distinct urls that have this host anywhere in them, in any case."""
    found = select(DOCUMENTS.c.url).where(DOCUMENTS.c.url.icontains(host, autoescape=True)).distinct()
    return [str(url) for url in connection.execute(found).scalars()]


def text_of(store: IndexStore, connection: Connection, config: IndexConfig, doc_id: str) -> str | None:
    """The stored text of a document, without markup; None where texts are not stored, or the document was revoked."""
    if config.store != "text":
        return None
    found = (
        select(CONTENTS.c.content)
        .join(DOCUMENTS, DOCUMENTS.c.content == CONTENTS.c.content)
        .where(DOCUMENTS.c.doc_id == doc_id, CONTENTS.c.state == LIVE)
    )
    content = connection.execute(found).scalar()
    if content is None:
        return None
    text: str = unpack_texts(read_bodies(store, connection, np.array([content])))[0].as_py()
    return text


def pairs(store: IndexStore, connection: Connection, config: IndexConfig) -> Iterator[pa.RecordBatch]:
    """Every verified pair, each once, in batches: what a batch run with `pairs="all"` writes."""
    matcher = Matcher(store, connection, config)
    last = 0
    while True:
        following = (
            select(CONTENTS.c.content, CONTENTS.c.tokens)
            .where(CONTENTS.c.content > last, CONTENTS.c.state == LIVE)
            .order_by(CONTENTS.c.content)
            .limit(_BLOCK)
        )
        rows = connection.execute(following).all()
        if not rows:
            return
        own, lengths = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
        last = int(own[-1])
        keys = content_keys(store, connection, config, own)
        query = QueryKeys(
            keys,
            lengths,
            lambda rows, own=own: matcher.sets.load(own[rows]),  # type: ignore[misc]
            lambda rows, own=own: matcher.sets.load_words(own[rows]),  # type: ignore[misc]
            own,
            counts_all=True,
        )
        verdicts = MatchVerdicts.none() if config.method.equality else matcher.match(query)
        yield _document_pairs(matcher, own, lengths, verdicts)


def _document_pairs(matcher: Matcher, own: Ints, lengths: Ints, verdicts: MatchVerdicts) -> pa.RecordBatch:
    """Pairs of texts as pairs of documents: every two of one text, and every two of two texts that are duplicates."""
    config = matcher.config
    texts = np.unique(np.r_[own, verdicts.pairs.content])
    tokens = dict(zip(own.tolist(), lengths.tolist(), strict=True))
    others = np.setdiff1d(verdicts.pairs.content, own)
    more = matcher.store.fetch(matcher.connection, (CONTENTS.c.content, CONTENTS.c.tokens), CONTENTS.c.content, others)
    tokens |= {row[0]: row[1] for row in more}
    names = ranked_ids(matcher, texts, tokens)
    order = matcher.order
    if config.judge.on == "keys" and not config.method.equality:
        scores = PairScores.unmeasured(len(verdicts))
    else:
        scores = PairScores.of_counts(verdicts.c, verdicts.m, verdicts.n)
    rows: list[tuple[Any, ...]] = []
    for content in own.tolist():
        same = names[content]
        for at, left in enumerate(same):
            # documents without a token are equal to each other, and are paired only with the best of them
            for right in same[: at if tokens[content] else min(at, 1)]:
                rows.append((left.doc_id, right.doc_id, *EQUAL))
    for place, (owner, content) in enumerate(
        zip(verdicts.pairs.owner.tolist(), verdicts.pairs.content.tolist(), strict=True)
    ):
        resemblance, forth, back = scores.at(place)
        for one in names[int(own[owner])]:
            for other in names[content]:
                if order(one) > order(other):
                    rows.append((one.doc_id, other.doc_id, resemblance, forth, back))
                else:
                    rows.append((other.doc_id, one.doc_id, resemblance, back, forth))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCORED_PAIRS)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, SCORED_PAIRS, strict=True)],
        schema=SCORED_PAIRS,
    )


def ranked_ids(matcher: Matcher, texts: Ints, tokens: dict[int, int]) -> dict[int, list[RankedDocument]]:
    """The documents of each text, best first."""
    found = matcher.documents_of(texts, tokens)
    return {text: sorted(found.get(text, []), key=matcher.order) for text in texts.tolist()}
