"""An index as a collection. It changes while it is looked at, and counting it takes seconds where it is large.

So a count of the whole is kept while nothing changes, and where it took long in any case for ten times as long: a small
index is shown as it is, one of a million documents as it was up to half a minute ago.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Literal

from roughly.errors import SettingsError
from roughly.index import Index, survey
from roughly.index import cluster_pages as browsing
from roughly.index.answers import Entry
from roughly.index.survey import Filter, Survey
from roughly.service.collection.collection_types import (
    PAGE,
    Cluster,
    ClusterList,
    ClusterQuery,
    ClusterRow,
    Document,
    Edge,
    Figures,
    Pair,
    Text,
)
from roughly.service.collection.warnings import WarningContext

LONG_SECONDS, KEPT = 0.1, 10
"""From where on counting takes long; how many times as long the count is kept."""
KEPT_SECONDS = 600
"""How long it is kept where nothing seems to have changed."""
_NEAR = 500  # documents of a cluster that one can step through


class _Counted:
    """An index counted at one moment."""

    def __init__(self, index: Index, rules: Callable[[int], WarningContext]) -> None:
        start = time.monotonic()
        self._stamp = survey.stamp(index)  # before the rest: what comes meanwhile is counted again
        self.survey = Survey(index)
        sizes = self.survey.sizes()
        self.figures = Figures(
            _counts(index, sizes),
            sizes,
            by_source=[(source, documents, again, 0) for source, documents, again in browsing.by_source(index)],
            months=[(month, number, 0) for month, number in browsing.by_month(index)],
        )
        large = rules(self.figures.counts["documents"]).large
        self.figures = replace(self.figures, suspicious=sum(n for size, n in sizes if size >= large))
        self._made = time.monotonic()
        self._took = self._made - start

    def holds(self, stamp: tuple[str, ...]) -> bool:
        """Whether it is good enough, now that the index has this stamp."""
        age = time.monotonic() - self._made
        patience = KEPT * self._took if self._took > LONG_SECONDS else 0.0
        return age < patience or (stamp == self._stamp and age < KEPT_SECONDS)


def _counts(index: Index, sizes: Sequence[tuple[int, int]]) -> dict[str, int]:
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
    """An index that is open; whoever opened it closes it."""

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
        self._counted: _Counted | None = None

    def close(self) -> None:
        """Nothing is held but the index."""

    def figures(self) -> Figures:
        """The whole in figures."""
        return self._count().figures

    def _count(self) -> _Counted:
        with self._counting:
            if self._counted is None or not self._counted.holds(survey.stamp(self.index)):
                self._counted = _Counted(self.index, self._rules)
            return self._counted

    @property
    def rules(self) -> WarningContext:
        """What warnings go by."""
        return self._rules(self.figures().counts["documents"])

    def _rules(self, documents: int) -> WarningContext:
        return WarningContext(documents, self.threshold if self.measure == "resemblance" else None)

    def clusters(self, asked: ClusterQuery) -> ClusterList:
        """Clusters that fulfil what an index can tell of them: it stores no scores and no kinds."""
        _refuse_unknown(asked, self.sorts)
        counted = self._count()
        rules = self._rules(counted.figures.counts["documents"])
        least = max(asked.least, rules.large if asked.suspicion in ("large", "any") else 2)
        total, rows = counted.survey.page(
            Filter(
                q=asked.q, source=asked.source, least=least, most=asked.most, order=asked.sort, offset=asked.offset,
                limit=asked.limit,
            )
        )  # fmt: skip
        return ClusterList(total, tuple(_row(row, rules) for row in rows))

    def cluster(self, cluster_id: str, offset: int = 0, limit: int = PAGE) -> Cluster | None:
        """A cluster, measured against its first document now."""
        number = _number(cluster_id)
        row = None if number is None else browsing.sized(self.index, number)
        if row is None or number is None:
            return None
        first = browsing.members(self.index, number, 0, 1)[0]
        some = browsing.members(self.index, number, offset, limit)
        row |= {name: first[name] for name in ("doc_id", "title", "url", "source")}
        scores = browsing.measured(self.index, first["doc_id"], [one["doc_id"] for one in some])
        members = tuple(_member(one, first["doc_id"], scores.get(one["doc_id"])) for one in some)
        edges = browsing.alike(self.index, [one["doc_id"] for one in some])
        return Cluster(_row(row, self.rules), members, tuple(Edge(**one, kind=None, witness=False) for one in edges))

    def document(self, doc_id: str) -> Document | None:
        """A document by its id."""
        found = self.index.get(doc_id)
        return None if found is None else _document(found)

    def at_url(self, url: str) -> list[Document]:
        """The documents with this address."""
        return [_document(entry) for entry in self.index.by_url(url)]

    def evidence(self, doc_id: str, limit: int = PAGE) -> list[Edge]:
        """The documents that it is a duplicate of, as the index answers now."""
        text = self.index.text(doc_id)
        entry = self.index.get(doc_id)
        if text is None or entry is None:
            return []
        asked = {"doc_id": doc_id, "text": text, "date": entry.date, "url": entry.url, "source": entry.source}
        found = self.index.query(asked, limit=limit + 1)
        return [
            Edge(doc_id, match.doc_id, match.resemblance, match.containment, match.contained_in, None, False)
            for match in found
            if match.doc_id != doc_id
        ][:limit]

    def pair(self, left: str, right: str) -> Edge | None:
        """What two documents have in common, measured on what is stored."""
        found = browsing.measured(self.index, left, [right]).get(right)
        return None if found is None else Edge(left, right, *found, None, False)

    def neighbours(self, cluster_id: str, doc_id: str) -> tuple[Pair | None, Pair | None]:
        """The pairs before and after, among the first documents of the cluster."""
        number = _number(cluster_id)
        rows = [] if number is None else browsing.members(self.index, number, 0, _NEAR)
        names = [row["doc_id"] for row in rows]
        if doc_id not in names[1:]:
            return None, None
        at = names.index(doc_id)
        before = (names[at - 1], names[0]) if at > 1 else None
        return before, (names[at + 1], names[0]) if at + 1 < len(names) else None

    def texts(self, ids: Sequence[str]) -> dict[str, Text]:
        """The stored texts."""
        stored = self.index.config.store
        why = f"this index stores {stored}, no texts" if stored != "text" else "it was revoked, or is not there"
        found = {}
        for doc_id in dict.fromkeys(ids):
            text = self.index.text(doc_id)
            found[doc_id] = Text(text, "" if text is not None else why)
        return found

    def method(self) -> Any:
        """The method it is bound to."""
        return self.index.config.method


def _refuse_unknown(asked: ClusterQuery, sorts: tuple[str, ...]) -> None:
    """Refuse what an index cannot filter or sort by: a list that ignored it would be a wrong answer."""
    given = [name for name in ("kind", "low", "high") if getattr(asked, name) not in ("", None)]
    if asked.suspicion not in ("", "any", "large"):
        given.append(f"suspicion={asked.suspicion}")
    if asked.sort not in sorts:
        given.append(f"sort={asked.sort}")
    if given:
        raise SettingsError(
            f"an index stores no scores and no kinds of its clusters, so it cannot go by {', '.join(given)}; "
            "leave that out, or look at the run"
        )


def _number(cluster_id: str) -> int | None:
    return int(cluster_id) if cluster_id.isascii() and cluster_id.isdigit() and len(cluster_id) < 19 else None


def _row(row: dict[str, Any], rules: WarningContext) -> ClusterRow:
    days = [None if row[name] is None else date.fromordinal(row[name]).isoformat() for name in ("first", "last")]
    known: dict[str, Any] = {"kept": None, "min_resemblance": None, "mean_resemblance": None, "pairs": None}
    return ClusterRow(
        str(row["cluster"]), row["size"], None, None, None, row["sources"], None, None, (), row["title"], row["url"],
        row["source"], days[0], days[1], row["doc_id"], rules.of(row | known),
    )  # fmt: skip


def _member(
    row: dict[str, Any], first: str, scores: tuple[float | None, float | None, float | None] | None
) -> Document:
    values = (None, None, None) if scores is None else (scores[0], scores[2], scores[1])  # of this one in the first
    return Document(
        row["doc_id"], str(row["cluster"]), None, first, *values, None, row["title"], row["url"], row["date"],
        row["source"], None, row["tokens"], None, bool(row["state"]),
    )  # fmt: skip


def _document(entry: Entry) -> Document:
    return Document(
        entry.doc_id, str(entry.cluster_id), None, None, None, None, None, None, entry.title, entry.url, entry.date,
        entry.source, None, entry.tokens, None, entry.state == "revoked",
    )  # fmt: skip
