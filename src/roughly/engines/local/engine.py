"""The embedded engine: DuckDB over Arrow and Parquet, spilling, in one process.

The relational steps are those of every engine (`engines.relational`), and `engine_tables` stores the tables between
the steps; this module has the stages that read, group, load and compare.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roughly import dates
from roughly.cluster import grouping
from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.common_keys import COMMON_COUNTS, CommonLimit, IgnoredKeys
from roughly.cluster.evidence import together
from roughly.engines.local.database import import_all
from roughly.engines.local.engine_tables import LocalTables
from roughly.engines.local.kept_parts import copy_parts
from roughly.engines.local.keys import Band, KeyLists
from roughly.engines.local.memory_budget import LEAST_OF_STAGE, WRITING
from roughly.engines.local.second_reading import RowsToFetch, changed_input, check_texts, fetch_all, rows_by_part
from roughly.engines.local.sketches import SketchStore
from roughly.engines.local.token_store import TokenStore, TokenWriter, kinds_of
from roughly.engines.relational import statements
from roughly.engines.relational.base_engine import ignore
from roughly.engines.relational.decision_tables import empty_tables, tables_of
from roughly.engines.relational.summary import Summary
from roughly.engines.workspace import Workspace
from roughly.meter import Meter, Stage
from roughly.methods import Judge, Method
from roughly.model import CARRIED, DECISION, NUMBERED_FACTS
from roughly.pipeline import Decision, decide, sign_all
from roughly.settings import Resources, Settings
from roughly.sources.parquetwriter import ParquetWriter
from roughly.sources.part import Part, find_landmarks, is_untouched
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters
from roughly.threads import map_in_order

if TYPE_CHECKING:
    from roughly.cluster.fields import Fields

_STORED_GROUP = 122_880
"""Rows of a row group in tables of the workspace: the database reads row groups in parallel."""
_TOKEN_FILES = 8
"""Number of files that tokens are written to in parallel."""
_CHECKED = 1 << 20
"""Number of copied documents whose digests are compared at a time."""
_FIELDS_AT_ONCE = 1 << 16
"""Number of candidates whose fields are read at a time."""
_SAMPLED = 10_000
"""Number of documents read before the size of the collection is estimated."""


class LocalEngine(LocalTables):
    """One run on one machine."""

    def __init__(
        self, parts: Sequence[Part], settings: Settings, resources: Resources, workspace: Workspace, meter: Meter
    ) -> None:
        super().__init__(parts, settings, resources, workspace, meter)
        self._is_resumed = False
        self.ranks = np.empty(0, np.uint32)
        self.candidates: Candidates | None = None
        self._sets: SetLoader | None = None

    # ------------------------------------------------------------------ reading

    def build_lexicon(self, path: Path, filters: Filters) -> None:
        """Count the documents that contain each term, and write the lexicon of the collection."""
        from roughly.lexicon.builder import count_parts

        resources = dataclasses.replace(self.resources, temp=self._own_spill or self.workspace.folder)
        page = self.settings.page_text
        count_parts(self.parts, path, filters=filters, page=page, resources=resources, meter=self.meter)

    def read_and_sign(self, method: Method, stage: Stage) -> None:
        """Read all parts, from where an interrupted run stopped; facts, keys, sketches and rejects are on disk."""
        import_all()
        self._committing.do(self.database.open)  # meanwhile
        cursor = self.segments.cursor
        stage.reused = self._is_resumed = (cursor.part, cursor.chunk) != (0, 0)
        documents = 0
        start = cursor.part, cursor.chunk
        threads = self.budget.reading_threads
        for signed in sign_all(self.parts, method, self.settings, threads, start, self.budget.working):
            self.segments.add(signed)
            stage.bytes += signed.nbytes
            before, documents = documents, documents + signed.facts.num_rows
            stage.documents = documents
            self.meter.advance(stage, stage.bytes)
            if before < _SAMPLED <= documents and stage.bytes:  # a damaged gzip is counted at its end
                self.budget.check_capacity(round(documents * stage.total / stage.bytes))
        self.segments.finish()
        self._committing.finish()
        if stage.reused:
            for _ in map_in_order(find_landmarks, self.parts, threads):
                pass
        cursor = self.segments.cursor
        self.documents, self.rejected = cursor.documents, cursor.rejected
        self.counts |= cursor.counts
        files = self.segments.files("facts.parquet")
        if not files:
            files = [self.workspace.path("no-facts.parquet")]
            pq.write_table(NUMBERED_FACTS.empty_table(), files[0])
        self._show("read_facts", files)

    # ------------------------------------------------------------------ candidates

    def rank(self, order: str, collapse: str) -> None:
        """Number the documents, best first, and collapse those that are equal at this level."""
        hi, lo = statements.digest_columns(collapse)
        self._allow(self.budget.for_sql)
        number = f"(row_number() OVER (ORDER BY {order}) - 1)::UINTEGER AS rank"
        numbered = f"SELECT {', '.join(CARRIED)}, {hi} AS hi, {lo} AS lo, {number} FROM facts"
        self.keep("ranked", statements.ranked(numbered))

    def group(self, common: CommonLimit, once: bool) -> None:
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
                budget=max(self.budget.left, LEAST_OF_STAGE),
                threads=self.threads,
                has_probes=not bands,
                common=common,
                once=once,
            )
            self.ranks, candidates = found.candidates(self.documents, self.threads)
            arrays = {"ranks": self.ranks, **dataclasses.asdict(candidates)}
            if common.ignored:
                arrays |= {"common": found.common_keys.keys, "mostly_common": found.common_keys.documents}
            buckets = arrays.pop("buckets")
            self.workspace.save("candidates", arrays, {"buckets": buckets, **found.common_counts})
        info = self.workspace.info("candidates")
        saved = {name: self.workspace.array("candidates", name) for name in ("doc_offsets", "doc_buckets", "probes")}
        self.ranks = self.workspace.array("candidates", "ranks")
        self.candidates = Candidates(**saved, buckets=info["buckets"])
        self.counts["candidate_documents"] = len(self.ranks)
        if common.most:
            self.counts |= {name: info.get(name, 0) for name in COMMON_COUNTS}

    def _grouped(self) -> Candidates:
        if self.candidates is None:
            raise RuntimeError("documents are grouped before they are compared")
        return self.candidates

    def pair_bound(self) -> int:
        """Upper bound of the number of pairs that share a key."""
        return self._grouped().pair_bound()

    def load_contents(self, judge: Judge) -> None:
        """Load what the candidates are judged on: their keys, their sketches, or their tokens, read again."""
        candidates = self._grouped()
        if judge.on == "keys":
            self._sets = candidates.key_sets()
        elif judge.on == "sketch":
            self._sets = self._sketches(judge)
        else:
            wanted = self._rows_to_fetch()
            with self.stage("fetch", sum(len(rows.rows) for rows in wanted), "documents") as stage:
                stage.reused = not wanted and candidates.documents > 0
                self._sets = self._store_tokens(wanted, stage)

    def _numbers(self) -> pa.Table:
        """The number of each candidate and its rank."""
        return pa.table({"rank": self.ranks, "number": np.arange(len(self.ranks), dtype=np.int64)})

    def _rows_to_fetch(self) -> list[RowsToFetch]:
        """Positions of the candidate documents in the input; empty if their tokens are stored already."""
        if self.workspace.found("tokens") is not None:
            return []
        rows = self.database.table(
            """
            SELECT r.part, r.row, n.number, f.lex_lo FROM ranked r JOIN numbers n ON n.rank = r.rank
            JOIN facts f ON f.doc = r.doc ORDER BY r.part, r.row
            """,
            numbers=self._numbers(),
        )
        return rows_by_part(*(rows[name].to_numpy() for name in ("part", "row", "number", "lex_lo")))

    def _store_tokens(self, wanted: list[RowsToFetch], stage: Stage) -> TokenStore:
        """Store the candidates' tokens on disk; they are committed in the background."""
        paths = [self.workspace.path(f"tokens-{number}.bin") for number in range(min(self.threads, _TOKEN_FILES))]
        if (stored := self.workspace.found("tokens")) is not None:
            paths = [self.workspace.path(name) for name in stored["files"]]
            starts, lengths = (self.workspace.array("tokens", name) for name in ("starts", "lengths"))
        else:
            with TokenWriter(paths, len(self.ranks)) as writer:

                def add(docs: Ints, tokens: Tokens) -> tuple[int, int]:
                    self.workspace.space.check(tokens.hashes.nbytes)
                    return writer.add(docs, tokens)

                threads = self.budget.fetching_threads
                for documents, size in fetch_all(self.parts, wanted, self.settings, threads, add):
                    stage.bytes += size
                    self.meter.advance(stage, stage.done + documents)
            if stage.done < sum(len(rows.rows) for rows in wanted):
                missing = next(rows for rows in wanted if (writer.starts[rows.docs] < 0).any())
                first = int(missing.rows[int((writer.starts[missing.docs] < 0).argmax())])
                raise changed_input(self.parts[missing.part], first)
            starts, lengths = writer.starts, writer.lengths
            arrays, info = {"starts": starts, "lengths": lengths}, {"files": [path.name for path in paths]}
            self._committing.do(partial(self.workspace.save, "tokens", arrays, info, paths))
        return TokenStore(
            paths, starts, lengths, shingle_size=self.settings.shingle_size, threads=self.threads, fields=self._fields()
        )

    def _fields(self) -> Fields | None:
        """What is known of the candidates, if the verdict compares it."""
        columns = self.settings.compared_fields
        if not columns:
            return None
        from roughly.cluster.fields import Fields

        listed = [f"f.{name}" if name in columns else f"NULL::VARCHAR AS {name}" for name in ("title", "url", "source")]
        batches = self.database.batches(
            f"""
            SELECT {", ".join(listed)}, f.published FROM numbers n JOIN ranked r ON n.rank = r.rank
            JOIN facts f ON f.doc = r.doc ORDER BY n.rank
            """,
            _FIELDS_AT_ONCE,
            numbers=self._numbers(),
        )
        return Fields.joined([Fields.of(columns, some, dates.days(some["published"])) for some in batches])

    def _sketches(self, judge: Judge) -> SketchStore:
        docs = np.empty(len(self.ranks), np.int64)
        sql = "SELECT n.number, r.doc FROM numbers n JOIN ranked r ON n.rank = r.rank"
        rows = self.database.table(sql, numbers=self._numbers())
        docs[rows["number"].to_numpy()] = rows["doc"].to_numpy()
        ignored = None
        if judge.ignore_common:
            keys, mostly = (self.workspace.array("candidates", name) for name in ("common", "mostly_common"))
            ignored = IgnoredKeys(keys, np.isin(self.ranks, mostly))
        return SketchStore(self.segments.sketch_files(), docs, ignored)

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
        scratch = self.workspace.path("spool")
        scratch.mkdir(exist_ok=True)
        work = dataclasses.replace(self.budget.for_resolution(candidates, scratch), advance=advance)
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

    def _save(self, decision: Decision | None) -> None:
        """Store what resolution decided, and drop verdicts of an earlier decision."""
        self._committing.finish()
        tables = empty_tables(self.reasons)
        counts: dict[str, int] = {}
        if decision is not None:
            tables, counts = self._tables(decision)
        self.workspace.discard("verdicts")
        files = [self.workspace.path(f"{name}.parquet") for name in DECISION]
        stored = zip((tables[name] for name in DECISION), files, strict=True)
        at_once = len(files) if self.budget.left > len(files) * WRITING else 1
        for _ in map_in_order(lambda pair: self._store_table(*pair), stored, min(self.threads, at_once)):
            pass
        self.workspace.commit("decision", files, {"counts": counts})

    def _store_table(self, table: pa.Table, path: Path) -> None:
        threads = min(self.threads, -(-table.num_rows // _STORED_GROUP))
        with (
            path.open("wb") as out,
            ParquetWriter(out, table.schema, compression="lz4", threads=threads, memory=WRITING // 2) as writer,
        ):
            for start in range(0, table.num_rows, _STORED_GROUP):
                writer.write(table.slice(start, _STORED_GROUP))

    def _tables(self, decision: Decision) -> tuple[dict[str, pa.Table], dict[str, int]]:
        resolution = decision.resolution
        pairs = together(resolution.pairs, decision.links)
        kinds = kinds_of(self._sets, pairs) if isinstance(self._sets, TokenStore) else None
        tables = tables_of(decision, pairs, self.ranks, kinds, self.settings.cluster == "components")
        counts = {
            "candidate_documents": len(self.ranks),
            "candidate_pairs": resolution.compared,
            "verified_pairs": len(pairs),
            "crowded_buckets": resolution.hot,
            "shingle_equivalent": resolution.equivalent,
        }
        return tables, counts | {name: self.counts[name] for name in COMMON_COUNTS if name in self.counts}

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
        self._allow(self.budget.for_sql)
        super().give_verdicts()

    def summary(self, measure: str | None) -> Summary:
        """What was found, counted. The last queries of a run."""
        found = super().summary(measure)
        self._committing.finish()
        if not self._is_small():
            self.database.rest(wait=False)
        return found

    def write_rejects(self, path: Path) -> None:
        """Write quarantine.jsonl, in the order of the input."""
        with path.open("wb") as target:
            for rejects in self.segments.files("rejects.jsonl"):
                with rejects.open("rb") as source:
                    shutil.copyfileobj(source, target)

    def copy_kept(self, folder: Path, advance: Callable[[int], None]) -> None:
        """Copy the kept records of every part, several parts at a time; end the run if they are not what was read."""
        kept = self.database.batches(f"{statements.KEPT_ROWS} ORDER BY part, row")
        memory = self.budget.working
        for _ in copy_parts(self.parts, kept, folder, threads=self.threads, memory=memory, advance=advance):
            pass
        self._check_copied()

    def _check_copied(self) -> None:
        """Read what was copied once more where the status of a file shows a write, or an earlier process read it."""
        parts = [number for number, part in enumerate(self.parts) if self._is_resumed or not is_untouched(part)]
        if parts:
            rows = self.database.batches(statements.DIGESTS_OF_KEPT.format(parts=", ".join(map(str, parts))), _CHECKED)
            check_texts(self.parts, rows, self.budget.fetching_threads)

    def kept_of(self, part: int) -> pa.Table:
        """Row and doc_id of the kept documents of a part, in the order of the rows."""
        return self.database.table(statements.KEPT_OF_PART.format(part=part))

    def close(self, *, at_once: bool = False) -> None:
        """Free the memory."""
        self.segments.stop()
        self._committing.abandon()
        if isinstance(self._sets, TokenStore):
            self._sets.close(self.threads if at_once else 1)
        if self._is_small():
            self.database.lend(wait=not at_once)
        else:
            self.database.rest(wait=not at_once)
        if self._own_spill is not None:
            shutil.rmtree(self._own_spill, ignore_errors=True)
