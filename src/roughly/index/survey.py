"""All clusters of an index, counted once, for lists of them.

Sizes of clusters are not stored, so a list means counting the documents of all clusters: seconds in an index of a
million documents. One count serves every list, order and page; `stamp` tells whether anything has changed since.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, func, or_, select

from roughly.index.index import Index
from roughly.index.storage.document_rows import documents_by_number
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, META
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
Row = dict[str, Any]
ORDERS = ("size", "smallest", "sources", "newest", "id")
_COLUMNS = ("cluster", "size", "sources", "first", "last", "document")
_SEARCHED = ("doc_id", "title", "url")
_COUNTERS = ("next_content", "next_document", "removals")


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which clusters are wanted."""

    q: str = ""  # part of an id, a title or a url
    source: str = ""
    least: int = 2
    most: int | None = None
    order: str = "size"
    offset: int = 0
    limit: int = 50


def stamp(index: Index) -> tuple[str, ...]:
    """Changes when documents or texts were added, or texts deleted; not when only facts about a document changed."""
    counters = select(META.c.value).where(META.c.name.in_(_COUNTERS)).order_by(META.c.name)
    return tuple(index.transactions.read(lambda connection, _: connection.scalars(counters).all()))


class Survey:
    """Every cluster of two documents or more: its size, its sources, its days (0: none), its first document."""

    def __init__(self, index: Index) -> None:
        clusters = select_clusters().having(func.count() > 1)
        rows = index.transactions.read(lambda connection, _: connection.execute(clusters).all())
        self._index = index
        self._table = np.array([[value or 0 for value in row] for row in rows], np.int64).reshape(-1, len(_COLUMNS))

    def _column(self, name: str) -> Ints:
        return self._table[:, _COLUMNS.index(name)]

    def sizes(self) -> list[tuple[int, int]]:
        """Pairs (size, number of clusters with this size)."""
        sizes, counts = np.unique(self._column("size"), return_counts=True)
        return list(zip(sizes.tolist(), counts.tolist(), strict=True))

    def page(self, wanted: Filter) -> tuple[int, list[Row]]:
        """(the number of clusters that fulfil the filter, one page of them)."""
        transactions = self._index.transactions
        return transactions.read(lambda connection, _: self._page(transactions.store, connection, wanted))

    def _page(self, store: IndexStore, connection: Connection, wanted: Filter) -> tuple[int, list[Row]]:
        if store.postgres and "\x00" in wanted.q + wanted.source:  # no text of PostgreSQL holds one
            return 0, []
        size, cluster = self._column("size"), self._column("cluster")
        use = size >= wanted.least
        if wanted.most is not None:
            use &= size <= wanted.most
        if wanted.q or wanted.source:
            use &= np.isin(cluster, _holding(connection, wanted))
        places = np.flatnonzero(use)
        keys: dict[str, tuple[Ints, ...]] = {
            "size": (-size,),
            "smallest": (size,),
            "sources": (-self._column("sources"), -size),
            "newest": (-self._column("last"),),
            "id": (),
        }
        order = np.lexsort([key[places] for key in (cluster, *reversed(keys[wanted.order]))])
        some = self._table[places[order[wanted.offset : wanted.offset + wanted.limit]]]
        return len(places), _named(store, connection, some)


def _holding(connection: Connection, wanted: Filter) -> Ints:
    """Numbers of the clusters with a document of the source, and with one that has the words."""
    inner = select(CONTENTS.c.cluster).distinct().join(DOCUMENTS, DOCUMENTS.c.content == CONTENTS.c.content)
    within = (func.lower(DOCUMENTS.c[name]).contains(wanted.q.lower(), autoescape=True) for name in _SEARCHED)
    found = []
    for given, condition in ((wanted.source, DOCUMENTS.c.source == wanted.source), (wanted.q, or_(*within))):
        if given:
            found.append(np.array(connection.scalars(inner.where(condition)).all(), np.int64))
    return reduce(np.intersect1d, found)


def _named(store: IndexStore, connection: Connection, some: Ints) -> list[Row]:
    """Rows with the names of their first documents; without clusters whose first document was removed since."""
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in some.tolist()]
    documents = documents_by_number(store, connection, [row["document"] for row in rows])
    named = {row.document: row for row in documents}
    listed: list[Row] = []
    for row in rows:
        if (first := named.get(row["document"])) is not None:
            days = {name: row[name] or None for name in ("first", "last")}
            names = {"doc_id": first.doc_id, "title": first.title, "url": first.url, "source": first.source}
            listed.append({**row, **days, **names})
    return listed


def select_clusters() -> Any:
    """A select of every cluster, with the columns `_COLUMNS`."""
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
