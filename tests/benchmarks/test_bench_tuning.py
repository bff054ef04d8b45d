"""The table of what tune reaches: every way is scored on the same halves, and what falls short is named."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.tuning import WAYS, Labelled, measured, shortfalls

from invoices import invoices
from roughly.settings import Resources


def test_every_way_is_measured_and_what_is_recommended_is_one_of_two(tmp_path: Path) -> None:
    rows = [row | {"title": f"bill {row['bill']}"} for row in invoices(12)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    found = measured(Labelled("made", "in.parquet", column="bill"), tmp_path, 2, Resources(threads=1))
    assert set(WAYS) - {"estimated", "25"} <= {name for name in WAYS if len(found[name]) == 2}
    for row in zip(found["recommended"], found["learn"], found["tune"], strict=True):
        assert row[0] in row[1:]
    assert found["learn"] > found["threshold"] and shortfalls([found]) == []


def test_what_falls_short_is_named() -> None:
    good = {"name": "a", "threshold": [0.8, 0.6], "tune": [0.7, 0.7], "recommended": [0.8, 0.7]}
    worse = good | {"name": "b", "tune": [0.69, 0.69], "recommended": [0.69, 0.68]}
    assert shortfalls([good, good, good | {"recommended": [0.7, 0.69]}]) == []
    assert shortfalls([good, worse]) == [
        "b: tune 0.6900, best threshold 0.7000", "b: recommended 0.6850, best threshold 0.7000",
        "recommended: above on 1 of 2 corpora",
    ]  # fmt: skip
