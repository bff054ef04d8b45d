"""An index as a collection. It changes while it is read, and counting a large one takes seconds.

So counts are cached while nothing changes; counts that took long are cached for ten times as long in any case. The
counts of a small index are current. Those of a large one are made in the background: until the first are there, pages
that need them say so, and later ones use the last that were made.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, Literal

from roughly.errors import RoughlyError, SettingsError
from roughly.index import Index, cluster_pages, document_list, survey
from roughly.index.answers import Entry
from roughly.index.document_list import DocumentFilter
from roughly.index.storage.document_rows import DocumentRow as StoredDocument
from roughly.index.survey import Filter, Survey
from roughly.service.collection.collection_types import (
    ClusterDetail,
    ClusterList,
    ClusterQuery,
    ClusterRow,
    CollectionFacts,
    CollectionStatistics,
    DocumentList,
    DocumentRow,
    DocumentText,
    Edge,
    Pair,
    cluster_number,
)
from roughly.service.collection.document_query import DocumentQuery
from roughly.service.collection.page_limits import PAGE
from roughly.service.collection.warnings import WarningRules

SLOW_SECONDS, CACHE_FACTOR = 0.1, 10
"""Counting that takes longer is slow; slow counts are cached this many times as long as they took."""
CACHE_SECONDS = 600
"""The longest time that counts are cached if nothing seems to have changed."""
LAST_ADDED_SECONDS = 60
_NEIGHBOURS = 500  # documents of a cluster that one can step through


class _Counts:
    """The counts of an index at one moment."""

    def __init__(self, index: Index, warning_rules: Callable[[int], WarningRules], stopped: Callable[[], bool]) -> None:
        start = time.monotonic()
        self._stamp = survey.stamp(index)  # before the rest, so that changes in the meantime are noticed
        self.survey = Survey(index, stopped)
        sizes = self.survey.sizes()
        statistics = CollectionStatistics(
            _count(index, sizes),
            sizes,
            by_source=[(source, documents, again, 0) for source, documents, again in self.survey.by_source()],
        )
        self.months = [(month, number, 0) for month, number in self.survey.by_month()]
        large = warning_rules(statistics.counts["documents"]).large
        self.statistics = replace(statistics, suspicious=sum(n for size, n in sizes if size >= large))
        self._made = time.monotonic()
        self._took = self._made - start

    def is_fresh(self, stamp: tuple[str, ...]) -> bool:
        """Whether the counts can still be used, now that the index has this stamp."""
        age = time.monotonic() - self._made
        cached = CACHE_FACTOR * self._took if self._took > SLOW_SECONDS else 0.0
        return age < cached or (stamp == self._stamp and age < CACHE_SECONDS)


def _count(index: Index, sizes: Sequence[tuple[int, int]]) -> dict[str, int]:
    stats = index.stats()
    names = ("documents", "contents", "revoked", "clusters", "keys", "bytes")
    groups = sum(n for _, n in sizes)
    return {
        **{name: int(getattr(stats, name)) for name in names},
        "alone": int(stats.clusters) - groups,
        "groups": groups,
        "duplicates": sum((size - 1) * n for size, n in sizes),
    }


class IndexCollection:
    """An open index; the caller that opened it closes it."""

    kind: Literal["run", "index"] = "index"
    has_scores: bool = False
    sorts: tuple[str, ...] = survey.ORDERS
    document_columns: tuple[str, ...] = ("doc_id", "title", "date", "source", "tokens", "cluster_id", "url")
    document_sorts: tuple[str, ...] = ("added", "id", "date")

    def __init__(self, index: Index) -> None:
        self.index = index
        self.name = index.name
        judge = index.config.judge
        self.measure: str = "containment" if judge.measure == "containment" else "resemblance"
        self.judged_on: str = judge.on
        self.threshold: float | None = None if judge.on == "keys" else float(index.settings.threshold)
        self.shingle_size = index.settings.shingle_size
        self.learned = None if index.settings.verdict is None else index.settings
        self._looked, self._day = -math.inf, ""
        self._counting, self._starting = threading.Lock(), threading.Lock()
        self._counts: _Counts | None = None
        self._renewing: threading.Thread | None = None
        self._closed = False

    def close(self) -> None:
        """End what is done in the background; the index belongs to the caller."""
        self._closed = True
        if self._renewing is not None:
            self._renewing.join()

    def facts(self) -> CollectionFacts:
        """The name of the index, what it stores, its method with the threshold."""
        config = self.index.config
        method = config.method.name + ("" if self.threshold is None else f", {self.measure} ≥ {self.threshold:g}")
        return CollectionFacts("index", _short(self.name), f"stores {config.form}", method, self._last_added())

    def _last_added(self) -> str:
        """The day of the last document, looked up once a minute: every page says it, also if the database is away."""
        now = time.monotonic()
        if now - self._looked > LAST_ADDED_SECONDS:
            self._looked, self._day = now, ""
            last = document_list.page(self.index, DocumentFilter(order="-added", limit=1))[0]
            self._day = datetime.fromtimestamp(last[0].added, UTC).date().isoformat() if last else ""
        return self._day

    def statistics(self) -> CollectionStatistics:
        """Counts over the whole collection."""
        return self._current().statistics

    def months(self) -> Sequence[tuple[str, int, int]]:
        """(month, documents, 0) of the documents that have a date."""
        return self._current().months

    def documents(self, query: DocumentQuery) -> DocumentList:
        """A page of the documents that match a query; they are counted only if it has no filter."""
        wanted = self._filter(query)
        counted, large = self.counting() is None, self.by_beginning
        by_facts = (query.source or query.since or query.until) and not query.q and not wanted.order.endswith("id")
        if counted and large and by_facts:
            numbers, more = self._current().survey.documents(wanted)
            rows = document_list.numbered(self.index, numbers)
        else:
            rows, more = document_list.page(self.index, wanted, by_beginning=large)
        total = self.statistics().counts["documents"] if counted and not query.filters else None
        return DocumentList(total, more, tuple(map(_listed, rows)))

    def all_documents(self, query: DocumentQuery, limit: int) -> Iterator[DocumentRow]:
        """All documents that match a query, up to a limit."""
        found = document_list.every(self.index, self._filter(query), limit, by_beginning=self.by_beginning)
        return map(_listed, found)

    def _filter(self, query: DocumentQuery) -> DocumentFilter:
        absent = [name for name in ("kept", "kind", "cluster", "decided") if getattr(query, name)]
        absent += [name for name in ("low", "high", "least", "most") if getattr(query, name) is not None]
        sort = query.sort or "added"
        if sort.removeprefix("-") not in self.document_sorts:
            absent.append(f"sort={sort}")
        if absent:
            raise SettingsError(f"an index cannot filter or sort documents by {', '.join(absent)}; leave that out")
        days = [None if day is None else day.toordinal() for day in (query.since, query.until)]
        return DocumentFilter(
            q=query.q, source=query.source, since=days[0], until=days[1], order=sort, offset=query.offset,
            limit=query.limit,
        )  # fmt: skip

    def input_columns(self) -> list[str]:
        """An index stores no other columns."""
        return []

    def input_values(self, ids: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str | None]]:
        """An index stores no other columns."""
        return {}

    @property
    def by_beginning(self) -> bool:
        """Whether the index is so large that words are looked for at the beginning of ids and addresses only."""
        return survey.last_number(self.index) >= survey.LARGE

    def counting(self) -> int | None:
        """About how many documents a large index has, while its first counts are made in the background."""
        about = survey.last_number(self.index)
        if self._counts is not None or about < survey.LARGE:
            return None
        self._renew()
        return about

    def prepare(self) -> None:
        """Make later pages fast; a problem is reported by the page that meets it."""
        with suppress(RoughlyError):
            self.counting()

    def _current(self) -> _Counts:
        counts = self._counts
        if counts is not None and self.by_beginning:
            if not counts.is_fresh(survey.stamp(self.index)):
                self._renew()
            return counts
        with self._counting:
            if self._counts is None or not self._counts.is_fresh(survey.stamp(self.index)):
                self._counts = self._count()
            return self._counts

    def _count(self) -> _Counts:
        return _Counts(self.index, self._warning_rules, lambda: self._closed)

    def _renew(self) -> None:
        """Make the counts in the background, unless that is being done."""
        with self._starting:
            if not self._closed and (self._renewing is None or not self._renewing.is_alive()):
                self._renewing = threading.Thread(target=self._make, name="count index", daemon=True)
                self._renewing.start()

    def _make(self) -> None:
        with suppress(RoughlyError), self._counting:
            counts = self._count()
            self._counts = self._counts if self._closed else counts

    def _warning_rules(self, documents: int) -> WarningRules:
        return WarningRules(documents, self.threshold if self.measure == "resemblance" else None)

    def clusters(self, query: ClusterQuery) -> ClusterList:
        """Clusters that match a query. An index stores no scores and no kinds, so it cannot filter by those."""
        _refuse_unknown(query, self.sorts)
        current = self._current()
        rules = self._warning_rules(current.statistics.counts["documents"])
        least = max(query.least, rules.large if query.suspicion in ("large", "any") else 2)
        total, rows = current.survey.page(
            Filter(
                q=query.q, source=query.source, least=least, most=query.most, order=query.sort, offset=query.offset,
                limit=query.limit,
            )
        )  # fmt: skip
        return ClusterList(total, tuple(_row(row, rules) for row in rows))

    def cluster(self, cluster_id: str, offset: int = 0, limit: int = PAGE) -> ClusterDetail | None:
        """A cluster; its members are compared with its first document now."""
        number = cluster_number(cluster_id)
        row = None if number is None else cluster_pages.sized(self.index, number)
        if row is None or number is None:
            return None
        first = cluster_pages.members(self.index, number, 0, 1)[0]
        some = cluster_pages.members(self.index, number, offset, limit)
        row |= {name: first[name] for name in ("doc_id", "title", "url", "source")}
        scores = cluster_pages.measured(self.index, first["doc_id"], [one["doc_id"] for one in some])
        members = tuple(_member(one, first["doc_id"], scores.get(one["doc_id"])) for one in some)
        edges = cluster_pages.alike(self.index, [one["doc_id"] for one in some])
        rules = self._warning_rules(self.counting() or self.statistics().counts["documents"])
        return ClusterDetail(_row(row, rules), members, tuple(Edge(**one, kind=None, witness=False) for one in edges))

    def document(self, doc_id: str) -> DocumentRow | None:
        """A document by its id."""
        found = self.index.get(doc_id)
        return None if found is None else _document(found)

    def named(self, ids: Sequence[str]) -> list[DocumentRow]:
        """Those of these documents that there are."""
        return [found for name in dict.fromkeys(ids) if (found := self.document(name)) is not None]

    def at_url(self, url: str) -> list[DocumentRow]:
        """The documents with this address."""
        return [_document(entry) for entry in self.index.by_url(url)]

    def evidence(self, doc_id: str, limit: int = PAGE) -> list[Edge]:
        """The documents that it duplicates, according to a query now."""
        text = self.index.text(doc_id)
        entry = self.index.get(doc_id)
        if text is None or entry is None:
            return []
        document = {"doc_id": doc_id, "text": text, "date": entry.date, "url": entry.url, "source": entry.source}
        found = self.index.query(document, limit=limit + 1)
        return [
            Edge(doc_id, match.doc_id, match.resemblance, match.containment, match.contained_in, None, False)
            for match in found
            if match.doc_id != doc_id
        ][:limit]

    def pair(self, left: str, right: str) -> Edge | None:
        """The scores of two documents, from what is stored of them."""
        found = cluster_pages.measured(self.index, left, [right]).get(right)
        return None if found is None else Edge(left, right, *found, None, False)

    def neighbours(self, cluster_id: str, doc_id: str) -> tuple[Pair | None, Pair | None]:
        """The previous and the next pair, among the first documents of the cluster."""
        number = cluster_number(cluster_id)
        rows = [] if number is None else cluster_pages.members(self.index, number, 0, _NEIGHBOURS)
        names = [row["doc_id"] for row in rows]
        if doc_id not in names[1:]:
            return None, None
        at = names.index(doc_id)
        before = (names[at - 1], names[0]) if at > 1 else None
        return before, (names[at + 1], names[0]) if at + 1 < len(names) else None

    def texts(self, ids: Sequence[str]) -> dict[str, DocumentText]:
        """The stored texts."""
        stored = self.index.config.form
        why = f"this index stores {stored}, no texts" if stored != "text" else "it was revoked, or is not there"
        found = {}
        for doc_id in dict.fromkeys(ids):
            text = self.index.text(doc_id)
            found[doc_id] = DocumentText(text, "" if text is not None else why)
        return found

    def method(self) -> Any:
        """The method of the index."""
        return self.index.config.method


def _refuse_unknown(query: ClusterQuery, sorts: tuple[str, ...]) -> None:
    """Refuse filters and orders that an index does not have: to ignore them would give a wrong list."""
    given = [name for name in ("kind", "low", "high") if getattr(query, name) not in ("", None)]
    if query.suspicion not in ("", "any", "large"):
        given.append(f"suspicion={query.suspicion}")
    if query.sort not in sorts:
        given.append(f"sort={query.sort}")
    if given:
        raise SettingsError(
            f"an index stores no scores and no kinds of its clusters, so it cannot filter or sort by "
            f"{', '.join(given)}; leave that out, or look at the run"
        )


def _row(row: dict[str, Any], rules: WarningRules) -> ClusterRow:
    days = [None if row[name] is None else date.fromordinal(row[name]).isoformat() for name in ("first", "last")]
    known: dict[str, Any] = {"kept": None, "min_resemblance": None, "mean_resemblance": None, "pairs": None}
    return ClusterRow(
        cluster_id=str(row["cluster"]), removed_bytes=None, kinds=(), first=days[0], last=days[1],
        first_id=row["doc_id"], warnings=rules.warnings(row | known), **known,
        **{name: row[name] for name in ("size", "sources", "title", "url", "source")},
    )  # fmt: skip


def _member(
    row: dict[str, Any], first: str, scores: tuple[float | None, float | None, float | None] | None
) -> DocumentRow:
    resemblance, holds, held = scores or (None, None, None)  # of the first one with this one
    return DocumentRow(
        cluster_id=str(row["cluster"]), kept=None, kept_id=first, resemblance=resemblance, containment=held,
        contained_in=holds, revoked=bool(row["state"]),
        **{name: row[name] for name in ("doc_id", "title", "url", "date", "source", "tokens")},
    )  # fmt: skip


def _short(name: str) -> str:
    """The name of a database, without its address, user and password."""
    return name.rstrip("/").rpartition("/")[2] or name


def _listed(row: StoredDocument) -> DocumentRow:
    return DocumentRow(
        cluster_id=str(row.cluster), kept=None, kept_id=None, revoked=bool(row.state),
        **{name: getattr(row, name) for name in ("doc_id", "title", "url", "date", "source", "tokens")},
    )  # fmt: skip


def _document(entry: Entry) -> DocumentRow:
    return DocumentRow(
        cluster_id=str(entry.cluster_id), kept=None, kept_id=None, revoked=entry.state == "revoked",
        **{name: getattr(entry, name) for name in ("doc_id", "title", "url", "date", "source", "tokens")},
    )  # fmt: skip
