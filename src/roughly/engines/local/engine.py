"""The embedded engine: DuckDB over Arrow and Parquet, spilling, in one process.

It keeps what flows between the steps of the plan in a workspace on disk. The relational steps are those of every
engine (`engines.relational`); here stand the stages that read, group, load and compare.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from roughly import dates
from roughly.cluster import grouping
from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.evidence import together
from roughly.cluster.scoring import ResolveBudget
from roughly.cluster.star import overhead
from roughly.engines.local.database import Database, parquet, plain_errors
from roughly.engines.local.keys import Band, KeyLists
from roughly.engines.local.segments import Segments
from roughly.engines.local.sketches import SketchStore
from roughly.engines.local.token_store import TokenStore, TokenWriter, kinds_of
from roughly.engines.relational import statements
from roughly.engines.relational.base_engine import RelationalEngine, ignore
from roughly.engines.relational.decision_tables import empty_tables, tables_of
from roughly.engines.relational.kept_copy import copy_part
from roughly.engines.workspace import Workspace
from roughly.errors import MemoryTooSmall
from roughly.meter import Meter, Stage, give_back
from roughly.methods import Judge, Method
from roughly.model import CARRIED, DECISION, NUMBERED_FACTS, Table
from roughly.pipeline import Decision, RowsToFetch, decide, fetch_all, sign_all
from roughly.settings import Resources, Settings
from roughly.sources.part import Part
from roughly.text.filters import Filters
from roughly.threads import map_in_order

BASE_MEMORY = 384 << 20
"""What the process holds before the first document: the interpreter, its libraries, the kernels."""
_LEAST_MEMORY = 64 << 20
"""For one stage, at the least."""
_SLACK = 48 << 20
"""For what is too small to be counted."""
_WRITING = 96 << 20
"""For row groups on their way into a file."""
_COPYING = 512 << 20
"""For copying one file: a row group as it was read, and one to be written."""
_BYTES_PER_DOCUMENT = 24
"""Held of every document while keys are grouped, candidate or not: its rank, and its share of the tables of keys."""
_SAMPLED = 10_000
"""Documents that are read before the size of the collection is estimated."""
_NO_ROWS = np.empty(0, np.int64)


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


class LocalEngine(RelationalEngine):
    """One run on one machine."""

    def __init__(
        self, parts: Sequence[Part], settings: Settings, resources: Resources, workspace: Workspace, meter: Meter
    ) -> None:
        super().__init__(parts, settings, meter)
        self.resources, self.workspace, self.threads = resources, workspace, resources.threads
        self.budget = resources.memory - BASE_MEMORY
        self._before = _resident()
        spill = (resources.temp or workspace.folder) / "spill"
        self.database = Database(memory=self.budget // 2, threads=self.threads, spill=spill)
        self.segments = Segments(workspace)
        self.ranks = np.empty(0, np.uint32)
        self.candidates: Candidates | None = None
        self._sets: SetLoader | None = None

    def working(self) -> AbstractContextManager[None]:
        """Errors of the database for a full disk or too little memory become ours."""
        return plain_errors(self.budget // 2)

    # ------------------------------------------------------------------ tables

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a query that returns few."""
        found: list[dict[str, Any]] = self.database.table(sql).to_pylist()
        return found

    def view(self, name: str, sql: str) -> None:
        """Make the result of a query visible under a name."""
        self.database.view(name, sql)

    def keep(self, name: str, sql: str) -> None:
        """Store the result of a query as an artefact of its own, taken over where it is there."""
        path = self.workspace.path(f"{name}.parquet")
        if self.workspace.found(name) is None:
            self.database.save(sql, path)
            self.workspace.commit(name, [path], {})
        self._show(name, [path])

    def _show(self, name: str, files: Sequence[Path]) -> None:
        self.view(name, f"SELECT * FROM {parquet(files)}")

    def write_table(self, sql: str, table: Table, path: Path) -> None:
        """Write the result of a query as one Parquet file."""
        self.database.write(sql, path, table.schema)

    # ------------------------------------------------------------------ reading

    def build_lexicon(self, path: Path, filters: Filters) -> None:
        """Count the documents that each term stands in, and write the lexicon of the collection."""
        from roughly.lexicon.builder import count_parts

        resources = dataclasses.replace(self.resources, temp=self.resources.temp or self.workspace.folder)
        main_text = self.settings.main_text
        count_parts(self.parts, path, filters=filters, main_text=main_text, resources=resources, meter=self.meter)

    def read_and_sign(self, method: Method, stage: Stage) -> None:
        """Read all parts, from where an interrupted run stopped; facts, keys, sketches and rejects are on disk."""
        cursor = self.segments.cursor
        stage.reused = (cursor.part, cursor.chunk) != (0, 0)
        documents = 0
        start = cursor.part, cursor.chunk
        for signed in sign_all(self.parts, method, self.settings, self.threads, start, self.budget):
            self.segments.add(signed)
            stage.bytes += signed.nbytes
            self.meter.advance(stage, stage.bytes)
            before, documents = documents, documents + signed.facts.num_rows
            if before < _SAMPLED <= documents:
                self._check_capacity(round(documents * stage.total / max(1, stage.bytes)))
        self.segments.finish()
        cursor = self.segments.cursor
        self.documents, self.rejected = cursor.documents, cursor.rejected
        self.counts |= cursor.counts
        files = self.segments.files("facts.parquet")
        if not files:
            files = [self.workspace.path("no-facts.parquet")]
            pq.write_table(NUMBERED_FACTS.empty_table(), files[0])
        self.view("read_facts", f"SELECT * FROM {parquet(files)}")

    def _check_capacity(self, documents: int) -> None:
        """Refuse a memory that cannot hold what is held of about so many documents, whatever they are like."""
        memory = self.resources.memory
        least = memory - self.budget + _LEAST_MEMORY + _SLACK + _BYTES_PER_DOCUMENT * documents
        if memory < least:
            raise MemoryTooSmall(
                f"--memory {memory >> 20}MB is too little for about {documents / 1e6:.1f} million documents; "
                f"{-(-least >> 20)}MB is the least that would do, and more where many of them are alike"
            )

    # ------------------------------------------------------------------ candidates

    def rank(self, order: str, collapse: str) -> None:
        """Number the documents, best first, and collapse those that are equal at this level."""
        hi, lo = statements.digest_columns(collapse)
        self._use_memory_for_sql()
        number = f"(row_number() OVER (ORDER BY {order}) - 1)::UINTEGER AS rank"
        numbered = f"SELECT {', '.join(CARRIED)}, {hi} AS hi, {lo} AS lo, {number} FROM facts"
        self.keep("ranked", statements.ranked(numbered))

    def group(self, common: int, once: bool) -> None:
        """Find the documents that share a key."""
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
                budget=max(self._memory_left(), _LEAST_MEMORY),
                threads=self.threads,
                asking=not bands,
                most=common,
                once=once,
            )
            left_out = found.common
            self.ranks, candidates = found.candidates(self.documents)
            arrays = {"ranks": self.ranks, **dataclasses.asdict(candidates)}
            buckets = arrays.pop("buckets")
            self.workspace.save("candidates", arrays, {"buckets": buckets, "common": left_out})
        info = self.workspace.info("candidates")
        saved = {name: self.workspace.array("candidates", name) for name in ("doc_offsets", "doc_buckets", "asks")}
        self.ranks = self.workspace.array("candidates", "ranks")
        self.candidates = Candidates(**saved, buckets=info["buckets"])
        self.counts["candidate_documents"] = len(self.ranks)
        if common:
            self.counts["common_keys"] = info["common"]

    def _grouped(self) -> Candidates:
        if self.candidates is None:
            raise RuntimeError("documents are grouped before they are compared")
        return self.candidates

    def pair_bound(self) -> int:
        """At most so many pairs of documents share a key."""
        return self._grouped().pair_bound()

    def load_contents(self, judge: Judge) -> None:
        """Load what the candidates are judged on: their keys, their sketches, or their tokens, read again."""
        candidates = self._grouped()
        if judge.on == "keys":
            self._sets = candidates.key_sets()
        elif judge.on == "sketch":
            self._sets = self._sketches()
        else:
            wanted = self._rows_to_fetch()
            with self.stage("fetch", sum(len(rows.rows) for rows in wanted), "documents") as stage:
                stage.reused = not wanted and candidates.documents > 0
                self._sets = self._store_tokens(wanted, stage)

    def _numbers(self) -> pa.Table:
        """The number of each candidate and its rank."""
        return pa.table({"rank": self.ranks, "number": np.arange(len(self.ranks), dtype=np.int64)})

    def _rows_to_fetch(self) -> list[RowsToFetch]:
        """Where the candidate documents stand in the input; empty where their tokens are stored already."""
        if self.workspace.found("tokens") is not None:
            return []
        rows = self.database.table(
            "SELECT r.part, r.row, n.number FROM ranked r JOIN numbers n ON n.rank = r.rank ORDER BY r.part, r.row",
            numbers=self._numbers(),
        )
        part, row, number = (rows[name].to_numpy() for name in ("part", "row", "number"))
        cuts = np.flatnonzero(np.diff(part)) + 1
        return [
            RowsToFetch(int(p[0]), r, n)
            for p, r, n in zip(np.split(part, cuts), np.split(row, cuts), np.split(number, cuts), strict=True)
            if len(p)
        ]

    def _store_tokens(self, wanted: list[RowsToFetch], stage: Stage) -> TokenStore:
        """Store the candidates' tokens on disk."""
        path = self.workspace.path("tokens.bin")
        if self.workspace.found("tokens") is None:
            with TokenWriter(path, len(self.ranks)) as writer:
                for documents, size in fetch_all(self.parts, wanted, self.settings, self.threads, writer.add):
                    stage.bytes += size
                    self.meter.advance(stage, stage.done + documents)
            self.workspace.save("tokens", {"starts": writer.starts, "lengths": writer.lengths}, {}, [path])
        starts, lengths = (self.workspace.array("tokens", name) for name in ("starts", "lengths"))
        return TokenStore(path, starts, lengths, shingle_size=self.settings.shingle_size, threads=self.threads)

    def _sketches(self) -> SketchStore:
        docs = np.empty(len(self.ranks), np.int64)
        sql = "SELECT n.number, r.doc FROM numbers n JOIN ranked r ON n.rank = r.rank"
        rows = self.database.table(sql, numbers=self._numbers())
        docs[rows["number"].to_numpy()] = rows["doc"].to_numpy()
        return SketchStore(self.segments.sketch_files(), docs)

    # ------------------------------------------------------------------ resolution

    def is_resolved(self) -> bool:
        """Whether an interrupted run has stored the outcome of resolution."""
        return self.workspace.found("decision") is not None

    def resolve(self, judge: Judge, settings: Settings, advance: Callable[[int], None] = ignore) -> None:
        """Compare candidates, best rank first, and store who is kept."""
        candidates = self._grouped()
        if self._sets is None:
            raise RuntimeError("contents are loaded before they are compared")
        constraints = self._constraints(self.applicable(judge))
        work = dataclasses.replace(self._memory_for_resolution(candidates), advance=advance)
        self._save(decide(candidates, self._sets, judge, settings, constraints, work))

    def _constraints(self, judge: Judge) -> PairConstraints:
        """Dates and lengths of the candidates, where they matter."""
        if judge.dates is None and judge.lengths is None:
            return PairConstraints()
        rows = self.database.table(
            """
            SELECT f.tokens, f.published FROM numbers n JOIN ranked r ON n.rank = r.rank
            JOIN facts f ON f.doc = r.doc ORDER BY n.rank
            """,
            numbers=self._numbers(),
        )
        days = dates.days(rows["published"].combine_chunks())
        return PairConstraints.of_judge(judge, days, rows["tokens"].to_numpy())

    def _memory_for_resolution(self, candidates: Candidates) -> ResolveBudget:
        """What is left of the memory beside the candidates themselves."""
        left = self._memory_left() - overhead(candidates, self.threads)
        if left < _LEAST_MEMORY:
            least = (self.resources.memory - left + _LEAST_MEMORY) >> 20
            raise MemoryTooSmall(
                f"{candidates.documents:,} documents share a key with another, and what must be held of them leaves no "
                f"room to compare them; {least}MB is the least --memory that would do. With --resume and that memory "
                "nothing is read again"
            )
        scratch = self.workspace.path("spool")
        scratch.mkdir(exist_ok=True)
        return ResolveBudget(left, self.threads, scratch)

    def _use_memory_for_sql(self, beside: int = 0) -> None:
        """Let the database have what is left but for what works beside it. It takes a little more than allowed."""
        self.database.allow(max(self.budget // 2, 3 * self._memory_left() // 4) - beside)

    def _memory_left(self) -> int:
        """What is left of the memory: nothing else is at work between two stages.

        What the process held before the run counts only as far as it was set aside for it: a caller may hold large
        tables of his own.
        """
        self.database.rest()
        give_back()
        grown = max(0, _resident() - self._before)
        memory = self.resources.memory
        return memory - min(self._before, memory - self.budget) - grown - _SLACK

    def _save(self, decision: Decision | None) -> None:
        """Store what resolution decided, and forget verdicts that follow from another decision."""
        tables = empty_tables()
        counts: dict[str, int] = {}
        if decision is not None:
            tables, counts = self._tables(decision)
        self.workspace.discard("verdicts")
        files = []
        for name in DECISION:
            files.append(self.workspace.path(f"{name}.parquet"))
            pq.write_table(tables[name], files[-1], compression="lz4")
        self.workspace.commit("decision", files, {"counts": counts})

    def _tables(self, decision: Decision) -> tuple[dict[str, pa.Table], dict[str, int]]:
        resolution = decision.resolution
        pairs = together(resolution.pairs, decision.links)
        kinds = kinds_of(self._sets, pairs) if isinstance(self._sets, TokenStore) else None
        tables = tables_of(decision, pairs, self.ranks, kinds, self.settings.cluster == "components")
        counts = {
            "candidate_documents": len(self.ranks),
            "candidate_pairs": resolution.compared,
            "verified_pairs": len(pairs),
            "crowded_buckets": resolution.crowded,
        }
        return tables, counts | {name: self.counts[name] for name in ("common_keys",) if name in self.counts}

    # ------------------------------------------------------------------ verdicts

    def load_decision(self) -> None:
        """Make what resolution decided visible; where nothing was compared, that is empty."""
        if not self.is_resolved():
            self._save(None)
        self.counts |= self.workspace.info("decision")["counts"]
        for name in DECISION:
            self._show(name, [self.workspace.path(f"{name}.parquet")])

    def give_verdicts(self) -> None:
        """Give every document its verdict."""
        self._use_memory_for_sql()
        super().give_verdicts()

    def write(self, folder: Path) -> None:
        """Write all tables, a file each."""
        self._use_memory_for_sql(beside=min(_WRITING, self.budget // 8))
        super().write(folder)

    def write_rejects(self, path: Path) -> None:
        """Write quarantine.jsonl, in the order of the input."""
        with path.open("wb") as target:
            for rejects in self.segments.files("rejects.jsonl"):
                with rejects.open("rb") as source:
                    shutil.copyfileobj(source, target)

    def copy_kept(self, folder: Path, advance: Callable[[int], None]) -> None:
        """Copy what is kept of every part, several parts at a time."""
        folder.mkdir()
        threads = max(1, min(self.threads, self.budget // _COPYING))
        copied = map_in_order(lambda item: copy_part(*item, folder), self._kept_by_part(), threads)
        for done, _ in enumerate(copied, 1):
            advance(done)

    def _kept_by_part(self) -> Iterator[tuple[Part, Ints]]:
        """Every part with the rows of it that are kept."""
        kept = self._kept_rows()
        number, rows = next(kept, (-1, _NO_ROWS))
        for at, part in enumerate(self.parts):
            if at == number:
                yield part, rows
                number, rows = next(kept, (-1, _NO_ROWS))
            else:
                yield part, _NO_ROWS

    def _kept_rows(self) -> Iterator[tuple[int, Ints]]:
        """(part, rows that are kept, ascending) for every part of which something is kept."""
        number, held = -1, [_NO_ROWS]
        for batch in self.database.batches(f"{statements.KEPT_ROWS} ORDER BY part, row"):
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
        if isinstance(self._sets, TokenStore):
            self._sets.close()
        self.database.rest()
