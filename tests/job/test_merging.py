"""Sorted files put together, a few rows at a time."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.job.merging import merge_sorted, write_sorted

NAMES = st.lists(st.text("abzé\U0001f600\uffff", max_size=3), max_size=12)


@settings(max_examples=40, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=4), st.integers(1, 5))
def test_all_rows_come_in_order(tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], batch: int) -> None:
    """The order is that of the bytes, and how little is read at a time changes nothing."""
    folder = tmp_path_factory.mktemp("runs")
    paths: list[Path] = []
    for number, names in enumerate(files):
        paths.append(folder / f"{number}.parquet")
        write_sorted(pa.table({"name": pa.array(names, pa.string())}), ["name"], paths[-1])
    found = [name for table in merge_sorted(paths, ["name"], batch) for name in table["name"].to_pylist()]
    assert found == sorted((name for names in files for name in names), key=str.encode)


def test_rows_of_one_name_keep_the_order_of_the_second_column(tmp_path: Path) -> None:
    """Also where they are more than a batch."""
    left, right = ["a"] * 7 + ["c"] * 2, [str(n) for n in range(9)]
    write_sorted(pa.table({"left": left, "right": right}), ["left", "right"], tmp_path / "1")
    write_sorted(pa.table({"left": ["b", "d"], "right": ["x", "y"]}), ["left", "right"], tmp_path / "2")
    tables = list(merge_sorted([tmp_path / "1", tmp_path / "2"], ["left", "right"], 3))
    found = [pair for table in tables for pair in zip(*(c.to_pylist() for c in table.columns), strict=True)]
    assert found == sorted(found) and len(found) == 11
    assert all(len(table) >= 3 for table in tables[:-1])
