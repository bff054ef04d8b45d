"""The embedded engine: DuckDB over Arrow and Parquet, spilling, in one process.

It keeps what flows between the steps of the plan in a workspace on disk, and does the relational work: ranks,
groups, joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly import model
from roughly.cluster.candidates import Candidates, Ints, SetLoader
from roughly.engines.local import verdicts
from roughly.engines.local.database import Database, parquet
from roughly.engines.local.grouping import NOT_ACTIVE, group_bands, group_lists
from roughly.engines.local.segments import Segments
from roughly.engines.local.tokens import TokenStore
from roughly.engines.local.workspace import Workspace
from roughly.errors import DuplicateIds
from roughly.pipeline import FACTS, Decision, Signed, Wanted, check_pairs
from roughly.settings import Settings
from roughly.sources.part import Part
from roughly.text.canonical import Tokens
from roughly.threads import in_order

_DATE_FORMATS = [
    "%d-%b-%Y %H:%M:%S.%g", "%d-%b-%Y %H:%M:%S", "%a, %d %b %Y %H:%M:%S %z", "%d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S", "%Y%m%d", "%d.%m.%Y", "%d %b %Y", "%d %B %Y", "%B %d, %Y", "%Y",
]  # fmt: skip
_CLEAN = "regexp_replace(regexp_replace(trim(date), '\\s*\\([^)]*\\)$', ''), '\\s+(GMT|UTC|UT|Z)$', ' +0000')"
_PUBLISHED = f"""
    CASE WHEN regexp_full_match(date, '[0-9]{{10}}') THEN to_timestamp(date::BIGINT)
         WHEN regexp_full_match(date, '[0-9]{{13}}') THEN to_timestamp(date::BIGINT / 1000)
         WHEN date ILIKE '%infinity%' THEN NULL
         ELSE coalesce(try_cast({_CLEAN} AS TIMESTAMPTZ), try_strptime({_CLEAN}, {_DATE_FORMATS!r})::TIMESTAMPTZ)
    END
"""
"""Dates as moments, in UTC where they name no zone: ISO 8601, the forms above, seconds or milliseconds since 1970."""
_KIND_PAIRS = 500


class LocalEngine:
    """One run on one machine."""

    def __init__(
        self, workspace: Workspace, parts: Sequence[Part], settings: Settings, *, memory: int, threads: int, spill: Path
    ) -> None:
        self.workspace, self.parts, self.settings, self.threads = workspace, parts, settings, threads
        self.database = Database(memory=memory, threads=threads, spill=spill)
        self.segments = Segments(workspace)
        self.documents = 0
        self.ranks = np.empty(0, np.uint32)
        self.near: pa.Table = verdicts.empty_tables()[2]
        self.counts: dict[str, int] = {}
        self.store: TokenStore | None = None
        self.candidates: Candidates | None = None

    # ------------------------------------------------------------------ reading

    def resume_at(self) -> tuple[int, int]:
        """Where reading starts."""
        return self.segments.cursor.part, self.segments.cursor.chunk

    def take(self, signed: Signed) -> None:
        """Keep one chunk."""
        self.segments.add(signed)

    def finish_reading(self) -> int:
        """Make the facts visible as a table; refuse ids that are claimed twice."""
        self.segments.flush()
        self.documents = self.segments.cursor.documents
        files = self.segments.files("facts.parquet")
        if files:
            self.database.run(f"CREATE VIEW read_facts AS SELECT * FROM {parquet(files)}")
        else:
            empty = pa.schema([pa.field("doc", pa.uint32()), *FACTS]).empty_table()
            self.database.run("CREATE TABLE read_facts AS SELECT * FROM empty_facts", empty_facts=empty)
        self._settle_ids()
        return self.documents

    def _settle_ids(self) -> None:
        twice = self.database.value(
            "SELECT count(*) FROM (SELECT 1 FROM read_facts GROUP BY doc_id HAVING count(*) > 1)"
        )
        if not twice:
            self.database.run("CREATE VIEW facts AS SELECT * FROM read_facts")
            return
        if self.settings.on_duplicate_id != "number":
            raise DuplicateIds(self._name_twins(twice))
        self.database.run(
            """
            CREATE TABLE renamed AS SELECT doc, doc_id || '#' || n AS new_id FROM (
                SELECT doc, doc_id, row_number() OVER (PARTITION BY doc_id ORDER BY doc) AS n FROM read_facts
                WHERE doc_id IN (SELECT doc_id FROM read_facts GROUP BY doc_id HAVING count(*) > 1)
            ) WHERE n > 1;
            CREATE VIEW facts AS SELECT f.* REPLACE (coalesce(r.new_id, f.doc_id) AS doc_id)
            FROM read_facts f LEFT JOIN renamed r ON f.doc = r.doc
            """
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
        self.database.run(
            f"""
            CREATE TABLE ranked AS
            SELECT doc, rank, min(rank) OVER (PARTITION BY {lanes}) AS rep, tokens FROM (
                SELECT doc, tokens, {lanes}, (row_number() OVER (ORDER BY {order}) - 1)::UINTEGER AS rank
                FROM (SELECT *, {_PUBLISHED} AS when_published FROM facts)
            );
            CREATE VIEW active AS SELECT doc, rank FROM ranked WHERE rank = rep AND tokens > 0
            """
        )
        self.database.run(verdicts.NAMES)

    def group(self) -> Candidates:
        """Documents that share a key."""
        if self.segments.bands:
            active = self.database.table("SELECT doc, rank FROM active")
            rank_of = np.full(self.documents, NOT_ACTIVE, np.uint32)
            rank_of[active["doc"].to_numpy()] = active["rank"].to_numpy()
            buckets = group_bands(self.segments, rank_of, self.database)
        else:
            buckets = group_lists(self.segments, self.database)
        self.ranks, self.candidates = buckets.candidates()
        return self.candidates

    def wanted(self) -> list[Wanted]:
        """Where the candidate documents stand in the input."""
        numbers = pa.table({"rank": self.ranks, "number": np.arange(len(self.ranks), dtype=np.int64)})
        rows = self.database.table(
            """
            SELECT f.part, f.row, w.number FROM numbers w JOIN ranked r ON w.rank = r.rank
            JOIN facts f ON f.doc = r.doc ORDER BY f.part, f.row
            """,
            numbers=numbers,
        )
        part, row, number = (rows[name].to_numpy() for name in ("part", "row", "number"))
        cuts = np.flatnonzero(np.diff(part)) + 1
        return [
            Wanted(int(p[0]), r, n)
            for p, r, n in zip(np.split(part, cuts), np.split(row, cuts), np.split(number, cuts), strict=True)
            if len(p)
        ]

    def store_tokens(self, batches: Iterable[tuple[Ints, Tokens]], shingle_size: int) -> SetLoader:
        """Keep the candidates' tokens on disk."""
        self.store = TokenStore.write(
            self.workspace.path("tokens.bin"),
            len(self.ranks),
            batches,
            shingle_size=shingle_size,
            threads=self.threads,
        )
        return self.store

    # ------------------------------------------------------------------ verdicts

    def decide(self, decision: Decision | None) -> None:
        """Give every document its verdict."""
        decided, clustered, links = verdicts.empty_tables()
        if decision is not None:
            decided, clustered, links = self._tables(decision)
        self.database.run("CREATE OR REPLACE TABLE decided AS SELECT * FROM given", given=decided)
        self.database.run("CREATE OR REPLACE TABLE clustered AS SELECT * FROM given", given=clustered)
        self.database.run("CREATE OR REPLACE TABLE links AS SELECT * FROM given", given=links)
        self.database.run("DROP TABLE IF EXISTS verdicts")
        self.database.run(verdicts.VERDICTS)
        if self.settings.pairs == "all":
            check_pairs(self.database.value(verdicts.COUNT_ALL_PAIRS), self.settings.pairs_limit)

    def _tables(self, decision: Decision) -> tuple[pa.Table, pa.Table, pa.Table]:
        resolution, ranks = decision.resolution, self.ranks
        pairs = verdicts.all_links(decision)
        links = verdicts.links_table(pairs, resolution.sizes, ranks, self._kinds(pairs))
        best = verdicts.witnesses(pairs, resolution, self.settings.measure)
        decided = links.take(pa.array(best)).rename_columns(
            ["rank", "witness", "resemblance", "containment", "contained_in", "kind"]
        )
        clustered = verdicts.empty_tables()[1]
        if self.settings.cluster == "components":
            clustered = pa.table({"rank": ranks, "cluster": ranks[decision.cluster]})
        near = resolution.near
        self.near = pa.table(
            {
                "left_rank": ranks[near[:, 0]],
                "right_rank": ranks[near[:, 1]],
                **verdicts.scores_of(near, resolution.sizes),
            }
        )
        self.counts = {
            "candidate_documents": len(ranks),
            "candidate_pairs": resolution.compared,
            "verified_pairs": len(pairs),
            "crowded_buckets": resolution.crowded,
        }
        return decided, clustered, links

    def _kinds(self, pairs: Ints) -> list[str | None]:
        from roughly.verify.kinds import KINDS, kinds_of_pairs

        if self.store is None or not len(pairs):
            return [None] * len(pairs)
        store, names = self.store, np.array(KINDS, dtype=object)

        def kinds(lo: int) -> list[str]:
            some = pairs[lo : lo + _KIND_PAIRS]
            docs = np.unique(some[:, :2])
            codes = kinds_of_pairs(
                store.tokens(docs), np.searchsorted(docs, some[:, 0]), np.searchsorted(docs, some[:, 1])
            )
            found: list[str] = names[codes].tolist()
            return found

        return [kind for some in in_order(kinds, range(0, len(pairs), _KIND_PAIRS), self.threads) for kind in some]

    def write(self, folder: Path) -> None:
        """documents.parquet, pairs.parquet and clusters.parquet."""
        self.database.write(verdicts.DOCUMENTS, folder / "documents.parquet", model.VERDICTS)
        pairs = verdicts.ALL_PAIRS if self.settings.pairs == "all" else verdicts.EVIDENCE
        self.database.write(pairs, folder / "pairs.parquet", model.PAIRS)
        self.database.write(verdicts.CLUSTERS, folder / "clusters.parquet", model.CLUSTERS)

    def kept_rows(self) -> Iterator[tuple[int, Ints]]:
        """(part, rows whose documents stay, ascending) for every part that keeps something."""
        rows = self.database.table(
            """
            SELECT f.part, f.row FROM facts f JOIN verdicts v ON f.doc = v.doc WHERE v.kept ORDER BY f.part, f.row
            """
        )
        part, row = rows["part"].to_numpy(), rows["row"].to_numpy()
        starts = np.flatnonzero(np.r_[True, part[1:] != part[:-1]]) if len(part) else np.empty(0, np.int64)
        for start, stop in zip(starts, np.r_[starts[1:], len(part)], strict=True):
            yield int(part[start]), row[start:stop]

    def close(self) -> None:
        """Give the memory back."""
        self.database.close()
