"""The `Transformer` of Spark ML, in a pipeline of Spark itself."""

from __future__ import annotations

import gc
from typing import Any

import pytest

pytestmark = pytest.mark.slow
ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."


def test_a_pipeline_of_spark_keeps_one_of_each(spark: Any) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import Tokenizer

    from roughly.steps.spark_step import SparkDeduplicator

    rows = [("a", "Something else entirely, with nothing in common."), ("b", ROSE + " Yes."), ("c", ROSE.upper())]
    frame = spark.createDataFrame(rows, "id string, text string")
    stages = [SparkDeduplicator(threshold=0.7, memory="1GB"), Tokenizer(inputCol="text", outputCol="words")]
    found = Pipeline(stages=stages).fit(frame).transform(frame)
    gc.collect()  # the files of the runs are gone, and the rows are not
    assert sorted(row["id"] for row in found.collect()) == ["a", "b"]
    assert "words" in found.columns
