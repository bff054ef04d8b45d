"""kept/ on a cluster: a task copies the kept records of a part, in its own format, and renames the copy in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.engines.spark import reading
from roughly.sources.part import Part, copy_rows

_ATTEMPT = ".attempt-"


def copy_kept(kept: Any, parts: Sequence[Part], packed_parts: Any, folder: Path) -> None:
    """Copy the rows of `kept` (part, row) into a folder that all workers see."""
    folder.mkdir()
    # a row per part, so that parts without kept documents are copied too
    every = kept.sparkSession.createDataFrame([(n, -1) for n in range(len(parts))], "part int, row bigint")
    tasks = max(1, min(len(parts), 10_000))
    rows = kept.union(every).repartition(tasks, "part").sortWithinPartitions("part", "row")
    rows.mapInArrow(_copying(packed_parts, str(folder.absolute())), "copied bigint").agg({"copied": "sum"}).collect()
    for left in folder.glob(f"{_ATTEMPT}*"):  # of a worker that was killed
        shutil.rmtree(left, ignore_errors=True)


def check_copied(documents: Any, packed_parts: Any) -> None:
    """Read documents (`part`, `row`, `raw_lo`) again, and end the run if a text has another digest."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from roughly.engines.local.second_reading import check_texts

        for number, table in reading.by_part(batches):
            only = table.set_column(0, "part", pa.array(np.zeros(len(table), np.int32)))
            check_texts([reading.opened(packed_parts, number)], only.combine_chunks().to_batches(), 1)
            yield pa.RecordBatch.from_arrays([pa.array([len(table)], pa.int64())], names=["checked"])

    rows = documents.repartition("part").sortWithinPartitions("part", "row")
    rows.mapInArrow(run, "checked bigint").agg({"checked": "sum"}).collect()


def _copying(packed_parts: Any, folder: str) -> Any:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, table in reading.by_part(batches):
            part = reading.opened(packed_parts, number)
            # a folder of this attempt's own: another one may be copying the same part
            mine = Path(folder) / f"{_ATTEMPT}{number}-{os.getpid()}-{os.urandom(4).hex()}"
            mine.mkdir()
            try:
                copied = copy_rows(part, table["row"].to_numpy()[1:], mine)
                _publish(mine, Path(folder))
            finally:
                shutil.rmtree(mine, ignore_errors=True)
            yield pa.RecordBatch.from_arrays([pa.array([copied], pa.int64())], names=["copied"])

    return run


def _publish(mine: Path, folder: Path) -> None:
    """Rename the files of an attempt to their final names, each in one step; a second attempt writes the same bytes."""
    for path in sorted(mine.rglob("*")):
        target = folder / path.relative_to(mine)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
