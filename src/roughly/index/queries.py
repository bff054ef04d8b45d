"""What an index is asked: matches of documents, documents by id, by cluster, by url, and all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection, bindparam, select

from roughly.index.answers import Entry, Match
from roughly.index.config import IndexConfig
from roughly.index.matching import scored_answers as answers
from roughly.index.matching.candidate_finder import QueryKeys
from roughly.index.matching.matcher import Matcher, MatchVerdicts, asking_signed
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.storage import contents
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, LIVE, REVOKED
from roughly.index.storage.store import IndexStore
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


def matches(
    store: IndexStore, connection: Connection, bound: IndexConfig, signed: SignedBatch, asked: QueryRequest
) -> list[list[Match]]:
    """The matches of each document, the most alike first."""
    known = contents.known(store, connection, signed.hi, signed.lo)
    digests = list(zip(signed.hi.tolist(), signed.lo.tolist(), strict=True))
    equal = np.array([known[d].content if d in known else -1 for d in digests], np.int64)
    asking = asking_signed(bound, signed, equal=equal)
    found: list[list[Match]] = [[] for _ in range(len(signed))]
    for owner, digest in enumerate(digests):
        if digest in known and known[digest].state != REVOKED:
            shared = answers.shared_with_equal(asking, owner)
            rows = _documents(store, connection, known[digest].content, asked, asked.limit)
            found[owner] += [answers.match_of(row, None, 0, shared) for row in rows]
    matcher = Matcher(store, connection, bound)
    verdicts = _judged(matcher, asking, asked, found)
    verdicts = answers.best_first(verdicts, asked.measure or answers.measure_of(bound))
    scores = answers.scores_of(matcher, signed, verdicts)
    order = _order(verdicts, scores, asked)
    together = None
    if len(signed) > 1:  # one statement for all is cheaper than one for each
        together = _all_documents(store, connection, np.unique(verdicts.pairs.content[order]), asked)
    for place in order:
        owner, content = int(verdicts.pairs.owner[place]), int(verdicts.pairs.content[place])
        left = None if asked.limit is None else asked.limit - len(found[owner])
        if left is not None and left <= 0:
            continue
        if together is None:
            rows = _documents(store, connection, content, asked, left)
        else:
            rows = together.get(content, [])[:left]
        shared = int(verdicts.pairs.shared[place])
        found[owner] += [answers.match_of(row, scores, place, shared) for row in rows]
    return found


def _judged(matcher: Matcher, asking: QueryKeys, asked: QueryRequest, found: list[list[Match]]) -> MatchVerdicts:
    """The duplicates that are wanted, beside those that are equal and `found` already."""
    if matcher.bound.method.equality:
        return MatchVerdicts.none()
    if asked.limit is None:
        return matcher.match(asking)
    wanting = np.array([len(listed) < asked.limit for listed in found], np.bool_)
    if not wanting.all():
        asking = replace(asking, keys=asking.keys.of(wanting))
    return matcher.match(asking, asked.limit if _by_verdict(matcher.bound, asked) else None)


def _by_verdict(bound: IndexConfig, asked: QueryRequest) -> bool:
    """Whether the texts that the verdict puts first are those whose documents are told.

    Every text has a document, so `limit` texts are enough, unless documents outside a window of days are left out. With
    another measure than the verdict's, or a least value of another, the order is another.
    """
    if asked.since is not None or asked.until is not None:
        return False
    if bound.judge.measure == "resemblance":
        return asked.measure in (None, "resemblance")
    return asked.measure is None and asked.minimum is None


def _order(verdicts: MatchVerdicts, scores: answers.MatchScores, asked: QueryRequest) -> list[int]:
    """Places of the verdicts that are wanted, by owner, the most alike first."""
    measured = {"containment": scores.containment, "contained_in": scores.contained_in}.get(
        asked.measure or "", scores.resemblance
    )
    use = np.ones(len(verdicts), np.bool_)
    if asked.minimum is not None:
        use = measured >= asked.minimum  # what was not measured does not reach it
    places = np.flatnonzero(use)
    if asked.measure is not None:
        places = places[np.lexsort((places, -np.nan_to_num(measured[places]), verdicts.pairs.owner[places]))]
    return [int(place) for place in places]


def _documents(
    store: IndexStore, connection: Connection, content: int, asked: QueryRequest, limit: int | None
) -> list[Any]:
    """Documents of a content, the earliest first."""
    given = {"content": content, "most": 2**62 if limit is None else limit}
    days = {name: day for name, day in (("since", asked.since), ("until", asked.until)) if day is not None}
    rows = store.ask(
        connection,
        ("shown of a content", *days),
        lambda: _windowed(_of_content(), days).limit(bindparam("most")),
        **given,
        **days,
    )
    return list(map(answers.ShownDocument._make, rows))


def _of_content() -> Any:
    return answers.told().where(DOCUMENTS.c.content == bindparam("content")).order_by(DOCUMENTS.c.document)


def _all_documents(store: IndexStore, connection: Connection, texts: Ints, asked: QueryRequest) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    days = {name: day for name, day in (("since", asked.since), ("until", asked.until)) if day is not None}
    rows = store.ask(
        connection,
        ("shown of contents", *days),
        lambda: _windowed(answers.told(), days).where(store.one_of(DOCUMENTS.c.content)).order_by(DOCUMENTS.c.document),
        asked=store.listed(texts),
        **days,
    )
    for row in map(answers.ShownDocument._make, rows):
        found.setdefault(row.content, []).append(row)
    return found


def _windowed(wanted: Any, days: dict[str, int]) -> Any:
    if "since" in days:
        wanted = wanted.where(DOCUMENTS.c.day >= bindparam("since"))
    if "until" in days:
        wanted = wanted.where(DOCUMENTS.c.day <= bindparam("until"))
    return wanted


def entries(connection: Connection, where: Any) -> list[Entry]:
    """Documents that fulfil a condition, in the order in which they came."""
    rows = connection.execute(answers.told().where(where).order_by(DOCUMENTS.c.document))
    return [
        Entry(
            row.doc_id, row.cluster, "revoked" if row.state == REVOKED else "live", row.tokens, row.added, row.title,
            row.url, row.date, row.source,
        )
        for row in rows
    ]  # fmt: skip


def text_of(store: IndexStore, connection: Connection, bound: IndexConfig, doc_id: str) -> str | None:
    """The stored text of a document, without markup; None where texts are not stored, or it was revoked."""
    if bound.store != "text":
        return None
    asked = (
        select(CONTENTS.c.content)
        .join(DOCUMENTS, DOCUMENTS.c.content == CONTENTS.c.content)
        .where(DOCUMENTS.c.doc_id == doc_id, CONTENTS.c.state == LIVE)
    )
    content = connection.execute(asked).scalar()
    if content is None:
        return None
    text: str = unpack_texts(contents.read_bodies(store, connection, np.array([content])))[0].as_py()
    return text


def pairs(store: IndexStore, connection: Connection, bound: IndexConfig) -> Iterator[pa.RecordBatch]:
    """Every verified pair, each once, in batches: what a batch run with `pairs="all"` writes."""
    matcher = Matcher(store, connection, bound)
    last = 0
    while True:
        asked = (
            select(CONTENTS.c.content, CONTENTS.c.tokens)
            .where(CONTENTS.c.content > last, CONTENTS.c.state == LIVE)
            .order_by(CONTENTS.c.content)
            .limit(_BLOCK)
        )
        rows = connection.execute(asked).all()
        if not rows:
            return
        own, lengths = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
        last = int(own[-1])
        keys = contents.keys_of(store, connection, bound, own)
        asking = QueryKeys(
            keys, lengths, lambda rows, own=own: matcher.load(own[rows]), own, counts_all=True  # type: ignore[misc]
        )  # fmt: skip
        verdicts = MatchVerdicts.none() if bound.method.equality else matcher.match(asking)
        yield _named(matcher, own, lengths, verdicts)


def _named(matcher: Matcher, own: Ints, lengths: Ints, verdicts: MatchVerdicts) -> pa.RecordBatch:
    """Pairs of texts as pairs of documents: every two of one text, and every two of two texts that are alike."""
    bound = matcher.bound
    texts = np.unique(np.r_[own, verdicts.pairs.content])
    tokens = dict(zip(own.tolist(), lengths.tolist(), strict=True))
    others = np.setdiff1d(verdicts.pairs.content, own)
    more = matcher.store.fetch(matcher.connection, (CONTENTS.c.content, CONTENTS.c.tokens), CONTENTS.c.content, others)
    tokens |= {row[0]: row[1] for row in more}
    names = ranked_ids(matcher, texts, tokens)
    order = matcher.order
    if bound.judge.on == "keys" and not bound.method.equality:
        measured = np.full((len(verdicts), 3), np.nan)
    else:
        c, m, n = verdicts.c, verdicts.m, verdicts.n
        measured = np.column_stack((c / np.maximum(m + n - c, 1), c / np.maximum(m, 1), c / np.maximum(n, 1)))
    rows: list[tuple[Any, ...]] = []
    for content in own.tolist():
        same = names[content]
        for at, left in enumerate(same):
            # documents without a token are equal to each other, and only the best of them is told
            for right in same[: at if tokens[content] else min(at, 1)]:
                rows.append((left.doc_id, right.doc_id, 1.0, 1.0, 1.0))
    for place, (owner, content) in enumerate(
        zip(verdicts.pairs.owner.tolist(), verdicts.pairs.content.tolist(), strict=True)
    ):
        resemblance, forth, back = (None if np.isnan(v) else float(v) for v in measured[place])
        for one in names[int(own[owner])]:
            for other in names[content]:
                if order(one) > order(other):
                    rows.append((one.doc_id, other.doc_id, resemblance, forth, back))
                else:
                    rows.append((other.doc_id, one.doc_id, resemblance, back, forth))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCORED_PAIRS)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, SCORED_PAIRS, strict=True)], schema=SCORED_PAIRS
    )


def ranked_ids(matcher: Matcher, texts: Ints, tokens: dict[int, int]) -> dict[int, list[Any]]:
    """The documents of each text, best first."""
    found = matcher.documents_of(texts, tokens)
    return {text: sorted(found.get(text, []), key=matcher.order) for text in texts.tolist()}
