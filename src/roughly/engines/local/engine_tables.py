"""The tables of a run on one machine: in the database's memory if they are few, otherwise in files of the workspace.

`LocalTables` stores and shows them, and writes those of the result; `engine.LocalEngine` adds the stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from roughly.engines.local.database import Database, TableToWrite, parquet, plain_errors
from roughly.engines.local.memory_budget import MemoryBudget
from roughly.engines.local.segments import Segments
from roughly.engines.relational.base_engine import RelationalEngine
from roughly.engines.workspace import Workspace
from roughly.meter import Meter
from roughly.model import DECISION
from roughly.settings import Resources, Settings
from roughly.sources.part import Part
from roughly.threads import BackgroundTasks

_FEW = 50_000
"""Up to this number of documents, tables are only in the database's memory, and it stays open for the next run."""


class LocalTables(RelationalEngine):
    """The database and the workspace of one run on one machine."""

    def __init__(
        self, parts: Sequence[Part], settings: Settings, resources: Resources, workspace: Workspace, meter: Meter
    ) -> None:
        super().__init__(parts, settings, meter)
        self.resources, self.workspace, self.threads = resources, workspace, resources.threads
        self.budget = MemoryBudget(resources)
        self.budget.free_more = self._close_database
        meter.ample = self.budget.ample
        self._own_spill = None if resources.temp is None else Path(mkdtemp(prefix="roughly-spill-", dir=resources.temp))
        spill = self._own_spill or workspace.folder / "spill"
        if self._own_spill is not None:
            workspace.space.folders.append(spill)
        memory, room = self.budget.working // 2, workspace.space.left
        self.database = Database(memory=memory, threads=self.threads, spill=spill, room=room)
        self.segments = Segments(workspace, writers=self.budget.segment_writers)
        self.budget.limit_allocators()
        self._committing = BackgroundTasks()

    def working(self) -> AbstractContextManager[None]:
        """Errors of the database for a full disk or too little memory become ours."""
        return plain_errors(self.budget.working // 2)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a query that returns few."""
        return self.database.rows(sql)

    def rows_of_each(self, queries: Sequence[str]) -> list[list[dict[str, Any]]]:
        """The rows of several queries of the verdicts that return few."""
        return self.database.rows_of_each(queries, at_once=self._is_roomy())

    def view(self, name: str, sql: str) -> None:
        """Make the result of a query visible under a name."""
        self.database.view(name, sql)

    def keep(self, name: str, sql: str) -> None:
        """Store the result of a query as an artefact, committed in the background; a resumed run reuses it.

        Of few documents it is only held in memory: a resumed run computes it again in less time than reading it takes.
        """
        if self._is_small():
            self.database.view(name, sql, held=True)
            return
        path = self.workspace.path(f"{name}.parquet")
        if self.workspace.found(name) is None:
            self.database.save(sql, path)
            self._committing.do(partial(self.workspace.commit, name, [path], {}))
        self._show(name, [path])

    def _show(self, name: str, files: Sequence[Path]) -> None:
        self.database.view(name, f"SELECT * FROM {parquet(files)}", held=self._is_small())

    def _is_small(self) -> bool:
        return self.documents <= _FEW

    def _allow(self, memory: int) -> None:
        """Set the memory of the next queries. One thread is enough for tables of few documents."""
        self.database.allow(memory, 1 if self._is_small() else self.threads)

    def write_tables(self, queries: Mapping[str, str], folder: Path) -> None:
        """Write the result of each query as one Parquet file; all at once where the memory is ample."""
        memory = self.budget.for_row_groups
        self._allow(self.budget.for_sql - memory)
        tables = [
            TableToWrite(sql, folder / f"{name}.parquet", self.written_table(name).schema)
            for name, sql in queries.items()
        ]
        self.database.write(tables, memory, at_once=self._is_roomy())

    def _is_roomy(self) -> bool:
        """Whether the memory is ample for several queries of the verdicts at once."""
        if self.threads == 1 or self._is_small():
            return False
        read = [self.workspace.path(f"{name}.parquet") for name in ("verdicts", *DECISION)]
        stored = sum(path.stat().st_size for path in (*read, *self.segments.files("facts.parquet")))
        return self.budget.for_queries(stored) < self.database.memory

    def _close_database(self) -> bool:
        """Free the database's memory between two stages, if there is much of it: closing takes time."""
        if self._is_small() or not self.database.is_awake:
            return False
        self.database.rest()
        return True
