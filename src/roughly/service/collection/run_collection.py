"""The folder of a run as a collection: SQL over its Parquet files, texts from its input."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from roughly import methods
from roughly.engines.local import run_browser as browsing
from roughly.engines.local.run_browser import Browsing
from roughly.engines.relational.summary import histogram
from roughly.errors import RoughlyError, SettingsError
from roughly.job.rereading import Input
from roughly.report.run_request import asked as asked_of
from roughly.report.run_request import judged
from roughly.service.collection.collection_types import (
    PAGE,
    SORTS,
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
from roughly.settings import Settings
from roughly.tools.judge.api import JudgedRun

NO_PLACES = "this run does not say where its documents stand in the input; run dedupe again with this version"
CHANGED = "the input has changed since the run: another text stands where this one stood"
IN_ARCHIVE = "it is not in the input of this run"


class RunCollection:
    """A finished run."""

    kind: Literal["run", "index"] = "run"
    has_scores: bool = True
    sorts: tuple[str, ...] = SORTS

    def __init__(self, folder: Path, inputs: Sequence[str] | None = None) -> None:
        self.run = JudgedRun.open(folder)
        self.told: dict[str, Any] = self.run.told
        self.name = folder.resolve().name or str(folder)
        limits = asked_of(self.told)
        self.measure: str = limits.measure
        self.judged_on = judged(self.told).on
        self.threshold: float | None = None if limits.threshold is None else float(limits.threshold)
        self.shingle_size = int(self.run.settings["shingle_size"])
        self.tables = Browsing(folder, date_format=self.told["settings"].get("date_format"))
        self.inputs = None if inputs is None else list(inputs)
        self._input: Input | None = None
        self._why = ""
        self._opening = threading.Lock()
        self._figures: Figures | None = None
        on_resemblance = self.measure == "resemblance"
        self.rules = WarningContext(
            int(self.told["counts"]["documents"]),
            self.threshold if on_resemblance else None,
            self.told["settings"].get("pairs") == "all" or self.told["settings"].get("cluster") == "components",
        )

    def close(self) -> None:
        """Let go of the database and of the input."""
        self.tables.close()
        if self._input is not None:
            self._input.close()

    # ------------------------------------------------------------------ the whole

    def figures(self) -> Figures:
        """The whole in figures; counted once, since a run does not change."""
        if self._figures is None:
            rows = self.tables.rows(browsing.RESEMBLANCE)
            counts = {name: int(value) for name, value in self.told["counts"].items()}
            self._figures = Figures(
                counts,
                [(int(size), int(n)) for size, n in self.tables.tuples(browsing.SIZES)],
                histogram(rows),
                [(kind, int(n)) for kind, n in self.tables.tuples(browsing.KINDS)],
                [(row[0], int(row[1]), int(row[2]), int(row[3])) for row in self.tables.tuples(browsing.SOURCES)],
                [(row[0], int(row[1]), int(row[2])) for row in self.tables.tuples(browsing.MONTHS)],
                self.clusters(ClusterQuery(suspicion="any", limit=1)).total,
            )
        return self._figures

    # ------------------------------------------------------------------ clusters

    def clusters(self, asked: ClusterQuery) -> ClusterList:
        """Clusters that fulfil everything asked."""
        where: list[tuple[str, list[Any]]] = [("size >= ?", [asked.least])]
        if asked.most is not None:
            where.append(("size <= ?", [asked.most]))
        if asked.low is not None:
            where.append(("min_resemblance >= ?", [asked.low]))
        if asked.high is not None:
            where.append(("min_resemblance <= ?", [asked.high]))
        if asked.kind:
            where.append(("list_contains(kinds, ?)", [asked.kind]))
        if asked.source:
            where.append(("cluster_id IN (SELECT cluster_id FROM members WHERE source = ?)", [asked.source]))
        if asked.suspicion:
            where.append(self.rules.conditions()[asked.suspicion])
        if asked.q:
            held = "contains(lower(doc_id), ?) OR contains(lower(title), ?) OR contains(lower(url), ?)"
            where.append((f"cluster_id IN (SELECT cluster_id FROM members WHERE {held})", [asked.q.lower()] * 3))
        total, rows = self.tables.clusters(where, asked.sort, asked.offset, asked.limit)
        return ClusterList(total, tuple(self._row(row) for row in rows))

    def cluster(self, cluster_id: str, offset: int = 0, limit: int = PAGE) -> Cluster | None:
        """A cluster, some of its members, and the evidence among those."""
        row = self.tables.cluster(cluster_id)
        if row is None:
            return None
        members = self.tables.members(cluster_id, offset, limit)
        edges = self.tables.edges(cluster_id, [member["doc_id"] for member in members], limit=4 * browsing.MOST)
        return Cluster(self._row(row), tuple(map(_document, members)), tuple(map(_edge, edges)))

    def _row(self, row: dict[str, Any]) -> ClusterRow:
        days = [None if row[name] is None else row[name].isoformat() for name in ("first", "last")]
        return ClusterRow(
            row["cluster_id"], row["size"], row["kept"], row["min_resemblance"], row["mean_resemblance"],
            row["sources"], row["removed_bytes"], row["pairs"], tuple(row["kinds"] or ()), row["title"], row["url"],
            row["source"], days[0], days[1], row["cluster_id"], self.rules.of(row),
        )  # fmt: skip

    # ------------------------------------------------------------------ documents

    def document(self, doc_id: str) -> Document | None:
        """A document by its id."""
        found = self.tables.documents([doc_id])
        return _document(found[0]) if found else None

    def at_url(self, url: str) -> list[Document]:
        """The documents with this address."""
        return [_document(row) for row in self.tables.at_url(url)]

    def evidence(self, doc_id: str, limit: int = PAGE) -> list[Edge]:
        """Verified pairs that the document stands in."""
        return [_edge(row) for row in self.tables.evidence(doc_id, limit)]

    def pair(self, left: str, right: str) -> Edge | None:
        """What was verified about two documents."""
        found = self.tables.pair(left, right)
        return None if found is None else _edge(found)

    def neighbours(self, cluster_id: str, doc_id: str) -> tuple[Pair | None, Pair | None]:
        """The pairs before and after, in the order of the cluster's page."""
        found = [pair if None not in pair else None for pair in self.tables.neighbours(cluster_id, doc_id)]
        return found[0], found[1]

    def texts(self, ids: Sequence[str]) -> dict[str, Text]:
        """Texts from the input, each checked against its length when it was read."""
        asked = list(dict.fromkeys(ids))
        if not self.tables.has_known:
            return dict.fromkeys(asked, Text(None, NO_PLACES))
        opened = self.open_input()
        if opened is None:
            return dict.fromkeys(asked, Text(None, self._why))
        rows = {row["doc_id"]: row for row in self.tables.documents(asked)}
        places = {name: (row["part"], row["row"]) for name, row in rows.items() if row["part"] is not None}
        try:
            read = opened.records(places.values())
        except (RoughlyError, OSError) as problem:
            return dict.fromkeys(asked, Text(None, f"the input cannot be read: {problem}"))
        found = {}
        for name in asked:
            if name not in places:
                found[name] = Text(None, IN_ARCHIVE)
                continue
            record = read.get(places[name])
            same = record is not None and record.bytes == rows[name]["bytes"] and _is_named(name, record.doc_id)
            found[name] = Text(record.text) if record is not None and same else Text(None, CHANGED)
        return found

    def open_input(self) -> Input | None:
        """The input, opened once; None where it cannot be had (`why_no_input` says why)."""
        with self._opening:
            if self._input is None:
                try:
                    self._input = Input(self.run.folder, self.told, self.inputs)
                except (RoughlyError, OSError) as problem:
                    self._why = str(problem)
            return self._input

    @property
    def why_no_input(self) -> str:
        """Why texts cannot be shown; empty where they can, or nobody asked."""
        return self._why

    def method(self) -> Any:
        """The method, made of the settings again."""
        if "key" in self.told.get("contents", {}):
            raise SettingsError("keys were made with a secret key, which the run does not hold")
        settings = Settings.from_dict(self.told["settings"])
        if methods.needs_count(settings):
            raise SettingsError("keys were made with the lexicon of the collection, which the run does not hold")
        return methods.make(settings)


def _document(row: dict[str, Any]) -> Document:
    return Document(
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
    """Whether a document of the input is the one meant; dedupe may have numbered ids that occur twice (a, a#2)."""
    return name == found or name.startswith(f"{found}#")
