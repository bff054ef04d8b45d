"""Spark MLlib's MinHashLSH on the same job: 5-word shingles, pairs at a resemblance of 0.8 or more, who stays.

    python -m benchmarks.peers.mllib DOCUMENTS OUT MASTER

Tokens are runs of letters and digits in lower case, shingles are hashed into 2^20 slots (MLlib's own HashingTF: vectors
of that length are what MinHashLSH takes), and the hash tables are as many single hashes as MLlib ORs together. With OR
alone, one hash a table, five tables find a pair at 0.8 with probability 1 − 0.2^5 = 0.9997. Pairs are joined into
clusters, of which the longest document stays, as in our runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

TABLES = 5
SLOTS = 1 << 20


def main(documents: str, out: str, master: str) -> None:
    """Run and write documents.parquet: doc_id, kept."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    spark = SparkSession.builder.master(master).appName("mllib").getOrCreate()
    texts = spark.read.parquet(Path(documents).absolute().as_uri()).select("id", "text")
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"[^\p{L}\p{N}]+").transform(texts)
    grams = NGram(n=5, inputCol="words", outputCol="grams").transform(words.where(f.size("words") >= 5))
    sets = HashingTF(inputCol="grams", outputCol="set", numFeatures=SLOTS, binary=True).transform(grams)
    sets = sets.select("id", "set").repartition(spark.sparkContext.defaultParallelism * 4).cache()
    model = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=TABLES, seed=1).fit(sets)
    joined = model.approxSimilarityJoin(sets, sets, 0.2 + 1e-9, "distance")
    pairs = joined.select(f.col("datasetA.id").alias("a"), f.col("datasetB.id").alias("b")).where("a < b")
    found = pairs.toPandas()
    names = words.select("id", f.size("words").alias("n")).toPandas()
    _write(names["id"].to_numpy(), names["n"].to_numpy(), found["a"].to_numpy(), found["b"].to_numpy(), Path(out))
    spark.stop()


def _write(ids: np.ndarray, lengths: np.ndarray, left: np.ndarray, right: np.ndarray, out: Path) -> None:
    order = np.argsort(ids)
    a, b = (order[np.searchsorted(ids, side, sorter=order)] for side in (left, right))
    graph = coo_matrix((np.ones(len(a), np.bool_), (a, b)), shape=(len(ids), len(ids)))
    _, label = connected_components(graph, directed=False)
    best = np.lexsort((ids, -lengths, label))
    first = best[np.r_[True, label[best][1:] != label[best][:-1]]]
    kept = np.zeros(len(ids), np.bool_)
    kept[first] = True
    pq.write_table(pa.table({"doc_id": pa.array(ids, pa.string()), "kept": kept}), out / "documents.parquet")


if __name__ == "__main__":
    main(*sys.argv[1:])
