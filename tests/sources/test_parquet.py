"""Parquet: column types, row groups, damaged files, copies."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import documents_at, mask, read
from roughly.errors import InputError
from roughly.sources import parquet, parquet_groups
from roughly.sources.part import coarse_chunks, pieces_of


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups count as giant, and slices are tiny."""
    for module in (parquet, parquet_groups):
        monkeypatch.setattr(module, "LARGEST_GROUP", 0)
    monkeypatch.setattr(parquet, "SLICE", 100)


STRINGS = ["one", "zwei ü", "", "四", "x" * 1000]
TEXT_COLUMNS = {
    "string": pa.array(STRINGS),
    "large_string": pa.array(STRINGS, pa.large_string()),
    "string_view": pa.array(STRINGS, pa.string_view()),
    "binary": pa.array([text.encode() for text in STRINGS]),
    "large_binary": pa.array([text.encode() for text in STRINGS], pa.large_binary()),
    "dictionary": pa.array(STRINGS).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TEXT_COLUMNS)
@pytest.mark.parametrize("way", ["groups", "slices"])
def test_texts_of_every_type_of_letters(kind: str, way: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if way == "slices":
        request.getfixturevalue("slices")
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": TEXT_COLUMNS[kind], "text": TEXT_COLUMNS[kind]}).slice(0, 2), path)
    found = read(path)
    assert found.texts == found.ids == STRINGS[:2]
    found.part.copy(np.array([False, True]), tmp_path / "kept")
    kept = pq.read_table(tmp_path / "kept" / "t.parquet")
    assert kept.schema == pq.read_schema(path) and read(tmp_path / "kept" / "t.parquet").texts == STRINGS[1:2]
    pq.write_table(pa.table({"text": TEXT_COLUMNS[kind]}), path)
    found = read(path)
    assert found.texts == STRINGS


def test_columns_of_other_types_are_written_out(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([7, 8], pa.uint64()),
            "text": ["a", "b"],
            "title": pa.array([Decimal("1.50"), None], pa.decimal128(5, 2)),
            "date": [datetime.date(1987, 2, 26), None],
            "url": pa.array([None, None]),
            "source": pa.array(["x", "x"]).dictionary_encode(),
            "meta": [{"deep": 1}, None],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert [{k: d[k] for k in ("doc_id", "title", "date", "url", "source")} for d in found.documents] == [
        {"doc_id": "7", "title": "1.50", "date": "1987-02-26", "url": None, "source": "x"},
        {"doc_id": "8", "title": None, "date": None, "url": None, "source": "x"},
    ]


def test_timestamps_are_dates(tmp_path: Path) -> None:
    moments = pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5)], pa.timestamp("ms"))
    pq.write_table(pa.table({"text": ["a"], "timestamp": moments}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").documents[0]["date"].startswith("2020-01-02 03:04:05")


@pytest.mark.parametrize("way", ["groups", "slices"])
def test_rows_without_a_text_or_an_id_are_rejected(way: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if way == "slices":
        request.getfixturevalue("slices")
    invalid = pa.Array.from_buffers(
        pa.string(), 6, [None, pa.py_buffer(np.arange(7, dtype=np.int32)), pa.py_buffer(b"ab\xffdef")]
    )
    table = pa.table(
        {"id": ["1", None, "3", "", "5", "6"], "text": pa.array(["t", "t", None, "t", "t", "t"]), "title": invalid}
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    found = read(tmp_path / "t.parquet")
    assert [(d["row"], d["doc_id"], d["title"]) for d in found.documents] == [
        (0, "1", "a"),
        (4, "5", "e"),
        (5, "6", "f"),
    ]
    assert found.reasons == [("row 2", "'id' is null"), ("row 3", "'text' is null"), ("row 4", "'id' is empty")]
    pq.write_table(pa.table({"text": invalid}), tmp_path / "u.parquet")
    found = read(tmp_path / "u.parquet")
    assert found.texts == ["a", "b", "d", "e", "f"]
    assert found.reasons == [("row 3", "'text' is invalid UTF-8")]
    assert found.ids[2] == "u.parquet:4"


@pytest.mark.parametrize("way", ["groups", "slices"])
def test_only_row_groups_with_wanted_rows_are_read(way: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if way == "slices":
        request.getfixturevalue("slices")
    table = pa.table({"id": [str(i) for i in range(100)], "text": [f"text {i}" * (i % 7) for i in range(100)]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10)
    part = read(tmp_path / "t.parquet").part
    wanted = np.array([3, 5, 55, 99])
    assert [(d["row"], d["doc_id"]) for d in documents_at(part, wanted)] == [(3, "3"), (5, "5"), (55, "55"), (99, "99")]
    assert len(list(part.chunks(wanted))) == (3 if way == "groups" else 4)
    assert list(part.chunks(np.array([], np.int64))) == []


def test_giant_row_groups_are_read_in_small_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (parquet, parquet_groups):
        monkeypatch.setattr(module, "LARGEST_GROUP", 1 << 20)
    rng = np.random.default_rng(3)
    texts = [rng.bytes(int(rng.integers(1, 20_000))).hex() for _ in range(2000)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert found.texts == texts
    sizes = [chunk.data.batch["text"].nbytes for chunk in found.part.chunks()]
    assert len(sizes) >= 8 and max(sizes) < 6 << 20


def test_large_row_groups_are_cut_by_the_thread_that_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (parquet, parquet_groups):
        monkeypatch.setattr(module, "LARGEST_GROUP", 1 << 20)
    monkeypatch.setattr(parquet_groups, "MOST_ROWS_OF_ONE_THREAD", 2000)
    rng = np.random.default_rng(3)
    texts = [rng.bytes(int(rng.integers(1, 20_000))).hex() for _ in range(4500)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "t.parquet", row_group_size=2000)
    part = read(tmp_path / "t.parquet").part
    coarse = list(coarse_chunks(part))
    assert [chunk.first_row for chunk in coarse] == [0, 2000, 4000] and part.reads_in_parse
    assert all(len(list(pieces_of(part, chunk))) > 1 for chunk in coarse)
    pieces = [piece for chunk in coarse for piece in pieces_of(part, chunk)]
    found = [text for piece in pieces for text in part.parse(piece).batch.column("text").to_pylist()]
    assert found == texts
    assert [piece.first_row for piece in pieces] == [chunk.first_row for chunk in part.chunks()]
    monkeypatch.setattr(parquet_groups, "MOST_ROWS_OF_ONE_THREAD", 1999)  # then `chunks` decodes most of it
    assert not part.reads_in_parse and len(list(coarse_chunks(part))) > 3


@pytest.mark.parametrize("codec", ["snappy", "zstd", "gzip", "lz4", "none"])
def test_a_copy_keeps_the_schema_all_columns_and_the_compression(codec: str, tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1, 2, 3, 4], pa.int16()),
            "text": pa.array(["a", None, "c", "d"], pa.large_string()),
            "label": pa.array(["x", "y", "x", "y"]).dictionary_encode(),
            "list": [[1], [2, 3], None, []],
        },
        metadata={"made": "by a test"},
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=3, compression=codec)
    found = read(tmp_path / "t.parquet")
    assert found.part.copy(mask(found.documents, {"1", "4"}), tmp_path / "kept") == 2
    kept = pq.read_table(tmp_path / "kept" / "t.parquet")
    assert kept.schema.equals(table.schema) and kept.schema.metadata == table.schema.metadata
    assert kept.to_pylist() == [table.to_pylist()[0], table.to_pylist()[3]]
    before, after = (pq.read_metadata(tmp_path / at / "t.parquet").row_group(0).column(1) for at in ("", "kept"))
    assert after.compression == before.compression


@pytest.mark.parametrize("damage", ["cut", "not parquet", "empty", "pages"])
def test_a_damaged_file_is_named(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table({"text": [str(i) * 50 for i in range(1000)]}), path, compression="zstd")
    data = bytearray(path.read_bytes())
    if damage == "pages":
        data[50:250] = bytes(200)
    path.write_bytes({"cut": data[:-10], "not parquet": b"hello", "empty": b"", "pages": data}[damage])
    with pytest.raises(InputError, match=r"bad\.parquet: is not a whole Parquet file"):
        read(path)


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"words": ["a"], "n": [1]}, {}, "its columns are words, n. Name it with --text-column"),
        ({"text": [1]}, {}, "column 'text' holds int64, not strings"),
        ({"text": ["a"], "id": [1.5]}, {"id_column": "id"}, "--id-column"),
        ({"text": ["a"], "m": [{"x": 1}]}, {"title_column": "m"}, "--title-column"),
        ({"text": ["a"]}, {"date_column": "day"}, "no column 'day'"),
    ],
)
def test_columns_that_will_not_do(
    columns: dict[str, list[object]], options: dict[str, str], says: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet") as error:
        read(tmp_path / "t.parquet", **options)
    assert says in str(error.value)


def test_columns_of_the_wrong_type_are_not_guessed(tmp_path: Path) -> None:
    table = pa.table({"text": [["a"]], "content": ["words"], "id": [1.5], "uid": [7], "title": [{"x": 1}]})
    pq.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert found.texts == ["words"] and found.ids == ["7"] and found.documents[0]["title"] is None
    assert found.notes == ["text column: content", "id column: uid"]


def test_a_file_without_rows_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert not found.documents and "empty: no documents" in found.notes
    assert found.part.copy(np.zeros(0, np.bool_), tmp_path / "kept") == 0


@pytest.mark.parametrize("batch_size", [1, 7])
def test_the_batch_size_bounds_the_batches(batch_size: int, tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [str(i) for i in range(20)]}), tmp_path / "t.parquet", row_group_size=9)
    found = read(tmp_path / "t.parquet", batch_size=batch_size)
    assert found.texts == [str(i) for i in range(20)]
    assert max(len(chunk.data.rows) for chunk in found.part.chunks()) == batch_size


@pytest.mark.corpora
def test_texts_in_many_languages(corpora: Path) -> None:
    found = read(corpora / "multilingual")
    expected = {
        path.name: pq.read_table(path, columns=["id", "text"]) for path in sorted((corpora / "multilingual").iterdir())
    }
    assert len(expected) == 5
    for number, table in enumerate(expected.values()):
        own = [document for document in found.documents if document["part"] == number]
        assert [document["doc_id"] for document in own] == table["id"].to_pylist()
        assert [document["text"] for document in own] == table["text"].to_pylist()
    assert not found.rejects
