"""A finished run as a collection: SQL over its Parquet files, texts from its input."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from roughly import methods
from roughly.engines.local import run_browser
from roughly.engines.local.run_browser import Browsing
from roughly.engines.relational.summary import histogram
from roughly.errors import RoughlyError, SettingsError
from roughly.job.rereading import Input
from roughly.report.run_request import judging_of, requested_quality
from roughly.service.collection.collection_types import (
    PAGE,
    SORTS,
    ClusterDetail,
    ClusterList,
    ClusterQuery,
    ClusterRow,
    CollectionStatistics,
    DocumentRow,
    DocumentText,
    Edge,
    Pair,
)
from roughly.service.collection.warnings import WarningRules
from roughly.settings import Settings
from roughly.tools.judge.api import JudgedRun

NO_PLACES = "this run does not store the positions of its documents in the input; run dedupe again with this version"
CHANGED = "the input has changed since the run: another text is at this position"
IN_ARCHIVE = "it is not in the input of this run"


class RunCollection:
    """The folder of a finished run."""

    kind: Literal["run", "index"] = "run"
    has_scores: bool = True
    sorts: tuple[str, ...] = SORTS

    def __init__(self, folder: Path, inputs: Sequence[str] | None = None) -> None:
        self.run = JudgedRun.open(folder)
        self.run_json: dict[str, Any] = self.run.told
        self.name = folder.resolve().name or str(folder)
        quality = requested_quality(self.run_json)
        self.measure: str = quality.measure
        self.judged_on = judging_of(self.run_json).on
        self.threshold: float | None = None if quality.threshold is None else float(quality.threshold)
        self.shingle_size = int(self.run.settings["shingle_size"])
        self.tables = Browsing(folder, date_format=self.run_json["settings"].get("date_format"))
        self.inputs = None if inputs is None else list(inputs)
        self._input: Input | None = None
        self._why = ""
        self._opening = threading.Lock()
        self._statistics: CollectionStatistics | None = None
        on_resemblance = self.measure == "resemblance"
        self.rules = WarningRules(
            int(self.run_json["counts"]["documents"]),
            self.threshold if on_resemblance else None,
            self.run_json["settings"].get("pairs") == "all" or self.run_json["settings"].get("cluster") == "components",
        )

    def close(self) -> None:
        """Close the database and the input."""
        self.tables.close()
        if self._input is not None:
            self._input.close()

    # ------------------------------------------------------------------ the whole

    def statistics(self) -> CollectionStatistics:
        """Counts over the whole collection; computed once, since a run does not change."""
        if self._statistics is None:
            rows = self.tables.rows(run_browser.RESEMBLANCE)
            counts = {name: int(value) for name, value in self.run_json["counts"].items()}
            self._statistics = CollectionStatistics(
                counts,
                [(int(size), int(n)) for size, n in self.tables.tuples(run_browser.SIZES)],
                histogram(rows),
                [(kind, int(n)) for kind, n in self.tables.tuples(run_browser.KINDS)],
                [(row[0], int(row[1]), int(row[2]), int(row[3])) for row in self.tables.tuples(run_browser.SOURCES)],
                [(row[0], int(row[1]), int(row[2])) for row in self.tables.tuples(run_browser.MONTHS)],
                self.clusters(ClusterQuery(suspicion="any", limit=1)).total,
            )
        return self._statistics

    # ------------------------------------------------------------------ clusters

    def clusters(self, query: ClusterQuery) -> ClusterList:
        """Clusters that match a query."""
        where: list[tuple[str, list[Any]]] = [("size >= ?", [query.least])]
        if query.most is not None:
            where.append(("size <= ?", [query.most]))
        if query.low is not None:
            where.append(("min_resemblance >= ?", [query.low]))
        if query.high is not None:
            where.append(("min_resemblance <= ?", [query.high]))
        if query.kind:
            where.append(("list_contains(kinds, ?)", [query.kind]))
        if query.source:
            where.append(("cluster_id IN (SELECT cluster_id FROM members WHERE source = ?)", [query.source]))
        if query.suspicion:
            where.append(self.rules.conditions()[query.suspicion])
        if query.q:
            matches = "contains(lower(doc_id), ?) OR contains(lower(title), ?) OR contains(lower(url), ?)"
            where.append((f"cluster_id IN (SELECT cluster_id FROM members WHERE {matches})", [query.q.lower()] * 3))
        total, rows = self.tables.clusters(where, query.sort, query.offset, query.limit)
        return ClusterList(total, tuple(self._row(row) for row in rows))

    def cluster(self, cluster_id: str, offset: int = 0, limit: int = PAGE) -> ClusterDetail | None:
        """A cluster, a page of its members, and the verified pairs among those."""
        row = self.tables.cluster(cluster_id)
        if row is None:
            return None
        members = self.tables.members(cluster_id, offset, limit)
        edges = self.tables.edges(cluster_id, [member["doc_id"] for member in members], limit=4 * run_browser.MOST)
        return ClusterDetail(self._row(row), tuple(map(_document, members)), tuple(map(_edge, edges)))

    def _row(self, row: dict[str, Any]) -> ClusterRow:
        days = [None if row[name] is None else row[name].isoformat() for name in ("first", "last")]
        return ClusterRow(
            row["cluster_id"], row["size"], row["kept"], row["min_resemblance"], row["mean_resemblance"],
            row["sources"], row["removed_bytes"], row["pairs"], tuple(row["kinds"] or ()), row["title"], row["url"],
            row["source"], days[0], days[1], row["cluster_id"], self.rules.warnings(row),
        )  # fmt: skip

    # ------------------------------------------------------------------ documents

    def document(self, doc_id: str) -> DocumentRow | None:
        """A document by its id."""
        found = self.tables.documents([doc_id])
        return _document(found[0]) if found else None

    def at_url(self, url: str) -> list[DocumentRow]:
        """The documents with this address."""
        return [_document(row) for row in self.tables.at_url(url)]

    def evidence(self, doc_id: str, limit: int = PAGE) -> list[Edge]:
        """The verified pairs of a document."""
        return [_edge(row) for row in self.tables.evidence(doc_id, limit)]

    def pair(self, left: str, right: str) -> Edge | None:
        """What was verified about two documents."""
        found = self.tables.pair(left, right)
        return None if found is None else _edge(found)

    def neighbours(self, cluster_id: str, doc_id: str) -> tuple[Pair | None, Pair | None]:
        """The previous and the next pair, in the order of the cluster's page."""
        found = [pair if None not in pair else None for pair in self.tables.neighbours(cluster_id, doc_id)]
        return found[0], found[1]

    def texts(self, ids: Sequence[str]) -> dict[str, DocumentText]:
        """Texts from the input, each checked against its length when it was read."""
        names = list(dict.fromkeys(ids))
        if not self.tables.has_known:
            return dict.fromkeys(names, DocumentText(None, NO_PLACES))
        opened = self.open_input()
        if opened is None:
            return dict.fromkeys(names, DocumentText(None, self._why))
        rows = {row["doc_id"]: row for row in self.tables.documents(names)}
        places = {name: (row["part"], row["row"]) for name, row in rows.items() if row["part"] is not None}
        try:
            read = opened.records(places.values())
        except (RoughlyError, OSError) as problem:
            return dict.fromkeys(names, DocumentText(None, f"the input cannot be read: {problem}"))
        found = {}
        for name in names:
            if name not in places:
                found[name] = DocumentText(None, IN_ARCHIVE)
                continue
            record = read.get(places[name])
            same = record is not None and record.bytes == rows[name]["bytes"] and _is_named(name, record.doc_id)
            found[name] = DocumentText(record.text) if record is not None and same else DocumentText(None, CHANGED)
        return found

    def open_input(self) -> Input | None:
        """The input, opened once; None if it cannot be opened (`why_no_input` says why)."""
        with self._opening:
            if self._input is None:
                try:
                    self._input = Input(self.run.folder, self.run_json, self.inputs)
                except (RoughlyError, OSError) as problem:
                    self._why = str(problem)
            return self._input

    @property
    def why_no_input(self) -> str:
        """Why texts cannot be shown; empty if they can, or if the input was not opened yet."""
        return self._why

    def method(self) -> Any:
        """The method, created from the settings again."""
        if "key" in self.run_json.get("contents", {}):
            raise SettingsError("keys were made with a secret key, which the run does not store")
        settings = Settings.from_dict(self.run_json["settings"])
        if methods.needs_count(settings):
            raise SettingsError("keys were made with the lexicon of the collection, which the run does not store")
        return methods.make(settings)


def _document(row: dict[str, Any]) -> DocumentRow:
    return DocumentRow(
        row["doc_id"], row["cluster_id"], row["kept"], row["kept_id"], row["resemblance"], row["containment"],
        row["contained_in"], row["kind"], row["title"], row["url"], row["date"], row["source"], row["bytes"],
        row["tokens"], row["equal_to"],
    )  # fmt: skip


def _edge(row: dict[str, Any]) -> Edge:
    return Edge(
        row["left_id"], row["right_id"], row["resemblance"], row["containment"], row["contained_in"], row["kind"],
        row["witness"],
    )  # fmt: skip


def _is_named(name: str, found: str) -> bool:
    """Whether an id of the input is that of a document; dedupe numbers ids that occur twice (a, a#2)."""
    return name == found or name.startswith(f"{found}#")
