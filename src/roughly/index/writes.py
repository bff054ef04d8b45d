"""Documents added to an index and removed from it, many in one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, delete, select, update

from roughly.index.answers import Added, Match
from roughly.index.content_writes import drop_orphans, put_contents, revoke_contents
from roughly.index.index_config import IndexConfig
from roughly.index.matching.candidate_finder import QueryKeys
from roughly.index.matching.match_verdicts import best_first, first_of_each
from roughly.index.matching.matcher import Matcher, query_for
from roughly.index.matching.scored_answers import key_count, match_of, measure_of, scores_of
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.search import search_index
from roughly.index.storage import hot_keys
from roughly.index.storage.contents import KnownContent, find_by_digest, set_clusters, take_numbers
from roughly.index.storage.document_rows import DocumentRow, earliest_documents, select_documents
from roughly.index.storage.schema import DOCUMENTS, LIVE, REVOKED
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
_FACTS = ("bytes", "day", "title", "url", "date", "source")
DOCUMENT_COLUMNS = ("document", "doc_id", "content", "added", *_FACTS)
_TITLE = DOCUMENT_COLUMNS.index("title")
_AT_ONCE = 10_000


def facts_of(signed: SignedBatch) -> list[tuple[Any, ...]]:
    """The columns `_FACTS` of each document."""
    return list(zip(signed.bytes.tolist(), signed.days, *(signed.column(name) for name in _FACTS[2:]), strict=True))


class DocumentWriter:
    """Adds one batch of documents whose ids differ.

    Replaced texts are removed first; then each new text is compared with all texts that were added before it, also
    those of the same batch.
    """

    def __init__(self, store: IndexStore, connection: Connection, config: IndexConfig, signed: SignedBatch) -> None:
        self.store, self.connection, self.config, self.signed = store, connection, config, signed
        self.ids: list[str] = signed.batch.column("doc_id").to_pylist()
        self.digests = list(zip(signed.hi.tolist(), signed.lo.tolist(), strict=True))

    def run(self) -> list[Added]:
        """Add them."""
        columns = [DOCUMENTS.c[name] for name in ("doc_id", "document", "content", *_FACTS)]
        before = {row[0]: row[1:] for row in self.store.fetch(self.connection, columns, DOCUMENTS.c.doc_id, self.ids)}
        known = find_by_digest(self.store, self.connection, self.signed.hi, self.signed.lo)
        new = [i for i, digest in enumerate(self.digests) if digest not in known]
        firsts = {self.digests[i]: i for i in reversed(new)}
        rows = np.array(sorted(firsts.values()), np.int64)
        self.first_new = take_numbers(self.connection, "next_content", len(rows))
        numbers = np.arange(self.first_new, self.first_new + len(rows))
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            known[self.digests[row]] = KnownContent(number, number, LIVE)
        content_of = [known[digest].content for digest in self.digests]
        statuses = self._write_documents(before, content_of)
        replaced = {before[d][1] for d, s in zip(self.ids, statuses, strict=True) if s == "updated"}
        if len(rows):
            put_contents(self.store, self.connection, self.config, self.signed, rows, numbers)
        drop_orphans(self.store, self.connection, self.config, np.array(sorted(replaced), np.int64))
        joined = self._join_clusters(rows, numbers)
        return self._results(statuses, content_of, known, joined)

    def _write_documents(self, before: dict[str, Any], content_of: list[int]) -> list[Any]:
        """Insert or update the rows of documents; returns the status of each."""
        now, statuses, changed, fresh = int(time.time()), [], [], []
        for doc_id, content, facts in zip(self.ids, content_of, facts_of(self.signed), strict=True):
            old = before.get(doc_id)
            if old is None:
                statuses.append("added")
                fresh.append((doc_id, content, now, *facts))
            elif (old[1], *old[2:]) == (content, *facts):
                statuses.append("unchanged")
            else:
                statuses.append("updated")
                changed.append((old[0], content, now, *facts))
        first = take_numbers(self.connection, "next_document", len(fresh))
        numbered = [(first + at, *row) for at, row in enumerate(fresh)]
        if numbered:
            self.store.insert(self.connection, "documents", DOCUMENT_COLUMNS, numbered)
            search_index.add_titles(self.store, self.connection, [(row[0], row[_TITLE]) for row in numbered])
        if changed:
            renamed = np.array([row[0] for row in changed], np.int64)
            search_index.drop_titles(self.store, self.connection, renamed)
            names = ("content", "added", *_FACTS)
            self.connection.execute(
                update(DOCUMENTS)
                .where(DOCUMENTS.c.document == bindparam("b_document"))
                .values({name: bindparam(f"b_{name}") for name in names}),
                [dict(zip(("b_document", *(f"b_{n}" for n in names)), row, strict=True)) for row in changed],
            )
            search_index.add_titles(self.store, self.connection, [(row[0], row[_TITLE - 1]) for row in changed])
        return statuses

    def _join_clusters(self, rows: Ints, numbers: Ints) -> dict[int, tuple[Match | None, int]]:
        """Put each new text that has a duplicate into the cluster of the best; (match, cluster) by content."""
        if self.config.method.equality or not len(rows):
            return {}
        own = np.full(len(self.signed), -1, np.int64)
        own[rows] = numbers
        query = query_for(self.config, self.signed, own)
        query = replace(query, keys=query.keys.of(own >= 0))
        matcher = Matcher(self.store, self.connection, self.config)
        found = best_first(matcher.match(query, best=1), measure_of(self.config))
        hot_keys.pack(self.store, self.connection, *matcher.finder.loose)
        best = first_of_each(found)
        if not len(best):
            return {}
        scores = scores_of(matcher, self.signed, best)
        earliest = earliest_documents(self.store, self.connection, np.unique(best.pairs.content))
        clusters: dict[int, int] = {}
        joined: dict[int, tuple[Match | None, int]] = {}
        pairs = best.pairs
        columns = (pairs.owner.tolist(), pairs.content.tolist(), pairs.shared_keys.tolist())
        for place, (owner, content, shared_keys) in enumerate(zip(*columns, strict=True)):
            row, number = earliest[content], int(own[owner])
            cluster = clusters[number] = clusters.get(content, row.cluster)
            match = replace(match_of(row, scores, place, shared_keys), cluster_id=cluster)
            joined[number] = (match, cluster)
        set_clusters(self.connection, clusters.items())
        return joined

    def _results(
        self,
        statuses: list[Any],
        content_of: list[int],
        known: dict[tuple[int, int], KnownContent],
        joined: dict[int, tuple[Match | None, int]],
    ) -> list[Added]:
        query = query_for(self.config, self.signed, np.zeros(len(self.signed), np.int64))
        earliest = self._earliest(content_of)
        results = []
        for place, (doc_id, status, content) in enumerate(zip(self.ids, statuses, content_of, strict=True)):
            text = known[self.digests[place]]
            match, cluster = joined.get(content, (None, text.cluster))
            if status == "unchanged":
                results.append(Added(doc_id, cluster, status, None))
                continue
            row = earliest.get(content)
            if text.state != REVOKED and row is not None and row.doc_id != doc_id:
                match = match_of(row, None, place, key_count(query, place))
            elif text.state != REVOKED and match is None and status == "updated":
                match = self._another(doc_id, content, query, place)
            if not self.signed.lengths[place]:
                match = None  # nothing is known of a document without words
            results.append(Added(doc_id, cluster, status, match))
        return results

    def _earliest(self, content_of: list[int]) -> dict[int, DocumentRow]:
        """The earliest document of every content that may have documents other than the first new one."""
        numbers, counts = np.unique(np.array(content_of, np.int64), return_counts=True)
        return earliest_documents(self.store, self.connection, numbers[(counts > 1) | (numbers < self.first_new)])

    def _another(self, doc_id: str, content: int, query: QueryKeys, place: int) -> Match | None:
        """Another document of the same text, where this one is the earliest: it kept its number when it changed."""
        others = select_documents().where(DOCUMENTS.c.content == content, DOCUMENTS.c.doc_id != doc_id)
        row = self.connection.execute(others.order_by(DOCUMENTS.c.document).limit(1)).first()
        return None if row is None else match_of(DocumentRow(*row), None, place, key_count(query, place))


def remove(store: IndexStore, connection: Connection, config: IndexConfig, ids: Sequence[str]) -> list[str]:
    """Remove documents; returns the ids that were there."""
    columns = (DOCUMENTS.c.doc_id, DOCUMENTS.c.document, DOCUMENTS.c.content)
    rows = store.fetch(connection, columns, DOCUMENTS.c.doc_id, list(dict.fromkeys(ids)))
    remove_numbers(store, connection, config, [(row[1], row[2]) for row in rows])
    return [row[0] for row in rows]


def remove_numbers(
    store: IndexStore, connection: Connection, config: IndexConfig, rows: Sequence[tuple[int, int]]
) -> None:
    """Remove documents by (number, content)."""
    numbers = np.array(sorted(row[0] for row in rows), np.int64)
    for at in range(0, len(numbers), _AT_ONCE):
        some = numbers[at : at + _AT_ONCE]
        search_index.drop_titles(store, connection, some)
        connection.execute(delete(DOCUMENTS).where(store.among(DOCUMENTS.c.document, some)))
    drop_orphans(store, connection, config, np.unique(np.array([row[1] for row in rows], np.int64)))


def revoke(store: IndexStore, connection: Connection, config: IndexConfig, ids: Sequence[str]) -> list[str]:
    """Mark the texts of documents so that they never match again; returns the ids that were there."""
    columns = (DOCUMENTS.c.doc_id, DOCUMENTS.c.content)
    rows = store.fetch(connection, columns, DOCUMENTS.c.doc_id, list(dict.fromkeys(ids)))
    revoke_contents(store, connection, config, np.unique(np.array([row[1] for row in rows], np.int64)))
    return [row[0] for row in rows]


def expire(
    store: IndexStore,
    connection: Connection,
    config: IndexConfig,
    *,
    before: int | None,
    added_before: int | None,
    limit: int,
) -> int:
    """Remove up to `limit` documents that are older, by their day or by when they were added."""
    column, oldest = (DOCUMENTS.c.day, before) if before is not None else (DOCUMENTS.c.added, added_before)
    older = select(DOCUMENTS.c.document, DOCUMENTS.c.content).where(column < oldest).order_by(column).limit(limit)
    rows = [(row[0], row[1]) for row in connection.execute(older)]
    if rows:
        remove_numbers(store, connection, config, rows)
    return len(rows)
