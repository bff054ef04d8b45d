"""From verdicts on texts to matching documents with their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, func, select

from roughly.cluster.scoring import held_of
from roughly.features.sketch import joined
from roughly.index.bound import Bound
from roughly.index.matching import Asking, Matcher, Verdicts, body_sets, tokens_of
from roughly.index.results import Match
from roughly.index.schema import CONTENTS, DOCUMENTS
from roughly.index.signing import Signed
from roughly.index.store import Store

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_TOLD = ("url", "date", "title", "source")


@dataclass(frozen=True)
class Scores:
    """Of verdicts; NaN where nothing was measured."""

    resemblance: Floats
    containment: Floats
    contained_in: Floats
    estimated: bool


def scores_of(matcher: Matcher, signed: Signed, verdicts: Verdicts) -> Scores:
    """As the method has judged; where it judges by keys in common, measured on what is stored."""
    bound = matcher.bound
    if bound.judge.on != "keys":
        return _scores(verdicts.c, verdicts.m, verdicts.n, bound.estimated)
    if bound.store == "sketch" or not len(verdicts):
        nothing = np.full(len(verdicts), np.nan)
        return Scores(nothing, nothing, nothing, False)
    return _measured(matcher, signed, verdicts)


def _measured(matcher: Matcher, signed: Signed, verdicts: Verdicts) -> Scores:
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


def _scores(c: Ints, m: Ints, n: Ints, estimated: bool) -> Scores:
    return Scores(c / np.maximum(m + n - c, 1), c / np.maximum(m, 1), c / np.maximum(n, 1), estimated)


def best_first(verdicts: Verdicts, measure: str) -> Verdicts:
    """By owner; of each the most alike first, and of equals the text that is longest in the index."""
    score = verdicts.scores(measure)
    return verdicts.of(np.lexsort((verdicts.pairs.content, -score, verdicts.pairs.owner)))


def first_of_each(verdicts: Verdicts) -> Verdicts:
    """The best of each owner, of verdicts that are ordered so."""
    owner = verdicts.pairs.owner
    return verdicts.of(np.r_[True, owner[1:] != owner[:-1]] if len(owner) else np.empty(0, np.bool_))


def earliest(store: Store, connection: Connection, contents: Ints) -> dict[int, Any]:
    """The document that has been there longest, of each content, as a row with its cluster."""
    if not len(contents):
        return {}
    found: list[int] = []
    for at in range(0, len(contents), 10_000):
        grouped = (
            select(func.min(DOCUMENTS.c.document))
            .where(store.among(DOCUMENTS.c.content, contents[at : at + 10_000]))
            .group_by(DOCUMENTS.c.content)
        )
        found += connection.scalars(grouped).all()
    return {row.content: row for row in rows_of(store, connection, np.array(sorted(found), np.int64))}


def rows_of(store: Store, connection: Connection, documents: Ints) -> list[Any]:
    """Documents by their numbers, each with its cluster."""
    rows: list[Any] = []
    for at in range(0, len(documents), 10_000):
        asked = told().where(store.among(DOCUMENTS.c.document, documents[at : at + 10_000]))
        rows += connection.execute(asked).all()
    return rows


def told() -> Any:
    """A select of all that answers tell of documents."""
    names = ("document", "content", "doc_id", "day", "added", *_TOLD)
    columns = [DOCUMENTS.c[name] for name in names]
    return select(*columns, CONTENTS.c.cluster, CONTENTS.c.tokens, CONTENTS.c.state).join(
        CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content
    )


def match_of(row: Any, scores: Scores | None, place: int, shared: int) -> Match:
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


def shared_with_equal(asking: Asking, owner: int) -> int:
    """Keys that a text shares with one equal to it: all of them."""
    keys = asking.keys.owners
    return int(np.searchsorted(keys, owner, "right") - np.searchsorted(keys, owner, "left"))


def measure_of(bound: Bound) -> str:
    """What the best match is chosen by."""
    return bound.judge.measure if not bound.method.equality else "resemblance"
