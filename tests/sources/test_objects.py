"""What Python callers hand over: tables, frames, iterables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly.sources.spool
from reading import mask, read_objects
from roughly.errors import InputError

ROWS = [
    {"id": "a", "text": "one", "n": 1},
    {"id": "b", "text": None, "n": 2},
    {"id": "c", "text": "drei", "n": 3},
]
TABLE = pa.Table.from_pylist(ROWS)
HANDED_OVER = {
    "arrow table": lambda: TABLE,
    "record batch": lambda: TABLE.to_batches()[0],
    "record batch reader": lambda: TABLE.to_reader(),
    "arrow in chunks": lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1, 0), TABLE.slice(1)]),
    "pandas": lambda: pd.DataFrame(ROWS),
    "polars": lambda: pl.DataFrame(ROWS),
    "lazy polars": lambda: pl.LazyFrame(ROWS),
    "list of dicts": lambda: ROWS,
    "generator": lambda: (dict(row) for row in ROWS),
}


@pytest.mark.parametrize("kind", HANDED_OVER)
def test_the_same_rows_in_any_form_are_the_same_documents(kind: str, tmp_path: Path) -> None:
    found = read_objects(HANDED_OVER[kind](), tmp_path / "spool")
    assert (found.ids, found.texts) == (["a", "c"], ["one", "drei"])
    assert found.reasons == [("row 2", "'text' is null")]
    assert found.part.format == "table" and found.part.name == "table"
    assert found.part.copy(mask(found.documents, {"c"}), tmp_path / "kept") == 1
    kept = pq.read_table(tmp_path / "kept" / found.part.kept_name)
    assert kept.to_pylist() == [ROWS[2]]


@pytest.mark.parametrize(
    "data",
    [
        ["first", "second"],
        ("first", "second"),
        iter(["first", "second"]),
        pd.Series(["first", "second"]),
        pl.Series(["first", "second"]),
        [{"text": "first"}, {"text": "second"}],
        pa.table({"text": ["first", "second"]}),
    ],
    ids=lambda data: type(data).__name__,
)
def test_without_ids_documents_are_numbered_as_python_counts(data: Any, tmp_path: Path) -> None:
    found = read_objects(data, tmp_path)
    assert found.texts == ["first", "second"] and found.ids == ["0", "1"]
    assert {document["source"] for document in found.documents} == {"table"}


def test_frames_with_an_index_can_be_read_back(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", "b", "c"]}, index=pd.Index([10, 20, 30], name="number"))
    found = read_objects(frame, tmp_path)
    found.part.copy(np.array([True, False, True]), tmp_path / "kept")
    back = pd.read_parquet(tmp_path / "kept" / found.part.kept_name)
    assert back.index.tolist() == [10, 30] and back["text"].tolist() == ["a", "c"]


def test_a_long_stream_is_never_held_in_memory(tmp_path: Path) -> None:
    """60 MB go through; at no time are more than a few thousand rows alive."""
    alive = {"now": 0, "most": 0}

    class Row(dict[str, str]):
        def __init__(self, number: int) -> None:
            super().__init__(id=str(number), text=f"{number} " * 500)
            alive["now"] += 1
            alive["most"] = max(alive["most"], alive["now"])

        def __del__(self) -> None:
            alive["now"] -= 1

    found_ids = 0
    parts = roughly.sources.parts_from_objects(map(Row, range(20_000)), roughly.sources.ReadOptions(), tmp_path)
    for chunk in parts[0].chunks():
        found_ids += parts[0].parse(chunk).batch.num_rows
    assert found_ids == 20_000
    assert alive["most"] < 11_000


def test_mappings_that_do_not_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughly.sources.spool, "_ROWS", 2)
    rows: list[dict[str, Any]] = [
        {"id": 1, "text": "a", "x": None},
        {"id": 2, "text": "b", "x": 1},
        {"id": 3, "text": "c", "y": 1.5},
        {"id": "four", "text": "d", "x": "words"},
        {"id": 5, "text": 5, "x": [1]},
        {"id": 6, "text": "f", "x": {"deep": True}},
        {"text": "g", "id": 7},
    ]
    found = read_objects(iter(rows), tmp_path)
    assert found.ids == ["1", "2", "3", "four", "6", "7"] and found.texts == ["a", "b", "c", "d", "f", "g"]
    assert found.reasons == [("row 5", "'text' is null")]
    found.part.copy(np.ones(7, np.bool_), tmp_path / "kept")
    kept = pq.read_table(tmp_path / "kept" / found.part.kept_name).to_pylist()
    assert [row["x"] for row in kept] == [None, "1", None, "words", "[1]", '{"deep":true}', None]
    assert [path.name for path in tmp_path.glob("*.parquet")] == ["table.parquet"]


def test_strings_that_utf8_cannot_hold_are_repaired(tmp_path: Path) -> None:
    found = read_objects(["fine", "half \ud800 pair"], tmp_path)
    assert found.texts == ["fine", "half \ufffd pair"]


@pytest.mark.parametrize("data", ["one long string", b"bytes", 5, {"text": ["a"]}, None])
def test_objects_that_are_no_documents(data: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="documents cannot be read from an object of type"):
        read_objects(data, tmp_path)


def test_items_that_are_no_documents_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="item 1 of the documents is of type tuple"):
        read_objects([{"text": "a"}, ("b", "c")], tmp_path)


def test_an_error_in_the_callers_generator_is_the_callers(tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield "a"
        raise FileNotFoundError("the caller's own file")

    with pytest.raises(FileNotFoundError, match="own file"):
        read_objects(broken(), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data", [[], pa.table({"text": pa.array([], pa.string())}), iter(())])
def test_nothing_at_all_is_told(data: Any, tmp_path: Path) -> None:
    found = read_objects(data, tmp_path)
    assert not found.documents and "empty: no documents" in found.notes


def test_no_text_column_names_the_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"table: no column looks like the text; its columns are words, n\."):
        read_objects([{"words": "a", "n": 1}], tmp_path)
    assert read_objects([{"words": "a", "n": 1}], tmp_path, text_column="words").texts == ["a"]


def test_pandas_and_polars_are_not_imported() -> None:
    script = "import roughly.sources, sys; print(sorted({'pandas', 'polars', 'fsspec'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"
