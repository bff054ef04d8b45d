"""The rank of every document, best first, without a step on a single worker.

Documents are sorted by the keep rules over all workers. A document's rank is then its place within its partition, plus
the number of documents in the partitions before: the driver sees one number per partition. The order is total (ties are
broken by id), so ranks do not depend on where the partitions are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa


def placed(listed: Any) -> Any:
    """The documents, sorted over all workers, with their `partition` and their `place` in it."""
    columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in listed.schema.fields)
    return listed.mapInArrow(_number, f"{columns}, partition int, place bigint")


def numbered(stored: Any) -> Any:
    """The same with `rank` from 0; `stored` is stored, so that places do not change while they are counted."""
    from pyspark.sql import functions as f

    counts = sorted((row[0], row[1]) for row in stored.groupBy("partition").count().collect())
    before = np.cumsum([0, *(count for _, count in counts)]).tolist()
    firsts = stored.sparkSession.createDataFrame(
        [(partition, first) for (partition, _), first in zip(counts, before, strict=False)] or [(0, 0)],
        "partition int, first bigint",
    )
    table = stored.join(f.broadcast(firsts), "partition")
    return table.withColumn("rank", f.col("first") + f.col("place")).drop("partition", "place", "first")


def _number(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    place = 0
    for batch in batches:
        count = batch.num_rows
        columns = [*batch.columns, pa.array(np.full(count, number, np.int32))]
        columns.append(pa.array(np.arange(place, place + count, dtype=np.int64)))
        place += count
        yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, "partition", "place"])
