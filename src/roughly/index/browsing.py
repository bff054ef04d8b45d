"""An index looked at: its clusters in a list, their documents a page at a time, and how alike those are.

Every answer is bounded. Sizes of clusters are not stored, so a list counts the documents of all clusters: a second or
so for a million of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, or_, select

from roughly.index import answers
from roughly.index.bound import Bound
from roughly.index.comparing import Comparer
from roughly.index.index import Index
from roughly.index.schema import CONTENTS, DOCUMENTS, LIVE
from roughly.index.store import Store

Row = dict[str, Any]
ORDERS = ("size", "smallest", "sources", "newest", "id")
_PAIRED = 64  # documents whose likeness to each other is measured at once


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which clusters are wanted."""

    q: str = ""  # stands in an id, a title or an address
    source: str = ""
    least: int = 2
    most: int | None = None
    order: str = "size"
    offset: int = 0
    limit: int = 50


def clusters(index: Index, asked: Filter) -> tuple[int, list[Row]]:
    """(how many clusters there are that fulfil the filter, some of them)."""
    return index._read(lambda connection, _: _clusters(index._store, connection, asked))


def members(index: Index, cluster: int, offset: int, limit: int) -> list[Row]:
    """Documents of a cluster in the order in which they came."""
    asked = answers.told().where(CONTENTS.c.cluster == cluster).order_by(DOCUMENTS.c.document)
    return index._read(lambda connection, _: _rows(connection.execute(asked.limit(limit).offset(offset))))


def sized(index: Index, cluster: int) -> Row | None:
    """One cluster: its size, its sources, its days; None where there is none."""
    asked = _grouped().where(CONTENTS.c.cluster == cluster)
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


def sizes(index: Index) -> list[tuple[int, int]]:
    """(size, how many clusters have it), for clusters of two documents or more."""
    grouped = _grouped().subquery()
    asked = select(grouped.c.size, func.count()).where(grouped.c.size > 1).group_by(grouped.c.size)
    rows = index._read(lambda connection, _: connection.execute(asked).all())
    return sorted((int(size), int(n)) for size, n in rows)


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


def _grouped() -> Any:
    """A select of every cluster."""
    return (
        select(
            CONTENTS.c.cluster.label("cluster"),
            func.count().label("size"),
            func.count(func.distinct(DOCUMENTS.c.source)).label("sources"),
            func.min(DOCUMENTS.c.day).label("first"),
            func.max(DOCUMENTS.c.day).label("last"),
            func.min(DOCUMENTS.c.document).label("document"),
        )
        .join(DOCUMENTS, DOCUMENTS.c.content == CONTENTS.c.content)
        .group_by(CONTENTS.c.cluster)
    )


def _clusters(store: Store, connection: Connection, asked: Filter) -> tuple[int, list[Row]]:
    if store.postgres and "\x00" in asked.q + asked.source:  # no text of PostgreSQL holds one
        return 0, []
    wanted = _grouped().having(func.count() >= asked.least)
    if asked.most is not None:
        wanted = wanted.having(func.count() <= asked.most)
    for given, condition in (
        (asked.source, DOCUMENTS.c.source == asked.source),
        (asked.q, or_(*(func.lower(DOCUMENTS.c[name]).contains(asked.q.lower(), autoescape=True)
                        for name in ("doc_id", "title", "url")))),
    ):  # fmt: skip
        if given:
            inner = select(CONTENTS.c.cluster).join(DOCUMENTS, DOCUMENTS.c.content == CONTENTS.c.content)
            wanted = wanted.where(CONTENTS.c.cluster.in_(inner.where(condition)))
    grouped = wanted.subquery()
    total = connection.execute(select(func.count()).select_from(grouped)).scalar_one()
    orders = {
        "size": (grouped.c.size.desc(),),
        "smallest": (grouped.c.size,),
        "sources": (grouped.c.sources.desc(), grouped.c.size.desc()),
        "newest": (func.coalesce(grouped.c.last, 0).desc(),),
        "id": (),
    }
    listed = select(grouped).order_by(*orders[asked.order], grouped.c.cluster).limit(asked.limit).offset(asked.offset)
    rows = _rows(connection.execute(listed))
    firsts = np.array([row["document"] for row in rows], np.int64)
    named = {
        row.document: row for row in map(answers.Shown._make, answers.by_number(store, connection, firsts.tolist()))
    }
    for row in rows:
        first = named[row["document"]]
        row |= {"doc_id": first.doc_id, "title": first.title, "url": first.url, "source": first.source}
    return int(total), rows


def _alike(store: Store, connection: Connection, bound: Bound, ids: list[str]) -> list[Row]:
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
    store: Store, connection: Connection, bound: Bound, left: str, right: list[str]
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
