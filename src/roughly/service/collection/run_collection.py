"""A finished run as a collection: SQL over its Parquet files, texts from its input."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from roughly import methods
from roughly.engines.local import run_browser
from roughly.engines.local.run_browser import Browsing, Condition
from roughly.engines.relational.summary import histogram
from roughly.errors import InputError, RoughlyError, SettingsError
from roughly.job.rereading import Input
from roughly.model import WRITTEN
from roughly.report.run_request import judging_of, requested_quality
from roughly.report.visible import label
from roughly.report.write import read_report
from roughly.service.collection.collection_types import (
    SORTS,
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
)
from roughly.service.collection.document_query import SORTS as DOCUMENT_SORTS
from roughly.service.collection.document_query import DocumentQuery
from roughly.service.collection.input_columns import column_names, read_columns
from roughly.service.collection.page_limits import PAGE
from roughly.service.collection.warnings import WarningRules
from roughly.settings import Settings
from roughly.tools.decide.api import Decisions
from roughly.tools.judge.api import JudgedRun

NO_PLACES = "this run does not store the positions of its documents in the input; run dedupe again with this version"
CHANGED = "the input has changed since the run: another text is at this position"
UNCOUNTED = 2_000_000
"""In a larger run, documents with certain words in their names are listed and not counted."""
IN_ARCHIVE = "it is not in the input of this run"


class RunCollection:
    """The folder of a finished run."""

    kind: Literal["run", "index"] = "run"
    has_scores: bool = True
    sorts: tuple[str, ...] = SORTS
    document_columns: tuple[str, ...] = (
        "doc_id", "title", "kept", "resemblance", "kind", "date", "source", "tokens", "kept_id", "cluster_id",
        "containment", "contained_in", "url", "bytes", "equal_to", "decided",
    )  # fmt: skip
    document_sorts: tuple[str, ...] = DOCUMENT_SORTS
    by_beginning: bool = False

    def __init__(self, folder: Path, inputs: Sequence[str] | None = None) -> None:
        self.run = JudgedRun.open(folder)
        self.run_json: dict[str, Any] = self.run.run_json
        self.name = folder.resolve().name or str(folder)
        quality = requested_quality(self.run_json)
        self.measure: str = quality.measure
        self.judged_on = judging_of(self.run_json).on
        self.threshold: float | None = None if quality.threshold is None else float(quality.threshold)
        self.shingle_size = int(self.run.settings["shingle_size"])
        has_verdict = self.run_json["settings"].get("verdict") is not None
        self.learned = Settings.from_dict(self.run_json["settings"]) if has_verdict else None
        self.tables = Browsing(folder, date_format=self.run_json["settings"].get("date_format"))
        self.inputs = None if inputs is None else list(inputs)
        self.decisions = Decisions(folder, inputs=self.inputs, tables=self.tables)
        self._counted: dict[DocumentQuery, int] = {}
        self._months: list[tuple[str, int, int]] | None = None
        self._input: Input | None = None
        self._why = ""
        self.pair_texts: dict[tuple[str, str], tuple[str, str]] = {}  # by digests, of pairs that are judged next
        self._opening = threading.Lock()
        self._statistics: CollectionStatistics | None = None
        on_resemblance = self.measure == "resemblance"
        self.rules = WarningRules(
            int(self.run_json["counts"]["documents"]),
            self.threshold if on_resemblance else None,
            self.run_json["settings"].get("pairs") == "all" or self.run_json["settings"].get("cluster") == "components",
        )

        self.tables.lists_pairs = self.rules.every_pair

    def close(self) -> None:
        """Close the database and the input."""
        self.tables.close()
        if self._input is not None:
            self._input.close()

    # ------------------------------------------------------------------ the whole

    def counting(self) -> int | None:
        """The counts of a run are stored."""
        return None

    def facts(self) -> CollectionFacts:
        """The name of the run, its input, its method with the threshold, and the day it was made."""
        inputs = [str(name) for name in self.run_json.get("inputs", ())]
        names = [Path(name).name if name.startswith("/") else name for name in inputs]
        given = ", ".join(label(name, 60) for name in names[:2]) + (
            f" and {len(names) - 2:,} more" if names[2:] else ""
        )
        method = str(self.run_json["settings"].get("method", ""))
        if self.threshold is not None:
            method += f", {self.measure} ≥ {self.threshold:g}"
        made = datetime.fromtimestamp((self.run.folder / "run.json").stat().st_mtime, UTC).date().isoformat()
        return CollectionFacts("run", self.name, given, method, made)

    def prepare(self) -> None:
        """Make later pages fast; a problem is reported by the page that meets it."""
        with suppress(RoughlyError, OSError):
            self.tables.prepare()

    def statistics(self) -> CollectionStatistics:
        """Counts over the whole collection; computed once, since a run does not change."""
        if self._statistics is None:
            counts = {name: int(value) for name, value in self.run_json["counts"].items()}
            suspicious = self.tables.clusters([self.rules.conditions()["any"]], "id", 0, 0)[0]
            self._statistics = self._reported(counts, suspicious) or CollectionStatistics(
                counts,
                [(int(size), int(n)) for size, n in self.tables.tuples(run_browser.SIZES)],
                histogram(self.tables.rows(run_browser.RESEMBLANCE)),
                [(kind, int(n)) for kind, n in self.tables.tuples(run_browser.KINDS)],
                [(row[0], int(row[1]), int(row[2]), int(row[3])) for row in self.tables.tuples(run_browser.SOURCES)],
                suspicious,
            )
        return self._statistics

    def _reported(self, counts: dict[str, int], suspicious: int) -> CollectionStatistics | None:
        """The same from the report, which counted it all; None if there is none of this run."""
        try:
            found = read_report(self.run.folder / "report.html")
        except (RoughlyError, OSError):
            return None
        if found.run.get("counts") != self.run_json["counts"]:
            return None
        return CollectionStatistics(
            counts, found.cluster_sizes, found.resemblance, found.kinds, found.by_source, suspicious
        )

    def months(self) -> Sequence[tuple[str, int, int]]:
        """(month, documents, removed ones); computed once."""
        if self._months is None:
            self._months = [(row[0], int(row[1]), int(row[2])) for row in self.tables.tuples(run_browser.MONTHS)]
        return self._months

    # ------------------------------------------------------------------ clusters

    def clusters(self, query: ClusterQuery) -> ClusterList:
        """Clusters that match a query."""
        where: list[Condition] = [("size >= ?", [query.least])]
        if query.most is not None:
            where.append(("size <= ?", [query.most]))
        if query.low is not None:
            where.append(("min_resemblance >= ?", [query.low]))
        if query.high is not None:
            where.append(("min_resemblance <= ?", [query.high]))
        if query.kind:
            where.append(("cluster_id IN (SELECT cluster_id FROM members WHERE kind = ?)", [query.kind]))
        if query.source:
            where.append(("cluster_id IN (SELECT cluster_id FROM members WHERE source = ?)", [query.source]))
        if query.suspicion:
            where.append(self.rules.conditions()[query.suspicion])
        if query.q:
            matches, given = _names_with(query.q)
            where.append((f"cluster_id IN (SELECT cluster_id FROM members WHERE {matches})", given))
        total, rows = self.tables.clusters(where, query.sort, query.offset, query.limit)
        return ClusterList(total, tuple(self._row(row) for row in rows))

    def cluster(self, cluster_id: str, offset: int = 0, limit: int = PAGE) -> ClusterDetail | None:
        """A cluster, a page of its members, and the verified pairs among those."""
        row = self.tables.cluster(cluster_id)
        if row is None:
            return None
        members = self.tables.members(cluster_id, offset, limit)
        edges = self.tables.edges([member["doc_id"] for member in members], limit=4 * run_browser.MOST)
        return ClusterDetail(self._row(row), tuple(map(_document, members)), tuple(map(_edge, edges)))

    def _row(self, row: dict[str, Any]) -> ClusterRow:
        days = [None if row[name] is None else row[name].isoformat() for name in ("first", "last")]
        return ClusterRow(
            **{name: row[name] for name in (*WRITTEN["clusters"].schema.names, "pairs", "title", "url", "source")},
            kinds=tuple(row["kinds"] or ()), first=days[0], last=days[1], first_id=row["cluster_id"],
            warnings=self.rules.warnings(row), empty=row["longest"] == 0,
        )  # fmt: skip

    # ------------------------------------------------------------------ documents

    def documents(self, query: DocumentQuery) -> DocumentList:
        """A page of the documents that match a query."""
        where = self._conditions(query)
        rows = self.tables.listed(where, _order(query.sort), query.offset, query.limit)
        total = int(self.run_json["counts"]["documents"])
        if query.q and total > UNCOUNTED:  # to look at every name takes seconds
            return DocumentList(None, len(rows) == query.limit, tuple(map(_document, rows)))
        if query.filters:
            plain = replace(query, sort="", offset=0, limit=1)
            if query.decided or plain not in self._counted:
                self._counted = {**dict(list(self._counted.items())[-_COUNTED:]), plain: self.tables.count(where)}
            total = self._counted[plain]
        return DocumentList(total, total > query.offset + len(rows), tuple(map(_document, rows)))

    def all_documents(self, query: DocumentQuery, limit: int) -> Iterator[DocumentRow]:
        """All documents that match a query, up to a limit."""
        return map(_document, self.tables.all_listed(self._conditions(query), _order(query.sort), limit))

    def _conditions(self, query: DocumentQuery) -> list[Condition]:
        where: list[Condition] = []
        if query.q:
            where.append(_names_with(query.q))
        for name in ("kind", "source"):
            if getattr(query, name):
                where.append((f"{name} = ?", [getattr(query, name)]))
        if query.cluster:
            where.append(("cluster_id = ?", [query.cluster]))
        if query.kept:
            where.append(("kept" if query.kept == "yes" else "NOT kept", []))
        if query.low is not None or query.high is not None:
            where.append(("NOT kept", []))
        for sql, value in (
            ("resemblance >= ?", query.low), ("resemblance <= ?" if query.high == 1 else "resemblance < ?", query.high),
            ("tokens >= ?", query.least), ("tokens <= ?", query.most), ("day >= ?", query.since),
            ("day <= ?", query.until),
        ):  # fmt: skip
            if value is not None:
                where.append((sql, [value]))
        if query.decided:
            named = sorted({name for one in self.decisions.standing for name in one.ids})
            where.append(("doc_id IN (SELECT unnest(?::VARCHAR[]))", [named]))
        return where

    def input_columns(self) -> list[str]:
        """The columns of the input; empty if it has none or cannot be read."""
        opened = self.open_input()
        return [] if opened is None or not self.tables.has_known else column_names(opened)

    def input_values(self, ids: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str | None]]:
        """The values of columns of the input, by document."""
        if not names or self.open_input() is None:
            return {}
        rows = {row["doc_id"]: row for row in self.tables.documents(list(ids)) if row["part"] is not None}
        places = {name: (row["part"], row["row"]) for name, row in rows.items()}
        try:
            found = read_columns(self.run.folder, self.run_json, self.inputs, names, places.values())
        except (RoughlyError, OSError):
            return {}
        return {name: found[place] for name, place in places.items()}

    def document(self, doc_id: str) -> DocumentRow | None:
        """A document by its id."""
        found = self.tables.documents([doc_id])
        return _document(found[0]) if found else None

    def named(self, ids: Sequence[str]) -> list[DocumentRow]:
        """Those of these documents that there are."""
        return [_document(row) for row in self.tables.documents(list(ids))]

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
                    if not self.inputs:
                        refuse_foreign_paths(self.run.folder)
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


_ORDER_COLUMNS = {
    "id": "doc_id", "words": "tokens", "cluster": "cluster_id", "date": "day", "containment": "containment",
}  # fmt: skip
_COUNTED = 50  # totals that are remembered


def _names_with(words: str) -> Condition:
    """Documents with these words in id, title or address, in either case.

    ILIKE takes three quarters of the time of `contains`, but `%` and `_` mean something to it.
    """
    names = ("doc_id", "title", "url")
    if "%" in words or "_" in words:
        return " OR ".join(f"contains(lower({name}), ?)" for name in names), [words.lower()] * len(names)
    return " OR ".join(f"{name} ILIKE ?" for name in names), [f"%{words}%"] * len(names)


def _order(sort: str) -> str:
    name = sort.removeprefix("-") or "id"
    falls = " DESC" if sort.startswith("-") else ""
    column = _ORDER_COLUMNS.get(name, name)
    if name in ("resemblance", "containment"):  # of kept documents it says nothing
        return f"kept, {column}{falls} NULLS LAST, doc_id"
    return f"doc_id{falls}" if column == "doc_id" else f"{column}{falls} NULLS LAST, doc_id"


def refuse_foreign_paths(folder: Path) -> None:
    """Refuse the input that run.json names if someone else may have written run.json.

    Otherwise a run of another user could name any file that the service can read, and the service would show it; so
    could one that names its own folder, where a link can take the place of a file.
    """
    about = (folder / "run.json").stat()
    ours = not hasattr(os, "geteuid") or about.st_uid in (os.geteuid(), 0)
    if not ours or about.st_mode & stat.S_IWOTH:
        who = "another user wrote" if not ours else "every user can change"
        name = folder.resolve().name
        raise InputError(f"{who} {name}/run.json, so the input that it names is not read; name it with --input")


def _document(row: dict[str, Any]) -> DocumentRow:
    return DocumentRow(**{field.name: row[field.name] for field in fields(DocumentRow) if field.name in row})


def _edge(row: dict[str, Any]) -> Edge:
    return Edge(**{field.name: row[field.name] for field in fields(Edge)})


def _is_named(name: str, found: str) -> bool:
    """Whether an id of the input is that of a document; dedupe numbers ids that occur twice (a, a#2)."""
    return name == found or name.startswith(f"{found}#")
