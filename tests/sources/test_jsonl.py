"""JSON lines: both roads of parsing, bad lines, compression, copies."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly.sources.records
from reading import documents_at, mask, read
from roughly.errors import InputError
from roughly.kernels.lines import line_ends
from roughly.sources import ReadOptions, line_ranges, open_parts
from roughly.sources.columns import Columns
from roughly.sources.jsonl import _objects
from roughly.sources.jsonparse import LineParser

WAYS = {
    ".jsonl": lambda data: data,
    ".jsonl.gz": gzip.compress,
    ".ndjson.zst": zstandard.ZstdCompressor().compress,
    ".json": lambda data: data,
}


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so small that records span many of them."""
    monkeypatch.setattr(roughly.sources.records, "BLOCK", 64)


@pytest.mark.parametrize("ending", WAYS)
def test_fields_come_through_whatever_the_compression(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"news{ending}"
    record = {
        "id": "a",
        "text": "Grüße\n\u0000😀",
        "title": "T",
        "url": "http://x/",
        "date": "1987",
        "source": "S",
        "x": [1],
    }
    path.write_bytes(WAYS[ending](lines(record, {"id": "b", "text": ""})))
    found = read(path)
    assert found.documents[0] == {
        "part": 0, "row": 0, "doc_id": "a", "text": "Grüße\n\u0000😀", "markup": False,
        "title": "T", "url": "http://x/", "date": "1987", "source": "S",
    }  # fmt: skip
    assert found.documents[1]["doc_id"] == "b" and found.documents[1]["text"] == ""
    assert found.part.format == "jsonl" and found.part.kept_name == path.name
    assert {"text column: text", "id column: id", "date column: date"} <= set(found.notes)


def test_documents_without_ids_are_numbered_by_line_and_named_by_file(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_bytes(lines({"body": "a"}) + b"\n   \n" + lines({"body": "b"}))
    found = read(tmp_path / "n.jsonl")
    assert found.ids == ["n.jsonl:1", "n.jsonl:4"]
    assert [document["source"] for document in found.documents] == ["n.jsonl"] * 2
    assert "no id column: documents are numbered" in found.notes and "text column: body" in found.notes


def test_whole_numbers_are_ids_and_dates_whatever_their_size(tmp_path: Path) -> None:
    ids = [7, -1, 2**63 - 1, 2**64 - 1, 10**30]
    (tmp_path / "n.jsonl").write_bytes(lines(*({"id": i, "text": "t", "date": 20200101} for i in ids)))
    found = read(tmp_path / "n.jsonl")
    assert found.ids == [str(i) for i in ids]
    assert {document["date"] for document in found.documents} == {"20200101"}


def test_each_bad_line_is_rejected_with_its_reason_and_the_others_go_through(tmp_path: Path) -> None:
    bad = [
        (b'{"id": "1", "text": "a', "broken JSON: "),
        (b'["a"]', "not an object but an array"),
        (b"null", "not an object but null"),
        (b'"text"', "not an object but a string"),
        (b'{"id": "1", "text": null}', "'text' is null"),
        (b'{"id": "1", "text": 5}', "'text' is a number, not a string"),
        (b'{"id": "1", "text": ["a"]}', "'text' is an array, not a string"),
        (b'{"id": "1"}', "no 'text'"),
        (b'{"id": "1", "text": "\xff"}', "invalid UTF-8"),
        (b'{"id": "1", "text": "a", "other": "\xff"}', "invalid UTF-8"),
        (b'{"id": "", "text": "a"}', "'id' is empty"),
        (b'{"id": null, "text": "a"}', "'id' is null"),
        (b'{"text": "a"}', "no 'id'"),
        (b'{"id": 1.5, "text": "a"}', "'id' is a number, not a string or a whole number"),
        (b'{"id": true, "text": "a"}', "'id' is a boolean, not a string or a whole number"),
        (b'{"id": "1", "text": "\\ud800"}', "broken JSON: "),
        (b'{"id": "1", "text": "a"} {"id": "2", "text": "b"}', "broken JSON: "),
        (b'{"id": "1", "text": "a"} null {"id": "2", "text": "b"}', "broken JSON: "),
        (b'{"id": "1", "text": "a"}\x00{"id": "2", "text": "b"}', "broken JSON: "),
        (b'{"id": "1", "text": "a",}', "broken JSON: "),
    ]
    good = b'{"id": "good%d", "text": "fine"}\n'
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"".join(good % number + line + b"\n" for number, (line, _) in enumerate(bad)))
    found = read(path)
    assert found.ids == [f"good{number}" for number in range(len(bad))]
    for number, (reject, (line, reason)) in enumerate(zip(found.rejects, bad, strict=True)):
        assert reject.file == str(path)
        assert reject.record == f"line {2 * number + 2}"
        assert reject.reason.startswith(reason), line
        assert reject.excerpt.startswith(line.decode("utf-8", "replace")[:20])


def test_an_object_over_several_lines_does_not_shift_the_others(tmp_path: Path) -> None:
    data = b'{"id":"1","text":"a"}{"id":"2","text":"b"}\n{"id":"3",\n"text":"c"}\n{"id":"4","text":"d"}\n'
    (tmp_path / "n.jsonl").write_bytes(data)
    found = read(tmp_path / "n.jsonl")
    assert [(document["row"], document["doc_id"]) for document in found.documents] == [(3, "4")]
    assert [reject.record for reject in found.rejects] == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\n\n", b" \n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_of_all_sorts(ending: bytes, last: bool, tmp_path: Path) -> None:
    data = ending.join(json.dumps({"id": str(i), "text": f"t{i}"}).encode() for i in range(5)) + ending * last
    (tmp_path / "n.jsonl").write_bytes(data)
    assert read(tmp_path / "n.jsonl").texts == [f"t{i}" for i in range(5)]


def test_a_byte_order_mark_is_not_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines({"id": "1", "text": "a"}, {"id": "2", "text": "b"}))
    found = read(path)
    assert found.ids == ["1", "2"]
    assert found.part.copy(mask(found.documents, {"2"}), tmp_path / "kept") == 1
    assert (tmp_path / "kept" / "n.jsonl").read_bytes() == b"\xef\xbb\xbf" + lines({"id": "2", "text": "b"})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def dumped(pairs: list[tuple[str, Any]], ascii_only: bool) -> bytes:
    """An object with the keys as they come, twice the same one too."""
    inside = ", ".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=ascii_only)}" for key, value in pairs)
    return ("{" + inside + "}").encode("utf-8", "surrogatepass")


LINES = st.one_of(
    st.builds(
        dumped,
        st.lists(st.tuples(st.sampled_from(["id", "text", "title", "x"]), JSON_VALUES), max_size=5),
        st.booleans(),
    ),
    st.builds(
        dumped,
        st.tuples(
            st.tuples(st.just("id"), st.text(min_size=1)), st.tuples(st.just("text"), st.text())
        ).map(list),
        st.booleans(),
    ),
    st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"")),
    st.lists(
        st.sampled_from([b"{", b"}", b"null", b'"text"', b":", b",", b'"a"', b" ", b'{"id":"1","text":"a"}', b"NaN"]),
        max_size=8,
    ).map(b"".join),
)  # fmt: skip


@given(st.lists(LINES, max_size=6))
def test_columns_are_guessed_from_what_python_reads(some: list[bytes]) -> None:
    """orjson reads most lines; where it would refuse one, or round a whole number, Python's reader does."""
    expected = []
    for line in some:
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(line) if line.strip() else None
            expected += [value] if isinstance(value, dict) else []
    assert repr([_shown(value) for value in _objects(some)]) == repr([_shown(value) for value in expected])


def _shown(value: dict[str, Any]) -> dict[str, Any]:
    """What columns are guessed from: of lists and objects their type only."""
    return {key: type(held) if isinstance(held, list | dict) else held for key, held in value.items()}


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6))
def test_what_becomes_of_a_line_does_not_depend_on_its_neighbours(given_lines: list[bytes]) -> None:
    """The fast road, the slow road and any mixture of them agree, line by line."""
    columns = Columns({"text": "text", "doc_id": "id", "title": "title"}, ())
    parser = LineParser("n.jsonl", "n.jsonl", columns, frozenset())

    def parse(some: list[bytes], first: int) -> tuple[list[dict[str, Any]], list[Any]]:
        data = b"".join(line + b"\n" for line in some)
        ends = line_ends(np.frombuffer(data, np.uint8))
        parsed = parser.parse(data, ends, np.arange(first, first + len(ends)))
        parsed.batch.validate(full=True)
        return parsed.batch.to_pylist(), parsed.rejects

    together, together_rejects = parse(given_lines, 0)
    alone = [parse([line], number) for number, line in enumerate(given_lines)]
    assert together == [document for documents, _ in alone for document in documents]
    assert together_rejects == [reject for _, rejects in alone for reject in rejects]
    data = b"".join(line + b"\n" for line in given_lines)
    slow = parser._slowly(data, line_ends(np.frombuffer(data, np.uint8)), np.arange(len(given_lines)))
    blank = {number for number, line in enumerate(given_lines) if not line.strip(b" \t\r\n")}
    assert slow.batch.to_pylist() == together
    assert [r for r in slow.rejects if int(r.record[5:]) - 1 not in blank] == together_rejects


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_blocks_end_anywhere(ending: str, tmp_path: Path) -> None:
    records = [{"id": str(i), "text": "x" * (i * 7 % 200)} for i in range(100)]
    path = tmp_path / f"n{ending}"
    path.write_bytes(WAYS[ending](lines(*records)))
    found = read(path)
    assert [(d["row"], d["doc_id"], d["text"]) for d in found.documents] == [
        (i, record["id"], record["text"]) for i, record in enumerate(records)
    ]
    assert len(list(found.part.chunks())) > 20


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_the_batch_size_bounds_the_batches_and_changes_nothing_else(batch_size: int, tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_bytes(lines(*({"id": str(i), "text": "t"} for i in range(10))))
    found = read(tmp_path / "n.jsonl", batch_size=batch_size)
    assert found.ids == [str(i) for i in range(10)]
    sizes = [found.part.parse(chunk).batch.num_rows for chunk in found.part.chunks()]
    assert max(sizes) == min(batch_size, 10) and sum(sizes) == 10
    assert sum(chunk.nbytes for chunk in found.part.chunks()) <= found.part.size


def test_only_the_rows_asked_for_are_parsed(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl.gz"
    path.write_bytes(gzip.compress(lines(*({"id": str(i), "text": f"t{i}"} for i in range(1000)))))
    part = read(path).part
    chunks = list(part.chunks(np.array([0, 500, 999])))
    assert sum(len(chunk.data.data) for chunk in chunks) < 100
    assert [d["row"] for d in documents_at(part, np.array([0, 500, 999]))] == [0, 500, 999]
    assert list(part.chunks(np.array([], np.int64))) == []


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf", b"\n\n"])
@pytest.mark.parametrize("last", [b"", b"\n", b" "])
def test_after_a_first_reading_only_blocks_with_wanted_rows_are_read(
    head: bytes, last: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "n.jsonl"
    records = [{"id": str(i), "text": "é" * (i * 37 % 90)} for i in range(60)]
    path.write_bytes(head + lines(*records)[:-1] + last)
    options = ReadOptions(text_column="text")
    (part,) = open_parts([path], options, tmp_path)
    documents = [d for chunk in part.chunks() for d in part.parse(chunk).batch.to_pylist()]
    (unread,) = open_parts([path], options, tmp_path)
    opened: list[int] = []
    read_chosen = line_ranges.read_chosen_lines
    monkeypatch.setattr(
        line_ranges,
        "read_chosen_lines",
        lambda path, blocks, rows: opened.append(int(blocks[:, 3].sum())) or read_chosen(path, blocks, rows),
    )
    for chosen in (documents[7:8], documents[::9], documents[-1:], documents):
        rows = np.array([document["row"] for document in chosen], np.int64)
        opened.clear()
        assert documents_at(part, rows) == chosen == documents_at(unread, rows)
        assert opened and sum(opened) == sum(chunk.nbytes for chunk in part.chunks(rows))
        assert sum(opened) < len(chosen) * 2000
    assert list(part.chunks(np.array([], np.int64))) == [] == list(part.chunks(np.array([10_000])))
    keep = np.arange(55) % 3 > 0
    assert part.copy(keep, tmp_path / "a") == unread.copy(keep, tmp_path / "b") == np.count_nonzero(keep)
    assert (tmp_path / "a" / "n.jsonl").read_bytes() == (tmp_path / "b" / "n.jsonl").read_bytes()


def test_a_file_that_changes_between_the_readings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_bytes(lines({"id": "1", "text": "a"}))
    part = read(path).part
    path.write_bytes(lines({"id": "1", "text": "abc"}))
    with pytest.raises(InputError, match="changed while it was being read"):
        documents_at(part, np.array([0]))


@pytest.mark.parametrize("ending", WAYS)
def test_a_copy_holds_the_kept_lines_byte_for_byte_compressed_like_the_input(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"n{ending}"
    strange = [b'{"id":"%d",   "text" : "caf\\u00e9", "x":1e5}\n' % i for i in range(10)]
    path.write_bytes(WAYS[ending](b"".join(strange[:5]) + b"broken\n" + b"".join(strange[5:])[:-1]))
    found = read(path)
    assert len(found.rejects) == 1
    assert found.part.copy(mask(found.documents, {"1", "2", "7", "9"}), tmp_path / "kept") == 4
    written = (tmp_path / "kept" / path.name).read_bytes()
    unpack = {".gz": gzip.decompress, ".zst": lambda d: zstandard.ZstdDecompressor().decompressobj().decompress(d)}
    assert unpack.get(path.suffix, bytes)(written) == strange[1] + strange[2] + strange[7] + strange[9][:-1]
    assert [file.name for file in (tmp_path / "kept").iterdir()] == [path.name]
    before = written
    found.part.copy(mask(found.documents, {"1", "2", "7", "9"}), tmp_path / "kept")
    assert (tmp_path / "kept" / path.name).read_bytes() == before, "the same copy has other bytes"


def test_gzip_files_of_many_members_and_zstd_files_of_many_frames(tmp_path: Path) -> None:
    pieces = [lines({"id": str(i), "text": f"t{i}"}) for i in range(5)]
    (tmp_path / "g.jsonl.gz").write_bytes(b"".join(map(gzip.compress, pieces)) + b"\0" * 512)
    (tmp_path / "z.jsonl.zst").write_bytes(b"".join(map(zstandard.ZstdCompressor().compress, pieces)))
    for name in ("g.jsonl.gz", "z.jsonl.zst"):
        found = read(tmp_path / name)
        assert found.ids == ["0", "1", "2", "3", "4"] and not found.rejects


@pytest.mark.parametrize("ending", [".jsonl.gz", ".ndjson.zst"])
def test_a_file_that_is_cut_short_gives_all_before_the_cut_and_one_reject(ending: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    records = [{"id": str(i), "text": rng.bytes(300).hex()} for i in range(2000)]
    whole = WAYS[ending](lines(*records))
    path = tmp_path / f"cut{ending}"
    path.write_bytes(whole[: len(whole) // 2])
    found = read(path)
    count = len(found.documents)
    assert 500 < count < 1500 and found.ids == [str(i) for i in range(count)]
    (reject,) = found.rejects
    kind = "gzip" if ending.endswith("gz") else "zstd"
    assert reject.file == str(path) and reject.record == f"line {count + 1}"
    assert reject.reason == f"truncated {kind} at byte {len(whole) // 2}"
    assert found.part.copy(np.ones(count, np.bool_), tmp_path / "kept") == count


def test_damage_inside_a_gzip_file_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = bytearray(gzip.compress(lines(*({"id": str(i), "text": rng.bytes(300).hex()} for i in range(2000)))))
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "d.jsonl.gz").write_bytes(data)
    (reject,) = read(tmp_path / "d.jsonl.gz").rejects
    assert "gzip" in reject.reason or "JSON" in reject.reason


def test_a_document_of_200_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id": "small", "text": "a"}\n{"id": "huge", "text": "')
        for _ in range(200):
            file.write(b"0123456789" * 100_000)
        file.write(b'"}\n{"id": "last", "text": "b"}\n')
    (part,) = open_parts([path], ReadOptions(), tmp_path)
    lengths: dict[str, int] = {}
    for chunk in part.chunks():
        batch = part.parse(chunk).batch
        lengths |= zip(batch["doc_id"].to_pylist(), pc.binary_length(batch["text"]).to_pylist(), strict=True)
    assert lengths == {"small": 1, "huge": 200_000_000, "last": 1}


def test_a_record_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughly.sources.records, "BLOCK", 1 << 10)
    monkeypatch.setattr(roughly.sources.records, "LARGEST_RECORD", 1 << 14)
    path = tmp_path / "n.jsonl"
    path.write_bytes(lines({"id": "1", "text": "a"}) + b'{"text": "' + b"x" * (1 << 18))
    found = read(path)
    assert found.ids == ["1"]
    assert found.rejects[0].record == "line 2" and "not read" in found.rejects[0].reason


def test_a_line_that_is_too_long_is_rejected_and_those_after_it_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roughly.sources.records, "BLOCK", 1 << 10)
    monkeypatch.setattr(roughly.sources.records, "LARGEST_RECORD", 1 << 14)
    path = tmp_path / "n.jsonl"
    long = b'{"id": "2", "text": "' + b"x" * (1 << 15) + b'"}\n'
    path.write_bytes(lines({"id": "1", "text": "a"}) + long + lines({"id": "3", "text": "c"}, {"id": "4", "text": "d"}))
    found = read(path)
    assert found.ids == ["1", "3", "4"] and [document["row"] for document in found.documents] == [0, 2, 3]
    assert [(reject.record, "not read" in reject.reason) for reject in found.rejects] == [("line 2", True)]
    assert [d["doc_id"] for d in documents_at(found.part, np.array([2, 3]))] == ["3", "4"]
    assert found.part.copy(mask(found.documents, {"1", "4"}), tmp_path / "kept") == 2
    assert (tmp_path / "kept" / "n.jsonl").read_bytes() == lines({"id": "1", "text": "a"}, {"id": "4", "text": "d"})


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.json", b'[\n {"text": "a"}\n]', "one JSON value"),
        ("a.json", b'[{"text": "a"}]', "jq"),
        ("a.jsonl", b'{\n "text": "a"\n}', "one JSON value"),
        ("a.jsonl", '{"text": "a"}'.encode("utf-16"), "UTF-16"),
        ("a.jsonl", b'{"words": "a", "number": 1}\n', "words, number"),
        ("a.jsonl", b'{"words": "a", "number": 1}\n', "--text-column"),
        ("a.jsonl.gz", b'{"text": "a"}\n', "not gzip"),
    ],
)
def test_files_that_cannot_be_read_as_json_lines(name: str, data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=r"a.json") as error:
        read(tmp_path / name)
    assert says in str(error.value)


def test_a_column_named_by_the_user_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_bytes(lines({"words": "a", "key": "k", "day": None}))
    found = read(tmp_path / "n.jsonl", text_column="words", date_column="day", id_column="key")
    assert (found.texts, found.ids) == (["a"], ["k"])
    assert "date column: day, which the first records do not have" not in found.notes
    found = read(tmp_path / "n.jsonl", text_column="words", date_column="dya", id_column="key")
    assert "date column: dya, which the first records do not have" in found.notes
    with pytest.raises(InputError, match=r"no column 'text'.*words.*--text-column"):
        read(tmp_path / "n.jsonl", text_column="text")
    with pytest.raises(InputError, match="--id-column"):
        read(tmp_path / "n.jsonl", text_column="words", id_column="nr")


def test_html_in_json_is_markup_only_if_the_user_says_so(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_bytes(lines({"id": "1", "text": "<p>a</p>"}))
    assert read(tmp_path / "n.jsonl").documents[0]["markup"] is False
    assert read(tmp_path / "n.jsonl", markup="html").documents[0]["markup"] is True


def test_an_empty_file_is_no_error_and_is_told(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl"):
        (tmp_path / name).write_bytes(b"\n\n" if name[0] == "c" else gzip.compress(b"") if name[0] == "b" else b"")
        found = read(tmp_path / name)
        assert not found.documents and not found.rejects and "empty: no documents" in found.notes
        assert found.part.copy(np.zeros(0, np.bool_), tmp_path / "kept") == 0
