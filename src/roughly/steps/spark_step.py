"""A `Transformer` of Spark ML: a DataFrame in, the rows that are kept out.

>>> Pipeline(stages=[SparkDeduplicator(threshold=0.8, id_column="url"), tokenizer]).fit(frame)
"""

from __future__ import annotations

from typing import Any, Unpack

from pyspark.ml import Transformer

from roughly.job import dedupe
from roughly.option_types import DedupeOptions


class SparkDeduplicator(Transformer):
    """Keeps one row of each cluster of near-duplicates; `options` are those of `roughly.dedupe`."""

    def __init__(self, **options: Unpack[DedupeOptions]) -> None:
        super().__init__()
        self.options = options

    def _transform(self, dataset: Any) -> Any:
        return dedupe(dataset, spark=dataset.sparkSession, **self.options).filter(dataset)
