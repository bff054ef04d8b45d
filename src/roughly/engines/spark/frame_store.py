"""Frames kept between stages, as Parquet in a folder that every worker sees.

A stage ends when its frame is stored: what comes after reads it back, so a lost worker costs the stage it was lost in
and no more, and nothing is computed twice. Spark's committer lets one attempt of each task into the folder, so a task
that runs twice, for speculation or after a loss, is written once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class FrameStore:
    """The folder of one run."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder

    def path(self, name: str) -> str:
        """Where a frame of that name lies, as Spark and its workers say it."""
        return (self.folder / name).absolute().as_uri()

    def keep(self, frame: Any, name: str) -> Any:
        """Store a frame and read it back."""
        frame.write.mode("overwrite").option("compression", "lz4").parquet(self.path(name))
        return self.spark.read.schema(frame.schema).parquet(self.path(name))
