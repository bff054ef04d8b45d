"""The benchmark of the index measures what it says."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import index


def test_a_small_one(tmp_path: Path) -> None:
    texts = [f"page {n} of a book that has {n % 7} chapters and {n} words" for n in range(60)]
    pq.write_table(pa.table({"id": [str(n) for n in range(60)], "text": texts}), tmp_path / "a.parquet")
    files = [str(tmp_path / "a.parquet")]
    asked = index.Measured(50, at_once=20)
    found = index.on(str(tmp_path / "a.db"), files, asked)
    assert found["adds_a_second"] > 0 and found["bytes_a_document"] > 100
    assert 0 < found["query_ms"]["p50"] <= found["query_ms"]["p99"] <= found["query_ms"]["most"]
    assert 0 < found["query_ms"]["cpu_p50"] <= found["query_ms"]["cpu_p99"]
    assert sum(table.num_rows for table in index.batches(files, 50)) == 50
    assert len(index.sample(files, 50, 20)) == 20
    told = index.table({"sqlite": found, "datasketch": {"unavailable": "no redis-server"}}, ["sqlite", "datasketch"])
    assert told.count("\n") == 3 and "no redis-server" in told
