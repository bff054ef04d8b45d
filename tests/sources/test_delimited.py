"""CSV and TSV: quotes, newlines in values, bad rows, copies."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly.sources.records
from reading import mask, read
from roughly.errors import InputError
from roughly.sources.columns import Columns
from roughly.sources.csvparse import Block, RowParser
from roughly.sources.quoted import record_ends


def written(rows: list[list[str]], delimiter: str = ",", line_end: str = "\n") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    return out.getvalue().encode()


def test_every_value_is_a_string_and_nothing_is_null(tmp_path: Path) -> None:
    rows = [["id", "text", "date"], ["007", "NA", "1e5"], ["1.0", "", "null"], ["-0", 'a "b"\nc, d', ""]]
    (tmp_path / "t.csv").write_bytes(written(rows))
    found = read(tmp_path / "t.csv")
    assert [[d["doc_id"], d["text"], d["date"]] for d in found.documents] == rows[1:]
    assert found.part.format == "csv"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_quotes_newlines_and_delimiters_in_values(name: str, line_end: str, tmp_path: Path) -> None:
    texts = ['say "hello"', "two\nlines", "three\r\nlines\n\n", "tab\there, comma", '"', '""', "ünïcödé", "x" * 1000]
    rows = [["title", "body"], *([f"t{number}", text] for number, text in enumerate(texts))]
    data = written(rows, "\t" if "tsv" in name else ",", line_end)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = read(tmp_path / name)
    assert found.texts == texts and not found.rejects
    assert found.ids == [f"{name}:{number + 1}" for number in range(len(texts))]


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
def test_another_delimiter_is_noticed_in_the_header(delimiter: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(written([["id", "text"], ["1", "a, b"]], delimiter))
    found = read(tmp_path / "t.csv")
    assert found.texts == ["a, b"] and f"delimiter: {delimiter!r}" in found.notes


def test_bad_rows_are_rejected_and_the_others_go_through(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        b'id,text\n1,one\n2\n3,three,more\n\n"4","fo""ur\n"\n5,caf\xe9\n,empty\n7,5" disk\n8,re\rturn\n9,nul\x00\n'
        b'10,"never closed\n11,x\n'
    )
    found = read(path)
    assert list(zip(found.ids, found.texts, strict=True)) == [
        ("1", "one"), ("4", 'fo"ur\n'), ("7", '5" disk'), ("9", "nul\x00"),
    ]  # fmt: skip
    assert found.reasons[:5] == [
        ("row 2", "1 columns instead of 2"),
        ("row 3", "3 columns instead of 2"),
        ("row 6", "invalid UTF-8"),
        ("row 7", "'id' is empty"),
        ("row 9", "a carriage return outside quotes"),
    ]
    assert found.reasons[5:] == [("row 11", "a quote that is never closed")]
    assert found.rejects[0].file == str(path) and found.rejects[1].excerpt == "3,three,more"


VALUES = st.text(st.sampled_from('ab",;\n\r é'), max_size=8)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), max_size=8), st.sampled_from([16, 64, 4 << 20]))
@pytest.mark.slow
def test_what_the_csv_module_writes_comes_back_whatever_the_blocks(rows: list[tuple[str, str]], block: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(roughly.sources.records, "BLOCK", block)
        path = Path(folder) / "t.csv"
        path.write_bytes(written([["title", "text"], *map(list, rows)], line_end="\r\n"))
        found = read(path)
        assert [(d["title"], d["text"]) for d in found.documents] == rows and not found.rejects


def test_a_blank_line_and_a_stray_return_do_not_make_up_for_each_other() -> None:
    columns = Columns({"text": "text"}, ())
    parser = RowParser("t.csv", "t.csv", ["x", "text"], ",", columns)
    data, rows = b"1,a\r2,b\n\n3,c\n\r\r\n4,d\n", np.arange(5)
    assert parser.parse_whole(data, rows) is None
    parsed = parser.parse_block(Block.of(data, record_ends(data, ord(","), True), rows))
    assert parsed.batch["row"].to_pylist() == [2, 4] and parsed.batch["text"].to_pylist() == ["c", "d"]
    assert [(r.record, r.reason) for r in parsed.rejects] == [("row 1", "a carriage return outside quotes")]


def plain_ends(data: bytes) -> list[int]:
    """Where records end, letter by letter."""
    ends, is_open, at_start, position = [], False, True, 0
    while position < len(data):
        letter = data[position : position + 1]
        if is_open:
            if letter == b'"' and data[position + 1 : position + 2] == b'"':
                position += 1
            elif letter == b'"':
                is_open = False
            at_start = False
        elif letter == b'"' and at_start:
            is_open, at_start = True, False
        elif letter == b"\n":
            ends.append(position + 1)
            at_start = True
        else:
            at_start = letter in (b",", b"\r")
        position += 1
    return ends


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([b'"', b'""', b",", b"\n", b"\r\n", b"a", b" "]), max_size=30).map(b"".join))
def test_records_end_where_a_plain_walk_says(data: bytes) -> None:
    assert record_ends(data, ord(","), False).tolist() == plain_ends(data)
    final = record_ends(data, ord(","), True).tolist()
    assert final == plain_ends(data) + [len(data)] * bool(
        data and (not plain_ends(data) or plain_ends(data)[-1] < len(data))
    )


def test_a_copy_keeps_the_header_and_the_rows_byte_for_byte(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbfid,"text",x\r\n1,"a\r\nb",  y\r\n2,c\r\n"3",d,\r\n4,"e",z'
    (tmp_path / "t.csv").write_bytes(data)
    found = read(tmp_path / "t.csv")
    assert found.ids == ["1", "3", "4"]
    assert found.part.copy(mask(found.documents, {"1", "4"}), tmp_path / "kept") == 2
    copied = (tmp_path / "kept" / "t.csv").read_bytes()
    assert copied == b'\xef\xbb\xbfid,"text",x\r\n1,"a\r\nb",  y\r\n4,"e",z'
    assert read(tmp_path / "kept" / "t.csv").texts == ["a\r\nb", "e"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"words,number\na,1\n", "words, number. Name it with --text-column"),
        ("text\na\n".encode("utf-16"), "UTF-16"),
        (b"text\ra\rb\r", "carriage returns"),
    ],
)
def test_files_that_cannot_be_read_as_csv(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(InputError, match=r"t\.csv") as error:
        read(tmp_path / "t.csv")
    assert says in str(error.value)


@pytest.mark.parametrize("data", [b"", b"id,text\n", b"id,text"])
def test_a_file_without_rows_is_told(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    found = read(tmp_path / "t.csv")
    assert not found.documents and "empty: no documents" in found.notes
    found.part.copy(np.zeros(0, np.bool_), tmp_path / "kept")
    assert (tmp_path / "kept" / "t.csv").read_bytes() == data


def test_columns_of_the_same_name_and_columns_the_user_names(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,a,Text,b\n1,2,words,3\n")
    found = read(tmp_path / "t.csv", id_column="a", source_column="b")
    row: dict[str, Any] = found.documents[0]
    assert (row["doc_id"], row["text"], row["source"]) == ("1", "words", "3")
    with pytest.raises(InputError, match=r"no column 'day'.*--date-column"):
        read(tmp_path / "t.csv", date_column="day")


def test_a_truncated_gzip_gives_what_came_before(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    whole = gzip.compress(written([["id", "text"], *([str(i), rng.bytes(200).hex()] for i in range(2000))]))
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    found = read(tmp_path / "t.csv.gz")
    assert found.ids == [str(i) for i in range(len(found.ids))] and 500 < len(found.ids) < 1500
    assert found.reasons == [(f"row {len(found.ids) + 1}", f"truncated gzip at byte {len(whole) // 2}")]
