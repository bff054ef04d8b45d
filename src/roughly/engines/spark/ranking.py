"""The rank of every document, best first, without a step that one worker does alone.

Documents are sorted by the keep rules over all workers. A document's rank is then its place within its partition, plus
how many stand in the partitions before: a number a partition is all that the driver sees. The order is total (its last
word is the id), so ranks do not depend on where the partitions are cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.cluster.keep import order_by

_COLUMNS = ("doc", "part", "chunk", "row", "doc_id", "source", "bytes", "tokens", "day")


def literal(text: str) -> str:
    """A text in Spark's SQL, whatever is in it."""
    return f"decode(X'{text.encode().hex()}', 'UTF-8')"


def numbered(facts: Any, rules: Sequence[str], measure: str, collapse: str) -> Any:
    """The documents with `partition` and `place` in it, to be stored before anything is counted."""
    spark = facts.sparkSession
    lanes = ("raw_hi", "raw_lo") if collapse == "identical" else ("lex_hi", "lex_lo")
    facts.createOrReplaceTempView("roughly_facts")
    wanted = ", ".join(dict.fromkeys([*_COLUMNS, "url", "when_published"]))
    order = order_by(rules, measure, literal)
    listed = spark.sql(f"SELECT {wanted}, {lanes[0]} AS hi, {lanes[1]} AS lo FROM roughly_facts ORDER BY {order}")
    kept = listed.select(*_COLUMNS, "hi", "lo")
    return kept.mapInArrow(_number, f"{_ddl(kept)}, partition int, place bigint")


def ranked(stored: Any) -> Any:
    """The same with `rank` from 0, and `rep`, the best rank among documents that are equal."""
    from pyspark.sql import functions as f

    spark = stored.sparkSession
    counts = sorted((row[0], row[1]) for row in stored.groupBy("partition").count().collect())
    before = np.cumsum([0, *(count for _, count in counts)]).tolist()
    firsts = spark.createDataFrame(
        [(partition, first) for (partition, _), first in zip(counts, before, strict=False)] or [(0, 0)],
        "partition int, first bigint",
    )
    table = (
        stored.join(f.broadcast(firsts), "partition")
        .withColumn("rank", f.col("first") + f.col("place"))
        .drop("partition", "place", "first")
    )
    # only groups of two or more are joined: few, mostly, so that their table goes to every worker
    equal = table.groupBy("hi", "lo").agg(f.min("rank").alias("rep"), f.count("*").alias("n")).where("n > 1").drop("n")
    joined = table.join(equal, ["hi", "lo"], "left").drop("hi", "lo")
    return joined.withColumn("rep", f.coalesce("rep", "rank"))


def _ddl(frame: Any) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in frame.schema.fields)


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
