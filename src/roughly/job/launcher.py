"""What differs between the engines in a job: how the input is opened, which engine is made, what is handed back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from roughly.engines.local import LocalEngine
from roughly.engines.relational.base_engine import RelationalEngine
from roughly.engines.workspace import Workspace
from roughly.job.result import Result
from roughly.job.session import Session, check_memory
from roughly.meter import Meter
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import open_parts, parts_from_objects
from roughly.sources.part import Part

if TYPE_CHECKING:
    from roughly.index import Index


@dataclass(frozen=True, kw_only=True)
class DedupeRequest:
    """What is asked of a run.

    With `resume` true or false, what an interrupted run leaves stays beside the output and can be resumed; with None it
    does not, and on one machine the result can be asked for another threshold. `index` names an index to make of the
    run; `archive` is an open index whose documents are removed from the input.
    """

    settings: Settings
    resources: Resources
    reading: ReadOptions
    output: Path | None = None
    overwrite: bool = False
    resume: bool | None = None
    index: str | os.PathLike[str] | None = None
    archive: Index | None = None


Paths = Iterable[str | os.PathLike[str]]


class Launcher(Protocol):
    """How a run is made on one engine."""

    shares_work: bool
    """Whether the work must lie beside the output, where all workers see it."""

    def check(self, request: DedupeRequest) -> None:
        """Refuse at the start what cannot be done."""

    def working(self) -> AbstractContextManager[None]:
        """Everything from opening the input on happens within."""
        ...

    def open(self, data: Any, paths: Paths | None, reading: ReadOptions, spool: Path) -> list[Part]:
        """The parts of the input."""
        ...

    def engine(
        self, parts: Sequence[Part], settings: Settings, resources: Resources, workspace: Workspace, meter: Meter
    ) -> RelationalEngine:
        """The engine of one run."""
        ...

    def result(self, folder: Path, session: Session, scratch: Path | None) -> Any:
        """What is handed back; the session is closed where nothing more can be asked of it."""


class LocalLauncher:
    """A run in this process."""

    shares_work = False

    def check(self, request: DedupeRequest) -> None:
        """Refuse a memory that is too small for any run."""
        check_memory(request.resources)

    def working(self) -> AbstractContextManager[None]:
        """Nothing has to be prepared."""
        return nullcontext()

    def open(self, data: Any, paths: Paths | None, reading: ReadOptions, spool: Path) -> list[Part]:
        """The parts of files, or of Python objects."""
        if paths is None:
            return parts_from_objects(data, reading, spool)
        return open_parts([os.fspath(path) for path in paths], reading, spool)

    def engine(
        self, parts: Sequence[Part], settings: Settings, resources: Resources, workspace: Workspace, meter: Meter
    ) -> RelationalEngine:
        """The embedded engine."""
        return LocalEngine(parts, settings, resources, workspace, meter)

    def result(self, folder: Path, session: Session, scratch: Path | None) -> Result:
        """A `Result`; where the work lies in a temporary folder it can be asked for another threshold."""
        if scratch is None:
            session.close()
            return Result(folder)
        return Result(folder, session, scratch=scratch)
