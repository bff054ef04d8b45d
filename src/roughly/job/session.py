"""One run at work: the engine, the plan, and everything that is written."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly import methods, pipeline
from roughly.engines.local import LocalEngine, Workspace
from roughly.engines.local.database import plain_errors
from roughly.engines.local.summary import Summary, summarise
from roughly.errors import InputMissing, MemoryTooSmall, SettingsError
from roughly.job.account import account, report_data
from roughly.job.rereading import LANDMARKS, write_landmarks
from roughly.job.result import Result
from roughly.meter import Listener, Meter, Stage
from roughly.settings import Resources, Settings
from roughly.sources.part import Part
from roughly.threads import map_in_order

BASE_MEMORY = 384 << 20
"""What the process holds before the first document: the interpreter, its libraries, the kernels."""


_NONE = np.empty(0, np.int64)
_COPY_MEMORY = 512 << 20
"""What copying a file may take: a row group as it was read, and one to be written."""
LEAST_MEMORY = 640 << 20
"""Below this the interpreter, its libraries and a batch a thread do not fit."""


def check_memory(resources: Resources) -> None:
    """Refuse at the start what cannot be kept."""
    if resources.memory < LEAST_MEMORY:
        raise MemoryTooSmall(
            f"--memory {resources.memory >> 20}MB is too little; {LEAST_MEMORY >> 20}MB is the least that would do"
        )


class Session:
    """A run. It stays open as long as its result may be asked for another threshold."""

    def __init__(
        self,
        parts: Sequence[Part],
        settings: Settings,
        resources: Resources,
        workspace: Workspace,
        listener: Listener | None = None,
        reading: dict[str, Any] | None = None,
    ) -> None:
        self.reading = reading  # how the input was read, for run.json
        self.parts, self.settings, self.resources, self.workspace = parts, settings, resources, workspace
        self.method: methods.Method | None = None  # once the collection is counted, where it has to be
        self.budget = resources.memory - BASE_MEMORY
        self.meter = Meter(listener)
        self.engine = LocalEngine(
            workspace,
            parts,
            settings,
            memory=resources.memory,
            budget=self.budget,
            threads=resources.threads,
            spill=(resources.temp or workspace.folder) / "spill",
        )

    def run(self, folder: Path, hidden: int = 0) -> None:
        """Find duplicates and write everything into `folder`; so many documents of the input are hidden."""
        with plain_errors(self.budget // 2):
            self._run(folder, hidden)

    def _make(self) -> methods.Method:
        """The method; where its lexicon is that of the documents themselves they are counted first."""
        if not methods.needs_count(self.settings):
            return methods.make(self.settings)
        from roughly.lexicon.builder import count_parts
        from roughly.lexicon.lexicon import Lexicon

        path = self.workspace.path("collection.lexicon")
        if self.workspace.found("lexicon") is None:
            count_parts(
                self.parts,
                path,
                filters=methods.counted_with(self.settings),
                main_text=self.settings.main_text,
                resources=dataclasses.replace(self.resources, temp=self.resources.temp or self.workspace.folder),
                meter=self.meter,
            )
            self.workspace.commit("lexicon", [path], {})
        else:
            with self.meter.stage("count") as stage:
                stage.reused = True
        return methods.make(self.settings, Lexicon.open(path))

    def _run(self, folder: Path, hidden: int) -> None:
        self.method = self._make()
        pipeline.run(
            self.parts,
            self.method,
            self.settings,
            self.engine,
            self.meter,
            threads=self.resources.threads,
        )
        if not self.engine.documents and not self.engine.segments.cursor.rejected and not hidden:
            names = ", ".join(part.name for part in self.parts[:3])
            raise InputMissing(f"no documents in {names}: nothing to do")
        with self.meter.stage("write"):
            self.engine.write(folder)
            self._quarantine(folder / "quarantine.jsonl")
            write_landmarks(self.parts, folder / LANDMARKS)
        with self.meter.stage("copy", len(self.parts), "parts") as stage:
            self._copy(folder / "kept", stage)
        self._report(folder)

    def rethreshold(self, threshold: float) -> Result:
        """The answer at a threshold at or above the run's, in a temporary folder of its own."""
        if not self.settings.threshold <= threshold <= 1:
            raise SettingsError(
                f"threshold must be from {self.settings.threshold}, this run's, to 1, not {threshold!r}; "
                "a lower one needs other keys: run dedupe again"
            )
        if self.method is None:
            raise SettingsError("this run came to no answer; run dedupe again")
        judge = self.method.judge()
        if not self.method.equality and (judge.on == "keys" or judge.measure == "common"):
            raise SettingsError(
                f"{self.method.name} judges pairs by what they have in common, not by a threshold; "
                "run dedupe again with verify=True"
            )
        settings = dataclasses.replace(self.settings, threshold=threshold)
        candidates = self.engine.candidates
        if candidates is not None:
            sets = self.engine.store or self.engine.sketches()
            judge = dataclasses.replace(judge, threshold=threshold)
            work = self.engine.room(candidates)
            self.engine.decide(pipeline.decide(candidates, sets, judge, settings, self.engine.gates(judge), work))
        folder = Path(tempfile.mkdtemp(prefix="roughly-"))
        self.engine.write(folder)
        self._account(folder, settings, self._summary(), [])
        return Result(folder, self, temporary=True)

    def close(self) -> None:
        """Give memory and disk back."""
        self.engine.close()
        shutil.rmtree(self.workspace.folder, ignore_errors=True)

    def _copy(self, folder: Path, stage: Stage) -> None:
        folder.mkdir()

        def copy(item: tuple[Part, npt.NDArray[np.int64]]) -> None:
            part, rows = item
            keep = np.zeros(int(rows[-1]) + 1 if len(rows) else 0, np.bool_)
            keep[rows] = True
            part.copy(keep, folder)

        threads = max(1, min(self.resources.threads, self.budget // _COPY_MEMORY))
        for done, _ in enumerate(map_in_order(copy, self._kept_by_part(), threads), 1):
            self.meter.advance(stage, done)

    def _kept_by_part(self) -> Iterator[tuple[Part, npt.NDArray[np.int64]]]:
        """Every part with the rows of it that stay."""
        kept = self.engine.kept_rows()
        number, rows = next(kept, (-1, _NONE))
        for at, part in enumerate(self.parts):
            if at == number:
                yield part, rows
                number, rows = next(kept, (-1, _NONE))
            else:
                yield part, _NONE

    def _quarantine(self, path: Path) -> None:
        with path.open("wb") as target:
            for rejects in self.engine.segments.files("rejects.jsonl"):
                with rejects.open("rb") as source:
                    shutil.copyfileobj(source, target)

    def _account(self, folder: Path, settings: Settings, summary: Summary, stages: list[Stage]) -> dict[str, Any]:
        """Write run.json and return its content."""
        more = self.engine.counts | {"rejected": self.engine.segments.cursor.rejected}
        assert self.method is not None  # nothing is written before it is made
        run = account(settings, self.resources, self.method, self.parts, summary, stages, more)
        if self.reading is not None:
            run["reading"] = self.reading
        text = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
        (folder / "run.json").write_text(text, encoding="utf-8")
        return run

    def _summary(self) -> Summary:
        assert self.method is not None
        return summarise(self.engine.database, self.method.judge().measure)

    def _report(self, folder: Path) -> None:
        from roughly.report import write_report

        with self.meter.stage("report"):
            summary = self._summary()
            assert self.method is not None
            data = report_data(summary, self.parts, self.settings, self.method, self.resources.threads)
        run = self._account(folder, self.settings, summary, self.meter.stages)
        write_report(dataclasses.replace(data, run=run), folder / "report.html")
