"""A text of several columns: the same in every format, however its documents are read."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import Read, read, read_objects
from roughly.errors import InputError
from roughly.settings import ReadOptions
from roughly.sources.live import read_live

ROWS: list[dict[str, Any]] = [
    {"id": "1", "title": "A title", "text": "of words"},
    {"id": "2", "title": None, "text": "no title"},
    {"id": "3", "title": "no text", "text": None},
    {"id": "4", "title": "", "text": "an empty\none"},
    {"id": "5", "title": "", "text": ""},
    {"id": "6", "title": 'é "quoted"', "text": "back\\slash"},
    {"id": "7", "title": None, "text": None},
]
TEXTS = ["A title\nof words", "no title", "no text", "an empty\none", "", 'é "quoted"\nback\\slash']
TURNED = ["of words\nA title", "no title", "no text", "an empty\none", "", 'back\\slash\né "quoted"']
BOTH_NULL = "'title' and 'text' are null"
TABLE = pa.Table.from_pylist(ROWS)


def json_lines(folder: Path, rows: list[dict[str, Any]], name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=name != "a.jsonl") + "\n" for row in rows), encoding="utf-8")
    return path


def without_nulls(folder: Path) -> Path:
    rows = [{name: value for name, value in row.items() if value is not None} for row in ROWS]
    return json_lines(folder, rows, "ascii.jsonl")


def parquet(folder: Path, **types: pa.DataType) -> Path:
    table = TABLE
    for name, kind in types.items():
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    pq.write_table(table, folder / "a.parquet")
    return folder / "a.parquet"


def table(folder: Path) -> Path:
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, ["id", "title", "text"])
        writer.writeheader()
        writer.writerows(ROWS[:-1])  # CSV has no null
    return folder / "a.csv"


FILES = {
    "json lines": lambda folder: json_lines(folder, ROWS),
    "json lines with missing keys": without_nulls,
    "parquet": parquet,
    "parquet of bytes and dictionaries": lambda folder: parquet(
        folder, title=pa.dictionary(pa.int32(), pa.string()), text=pa.large_binary()
    ),
    "csv": table,
}
OBJECTS = {
    "arrow": lambda: TABLE,
    "pandas": lambda: pd.DataFrame(ROWS),
    "polars": lambda: pl.DataFrame(ROWS),
    "list": lambda: ROWS,
    "generator": lambda: iter(ROWS),
    "reader": lambda: TABLE.to_reader(),
}


def check(found: Read, wanted: list[str]) -> None:
    assert found.texts == wanted
    assert [one["title"] or None for one in found.documents] == [row["title"] or None for row in ROWS[:-1]]
    assert all("'title'" in reason and "are null" in reason for _, reason in found.reasons)
    assert found.part.format == "csv" or len(found.reasons) == 1


@pytest.mark.parametrize("kind", FILES)
def test_every_format_joins_the_same_text(kind: str, tmp_path: Path) -> None:
    path = FILES[kind](tmp_path)
    check(read(path, text_column="title,text"), TEXTS)
    check(read(path, text_column="text, title"), TURNED)


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_object_joins_the_same_text(kind: str, tmp_path: Path) -> None:
    found = read_objects(OBJECTS[kind](), tmp_path / "spool", text_column="title,text")
    check(found, TEXTS)
    assert ("not a string" in found.reasons[0][1]) == (kind in ("list", "generator"))


def test_a_stream_joins_the_same_text_although_its_first_line_has_no_title() -> None:
    lines = [{name: value for name, value in row.items() if value is not None} for row in ROWS[1:]]
    data = "".join(json.dumps(row) + "\n" for row in lines).encode()
    found = [one for group in read_live(io.BytesIO(data), ReadOptions(text_column="title,text")) for one in group]  # type: ignore[arg-type]
    assert [one.document["text"] for one in found if one.document] == TEXTS[1:]
    assert [one.reject.reason for one in found if one.reject] == [BOTH_NULL]


@pytest.mark.parametrize(
    "bad", [{"title": 5, "text": "t"}, {"title": "t", "text": 7.5}, {"title": ["t"], "text": "t"}, {"title": True}]
)
def test_what_is_no_string_is_rejected_everywhere(bad: dict[str, Any], tmp_path: Path) -> None:
    rows = [{"id": "1", "title": "A", "text": "b"}, {"id": "2"} | bad]
    lines = read(json_lines(tmp_path, rows), text_column="title,text")
    assert lines.texts == ["A\nb"] and "not a string" in lines.reasons[0][1]
    for given in (rows, iter(rows)):
        listed = read_objects(given, tmp_path / "spool", text_column="title,text")
        assert listed.texts == ["A\nb"]
        assert listed.reasons == [("row 2", f"{BOTH_NULL}, or one of them is not a string")]


def test_a_column_whose_name_has_a_comma_comes_first(tmp_path: Path) -> None:
    rows = [{"id": "1", "title": "A", "text": "b", "title,text": "itself"}]
    assert read(json_lines(tmp_path, rows), text_column="title,text").texts == ["itself"]
    assert read_objects(pa.Table.from_pylist(rows), tmp_path, text_column="title,text").texts == ["itself"]
    assert read_objects(["of strings"], tmp_path, text_column="title,text").texts == ["of strings"]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("title,nope", "no column 'nope'"), ("nope,text", "no column 'nope'"), ("title,", "no column ''"),
        ("text,text", "has a column twice"),
    ],
)  # fmt: skip
def test_wrong_columns_are_named(kind: str, given: str, wanted: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=wanted):
        read(FILES[kind](tmp_path), text_column=given)


def test_a_column_of_numbers_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column 'year' holds int64, not strings"):
        read_objects(pa.table({"text": ["a"], "year": [1999]}), tmp_path, text_column="text,year")


def test_one_html_column_makes_the_text_html(tmp_path: Path) -> None:
    found = read_objects(pa.table({"title": ["a"], "page_html": ["<p>b"]}), tmp_path, text_column="title,page_html")
    assert found.documents[0]["markup"] and found.texts == ["a\n<p>b"]
    assert any("text column page_html: read as HTML" in note for note in found.notes)
