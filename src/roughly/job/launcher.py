"""What differs between the engines in a job: how the input is opened, which engine is made, what is returned."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from roughly.engines.local.engine import LocalEngine
from roughly.engines.local.memory_budget import record_memory
from roughly.engines.relational.base_engine import RelationalEngine
from roughly.engines.workspace import Workspace
from roughly.fast_dataclass import dataclass
from roughly.job.kept_file import KeptFile
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
    """The options of a run.

    With `resume` true or false, the files of an interrupted run are kept beside the output and can be resumed; with
    None they are not, and on one machine the result can be computed at another threshold. `file` is one file of what is
    kept, `drop` a file of the ids that are removed. `index` names an index to make of the run; `archive` is an open
    index: duplicates of its documents are removed; with `only_against`, nothing else is.
    """

    settings: Settings
    resources: Resources
    reading: ReadOptions
    output: Path | None = None
    file: KeptFile | None = None
    drop: Path | None = None
    overwrite: bool = False
    resume: bool | None = None
    index: str | os.PathLike[str] | None = None
    archive: Index | None = None
    only_against: bool = False

    @property
    def files(self) -> list[Path]:
        """The single files to write."""
        return [path for path in (self.file.path if self.file is not None else None, self.drop) if path is not None]


Paths = Iterable[str | os.PathLike[str]]


class Launcher(Protocol):
    """How a run is made on one engine."""

    shares_work: bool
    """Whether working files must be beside the output, where all workers see them."""

    def check(self, request: DedupeRequest) -> None:
        """Refuse impossible requests at the start."""

    def working(self) -> AbstractContextManager[None]:
        """Context of the run, from opening the input on."""
        ...

    def record_memory(self, resources: Resources) -> int | None:
        """Bytes of the largest record that can be processed, if this process decides that."""
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
        """The result; the session is closed if it is not needed any more."""


class LocalLauncher:
    """A run in this process."""

    shares_work = False

    def check(self, request: DedupeRequest) -> None:
        """Refuse a memory limit that is too small for any run."""
        check_memory(request.resources)

    def working(self) -> AbstractContextManager[None]:
        """Nothing has to be prepared."""
        return nullcontext()

    def record_memory(self, resources: Resources) -> int | None:
        """A thread's share of the memory."""
        return record_memory(resources)

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
        """A `Result`; if the working files are in a temporary folder, it can be computed at another threshold."""
        if scratch is None:
            session.close(at_once=True)
            return Result(folder)
        return Result(folder, session, scratch=scratch)
