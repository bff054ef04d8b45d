"""All documents of an index, read once into arrays: its clusters, sources and months, for lists and figures.

Sizes of clusters are not stored, and few columns have a database index, so lists and figures mean reading all
documents: seconds per million. One reading serves every list, order and page; `stamp` tells whether anything has
changed since. Memory: some forty bytes per document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import date
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import BigInteger, Connection, bindparam, func, or_, select, tuple_

from roughly.fast_dataclass import dataclass
from roughly.index.document_list import DocumentFilter, named_numbers
from roughly.index.index import Index
from roughly.index.index_config import IndexConfig
from roughly.index.storage.document_rows import documents_by_number
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, META
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
Row = dict[str, Any]
ORDERS = ("size", "smallest", "sources", "newest", "id")
LARGE = 300_000
"""In an index of this many documents or more, words are looked for at the beginning of ids and addresses only."""
_COLUMNS = ("cluster", "size", "sources", "first", "last", "document")
_SEARCHED = ("doc_id", "title", "url")
_COUNTERS = ("next_content", "next_document", "removals")
_AT_ONCE = 50_000  # numbers of documents or clusters that one statement reads


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


def last_number(index: Index) -> int:
    """The number of the last document: about as many as there are, and known at once."""
    last = select(func.max(DOCUMENTS.c.document))
    return index.transactions.read(lambda connection, _: connection.execute(last).scalar_one()) or 0


class Survey:
    """The documents of an index by number, each with its cluster, day (0: none) and source; and the clusters."""

    def __init__(self, index: Index, stopped: Callable[[], bool] = lambda: False) -> None:
        self._index, self._stopped = index, stopped
        codes: dict[str | None, int] = defaultdict(count().__next__)
        facts = (DOCUMENTS.c.content, func.coalesce(DOCUMENTS.c.day, 0), DOCUMENTS.c.source)

        def arrays(rows: list[Any]) -> list[Ints]:
            *numbers, sources = zip(*rows, strict=True)
            return [np.array(some, np.int64) for some in (*numbers, [codes[source] for source in sources])]

        document, content, day, source = self._read((DOCUMENTS.c.document,), facts, arrays)
        cluster = self._clusters_of(content)
        there = cluster >= 0
        self._document, self._cluster = document[there], cluster[there]
        self._day, self._source = day[there], source[there]
        self._codes = dict(codes)
        self._table = self._group()

    def _read(
        self, keys: tuple[Any, ...], more: tuple[Any, ...], arrays: Callable[[list[Any]], list[Ints]]
    ) -> list[Ints]:
        """Whole columns, in the order of the keys: some thousand rows at a time, each time in its own transaction."""
        marks = [bindparam(f"after{place}", type_=BigInteger) for place in range(len(keys))]
        store, parts = self._index.transactions.store, [[np.empty(0, np.int64)] * (len(keys) + len(more))]
        after, rows = (np.iinfo(np.int64).min,) * len(keys), [()]
        condition = keys[0] > marks[0] if len(keys) == 1 else tuple_(*keys) > tuple_(*marks)
        statement = select(*keys, *more).where(condition).order_by(*keys).limit(_AT_ONCE)

        def work(connection: Connection, _: IndexConfig) -> tuple[list[Any], list[Ints]]:
            given = {mark.key: int(value) for mark, value in zip(marks, after, strict=True)}
            found = store.select_rows(connection, f"survey {keys}", lambda: statement, **given)
            return found, arrays(found) if found else []

        while rows and not self._stopped():
            rows, columns = self._index.transactions.read(work)
            if rows:
                after = rows[-1][: len(keys)]
                parts.append(columns)
        return [np.concatenate(some) for some in zip(*parts, strict=True)]

    def _clusters_of(self, content: Ints) -> Ints:
        """The cluster of each content; -1 where it was deleted meanwhile."""

        def arrays(rows: list[Any]) -> list[Ints]:
            return list(np.array(rows, np.int64).T)

        cluster, member = self._read((CONTENTS.c.cluster, CONTENTS.c.content), (), arrays)
        order = np.argsort(member)
        at = np.searchsorted(member[order], content)
        place = order[np.minimum(at, len(order) - 1)] if len(order) else np.zeros(len(content), np.int64)
        return np.where(member[place] == content, cluster[place], -1) if len(order) else np.full(len(content), -1)

    def _group(self) -> Ints:
        """A row with `_COLUMNS` for every cluster of two documents or more."""
        order = np.argsort(self._cluster, kind="stable")
        cluster = self._cluster[order]
        starts = np.flatnonzero(np.diff(cluster, prepend=-1))
        sizes = np.diff(starts, append=len(cluster))
        order = order[np.repeat(sizes > 1, sizes)]
        sizes = sizes[sizes > 1]
        if not len(sizes):
            return np.empty((0, len(_COLUMNS)), np.int64)
        starts = np.cumsum(sizes) - sizes
        day, source = self._day[order], self._source[order]
        first = np.minimum.reduceat(np.where(day > 0, day, np.iinfo(np.int64).max), starts)
        last = np.maximum.reduceat(day, starts)
        place = np.repeat(np.arange(len(sizes)), sizes)
        named = source != self._codes.get(None, -1)
        pairs = np.unique(place[named] * len(self._codes) + source[named])
        sources = np.bincount(pairs // max(1, len(self._codes)), minlength=len(sizes))
        document = np.minimum.reduceat(self._document[order], starts)
        columns = (self._cluster[order][starts], sizes, sources, np.where(last > 0, first, 0), last, document)
        return np.column_stack(columns).astype(np.int64)

    def _column(self, name: str) -> Ints:
        return self._table[:, _COLUMNS.index(name)]

    def sizes(self) -> list[tuple[int, int]]:
        """Pairs (size, number of clusters with this size)."""
        sizes, counts = np.unique(self._column("size"), return_counts=True)
        return list(zip(sizes.tolist(), counts.tolist(), strict=True))

    def by_source(self, limit: int = 1000) -> list[tuple[str | None, int, int]]:
        """(source, documents, how many of them are in a cluster with an earlier document of that source)."""
        clusters, cluster = np.unique(self._cluster, return_inverse=True)
        pairs = np.unique(self._source * max(1, len(clusters)) + cluster) // max(1, len(clusters))
        documents = np.bincount(self._source, minlength=len(self._codes))
        again = documents - np.bincount(pairs, minlength=len(self._codes))
        names = list(self._codes)
        chosen = np.argsort(-documents, kind="stable")[:limit].tolist()
        return [(names[code], int(documents[code]), int(again[code])) for code in chosen if documents[code]]

    def by_month(self) -> list[tuple[str, int]]:
        """(month, documents) of documents that have a date."""
        found: dict[str, int] = {}
        days, counts = np.unique(self._day[self._day > 0], return_counts=True)
        for day, number in zip(days.tolist(), counts.tolist(), strict=True):
            month = date.fromordinal(day).isoformat()[:7]
            found[month] = found.get(month, 0) + number
        return sorted(found.items())

    def documents(self, wanted: DocumentFilter) -> tuple[list[int], bool]:
        """(numbers of a page of documents of this source and these days, whether there are more)."""
        use = np.ones(len(self._document), np.bool_)
        if wanted.source:
            use &= self._source == self._codes.get(wanted.source, -1)
        if wanted.since is not None or wanted.until is not None or wanted.order.endswith("date"):
            use &= (self._day >= (wanted.since or 1)) & (self._day <= (wanted.until or np.iinfo(np.int64).max))
        places = np.flatnonzero(use)
        if wanted.order.endswith("date"):
            places = places[np.argsort(self._day[places], kind="stable")]
        if wanted.order.startswith("-"):
            places = places[::-1]
        some = self._document[places[wanted.offset : wanted.offset + wanted.limit]].tolist()
        return some, len(places) > wanted.offset + wanted.limit

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
        if wanted.source:
            use &= np.isin(cluster, self._cluster[self._source == self._codes.get(wanted.source, -1)])
        if wanted.q:
            use &= np.isin(cluster, self._holding(store, connection, wanted.q))
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

    def _holding(self, store: IndexStore, connection: Connection, q: str) -> Ints:
        """Numbers of the clusters with a document that has the words."""
        if len(self._document) >= LARGE:
            return self._cluster[np.isin(self._document, named_numbers(store, connection, q))]
        within = (func.lower(DOCUMENTS.c[name]).contains(q.lower(), autoescape=True) for name in _SEARCHED)
        inner = select(CONTENTS.c.cluster).distinct().join(DOCUMENTS, DOCUMENTS.c.content == CONTENTS.c.content)
        return np.array(connection.scalars(inner.where(or_(*within))).all(), np.int64)


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
