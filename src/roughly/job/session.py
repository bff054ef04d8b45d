"""One run: the engine, the plan, and everything that is written."""

from __future__ import annotations

import dataclasses
import json
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roughly import methods, pipeline
from roughly.engines.relational.base_engine import RelationalEngine
from roughly.engines.relational.summary import Summary
from roughly.engines.workspace import IDENTITY, Workspace
from roughly.errors import InputMissing, MemoryTooSmall, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.job.account import account, import_report, report_data
from roughly.job.kept_file import KeptFile
from roughly.job.rereading import LANDMARKS, write_landmarks
from roughly.meter import Stage
from roughly.model import WRITTEN
from roughly.settings import LEAST_MEMORY, Resources, Settings
from roughly.sources.part import Rows
from roughly.temporary_space import delete_folder
from roughly.threads import BackgroundTasks

if TYPE_CHECKING:
    from roughly.report.data import RunData


def check_memory(resources: Resources) -> None:
    """Refuse impossible limits at the start."""
    if resources.memory < LEAST_MEMORY:
        raise MemoryTooSmall(
            f"--memory {resources.memory >> 20}MB is too little; {LEAST_MEMORY >> 20}MB is the minimum"
        )


@dataclass
class _Later:
    """What a run without an output folder has not written yet: its tables, the copy of what is kept, its report."""

    folder: Path
    tables: list[str]
    kept: bool
    summary: Summary | None = None  # with figures, from before the verdicts were replaced
    writing: threading.Lock = dataclasses.field(default_factory=threading.Lock)


class Session:
    """A run on any engine. It is open while its result may be computed at another threshold."""

    def __init__(
        self,
        engine: RelationalEngine,
        workspace: Workspace,
        resources: Resources,
        reading: dict[str, Any] | None = None,
    ) -> None:
        """`reading` says how the input was read, for run.json."""
        self.engine, self.workspace, self.resources, self.reading = engine, workspace, resources, reading
        self.parts, self.settings, self.meter = engine.parts, engine.settings, engine.meter
        self.method: methods.Method | None = None  # after the collection is counted, if needed
        self._later: _Later | None = None

    def _make(self) -> methods.Method:
        """The method; if its lexicon is that of the documents themselves, they are counted first."""
        if not methods.needs_count(self.settings):
            return methods.make(self.settings)
        from roughly.lexicon.lexicon import Lexicon

        path = self.workspace.path("collection.lexicon")
        if self.workspace.found("lexicon") is None:
            self.engine.build_lexicon(path, methods.counted_with(self.settings))
            self.workspace.commit("lexicon", [path], {})
        else:
            with self.engine.stage("count") as stage:
                stage.reused = True
        return methods.make(self.settings, Lexicon.open(path))

    def run(
        self,
        folder: Path,
        hidden: int = 0,
        convert: Callable[[], None] = lambda: None,
        *,
        within: bool = True,
        report: bool = True,
        tables: bool = True,
    ) -> None:
        """Find duplicates and write everything into `folder`; `hidden` documents of the input are not read.

        `convert` is called when what is kept has been copied. If `within` is false, all documents are kept. The report,
        and the tables with the copy of what is kept, may be written later (`complete`).
        """
        engine = self.engine
        with engine.working():
            self.method = self._make()
            pipeline.run(self.parts, self.method, self.settings, engine, within=within)
            if not engine.documents and not engine.rejected and not hidden:
                names = ", ".join(part.name for part in self.parts[:3])
                raise InputMissing(f"no documents in {names}: nothing to do")
            if not report:
                self._later = _Later(folder, [] if tables else list(WRITTEN), not tables)
            modules = BackgroundTasks()
            if report:
                modules.do(import_report)
            with engine.stage("write"):
                if tables:
                    engine.write(folder)
                engine.write_rejects(folder / "quarantine.jsonl")
                write_landmarks(self.parts, folder / LANDMARKS)
            if tables:
                self._copy(folder)
            convert()
            with engine.stage("report"):
                modules.finish()
                summary = self._summary(report)
                data = self._report_data(summary) if report else None
            run = self._account(folder, self.settings, summary, self.meter.stages)
            if data is not None:
                self._write_report(folder, data, run)

    def _copy(self, folder: Path) -> None:
        with self.engine.stage("copy", sum(part.size or 0 for part in self.parts), "bytes") as stage:
            self.engine.copy_kept(folder / "kept", lambda done: self.meter.advance(stage, done))

    def complete(self, folder: Path, table: str | None = None) -> None:
        """Write what is not in the folder of the run yet: one table, or all of them and the copy of what is kept."""
        later = self._later
        if later is None or later.folder != folder:
            return
        with later.writing, self.engine.working():
            wanted = [name for name in later.tables if table in (None, name)]
            if wanted:
                self.engine.write(folder, wanted)
            later.tables = [name for name in later.tables if name not in wanted]
            if table is None and later.kept:
                self._copy(folder)
                later.kept = False

    def write_report(self, folder: Path) -> None:
        """Write the report of a run that was made without one, from the texts of its input."""
        later = self._later
        if later is None or later.folder != folder:
            raise SettingsError("a result at another threshold has no report; run dedupe at that threshold")
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        with later.writing, self.engine.working():
            data = self._report_data(later.summary or self._summary(True))
        self._write_report(folder, data, run)

    def write_file(self, folder: Path, file: KeptFile, path: Path, *, move: bool) -> None:
        """Write one file of what is kept; with `move`, `kept/` is not needed any more."""
        from roughly.job.kept_conversion import Kept, write_kept_file

        def documents(number: int) -> tuple[Rows, pa.Array]:
            table = self.engine.kept_of(number)
            return table["row"].to_numpy(), table["doc_id"].combine_chunks()

        with self.engine.stage("convert", self.engine.documents, "documents") as stage:
            kept = Kept(self.parts, folder / "kept", documents, self.resources.threads)
            write_kept_file(file, kept, path, lambda done: self.meter.advance(stage, done), move=move)

    def rethreshold(self, threshold: float) -> Path:
        """The result at a threshold at or above the run's, in a temporary folder of its own."""
        if not self.settings.threshold <= threshold <= 1:
            raise SettingsError(
                f"threshold must be from {self.settings.threshold}, this run's, to 1, not {threshold!r}; "
                "a lower one needs other keys: run dedupe again"
            )
        if self.method is None:
            raise SettingsError("this run has no result; run dedupe again")
        judge = self.method.judge()
        if not self.method.equality and (judge.on == "keys" or judge.measure == "common"):
            raise SettingsError(
                f"{self.method.name} judges pairs by what they have in common, not by a threshold; "
                "run dedupe again with verify=True"
            )
        settings = dataclasses.replace(self.settings, threshold=threshold)
        if self._later is not None and self._later.summary is None:  # the verdicts are about to be replaced
            self.complete(self._later.folder)
            self._later.summary = self._summary(True)
        if not self.method.equality:
            self.engine.resolve(dataclasses.replace(judge, threshold=threshold), settings)
            self.engine.give_verdicts()
        folder = Path(tempfile.mkdtemp(prefix="roughly-"))
        self.engine.write(folder)
        self._account(folder, settings, self._summary(False), [])
        return folder

    def close(self, *, at_once: bool = False) -> None:
        """Free memory and disk; with `at_once`, on all threads, which a finaliser must not start."""
        self.engine.close(at_once=at_once)
        delete_folder(self.workspace.folder, IDENTITY, at_once=at_once)

    def _account(self, folder: Path, settings: Settings, summary: Summary, stages: list[Stage]) -> dict[str, Any]:
        """Write run.json and return its content."""
        more = self.engine.counts | {"rejected": self.engine.rejected}
        assert self.method is not None  # nothing is written before it is made
        run = account(settings, self.resources, self.method, self.parts, summary, stages, more)
        run |= self.engine.describe()
        if self.reading is not None:
            run["reading"] = self.reading
        text = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
        (folder / "run.json").write_text(text, encoding="utf-8")
        return run

    def _summary(self, figures: bool) -> Summary:
        assert self.method is not None
        return self.engine.summary(self.method.judge().measure if figures else None)

    def _report_data(self, summary: Summary) -> RunData:
        from roughly.engines.local.memory_budget import rereading_threads

        assert self.method is not None
        return report_data(summary, self.parts, self.settings, self.method, rereading_threads(self.resources))

    def _write_report(self, folder: Path, data: RunData, run: dict[str, Any]) -> None:
        from roughly.report import write_report

        write_report(dataclasses.replace(data, run=run), folder / "report.html")
