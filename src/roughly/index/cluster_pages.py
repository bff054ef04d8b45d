"""An index looked at: the documents of a cluster a page at a time, and how alike they are. Every answer is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from roughly.index.config import IndexConfig
from roughly.index.index import Index
from roughly.index.matching import scored_answers as answers
from roughly.index.matching.comparer import Comparer
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, LIVE
from roughly.index.storage.store import IndexStore
from roughly.index.survey import grouped

Row = dict[str, Any]
_PAIRED = 64  # documents whose likeness to each other is measured at once


def members(index: Index, cluster: int, offset: int, limit: int) -> list[Row]:
    """Documents of a cluster in the order in which they came."""
    asked = answers.told().where(CONTENTS.c.cluster == cluster).order_by(DOCUMENTS.c.document)
    return index._read(lambda connection, _: _rows(connection.execute(asked.limit(limit).offset(offset))))


def sized(index: Index, cluster: int) -> Row | None:
    """One cluster: its size, its sources, its days; None where there is none."""
    asked = grouped().where(CONTENTS.c.cluster == cluster)
    found = index._read(lambda connection, _: _rows(connection.execute(asked)))
    return found[0] if found else None


def alike(index: Index, ids: Sequence[str]) -> list[Row]:
    """Pairs of these documents that the index judges to be duplicates, with their scores; at most 64 of them."""
    return index._read(lambda connection, bound: _alike(index._store, connection, bound, list(ids)[:_PAIRED]))


def measured(
    index: Index, left: str, right: Sequence[str]
) -> dict[str, tuple[float | None, float | None, float | None]]:
    """(resemblance, containment, contained_in) of one document with each of the others, where it can be measured."""
    return index._read(lambda connection, bound: _measured(index._store, connection, bound, left, list(right)))


def by_source(index: Index, limit: int = 1000) -> list[tuple[str | None, int, int]]:
    """(source, documents, how many of them stand in a cluster with an earlier one of that source)."""
    asked = (
        select(
            DOCUMENTS.c.source,
            func.count(),
            func.count() - func.count(func.distinct(CONTENTS.c.cluster)),
        )
        .join(CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content)
        .group_by(DOCUMENTS.c.source)
        .order_by(func.count().desc())
        .limit(limit)
    )
    rows = index._read(lambda connection, _: connection.execute(asked).all())
    return [(row[0], int(row[1]), int(row[2])) for row in rows]


def by_month(index: Index) -> list[tuple[str, int]]:
    """(month, documents), where documents have a date."""
    asked = select(DOCUMENTS.c.day, func.count()).where(DOCUMENTS.c.day.is_not(None)).group_by(DOCUMENTS.c.day)
    found: dict[str, int] = {}
    for day, number in index._read(lambda connection, _: connection.execute(asked).all()):
        month = date.fromordinal(day).isoformat()[:7]
        found[month] = found.get(month, 0) + int(number)
    return sorted(found.items())


def _alike(store: IndexStore, connection: Connection, bound: IndexConfig, ids: list[str]) -> list[Row]:
    rows = connection.execute(answers.told().where(store.among(DOCUMENTS.c.doc_id, ids))).all()
    live = [row for row in rows if row.state == LIVE]
    own = np.unique(np.array([row.content for row in live], np.int64))
    found: list[Row] = []
    if not len(own):
        return found
    names: dict[int, list[str]] = {}
    for row in live:
        names.setdefault(row.content, []).append(row.doc_id)
    for same in names.values():  # one text: each with the first of them
        found += [_pair(other, same[0], 1.0, 1.0, 1.0) for other in same[1:]]
    comparer = Comparer(store, connection, bound)
    owner, content = comparer.judged(comparer.asking(own, {row.content: row.day for row in live}))
    inside = np.isin(content, own) & (own[owner] > content)
    left, right = own[owner[inside]], content[inside]
    scores = comparer.measure(left, right)
    for place, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        values = [_told(column[place]) for column in (scores.resemblance, scores.containment, scores.contained_in)]
        found.append(_pair(names[one][0], names[other][0], *values))
    return found


def _measured(
    store: IndexStore, connection: Connection, bound: IndexConfig, left: str, right: list[str]
) -> dict[str, tuple[float | None, float | None, float | None]]:
    rows = connection.execute(answers.told().where(store.among(DOCUMENTS.c.doc_id, [left, *right]))).all()
    texts = {row.doc_id: row.content for row in rows if row.state == LIVE}
    named = [name for name in right if name in texts]
    if left not in texts or not named:
        return {}
    others = np.array([texts[name] for name in named], np.int64)
    scores = Comparer(store, connection, bound).measure(np.full(len(others), texts[left]), others)
    columns = (scores.resemblance, scores.containment, scores.contained_in)
    found = {}
    for place, name in enumerate(named):
        same = texts[name] == texts[left]
        one, forth, back = ((1.0 if same else _told(column[place])) for column in columns)
        found[name] = one, forth, back
    return found


def _pair(left: str, right: str, *scores: float | None) -> Row:
    names = ("left_id", "right_id", "resemblance", "containment", "contained_in")
    return dict(zip(names, (left, right, *scores), strict=True))


def _told(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _rows(found: Any) -> list[Row]:
    return [dict(row) for row in found.mappings()]
