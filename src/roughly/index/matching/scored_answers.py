"""From verdicts on texts to matching documents with their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, func, select

from roughly.cluster.scoring import held_of
from roughly.features.sketch import joined
from roughly.index.answers import Match
from roughly.index.config import IndexConfig
from roughly.index.matching.candidate_finder import QueryKeys
from roughly.index.matching.matcher import Matcher, MatchVerdicts, body_sets, tokens_of
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.storage.schema import CONTENTS, DOCUMENTS
from roughly.index.storage.store import IndexStore

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_TOLD = ("url", "date", "title", "source")


@dataclass(frozen=True)
class MatchScores:
    """Of verdicts; NaN where nothing was measured."""

    resemblance: Floats
    containment: Floats
    contained_in: Floats
    estimated: bool


def scores_of(matcher: Matcher, signed: SignedBatch, verdicts: MatchVerdicts) -> MatchScores:
    """As the method has judged; where it judges by keys in common, measured on what is stored."""
    bound = matcher.bound
    if bound.judge.on != "keys":
        return _scores(verdicts.c, verdicts.m, verdicts.n, bound.estimated)
    if bound.store == "sketch" or not len(verdicts):
        nothing = np.full(len(verdicts), np.nan)
        return MatchScores(nothing, nothing, nothing, False)
    return _measured(matcher, signed, verdicts)


def _measured(matcher: Matcher, signed: SignedBatch, verdicts: MatchVerdicts) -> MatchScores:
    from roughly.kernels import resolve
    from roughly.kernels.judging import COMMON

    owners, left = np.unique(verdicts.pairs.owner, return_inverse=True)
    contents, right = np.unique(verdicts.pairs.content, return_inverse=True)
    mine = body_sets(matcher.bound, tokens_of(signed.tokens, owners))
    held = held_of(joined([mine, matcher.load_bodies(contents)]))
    numbers = np.column_stack((left, right)).astype(np.int32)
    rows = resolve.score_pairs(numbers, left, right + len(owners), held, resolve.Rule(COMMON, 0.0, 0, 0.0), 0.0)
    c, m, n = (rows[:, column].astype(np.int64) for column in (2, 3, 4))
    return _scores(c, m, n, False)


def _scores(c: Ints, m: Ints, n: Ints, estimated: bool) -> MatchScores:
    return MatchScores(c / np.maximum(m + n - c, 1), c / np.maximum(m, 1), c / np.maximum(n, 1), estimated)


def best_first(verdicts: MatchVerdicts, measure: str) -> MatchVerdicts:
    """By owner; of each the most alike first, and of equals the text that is longest in the index."""
    score = verdicts.scores(measure)
    return verdicts.of(np.lexsort((verdicts.pairs.content, -score, verdicts.pairs.owner)))


def first_of_each(verdicts: MatchVerdicts) -> MatchVerdicts:
    """The best of each owner, of verdicts that are ordered so."""
    owner = verdicts.pairs.owner
    return verdicts.of(np.r_[True, owner[1:] != owner[:-1]] if len(owner) else np.empty(0, np.bool_))


def earliest(store: IndexStore, connection: Connection, contents: Ints) -> dict[int, ShownDocument]:
    """The document that has been there longest, of each content, as a row with its cluster."""
    if not len(contents):
        return {}
    rows = store.ask(
        connection,
        "earliest of each",
        lambda: (
            select(func.min(DOCUMENTS.c.document))
            .where(store.one_of(DOCUMENTS.c.content))
            .group_by(DOCUMENTS.c.content)
        ),
        asked=store.listed(contents),
    )
    found = [row[0] for row in rows]
    return {row.content: row for row in by_number(store, connection, found)}


class ShownDocument(NamedTuple):
    """What answers tell of a document."""

    document: int
    content: int
    doc_id: str
    day: int | None
    added: int
    url: str | None
    date: str | None
    title: str | None
    source: str | None
    cluster: int
    tokens: int
    state: int


def by_number(store: IndexStore, connection: Connection, numbers: list[int]) -> list[ShownDocument]:
    """Documents by their numbers."""
    rows = store.ask(
        connection,
        "shown by number",
        lambda: told().where(store.one_of(DOCUMENTS.c.document)),
        asked=store.listed(np.array(sorted(numbers), np.int64)),
    )
    return list(map(ShownDocument._make, rows))


def told() -> Any:
    """A select of the columns of `ShownDocument`."""
    names = ("document", "content", "doc_id", "day", "added", *_TOLD)
    columns = [DOCUMENTS.c[name] for name in names]
    return select(*columns, CONTENTS.c.cluster, CONTENTS.c.tokens, CONTENTS.c.state).join(
        CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content
    )


def match_of(row: ShownDocument, scores: MatchScores | None, place: int, shared: int) -> Match:
    """A match with this document; without scores the two are equal."""
    resemblance: float | None = 1.0
    forth: float | None = 1.0
    back: float | None = 1.0
    if scores is not None:
        measured = (scores.resemblance[place], scores.containment[place], scores.contained_in[place])
        resemblance, forth, back = (None if np.isnan(value) else float(value) for value in measured)
    estimated = scores is not None and scores.estimated
    return Match(
        row.doc_id, row.cluster, resemblance, forth, back, estimated, shared, row.url, row.date, row.title, row.source
    )


def shared_with_equal(asking: QueryKeys, owner: int) -> int:
    """Keys that a text shares with one equal to it: all of them."""
    keys = asking.keys.owners
    return int(np.searchsorted(keys, owner, "right") - np.searchsorted(keys, owner, "left"))


def measure_of(bound: IndexConfig) -> str:
    """What the best match is chosen by."""
    return bound.judge.measure if not bound.method.equality else "resemblance"
