"""An index as a collection. It changes while it is read, and counting a large one takes seconds.

So counts are cached while nothing changes; counts that took long are cached for ten times as long in any case. The
counts of a small index are current, those of a million documents up to half a minute old.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Literal

from roughly.errors import SettingsError
from roughly.index import Index, cluster_pages, survey
from roughly.index.answers import Entry
from roughly.index.survey import Filter, Survey
from roughly.service.collection.collection_types import (
    PAGE,
    ClusterDetail,
    ClusterList,
    ClusterQuery,
    ClusterRow,
    CollectionStatistics,
    DocumentRow,
    DocumentText,
    Edge,
    Pair,
    cluster_number,
)
from roughly.service.collection.warnings import WarningRules

SLOW_SECONDS, CACHE_FACTOR = 0.1, 10
"""Counting that takes longer is slow; slow counts are cached so many times as long as they took."""
CACHE_SECONDS = 600
"""The longest time that counts are cached if nothing seems to have changed."""
_NEIGHBOURS = 500  # documents of a cluster that one can step through


class _Counts:
    """The counts of an index at one moment."""

    def __init__(self, index: Index, warning_rules: Callable[[int], WarningRules]) -> None:
        start = time.monotonic()
        self._stamp = survey.stamp(index)  # before the rest, so that changes in the meantime are noticed
        self.survey = Survey(index)
        sizes = self.survey.sizes()
        statistics = CollectionStatistics(
            _count(index, sizes),
            sizes,
            by_source=[(source, documents, again, 0) for source, documents, again in cluster_pages.by_source(index)],
            months=[(month, number, 0) for month, number in cluster_pages.by_month(index)],
        )
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

    def __init__(self, index: Index) -> None:
        self.index = index
        self.name = index.name
        judge = index.config.judge
        self.measure: str = "containment" if judge.measure == "containment" else "resemblance"
        self.judged_on: str = judge.on
        self.threshold: float | None = None if judge.on == "keys" else float(index.settings.threshold)
        self.shingle_size = index.settings.shingle_size
        self._counting = threading.Lock()
        self._counts: _Counts | None = None

    def close(self) -> None:
        """Nothing to close: the index belongs to the caller."""

    def statistics(self) -> CollectionStatistics:
        """Counts over the whole collection."""
        return self._current().statistics

    def _current(self) -> _Counts:
        with self._counting:
            if self._counts is None or not self._counts.is_fresh(survey.stamp(self.index)):
                self._counts = _Counts(self.index, self._warning_rules)
            return self._counts

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
        rules = self._warning_rules(self.statistics().counts["documents"])
        return ClusterDetail(_row(row, rules), members, tuple(Edge(**one, kind=None, witness=False) for one in edges))

    def document(self, doc_id: str) -> DocumentRow | None:
        """A document by its id."""
        found = self.index.get(doc_id)
        return None if found is None else _document(found)

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
        stored = self.index.config.store
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
        str(row["cluster"]), row["size"], None, None, None, row["sources"], None, None, (), row["title"], row["url"],
        row["source"], days[0], days[1], row["doc_id"], rules.warnings(row | known),
    )  # fmt: skip


def _member(
    row: dict[str, Any], first: str, scores: tuple[float | None, float | None, float | None] | None
) -> DocumentRow:
    values = (None, None, None) if scores is None else (scores[0], scores[2], scores[1])  # of this one in the first
    return DocumentRow(
        row["doc_id"], str(row["cluster"]), None, first, *values, None, row["title"], row["url"], row["date"],
        row["source"], None, row["tokens"], None, bool(row["state"]),
    )  # fmt: skip


def _document(entry: Entry) -> DocumentRow:
    return DocumentRow(
        entry.doc_id, str(entry.cluster_id), None, None, None, None, None, None, entry.title, entry.url, entry.date,
        entry.source, None, entry.tokens, None, entry.state == "revoked",
    )  # fmt: skip
