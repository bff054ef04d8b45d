"""Which documents are in which bucket, and which buckets are connected.

A row (band, key, rank, whether it is a probe) crosses the network once. Keys of a single document are then
dropped, and so are common keys, where the method says so (`cluster.common_keys`). No pair is formed here: a bucket of
n documents is n rows, connected by n − 1 edges, from each document to the best of the bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.common_keys import CommonLimit
from roughly.engines.spark.reading import NO_KEY, from_order_of_buckets


def entries(signed: Any, ranked: Any, bands: bool, common: CommonLimit) -> Any:
    """(band, key, rank, whether it is a probe, best rank of the bucket) of all bucket entries, common ones flagged, and
    mostly common documents."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    chosen = ranked.where("rank = rep AND tokens > 0").select("doc", "rank")
    rows = signed.where("what = 0").select("doc", "keys", "probes").join(chosen, "doc")
    rows = rows.select(
        "rank", "probes", f.size("keys").alias("count"), f.posexplode("keys").alias("place", "key")
    ).where(f.col("key") != NO_KEY)
    rows = rows.select(
        (f.col("place") if bands else f.lit(0)).cast("int").alias("band"),
        "key",
        "rank",
        "count",
        f.coalesce(f.get("probes", f.col("place")), f.lit(True)).alias("probes"),
    )
    within = Window.partitionBy("band", "key")
    grouped = rows.select(
        "*",
        f.count("*").over(within).alias("size"),
        f.min("rank").over(within).alias("best"),
        f.max("probes").over(within).alias("probed"),
    ).where("size > 1")
    grouped = _flag_common(grouped, common)
    # of a key that is too common only the row of its best document is kept, to be counted
    return grouped.where("(common AND rank = best) OR (NOT common AND probed)").select(
        "band", "key", "rank", "probes", "best", "size", "common", "mostly_common"
    )


def _flag_common(grouped: Any, limit: CommonLimit) -> Any:
    """The rows with two flags: whether the key forms no pairs, and whether the document is mostly common."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    if not limit.most:
        return grouped.withColumn("common", f.lit(False)).withColumn("mostly_common", f.lit(False))
    is_common = f.col("size") > limit.most
    if not limit.share:
        return grouped.withColumn("common", is_common).withColumn("mostly_common", f.lit(False))
    of_document = Window.partitionBy("rank")
    needed = f.ceil(limit.share * f.col("count") - 1e-9)
    rows = grouped.where(is_common).select(
        "band", "key", "rank",
        (f.count("*").over(of_document) - needed + 1).alias("rarest"),
        f.row_number().over(of_document.orderBy("size", "key")).alias("place"),
    )  # fmt: skip
    used = rows.where("place <= rarest").select("band", "key", f.lit(True).alias("used")).distinct()
    mostly = rows.where("rarest > 0").select("rank", f.lit(True).alias("mostly")).distinct()
    return (
        grouped.join(used, ["band", "key"], "left")
        .join(mostly, "rank", "left")
        .withColumn("common", is_common & f.col("used").isNull())
        .withColumn("mostly_common", f.col("mostly").isNotNull())
    )


def without_common(documents: Any, buckets: Any, limit: CommonLimit) -> Any:
    """The documents with common keys dropped from their sketches (`content`), except for mostly common ones."""
    from pyspark.sql import functions as f

    listed = buckets.where(f.col("size") > limit.most).select("key").distinct().collect()
    common = np.sort(from_order_of_buckets(np.array([row["key"] for row in listed], np.int64)))
    mostly = buckets.where("mostly_common").select("rank", f.lit(True).alias("mostly")).distinct()
    rows = documents.join(mostly, "rank", "left").withColumn("mostly", f.col("mostly").isNotNull())

    def drop(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            whole = batch.column("mostly").to_pylist()
            content = [
                data if data is None or whole[row] else _dropped(data, common)
                for row, data in enumerate(batch.column("content").to_pylist())
            ]
            place = batch.schema.get_field_index("content")
            yield batch.set_column(place, batch.schema.field(place), pa.array(content, batch.schema.field(place).type))

    return rows.mapInArrow(drop, rows.schema)


def _dropped(content: bytes, common: npt.NDArray[np.uint64]) -> bytes:
    values = np.frombuffer(content, np.uint64)
    return values[~np.isin(values, common)].tobytes()


def edges(buckets: Any) -> Any:
    """(document, best document of a bucket it is in), each once."""
    from pyspark.sql import functions as f

    return buckets.where("rank != best").select(f.col("rank").alias("a"), f.col("best").alias("b")).distinct()
