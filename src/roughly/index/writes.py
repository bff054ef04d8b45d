"""Documents put in and taken out, many in one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, and_, bindparam, delete, select, update

from roughly.index.answers import Added, Match
from roughly.index.config import IndexConfig
from roughly.index.matching import scored_answers as answers
from roughly.index.matching.matcher import Matcher, asking_signed
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.search import search as searching
from roughly.index.storage import contents
from roughly.index.storage import hot_keys as crowds
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, REVOKED
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
_KEPT = ("bytes", "day", "title", "url", "date", "source")
_COLUMNS = ("document", "doc_id", "content", "added", *_KEPT)
_TITLE = _COLUMNS.index("title")


class DocumentWriter:
    """One batch of documents with ids that differ, on its way in.

    Replaced texts leave first; then each new text is compared with all that were there before it, those of
    the same batch included.
    """

    def __init__(self, store: IndexStore, connection: Connection, bound: IndexConfig, signed: SignedBatch) -> None:
        self.store, self.connection, self.bound, self.signed = store, connection, bound, signed
        self.ids: list[str] = signed.batch.column("doc_id").to_pylist()
        self.digests = list(zip(signed.hi.tolist(), signed.lo.tolist(), strict=True))
        self.facts = list(
            zip(
                signed.bytes.tolist(),
                signed.days,
                *(signed.column(name) for name in ("title", "url", "date", "source")),
                strict=True,
            )
        )

    def run(self) -> list[Added]:
        """Put them in."""
        columns = [DOCUMENTS.c[name] for name in ("doc_id", "document", "content", *_KEPT)]
        before = {row[0]: row[1:] for row in self.store.fetch(self.connection, columns, DOCUMENTS.c.doc_id, self.ids)}
        known = contents.known(self.store, self.connection, self.signed.hi, self.signed.lo)
        new = [i for i, digest in enumerate(self.digests) if digest not in known]
        firsts = {self.digests[i]: i for i in reversed(new)}
        rows = np.array(sorted(firsts.values()), np.int64)
        first = contents.take_numbers(self.connection, "next_content", len(rows))
        self.first_new = first
        numbers = np.arange(first, first + len(rows))
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            known[self.digests[row]] = contents.KnownContent(number, number, 0)
        content_of = [known[digest].content for digest in self.digests]
        statuses = self._write_documents(before, content_of)
        replaced = {before[d][1] for d, s in zip(self.ids, statuses, strict=True) if s == "updated"}
        if len(rows):
            contents.put(self.store, self.connection, self.bound, self.signed, rows, numbers)
        contents.drop_orphans(self.store, self.connection, self.bound, np.array(sorted(replaced), np.int64))
        joined = self._join(rows, numbers)
        return self._told(statuses, content_of, known, joined)

    def _write_documents(self, before: dict[str, Any], content_of: list[int]) -> list[Any]:
        now, statuses, changed, fresh = int(time.time()), [], [], []
        for doc_id, content, facts in zip(self.ids, content_of, self.facts, strict=True):
            old = before.get(doc_id)
            if old is None:
                statuses.append("added")
                fresh.append((doc_id, content, now, *facts))
            elif (old[1], *old[2:]) == (content, *facts):
                statuses.append("unchanged")
            else:
                statuses.append("updated")
                changed.append((old[0], content, now, *facts))
        first = contents.take_numbers(self.connection, "next_document", len(fresh))
        numbered = [(first + at, *row) for at, row in enumerate(fresh)]
        if numbered:
            self.store.insert(self.connection, "documents", _COLUMNS, numbered)
            searching.put_titles(self.store, self.connection, [(row[0], row[_TITLE]) for row in numbered])
        if changed:
            renamed = np.array([row[0] for row in changed], np.int64)
            searching.drop_titles(self.store, self.connection, renamed)
            names = ("content", "added", *_KEPT)
            self.connection.execute(
                update(DOCUMENTS)
                .where(DOCUMENTS.c.document == bindparam("b_document"))
                .values({name: bindparam(f"b_{name}") for name in names}),
                [dict(zip(("b_document", *(f"b_{n}" for n in names)), row, strict=True)) for row in changed],
            )
            searching.put_titles(self.store, self.connection, [(row[0], row[_TITLE - 1]) for row in changed])
        return statuses

    def _join(self, rows: Ints, numbers: Ints) -> dict[int, tuple[Match | None, int]]:
        """Each new text that is a duplicate joins the cluster of the best; (match, cluster) by the text's number."""
        if self.bound.method.equality or not len(rows):
            return {}
        own = np.full(len(self.signed), -1, np.int64)
        own[rows] = numbers
        asking = asking_signed(self.bound, self.signed, own)
        asking = replace(asking, keys=asking.keys.of(own >= 0))
        matcher = Matcher(self.store, self.connection, self.bound)
        found = answers.best_first(matcher.match(asking, best=1), answers.measure_of(self.bound))
        crowds.pack(self.store, self.connection, *matcher.meeting.loose)
        best = answers.first_of_each(found)
        if not len(best):
            return {}
        scores = answers.scores_of(matcher, self.signed, best)
        shown = answers.earliest(self.store, self.connection, np.unique(best.pairs.content))
        clusters: dict[int, int] = {}
        joined: dict[int, tuple[Match | None, int]] = {}
        pairs = zip(best.pairs.owner.tolist(), best.pairs.content.tolist(), best.pairs.shared.tolist(), strict=True)
        for place, (owner, content, shared) in enumerate(pairs):
            row, number = shown[content], int(own[owner])
            cluster = clusters[number] = clusters.get(content, row.cluster)
            match = replace(answers.match_of(row, scores, place, shared), cluster_id=cluster)
            joined[number] = (match, cluster)
        self.connection.execute(
            update(CONTENTS).where(CONTENTS.c.content == bindparam("b_content")).values(cluster=bindparam("b_cluster")),
            [{"b_content": number, "b_cluster": cluster} for number, cluster in clusters.items()],
        )
        return joined

    def _told(
        self,
        statuses: list[Any],
        content_of: list[int],
        known: dict[tuple[int, int], contents.KnownContent],
        joined: dict[int, tuple[Match | None, int]],
    ) -> list[Added]:
        asking = asking_signed(self.bound, self.signed, np.zeros(len(self.signed), np.int64))
        shown = self._earliest(content_of)
        told = []
        for place, (doc_id, status, content) in enumerate(zip(self.ids, statuses, content_of, strict=True)):
            text = known[self.digests[place]]
            match, cluster = joined.get(content, (None, text.cluster))
            if status == "unchanged":
                told.append(Added(doc_id, cluster, status, None))
                continue
            row = shown.get(content)
            if text.state != REVOKED and row is not None and row.doc_id != doc_id:
                match = answers.match_of(row, None, place, answers.shared_with_equal(asking, place))
            elif text.state != REVOKED and match is None and status == "updated":
                match = self._another(doc_id, content, asking, place)
            told.append(Added(doc_id, cluster, status, match))
        return told

    def _earliest(self, content_of: list[int]) -> dict[int, Any]:
        """The earliest document of every text that others than its first one may have."""
        numbers, counts = np.unique(np.array(content_of, np.int64), return_counts=True)
        return answers.earliest(self.store, self.connection, numbers[(counts > 1) | (numbers < self.first_new)])

    def _another(self, doc_id: str, content: int, asking: Any, place: int) -> Match | None:
        """Another document of the same text, where this one is the earliest: it kept its place when it changed."""
        other = answers.told().where(and_(DOCUMENTS.c.content == content, DOCUMENTS.c.doc_id != doc_id))
        row = self.connection.execute(other.order_by(DOCUMENTS.c.document).limit(1)).first()
        if row is None:
            return None
        return answers.match_of(answers.ShownDocument(*row), None, place, answers.shared_with_equal(asking, place))


def remove(store: IndexStore, connection: Connection, bound: IndexConfig, ids: Sequence[str]) -> list[str]:
    """Take documents out; the ids that were there."""
    columns = (DOCUMENTS.c.doc_id, DOCUMENTS.c.document, DOCUMENTS.c.content)
    rows = store.fetch(connection, columns, DOCUMENTS.c.doc_id, list(dict.fromkeys(ids)))
    remove_numbers(store, connection, bound, [(row[1], row[2]) for row in rows])
    return [row[0] for row in rows]


def remove_numbers(
    store: IndexStore, connection: Connection, bound: IndexConfig, rows: Sequence[tuple[int, int]]
) -> None:
    """Take documents out by (number, content)."""
    numbers = np.array(sorted(row[0] for row in rows), np.int64)
    for at in range(0, len(numbers), 10_000):
        some = numbers[at : at + 10_000]
        searching.drop_titles(store, connection, some)
        connection.execute(delete(DOCUMENTS).where(store.among(DOCUMENTS.c.document, some)))
    texts = np.unique(np.array([row[1] for row in rows], np.int64))
    contents.drop_orphans(store, connection, bound, texts)


def revoke(store: IndexStore, connection: Connection, bound: IndexConfig, ids: Sequence[str]) -> list[str]:
    """Mark the texts of documents so that they never match again; the ids that were there."""
    columns = (DOCUMENTS.c.doc_id, DOCUMENTS.c.content)
    rows = store.fetch(connection, columns, DOCUMENTS.c.doc_id, list(dict.fromkeys(ids)))
    contents.revoke(store, connection, bound, np.unique(np.array([row[1] for row in rows], np.int64)))
    return [row[0] for row in rows]


def expire(
    store: IndexStore,
    connection: Connection,
    bound: IndexConfig,
    *,
    before: int | None,
    added_before: int | None,
    limit: int,
) -> int:
    """Take out up to `limit` documents that are older, by their day or by when they were added."""
    column, bound_at = (DOCUMENTS.c.day, before) if before is not None else (DOCUMENTS.c.added, added_before)
    asked = select(DOCUMENTS.c.document, DOCUMENTS.c.content).where(column < bound_at).order_by(column).limit(limit)
    rows = [(row[0], row[1]) for row in connection.execute(asked)]
    if rows:
        remove_numbers(store, connection, bound, rows)
    return len(rows)
