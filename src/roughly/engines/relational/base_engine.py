"""What every engine has in common: the relational steps of the plan, each a statement that the engine runs.

An engine provides five things: the rows of a query, a view, a stored table, written tables, and the stages that are
not relational (`pipeline.Engine`). Ids, verdicts, outputs and the summary follow from these, with the same messages.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

from roughly.cluster.common_keys import CommonLimit
from roughly.engines.relational import statements
from roughly.engines.relational.summary import Summary, summarise
from roughly.errors import DuplicateIds, InputError
from roughly.meter import Meter, Stage
from roughly.methods import Judge, Method
from roughly.model import WRITTEN, Table, reason_columns
from roughly.pipeline import check_pairs
from roughly.settings import Settings
from roughly.sources.part import Part
from roughly.text.filters import Filters
from roughly.verdict import FIELDS, Verdict


def ignore(done: int) -> None:
    """Ignore the progress of a stage."""


class RelationalEngine(ABC):
    """One run: the plan drives it (`pipeline.Engine`), the job makes it write the outputs."""

    def __init__(self, parts: Sequence[Part], settings: Settings, meter: Meter) -> None:
        self.parts, self.settings, self.meter = parts, settings, meter
        self.documents = self.rejected = 0
        self.counts: dict[str, int] = {}
        self._weighted = [] if settings.verdict is None else Verdict.parse(settings.verdict).names
        self.reasons = () if settings.verdict is None else reason_columns(self._weighted)

    # ------------------------------------------------------------------ what an engine provides

    @abstractmethod
    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a query that returns few."""

    @abstractmethod
    def view(self, name: str, sql: str) -> None:
        """Make the result of a query visible under a name."""

    @abstractmethod
    def keep(self, name: str, sql: str) -> None:
        """Store the result of a query, visible under a name; a resumed run reuses what is stored."""

    @abstractmethod
    def write_tables(self, queries: Mapping[str, str], folder: Path) -> None:
        """Write the result of each query as NAME.parquet, with the columns of `written_table`."""

    @abstractmethod
    def write_rejects(self, path: Path) -> None:
        """Write quarantine.jsonl."""

    @abstractmethod
    def copy_kept(self, folder: Path, advance: Callable[[int], None]) -> None:
        """Copy the kept records of every part, in the part's own format; `advance` gets the bytes that are done."""

    @abstractmethod
    def build_lexicon(self, path: Path, filters: Filters) -> None:
        """Count the documents that contain each term, and write the lexicon of the collection."""

    @abstractmethod
    def read_and_sign(self, method: Method, stage: Stage) -> None:
        """Read all parts; store the table `read_facts`, keys, sketches and rejects."""

    @abstractmethod
    def rank(self, order: str, collapse: str) -> None:
        """Number the documents in order, best first, and collapse those that are equal: the table `ranked`."""

    @abstractmethod
    def is_resolved(self) -> bool:
        """Whether an interrupted run has stored the outcome of resolution."""

    @abstractmethod
    def group(self, common: CommonLimit, once: bool) -> None:
        """Find the documents that share a key."""

    @abstractmethod
    def pair_bound(self) -> int:
        """Upper bound of the number of pairs that share a key."""

    @abstractmethod
    def load_contents(self, judge: Judge) -> None:
        """Load what the candidates are judged on."""

    @abstractmethod
    def resolve(self, judge: Judge, settings: Settings, advance: Callable[[int], None] = ignore) -> None:
        """Compare candidates and store who is kept: the tables of `model.DECISION`."""

    @abstractmethod
    def load_decision(self) -> None:
        """Make the tables of `model.DECISION` visible, empty where nothing was resolved."""

    @abstractmethod
    def close(self, *, at_once: bool = False) -> None:
        """Free memory and files; with `at_once`, on all threads, which a finaliser must not start."""

    def describe(self) -> dict[str, Any]:
        """What run.json says about the engine, in addition to the counts."""
        return {}

    def working(self) -> AbstractContextManager[None]:
        """Context of the whole run: errors of the engine are turned into ours."""
        return nullcontext()

    # ------------------------------------------------------------------ what follows

    def stage(self, name: str, total: int = 0, unit: str = "") -> AbstractContextManager[Stage]:
        """Time the block."""
        return self.meter.stage(name, total, unit)

    def rows_of_each(self, queries: Sequence[str]) -> list[list[dict[str, Any]]]:
        """The rows of several queries that return few."""
        return [self.rows(sql) for sql in queries]

    def value(self, sql: str) -> int:
        """A single number."""
        return int(next(iter(self.rows(sql)[0].values())) or 0)

    def check_ids(self) -> None:
        """Refuse duplicate ids, or number them."""
        repeated = self.value(statements.COUNT_REPEATED_IDS.format(table="read_facts"))
        if not repeated:
            self.view("facts", statements.ALL_FACTS)
            return
        if self.settings.on_duplicate_id != "number":
            raise DuplicateIds(self._first_repeated_id(repeated))
        self.keep("renamed", statements.RENAMED)
        self.view("facts", statements.RENAMED_FACTS)
        if self.value(statements.COUNT_REPEATED_IDS.format(table="facts")):
            raise DuplicateIds("numbering duplicate ids gives a#2, …, which are in use; rename them in the input")

    def _first_repeated_id(self, count: int) -> str:
        rows = self.rows(statements.FIRST_REPEATED_ID)
        places = [f"{self.parts[r['part']].name} {self.parts[r['part']].locate(r['row'])}" for r in rows]
        more = f"; {count:,} ids are claimed more than once" if count > 1 else ""
        return (
            f"two documents have the id {rows[0]['doc_id']!r}: {places[0]} and {places[1]}{more}. "
            "Name another column with --id-column, or number them with --on-duplicate-id number"
        )

    def check_fields(self) -> None:
        """Refuse a verdict that compares what no document has."""
        columns = self.settings.compared_fields
        if not columns or not self.documents:
            return
        counts = self.rows(statements.COUNT_FIELDS)[0]
        missing = sorted(name for name in columns if not counts[name])
        if missing:
            names = [name for name, column in FIELDS.items() if column in missing and name in self._weighted]
            raise InputError(
                f"the learned verdict compares {', '.join(names)}, and no document has a {' or a '.join(missing)} that "
                f"can be read; name the column with --{missing[0]}-column, or learn a verdict on documents like these"
            )

    def applicable(self, judge: Judge) -> Judge:
        """The judge, without its date window if no document of the collection has a date."""
        if judge.dates is None or self.value(statements.COUNT_DATED):
            return judge
        return dataclasses.replace(judge, dates=None)

    def give_verdicts(self) -> None:
        """Give every document its verdict: the table `verdicts`."""
        self.load_decision()
        self.keep("verdicts", statements.VERDICTS)
        if self.settings.pairs == "all":
            check_pairs(self.value(statements.COUNT_ALL_PAIRS), self.settings.pairs_limit)

    def write(self, folder: Path, names: Sequence[str] = tuple(WRITTEN)) -> None:
        """Write tables of `model.WRITTEN`, by default all."""
        queries = statements.written(self.settings.pairs == "all", self.reasons)
        self.write_tables({name: queries[name] for name in names}, folder)

    def written_table(self, name: str) -> Table:
        """The columns of a table: `model.WRITTEN`, and the reasons of a learned verdict."""
        return Table((*WRITTEN[name].columns, *(self.reasons if name == "pairs" else ())))

    def kept_of(self, part: int) -> pa.Table:
        """Row and doc_id of the kept documents of a part, in the order of the rows."""
        schema = pa.schema({"row": pa.int64(), "doc_id": pa.string()})
        return pa.Table.from_pylist(self.rows(statements.KEPT_OF_PART.format(part=part)), schema)

    def summary(self, measure: str | None) -> Summary:
        """What was found, counted; with a measure, also the figures of the report."""
        return summarise(self.rows_of_each, measure)
