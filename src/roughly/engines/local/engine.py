"""The embedded engine: DuckDB over Arrow and Parquet, spilling, in one process.

It keeps what flows between the steps of the plan in a workspace on disk, and does the relational work: ranks,
groups, joins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from roughly import model
from roughly.cluster import grouping
from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.evidence import together
from roughly.cluster.scoring import ResolveBudget, ScoredPairs
from roughly.cluster.star import overhead
from roughly.engines.local import verdicts
from roughly.engines.local.database import Database, parquet
from roughly.engines.local.dates import DAY, PUBLISHED
from roughly.engines.local.keys import Band, KeyLists
from roughly.engines.local.segments import Segments
from roughly.engines.local.sketches import SketchStore
from roughly.engines.local.token_store import TokenStore, kinds_of, write_tokens
from roughly.engines.local.workspace import Workspace
from roughly.errors import DuplicateIds, MemoryTooSmall
from roughly.meter import give_back
from roughly.methods import Judge
from roughly.pipeline import FACTS, Decision, RowsToFetch, SignedChunk, check_pairs
from roughly.settings import Settings
from roughly.sources.part import Part
from roughly.text.canonical import Tokens

_LEAST_ROOM = 64 << 20
_SLACK = 48 << 20
"""For what is too small to be counted."""
_WRITING = 96 << 20
"""For row groups on their way into a file."""
_BYTES_A_DOCUMENT = 24
"""Held of every document while keys are grouped, candidate or not: its rank, and its share of the tables of keys."""
_DECISION = ("decided", "clustered", "links", "near")
"""What resolution says, as tables: see `verdicts`."""


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


class LocalEngine:
    """One run on one machine."""

    def __init__(
        self,
        workspace: Workspace,
        parts: Sequence[Part],
        settings: Settings,
        *,
        memory: int,
        budget: int,
        threads: int,
        spill: Path,
    ) -> None:
        """`memory` is what the user gave, `budget` what is left of it for the work."""
        self.workspace, self.parts, self.settings, self.threads = workspace, parts, settings, threads
        self.given, self.budget = memory, budget
        self._before = _resident()
        self.database = Database(memory=budget // 2, threads=threads, spill=spill)
        self.segments = Segments(workspace)
        self.documents = 0
        self.ranks = np.empty(0, np.uint32)
        self.counts: dict[str, int] = {}
        self.store: TokenStore | None = None
        self.candidates: Candidates | None = None

    @property
    def memory(self) -> int:
        """Bytes there are for the work."""
        return self.budget

    # ------------------------------------------------------------------ reading

    def resume_at(self) -> tuple[int, int]:
        """Where reading starts."""
        return self.segments.cursor.part, self.segments.cursor.chunk

    def take(self, signed: SignedChunk) -> None:
        """Keep one chunk."""
        self.segments.add(signed)

    def foresee(self, documents: int) -> None:
        """Refuse a memory that cannot hold what is held of so many documents, whatever they are like."""
        least = self.given - self.budget + _LEAST_ROOM + _SLACK + _BYTES_A_DOCUMENT * documents
        if self.given < least:
            raise MemoryTooSmall(
                f"--memory {self.given >> 20}MB is too little for about {documents / 1e6:.1f} million documents; "
                f"{-(-least >> 20)}MB is the least that would do, and more where many of them are alike"
            )

    def finish_reading(self) -> int:
        """Make the facts visible as a table; refuse ids that are claimed twice."""
        self.segments.finish()
        self.documents = self.segments.cursor.documents
        self.counts |= self.segments.cursor.counts
        files = self.segments.files("facts.parquet")
        if not files:
            files = [self.workspace.path("no-facts.parquet")]
            pq.write_table(pa.schema([pa.field("doc", pa.uint32()), *FACTS]).empty_table(), files[0])
        self.database.view("read_facts", f"SELECT * FROM {parquet(files)}")
        self._settle_ids()
        return self.documents

    def _settle_ids(self) -> None:
        twice = self.database.value(
            "SELECT count(*) FROM (SELECT 1 FROM read_facts GROUP BY doc_id HAVING count(*) > 1)"
        )
        if not twice:
            self.database.view("facts", "SELECT * FROM read_facts")
            return
        if self.settings.on_duplicate_id != "number":
            raise DuplicateIds(self._name_twins(twice))
        self._keep(
            "renamed",
            """
            SELECT doc, doc_id || '#' || n AS new_id FROM (
                SELECT doc, doc_id, row_number() OVER (PARTITION BY doc_id ORDER BY doc) AS n FROM read_facts
                WHERE doc_id IN (SELECT doc_id FROM read_facts GROUP BY doc_id HAVING count(*) > 1)
            ) WHERE n > 1
            """,
        )
        self.database.view(
            "facts",
            "SELECT f.* REPLACE (coalesce(r.new_id, f.doc_id) AS doc_id) FROM read_facts f "
            "LEFT JOIN renamed r ON f.doc = r.doc",
        )
        if self.database.value("SELECT count(*) FROM (SELECT 1 FROM facts GROUP BY doc_id HAVING count(*) > 1)"):
            raise DuplicateIds("numbering duplicate ids (a, a#2, …) meets ids of that form; rename them in the input")

    def _name_twins(self, count: int) -> str:
        rows = self.database.table(
            """
            SELECT doc_id, part, row FROM read_facts WHERE doc_id = (
                SELECT doc_id FROM read_facts GROUP BY doc_id HAVING count(*) > 1 ORDER BY min(doc) LIMIT 1
            ) ORDER BY doc LIMIT 2
            """
        ).to_pylist()
        places = [f"{self.parts[r['part']].name} {self.parts[r['part']].locate(r['row'])}" for r in rows]
        more = f"; {count:,} ids are claimed more than once" if count > 1 else ""
        return (
            f"two documents have the id {rows[0]['doc_id']!r}: {places[0]} and {places[1]}{more}. "
            "Name another column with --id-column, or number them with --on-duplicate-id number"
        )

    # ------------------------------------------------------------------ candidates

    def rank(self, order: str, collapse: str) -> None:
        """Number the documents, best first, and collapse those that are equal at this level."""
        lanes = "raw_hi, raw_lo" if collapse == "identical" else "lex_hi, lex_lo"
        columns = "doc, part, row, doc_id, source, bytes, tokens"
        self._relational()
        self._keep(
            "ranked",
            f"""
            SELECT {columns}, rank, min(rank) OVER (PARTITION BY {lanes}) AS rep FROM (
                SELECT {columns}, {lanes}, (row_number() OVER (ORDER BY {order}) - 1)::UINTEGER AS rank
                FROM (SELECT *, {PUBLISHED} AS when_published FROM facts)
            )
            """,
        )

    def _keep(self, name: str, sql: str, **tables: pa.Table) -> None:
        """A table as an artefact of its own: on disk and visible by its name, taken over where it is there."""
        path = self.workspace.path(f"{name}.parquet")
        if self.workspace.found(name) is None:
            self.database.save(sql, path, **tables)
            self.workspace.commit(name, [path], {})
        self.database.view(name, f"SELECT * FROM {parquet([path])}")

    def group(self, common: int, once: bool) -> Candidates:
        """Documents that share a key."""
        from roughly.kernels.grouping import NO_MEMBER

        if self.workspace.found("candidates") is None:
            rank_of = np.full(self.documents, NO_MEMBER, np.uint32)
            for batch in self.database.batches("SELECT doc, rank FROM ranked WHERE rank = rep AND tokens > 0"):
                rank_of[batch["doc"].to_numpy()] = batch["rank"].to_numpy()
            files = self.segments.key_files()
            bands = self.segments.bands
            streams: list[grouping.KeyStream] = [Band(files, band, rank_of) for band in range(bands)]
            streams = streams or [KeyLists(files, rank_of)]
            found = grouping.group(
                streams,
                budget=max(self._left(), _LEAST_ROOM),
                threads=self.threads,
                asking=not bands,
                most=common,
                once=once,
            )
            left_out = found.common
            self.ranks, self.candidates = found.candidates(self.documents)
            arrays = {"ranks": self.ranks, **dataclasses.asdict(self.candidates)}
            buckets = arrays.pop("buckets")
            self.workspace.save("candidates", arrays, {"buckets": buckets, "common": left_out})
        info = self.workspace.info("candidates")
        saved = {name: self.workspace.array("candidates", name) for name in ("doc_offsets", "doc_buckets", "asks")}
        self.ranks = self.workspace.array("candidates", "ranks")
        self.candidates = Candidates(**saved, buckets=info["buckets"])
        if common:
            self.counts["common_keys"] = info["common"]
        return self.candidates

    def gates(self, judge: Judge) -> PairConstraints:
        """Dates and lengths of the candidates, where they matter."""
        if judge.dates is None and judge.lengths is None:
            return PairConstraints()
        numbers = pa.table({"rank": self.ranks})
        rows = self.database.table(
            f"""
            SELECT r.tokens, {DAY} AS day
            FROM numbers n JOIN ranked r ON n.rank = r.rank
            JOIN (SELECT doc, {PUBLISHED} AS when_published FROM facts) f ON f.doc = r.doc ORDER BY n.rank
            """,
            numbers=numbers,
        )
        if not self.database.value(f"SELECT count(*) FROM facts WHERE ({PUBLISHED}) IS NOT NULL"):
            judge = dataclasses.replace(judge, dates=None)  # where no document has a date, the window does not apply
        days = rows["day"].to_numpy() if judge.dates is not None else np.empty(0, np.int32)
        lengths = rows["tokens"].to_numpy() if judge.lengths is not None else np.empty(0, np.int64)
        return PairConstraints(days, judge.dates or 0, lengths, 1.0 - (judge.lengths or 0.0))

    def wanted(self) -> list[RowsToFetch]:
        """Where the candidate documents stand in the input; empty where their tokens are at hand already."""
        if self.workspace.found("tokens") is not None:
            return []
        numbers = pa.table({"rank": self.ranks, "number": np.arange(len(self.ranks), dtype=np.uint32)})
        rows = self.database.table(
            """
            SELECT r.part, r.row, w.number FROM ranked r JOIN numbers w ON w.rank = r.rank ORDER BY r.part, r.row
            """,
            numbers=numbers,
        )
        part, row, number = (rows[name].to_numpy() for name in ("part", "row", "number"))
        cuts = np.flatnonzero(np.diff(part)) + 1
        return [
            RowsToFetch(int(p[0]), r, n)
            for p, r, n in zip(np.split(part, cuts), np.split(row, cuts), np.split(number, cuts), strict=True)
            if len(p)
        ]

    def store_tokens(self, batches: Iterable[tuple[Ints, Tokens]], shingle_size: int) -> SetLoader:
        """Keep the candidates' tokens on disk."""
        path = self.workspace.path("tokens.bin")
        if self.workspace.found("tokens") is None:
            starts, lengths = write_tokens(path, len(self.ranks), batches)
            self.workspace.save("tokens", {"starts": starts, "lengths": lengths}, {}, [path])
        starts, lengths = (self.workspace.array("tokens", name) for name in ("starts", "lengths"))
        self.store = TokenStore(path, starts, lengths, shingle_size=shingle_size, threads=self.threads)
        return self.store

    def sketches(self) -> SetLoader:
        """The candidates' sketches."""
        docs = np.empty(len(self.ranks), np.int64)
        numbers = pa.table({"rank": self.ranks, "number": np.arange(len(self.ranks), dtype=np.int64)})
        sql = "SELECT w.number, r.doc FROM numbers w JOIN ranked r ON w.rank = r.rank"
        rows = self.database.table(sql, numbers=numbers)
        docs[rows["number"].to_numpy()] = rows["doc"].to_numpy()
        return SketchStore(self.segments.sketch_files(), docs)

    def room(self, candidates: Candidates) -> ResolveBudget:
        """What resolution may use: what is left of the memory beside the candidates themselves."""
        left = self._left() - overhead(candidates, self.threads)
        if left < _LEAST_ROOM:
            least = (self.given - left + _LEAST_ROOM) >> 20
            raise MemoryTooSmall(
                f"{candidates.documents:,} documents share a key with another, and what must be held of them leaves no "
                f"room to compare them; {least}MB is the least --memory that would do. With --resume and that memory "
                "nothing is read again"
            )
        scratch = self.workspace.path("spool")
        scratch.mkdir(exist_ok=True)
        return ResolveBudget(left, self.threads, scratch)

    def _relational(self, beside: int = 0) -> None:
        """Let the database have what is left but for what works beside it. It takes a little more than allowed."""
        self.database.allow(max(self.budget // 2, 3 * self._left() // 4) - beside)

    def _left(self) -> int:
        """What is left of the memory: nothing else is at work between two stages.

        What the process held before the run counts only as far as it was set aside for it: a caller may hold large
        tables of his own.
        """
        self.database.rest()
        give_back()
        grown = max(0, _resident() - self._before)
        return self.given - min(self._before, self.given - self.budget) - grown - _SLACK

    # ------------------------------------------------------------------ verdicts

    def decided(self) -> bool:
        """Whether an earlier, interrupted run has come to a decision that is taken over."""
        return self.workspace.found("decision") is not None

    def decide(self, decision: Decision | None) -> None:
        """Give every document its verdict."""
        if decision is not None or not self.decided():
            self._save(decision)
        self.counts |= self.workspace.info("decision")["counts"]
        for name in _DECISION:
            path = self.workspace.path(f"{name}.parquet")
            self.database.view(name, f"SELECT * FROM {parquet([path])}")
        self._relational()
        self.workspace.discard("verdicts")
        self._keep("verdicts", verdicts.VERDICTS)
        if self.settings.pairs == "all":
            check_pairs(self.database.value(verdicts.COUNT_ALL_PAIRS), self.settings.pairs_limit)

    def _save(self, decision: Decision | None) -> None:
        tables = verdicts.empty_tables()
        counts: dict[str, int] = {}
        if decision is not None:
            tables, counts = self._tables(decision)
        files = []
        for name in _DECISION:
            files.append(self.workspace.path(f"{name}.parquet"))
            pq.write_table(tables[name], files[-1], compression="lz4")
        self.workspace.commit("decision", files, {"counts": counts})

    def _tables(self, decision: Decision) -> tuple[dict[str, pa.Table], dict[str, int]]:
        resolution, ranks = decision.resolution, self.ranks
        pairs = together(resolution.pairs, decision.links)
        tables = verdicts.tables_of(decision, pairs, ranks, self._kinds(pairs), self.settings.cluster == "components")
        counts = {
            "candidate_documents": len(ranks),
            "candidate_pairs": resolution.compared,
            "verified_pairs": len(pairs),
            "crowded_buckets": resolution.crowded,
        }
        return tables, counts | {name: self.counts[name] for name in ("common_keys",) if name in self.counts}

    def _kinds(self, pairs: ScoredPairs) -> pa.Array | None:
        return None if self.store is None else kinds_of(self.store, pairs, self.threads)

    def write(self, folder: Path) -> None:
        """documents.parquet, pairs.parquet, clusters.parquet and known.parquet."""
        self._relational(beside=min(_WRITING, self.budget // 8))
        self.database.write(verdicts.DOCUMENTS, folder / "documents.parquet", model.VERDICTS)
        pairs = verdicts.ALL_PAIRS if self.settings.pairs == "all" else verdicts.EVIDENCE
        self.database.write(pairs, folder / "pairs.parquet", model.PAIRS)
        self.database.write(verdicts.CLUSTERS, folder / "clusters.parquet", model.CLUSTERS)
        self.database.write(verdicts.KNOWN, folder / "known.parquet", model.KNOWN)

    def kept_rows(self) -> Iterator[tuple[int, Ints]]:
        """(part, rows whose documents stay, ascending) for every part that keeps something."""
        number, held = -1, [np.empty(0, np.int64)]
        for batch in self.database.batches("SELECT part, row FROM verdicts WHERE kept ORDER BY part, row"):
            part, row = batch["part"].to_numpy(), batch["row"].to_numpy()
            cuts = np.r_[np.flatnonzero(np.diff(part, prepend=-1)), len(part)].tolist()
            for start, stop in pairwise(cuts):
                if int(part[start]) != number:
                    if number >= 0:
                        yield number, np.concatenate(held)
                    number, held = int(part[start]), []
                held.append(row[start:stop].copy())
        if number >= 0:
            yield number, np.concatenate(held)

    def close(self) -> None:
        """Give the memory back."""
        self.segments.stop()
        if self.store is not None:
            self.store.close()
        self.database.rest()
