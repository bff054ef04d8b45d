"""Frames stored between stages, as Parquet in a folder that every worker sees.

A stage ends when its frame is stored. Later stages read it back, so a lost worker costs only its current stage, and
nothing is computed twice. Spark's committer accepts one attempt of each task, so a task that runs twice, for
speculation or after a loss, is written once. The committer also writes the marker `_SUCCESS` when a frame is complete;
a resumed run reuses the frames that have one. The workspace has already checked that settings, inputs and version are
those of the interrupted run, and every frame follows from these.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_COMPLETE = "_SUCCESS"


class FrameStore:
    """The folder of one run."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder

    def path(self, name: str) -> str:
        """The path of a frame, as Spark and its workers see it."""
        return (self.folder / name).absolute().as_uri()

    def has(self, name: str) -> bool:
        """Whether a frame of that name is stored as a whole."""
        return (self.folder / name / _COMPLETE).exists()

    def keep(self, frame: Any, name: str) -> Any:
        """Store a frame, unless an interrupted run has done so, and read it back."""
        if not self.has(name):
            frame.write.mode("overwrite").option("compression", "lz4").parquet(self.path(name))
        return self.spark.read.schema(frame.schema).parquet(self.path(name))
