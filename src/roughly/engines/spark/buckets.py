"""Who stands in which bucket, and which buckets hang together.

A row (band, key, rank, asks) goes over the network once. Keys of one document fall away at its end, and keys of more
than `common` documents too, where the method says so. No pair is formed here: a bucket of n documents is n rows, and
hangs together by n − 1 edges, from each document to its best.
"""

from __future__ import annotations

from typing import Any

from roughly.engines.spark.reading import NO_KEY


def entries(signed: Any, ranked: Any, bands: bool, common: int) -> Any:
    """(band, key, rank, asks, best rank of the bucket) of every document in every bucket, common ones flagged."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    chosen = ranked.where("rank = rep AND tokens > 0").select("doc", "rank")
    rows = signed.where("what = 0").select("doc", "keys", "asks").join(chosen, "doc")
    rows = rows.select("rank", "asks", f.posexplode("keys").alias("place", "key")).where(f.col("key") != NO_KEY)
    rows = rows.select(
        (f.col("place") if bands else f.lit(0)).cast("int").alias("band"),
        "key",
        "rank",
        f.coalesce(f.get("asks", f.col("place")), f.lit(True)).alias("asks"),
    )
    within = Window.partitionBy("band", "key")
    grouped = rows.select(
        "*",
        f.count("*").over(within).alias("size"),
        f.min("rank").over(within).alias("best"),
        f.max("asks").over(within).alias("asked"),
    ).where("size > 1")
    too_common = f.col("size") > common if common else f.lit(False)
    # a key that is too common is kept by its best document alone, to be counted
    return (
        grouped.withColumn("common", too_common)
        .where("(common AND rank = best) OR (NOT common AND asked)")
        .select("band", "key", "rank", "asks", "best", "size", "common")
    )


def edges(buckets: Any) -> Any:
    """(document, best document of a bucket that it is in), each once."""
    from pyspark.sql import functions as f

    return buckets.where("rank != best").select(f.col("rank").alias("a"), f.col("best").alias("b")).distinct()
