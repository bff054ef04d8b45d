"""`result.filter(data)`: the rows of the caller's own table that are kept, in the same type."""

from __future__ import annotations

import sys
from typing import Any
from unittest.mock import Mock

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import roughly
from roughly.errors import InputError, SettingsError
from roughly.result_table import ResultTable

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."
OTHER = "Something else entirely, with nothing in common but the language."
ROWS: list[dict[str, Any]] = [
    {"text": OTHER, "stars": 3},
    {"text": ROSE, "stars": 5},
    {"text": ROSE.upper(), "stars": 4},
    {"text": "A third text, short.", "stars": 1},
]
KEPT = [ROWS[0], ROWS[1], ROWS[3]]
NAMED = [{"id": name, **row} for name, row in zip("dcba", ROWS, strict=True)]
"""Here the removed row is the second to last by position and by id."""


def records(data: Any) -> list[Any]:
    if isinstance(data, pd.DataFrame):
        return data.to_dict("records")
    if isinstance(data, pl.LazyFrame):
        return data.collect().to_dicts()
    if isinstance(data, pl.DataFrame):
        return data.to_dicts()
    return data.to_pylist() if isinstance(data, pa.Table | pa.RecordBatch) else list(data)


FORMS = {
    "list": list,
    "tuple": tuple,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow table": pa.Table.from_pylist,
    "arrow batch": pa.RecordBatch.from_pylist,
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_come_back_in_the_same_type_and_order(form: str) -> None:
    data = FORMS[form](ROWS)
    result = roughly.dedupe(data, keep="first")
    kept = result.filter(data)
    assert type(kept) is type(data) and records(kept) == KEPT
    named = FORMS[form](NAMED)
    kept = roughly.dedupe(named, keep="first").filter(named)
    assert type(kept) is type(named) and records(kept) == [NAMED[0], NAMED[1], NAMED[3]]


def test_strings_and_series_come_back_as_they_were() -> None:
    texts = [row["text"] for row in ROWS]
    assert roughly.dedupe(texts, keep="first").filter(texts) == [texts[0], texts[1], texts[3]]
    column = pd.Series(texts, index=list("wxyz"), name="anything")
    kept = roughly.dedupe(column, keep="first").filter(column)
    assert kept.index.tolist() == ["w", "x", "z"] and kept.name == "anything"
    series = pl.Series("anything", texts)
    assert roughly.dedupe(series, keep="first").filter(series).to_list() == [texts[0], texts[1], texts[3]]


def test_a_lazy_frame_comes_back_lazy() -> None:
    lazy = pl.LazyFrame(NAMED)
    kept = roughly.dedupe(lazy, keep="first").filter(lazy)
    assert isinstance(kept, pl.LazyFrame) and kept.collect()["id"].to_list() == ["d", "c", "a"]


def test_the_index_of_a_frame_is_the_id() -> None:
    frame = pd.DataFrame(ROWS, index=pd.Index([30, 10, 20, 40], name="number"))
    result = roughly.dedupe(frame, keep="first")
    assert result.kept_ids == ["10", "30", "40"] and result.removed.to_list()[0]["kept_id"] == "10"
    kept = result.filter(frame)
    assert kept.index.tolist() == [30, 10, 40] and kept.index.name == "number"
    assert kept["stars"].tolist() == [3, 5, 1] and list(kept.columns) == list(frame.columns)
    # another order, and fewer rows
    assert result.filter(frame.sort_index()).index.tolist() == [10, 30, 40]
    assert result.filter(frame.loc[[20, 40]]).index.tolist() == [40]
    days = pd.DataFrame(ROWS, index=pd.date_range("2024-01-01", periods=4))
    assert roughly.dedupe(days, keep="first").filter(days).index.equals(days.index[[0, 1, 3]])
    with pytest.raises(InputError, match="index of a pandas frame"):
        result.filter(pl.DataFrame(ROWS))


def test_an_index_with_repeated_values_is_not_the_id() -> None:
    frame = pd.DataFrame(ROWS, index=[7, 7, 7, 8])
    with pytest.warns(roughly.RoughlyWarning, match="repeated values: ids are positions"):
        result = roughly.dedupe(frame, keep="first")
    assert result.kept_ids == ["0", "1", "3"] and "ids are positions" in repr(result)
    assert result.filter(frame).index.tolist() == [7, 7, 8]


def test_rows_without_a_text_are_left_out_and_told() -> None:
    rows = [*NAMED, {"id": "e", "text": None, "stars": 2}]
    with pytest.warns(roughly.RoughlyWarning, match=r"1 record was left out, such as table, row 5: 'text' is null"):
        result = roughly.dedupe(rows, keep="first")
    assert "1 rejected" in repr(result) and result.rejected.to_list()[0]["record"] == "row 5"
    assert [row["id"] for row in result.filter(rows)] == ["d", "c", "a"]
    frame = pd.DataFrame(rows).drop(columns="id")
    with pytest.warns(roughly.RoughlyWarning):
        assert roughly.dedupe(frame, keep="first").filter(frame)["stars"].tolist() == [3.0, 5.0, 1.0]


def test_guesses_are_told_unless_they_are_obvious() -> None:
    with pytest.warns(roughly.RoughlyWarning, match="guessed text column: body"):
        result = roughly.dedupe([{"id": "a", "body": ROSE}])
    assert repr(result) == "<Result: 1 document, 1 kept, 0 removed; guessed text column: body>"
    assert repr(roughly.dedupe([{"id": "a", "body": ROSE}], text_column="body")).endswith("0 removed>")


def test_rows_that_the_run_has_not_seen_are_refused() -> None:
    result = roughly.dedupe(NAMED)
    with pytest.raises(InputError, match=r"1 of 2 rows have an id that this run has not seen, such as 'z'"):
        result.filter([NAMED[0], {"id": "z", "text": "new"}])
    with pytest.raises(InputError, match="no such column"):
        result.filter(pd.DataFrame(ROWS))
    with pytest.raises(InputError, match="filter mappings that have it"):
        result.filter([row["text"] for row in ROWS])
    with pytest.raises(InputError, match="read 4 rows, which are found by their positions"):
        roughly.dedupe(ROWS).filter(ROWS[:2])
    with pytest.raises(InputError, match="not an iterator"):
        result.filter(iter(NAMED))


def test_numbered_ids_are_found_by_position() -> None:
    rows = [{"id": "a", "text": OTHER}, {"id": "a", "text": None}, {"id": "a", "text": ROSE}, {"id": "b", "text": ROSE}]
    with pytest.warns(roughly.RoughlyWarning):
        result = roughly.dedupe(rows, on_duplicate_id="number", keep="first")
    assert result.kept_ids == ["a", "a#2"]
    assert result.filter(rows) == [rows[0], rows[2]]


def test_a_run_of_files_filters_a_frame_by_the_column_of_ids(tmp_path: Any) -> None:
    frame = pd.DataFrame(NAMED)
    frame.to_json(tmp_path / "in.jsonl", orient="records", lines=True)
    roughly.dedupe(tmp_path / "in.jsonl", output=tmp_path / "out", keep="first")
    result = roughly.Result(str(tmp_path / "out"))
    assert result.filter(frame)["id"].tolist() == ["d", "c", "a"]
    frame[["text"]].to_json(tmp_path / "plain.jsonl", orient="records", lines=True)
    with pytest.raises(InputError, match="positions in files"):
        roughly.dedupe(tmp_path / "plain.jsonl").filter(frame)
    with pytest.raises(roughly.RoughlyError, match=r"is not a run: it has no run\.json"):
        roughly.Result(str(tmp_path))


def test_tables_convert_to_all_that_people_use() -> None:
    result = roughly.dedupe(NAMED, keep="first")
    assert [row["doc_id"] for row in result.kept] == result.kept.to_pandas()["doc_id"].tolist() == ["a", "c", "d"]
    assert result.removed.to_polars()["kept_id"].to_list() == ["c"]
    assert result.pairs.to_list()[0]["left_id"] == "b" and len(result.clusters) == 1
    assert pa.table(result.clusters).num_rows == pl.DataFrame(result.clusters).height == 1
    assert repr(result.removed).startswith("<1 row: doc_id, cluster_id")


def test_names_of_files_are_refused_as_texts(tmp_path: Any) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text(ROSE)
    with pytest.raises(InputError, match=r"give paths=\[…\]; to compare the names themselves, give mappings"):
        roughly.dedupe([str(file) for file in files])
    with pytest.raises(InputError, match=r"a list of paths is given as paths="):
        roughly.dedupe(files)
    assert len(roughly.dedupe(paths=files).kept) == 1
    assert len(roughly.dedupe([{"text": str(file)} for file in files]).kept) == 2
    assert len(roughly.dedupe([str(files[0]), "and a text"]).kept) == 2


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_not_installed_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = ResultTable(pa.table({"a": [1]}))
    monkeypatch.setitem(sys.modules, package, None)
    if package == "pandas":
        missing = ModuleNotFoundError("No module named 'pandas'", name="pandas")
        monkeypatch.setattr(table, "_table", Mock(to_pandas=Mock(side_effect=missing)))
    with pytest.raises(SettingsError, match=rf"pip install {package}, or use to_list\(\)"):
        getattr(table, f"to_{package}")()
