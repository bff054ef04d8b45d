"""Clusters of an index for people who browse it: their documents by page, and how similar these are.

Every answer is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from roughly.index.index import Index
from roughly.index.index_config import IndexConfig
from roughly.index.matching.comparer import Comparer
from roughly.index.matching.pair_scores import EQUAL, Scores
from roughly.index.storage.document_rows import select_documents
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, LIVE
from roughly.index.storage.store import IndexStore

Row = dict[str, Any]
_MOST_COMPARED = 64  # documents that are compared with each other


def members(index: Index, cluster: int, offset: int, limit: int) -> list[Row]:
    """Documents of a cluster in the order in which they were added."""
    documents = select_documents().where(CONTENTS.c.cluster == cluster).order_by(DOCUMENTS.c.document)
    return _select(index, documents.limit(limit).offset(offset))


def sized(index: Index, cluster: int) -> Row | None:
    """The size, sources and days of a cluster; None where there is no such cluster."""
    figures = (
        select(
            CONTENTS.c.cluster.label("cluster"),
            func.count().label("size"),
            func.count(func.distinct(DOCUMENTS.c.source)).label("sources"),
            func.min(DOCUMENTS.c.day).label("first"),
            func.max(DOCUMENTS.c.day).label("last"),
        )
        .join(DOCUMENTS, DOCUMENTS.c.content == CONTENTS.c.content)
        .where(CONTENTS.c.cluster == cluster)
        .group_by(CONTENTS.c.cluster)
    )
    found = _select(index, figures)
    return found[0] if found else None


def alike(index: Index, ids: Sequence[str]) -> list[Row]:
    """Pairs of the first 64 of these documents that are duplicates by the verdict of the index, with their scores."""
    some, store = list(ids)[:_MOST_COMPARED], index.transactions.store
    return index.transactions.read(lambda connection, config: _alike(store, connection, config, some))


def measured(index: Index, left: str, right: Sequence[str]) -> dict[str, Scores]:
    """The scores of one document with each of the others that the index has and that was not revoked."""
    store = index.transactions.store
    return index.transactions.read(lambda connection, config: _measured(store, connection, config, left, list(right)))


def _alike(store: IndexStore, connection: Connection, config: IndexConfig, ids: list[str]) -> list[Row]:
    rows = connection.execute(select_documents().where(store.among(DOCUMENTS.c.doc_id, ids))).all()
    live = [row for row in rows if row.state == LIVE]
    own = np.unique(np.array([row.content for row in live], np.int64))
    found: list[Row] = []
    if not len(own):
        return found
    names: dict[int, list[str]] = {}
    for row in live:
        names.setdefault(row.content, []).append(row.doc_id)
    for same in names.values():  # documents of one text: each with the first of them
        found += [_pair(other, same[0], *EQUAL) for other in same[1:]]
    comparer = Comparer(store, connection, config)
    owner, content = comparer.duplicates(comparer.query_with(own, {row.content: row.day for row in live}))
    inside = np.isin(content, own) & (own[owner] > content)
    left, right = own[owner[inside]], content[inside]
    scores = comparer.measure(left, right)
    for place, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        found.append(_pair(names[one][0], names[other][0], *scores.at(place)))
    return found


def _measured(
    store: IndexStore, connection: Connection, config: IndexConfig, left: str, right: list[str]
) -> dict[str, Scores]:
    rows = connection.execute(select_documents().where(store.among(DOCUMENTS.c.doc_id, [left, *right]))).all()
    texts = {row.doc_id: row.content for row in rows if row.state == LIVE}
    named = [name for name in right if name in texts]
    if left not in texts or not named:
        return {}
    others = np.array([texts[name] for name in named], np.int64)
    scores = Comparer(store, connection, config).measure(np.full(len(others), texts[left]), others)
    return {
        name: EQUAL if texts[name] == texts[left] else scores.at(place) for place, name in enumerate(named)
    }  # fmt: skip


def _pair(left: str, right: str, *scores: float | None) -> Row:
    names = ("left_id", "right_id", "resemblance", "containment", "contained_in")
    return dict(zip(names, (left, right, *scores), strict=True))


def _select(index: Index, statement: Any) -> list[Row]:
    return index.transactions.read(
        lambda connection, _: [dict(row) for row in connection.execute(statement).mappings()]
    )  # fmt: skip
