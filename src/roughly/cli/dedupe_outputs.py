"""What `roughly dedupe` writes: a folder, one file of what is kept, a list of ids, or standard output.

What goes to standard output is written when the run has ended, so that a run that fails writes nothing; messages and
the summary then go to standard error.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

import click

from roughly.amounts import records_were
from roughly.console.terminal_output import LISTED
from roughly.errors import OutputError
from roughly.fast_dataclass import dataclass
from roughly.job.kept_file import KeptFile

_STREAM = "-"


@dataclass(frozen=True)
class DedupeOutputs:
    """The outputs of one run. In a `with` block, so that what was kept for standard output is deleted."""

    folder: Path | None
    file: KeptFile | None
    drop: Path | None
    streamed: Path | None  # a temporary folder, if something goes to standard output

    @classmethod
    def of(cls, output: str | None, report: Path | None, drop: str | None, format: str | None) -> Self:
        """The outputs that the options ask for."""
        if output is None and report is None and drop is None:
            raise click.UsageError(
                "Missing --output: name the folder to write, or one file of what is kept (kept.jsonl)"
            )
        if output == drop == _STREAM:
            raise click.BadParameter("only one of both can be standard output", param_hint="--drop")
        streamed = Path(tempfile.mkdtemp(prefix="roughly-stream-")) if _STREAM in (output, drop) else None
        ids = streamed / "ids" if streamed is not None and drop == _STREAM else None if drop is None else Path(drop)
        if output is None:
            return cls(report, None, ids, streamed)
        if output == _STREAM and streamed is not None:
            KeptFile.named("", format)  # refuses an unknown format
            return cls(report, KeptFile(streamed / "kept", format), ids, streamed)
        file = KeptFile.named(output, format)
        if file is None and report is not None:
            raise click.BadParameter(f"{output} is a folder for the whole run already", param_hint="--report")
        return cls(report if file is not None else Path(output), file, ids, streamed)

    @property
    def is_streamed(self) -> bool:
        """Whether something goes to standard output."""
        return self.streamed is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        if self.streamed is not None:
            shutil.rmtree(self.streamed, ignore_errors=True)

    def stream(self) -> None:
        """Write what belongs there to standard output."""
        for path in (self.file.path if self.file is not None else None, self.drop):
            if path is not None and self.streamed is not None and path.parent == self.streamed:
                try:
                    with path.open("rb") as source:
                        shutil.copyfileobj(source, sys.stdout.buffer, 1 << 20)
                    sys.stdout.buffer.flush()
                except BrokenPipeError:  # such as `| head`
                    raise
                except OSError as error:
                    raise OutputError(f"standard output cannot be written: {error.strerror or error}") from error

    def summary_stream(self) -> contextlib.AbstractContextManager[Any]:
        """Where the summary goes: not between documents."""
        return contextlib.redirect_stdout(sys.stderr) if self.is_streamed else contextlib.nullcontext()

    def written(self) -> list[tuple[str, Path]]:
        """The single files, by what they hold."""
        files = [("kept", self.file.path if self.file is not None else None), ("removed", self.drop)]
        return [(what, path) for what, path in files if path is not None and path.parent != self.streamed]

    def print_rejected(self, run: Path, count: int) -> None:
        """Name the first rejected records: there is no folder that lists them all."""
        import json

        lines = []
        with contextlib.suppress(OSError), (run / "quarantine.jsonl").open(encoding="utf-8") as source:
            lines = [json.loads(line) for _, line in zip(range(LISTED), source, strict=False)]
        for line in lines:
            print(f"rejected: {line['file']}, {line['record']}: {line['reason']}", file=sys.stderr)
        print(f"{records_were(count)} rejected; --report DIR writes them all to a file", file=sys.stderr)
