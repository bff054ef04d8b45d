"""Files that are made to hurt: each ends soon, in little memory, with a place and a reason; its neighbours are read."""

from __future__ import annotations

import gzip
import io
import os
import socket
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import roughly.sources.archive
import roughly.sources.parquet
import roughly.sources.records
import roughly.sources.streams
from reading import documents_at, mask, read
from roughly.errors import InputError, InputMissing
from roughly.sources.http import read_payload
from roughly.sources.mail import DEEPEST, read_mail
from roughly.sources.mbox import is_dated
from roughly.sources.read_limits import ReadLimits
from roughly.sources.streams import Reader
from roughly.sources.zstd_frame import ZstdFrame
from stream_texts import mbox

MB = 1 << 20
HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x.org/\r\n"


def nested(depth: int) -> bytes:
    parts = (f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth))
    return b"Subject: deep\n" + "".join(parts).encode() + b"\nhello\n"


def warc(body: bytes, encoding: str = "") -> bytes:
    coded = f"Content-Encoding: {encoding}\r\n" if encoding else ""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{coded}\r\n".encode() + body
    return HEAD + f"Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def gzip_of(piece: bytes, times: int) -> bytes:
    """A gzip file of a repeated piece, made without holding it."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress(piece) for _ in range(times)), packer.flush()])


# ---------------------------------------------------------------- one sentence instead of a traceback


@pytest.mark.parametrize(
    ("name", "data", "ids", "reasons"),
    [
        ("last.csv", b'id,text\n1,x\n2,a 6" pipe', ["1", "2"], []),
        ("ends.csv", b'id,text\r\n1,"a\rb"\n2,x\r"y\n3,z\r\n', ["1"], ["a quote that is never closed"]),
        ("head.csv", b"id,text," + b"h" * 140_000 + b"\n1,x,y\n", ["1"], []),
        ("long.warc", warc(b"a") + HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabc", [None], ["5000 digits"]),
        (
            "long.arc",
            b"filedesc://x 0.0.0.0 20200101000000 text/plain 1\na\n\n"
            b"http://x 1.1.1.1 20200101000000 text/html " + b"9" * 5000 + b"\nabc",
            [],
            ["5000 digits"],
        ),
        ("deep.eml", nested(1000), [], [f"more than {DEEPEST} deep"]),
        ("rfc822.eml", b"Subject: x\n" + b"Content-Type: message/rfc822\n\n" * 1000 + b"hi", [], ["deep"]),
        ("name.eml", b'Subject: x\nContent-Disposition: inline; filename="a\0b"\n\nhi', [None], []),
        ("charset.eml", b'Subject: x\nContent-Type: text/plain; charset="a\0b"\n\nhi \xff', [None], []),
        ("words.eml", b"Subject: x\nContent-Type: text/plain; charset*=a\0b''x%00\n\nhi \xff", [None], []),
        ("entity.sgml", b"<DOC><DOCNO>1</DOCNO><TEXT>&#" + b"9" * 5000 + b";</TEXT></DOC>", ["1"], []),
        ("number.jsonl", b'{"id": ' + b"9" * 5000 + b', "text": "a"}\n{"id": 2, "text": "b"}\n', ["2"], ["JSON"]),
    ],
)
def test_no_traceback(name: str, data: bytes, ids: list[str | None], reasons: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    found = read(tmp_path / name)
    assert len(found.ids) == len(ids) and all(want in (None, got) for want, got in zip(ids, found.ids, strict=True))
    assert len(found.rejects) == len(reasons)
    assert all(why in reject.reason for why, reject in zip(reasons, found.rejects, strict=True)), found.reasons


def test_mail_that_is_nested_as_deep_as_allowed_is_read() -> None:
    assert read_mail(nested(DEEPEST - 1)).text.endswith("hello")


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "two.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]), path)
    with pytest.raises(InputError, match="2 columns named 'text'; rename"):
        read(path)
    other = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array(["c"])], names=["text", "x", "x"])
    pq.write_table(other, path)
    found = read(path)
    assert found.texts == ["a"]
    assert found.part.copy(np.ones(1, np.bool_), tmp_path / "kept") == 1
    assert pq.ParquetFile(tmp_path / "kept" / "two.parquet").read().equals(other)


# ---------------------------------------------------------------- special files


def test_links_and_special_files_in_a_folder_are_named(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "a.txt").write_text("a")
    (outside / "b.txt").write_text("b")
    (folder / "linked.txt").symlink_to(outside / "b.txt")
    (folder / "folder").symlink_to(outside)
    (folder / "itself").symlink_to(folder)
    (folder / "nowhere.txt").symlink_to(tmp_path / "none")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    os.mkfifo(folder / "pipe.txt")
    found = read(folder)
    assert found.ids == ["a.txt", "linked.txt"]
    notes = "\n".join(found.notes)
    assert "links to folders: 2" in notes and "itself" in notes and "name them" in notes
    assert "links that lead nowhere: 2" in notes and "nowhere.txt" in notes
    assert "pipes, devices and sockets: 1" in notes and "pipe.txt" in notes
    assert read(f"{folder}/*.txt").ids == found.ids


def test_a_folder_of_links_only_says_so(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "in" / "a").symlink_to(tmp_path / "other")
    with pytest.raises(InputMissing, match="has no files; not read: links to folders: 1"):
        read(tmp_path / "in")


def test_special_files_given_by_name_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(InputError, match=r"is a pipe, not a file. Give - for standard input"):
        read(tmp_path / "pipe.txt", format="text")
    with pytest.raises(InputError, match="is a device"):
        read("/dev/zero", format="text")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(tmp_path / "socket.txt"))
        with pytest.raises(InputError, match="is a socket"):
            read(tmp_path / "socket.txt")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    with pytest.raises(InputMissing, match="leads back to itself"):
        read(tmp_path / "loop.txt")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "none")
    with pytest.raises(InputMissing, match=r"is a link to .*none, which does not exist"):
        read(tmp_path / "gone.txt")
    with pytest.raises(InputMissing, match="too many for the system"):
        read("x" * 300 + ".txt")
    with pytest.raises(InputMissing, match="no file has such a name"):
        read("a\0b.txt")


def test_folders_a_thousand_deep(tmp_path: Path) -> None:
    top, deepest = tmp_path / "in", 1000
    top.mkdir()
    (top / "a.txt").write_text("a")
    for depth in range(1, deepest + 1):
        Path(f"{top}{'/d' * depth}").mkdir()
    try:
        found = read(top)
        assert found.ids == ["a.txt"] and "folders more than 100 deep: 1" in "\n".join(found.notes)
    finally:  # pytest removes its folders by a function that calls itself, which ends in an error at such a depth
        for depth in range(deepest, 0, -1):
            Path(f"{top}{'/d' * depth}").rmdir()


# ---------------------------------------------------------------- damage


def test_gzip_with_a_wrong_checksum_gives_all_that_precedes_it(tmp_path: Path) -> None:
    lines = b"".join(b'{"id": "%d", "text": "line %d"}\n' % (n, n) for n in range(20_000))
    whole = bytearray(gzip.compress(lines))
    whole[-8] ^= 1
    (tmp_path / "crc.jsonl.gz").write_bytes(whole)
    found = read(tmp_path / "crc.jsonl.gz")
    assert len(found.ids) == 20_000
    assert [reject.record for reject in found.rejects] == ["line 20001"] and "damaged gzip" in found.rejects[0].reason


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_what_is_rejected_as_damaged_is_not_copied(end: bytes, tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(b'{"id": "1", "text": "a"}\n{"id": "2", "text": "b"}' + end))
    whole[-8] ^= 1
    (tmp_path / "a.jsonl.gz").write_bytes(whole)
    found = read(tmp_path / "a.jsonl.gz")
    assert len(found.rejects) == 1
    found.part.copy(np.ones(len(found.ids), np.bool_), tmp_path / "kept")
    assert read(tmp_path / "kept" / "a.jsonl.gz").ids == found.ids == ["1", "2"][: 1 + len(end)]


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_all_bytes_before_the_damage_of_a_later_member_are_returned(size: int) -> None:
    first, second = os.urandom(300_000), b"".join(b"%d," % n for n in range(50_000))
    data = bytearray(gzip.compress(first) + gzip.compress(second))
    data[-6] ^= 255
    reader, out = Reader(io.BytesIO(bytes(data)), "x"), b""
    for _ in range(2_000_000):
        piece = reader.read(size) if size > 1 else reader.read_block(100_000)
        if not piece:
            break
        out += piece
    assert out == first + second and "damaged gzip" in (reader.damage or "")


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("name", ["a.txt.gz", "a.html.gz", "a.eml.gz", "a.txt.zst"])
def test_a_file_that_unpacks_to_more_than_the_limit_is_rejected(name: str, tmp_path: Path) -> None:
    bomb = gzip_of(b"Subject: a\n" * 10_000, 1000)
    if name.endswith(".zst"):
        bomb = zstandard.compress(b"a" * (64 * MB))
    (tmp_path / name).write_bytes(bomb)
    (tmp_path / f"z{name[1:]}").write_bytes(
        gzip.compress(b"Subject: z\n\nz") if "gz" in name else zstandard.compress(b"z")
    )
    found = read(tmp_path, largest_record=MB)
    assert len(found.ids) == 1
    assert [reject.file for reject in found.rejects] == [str(tmp_path / name)]
    assert "unpacks to more than 1 MB; it was not read" in found.rejects[0].reason
    assert "--largest-record" in found.rejects[0].reason


@pytest.mark.parametrize(
    ("name", "before", "unit", "after"),
    [
        (
            "a.jsonl.gz",
            b'{"id": "1", "text": "a"}\n{"id": "2", "text": "',
            b"x" * MB,
            b'"}\n{"id": "3", "text": "c"}\n',
        ),
        ("a.mbox.gz", mbox(b"Message-ID: <1>\n\na"), b"x" * MB, b"\n" + mbox(b"Message-ID: <3>\n\nc")),
        (
            "a.sgml.gz",
            b"<DOC><DOCNO>1</DOCNO>a</DOC><DOC><DOCNO>2</DOCNO>",
            b"x" * MB,
            b"</DOC>\n<DOC><DOCNO>3</DOCNO>c</DOC>\n",
        ),
    ],
)
def test_a_record_that_is_too_long_is_rejected_and_those_after_it_are_read(
    name: str, before: bytes, unit: bytes, after: bytes, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(gzip.compress(before + unit * 20 + after, 1))
    found = read(tmp_path / name, largest_record=5 * MB)
    kept = ["3"] if "mbox" in name else ["1", "3"]  # the long message of the mbox is the first one
    assert found.ids == kept
    assert len(found.rejects) == 1 and "longer than 5 MB; it was not read" in found.rejects[0].reason
    row = found.documents[-1]["row"]
    assert [document["doc_id"] for document in documents_at(found.part, np.array([row]))] == ["3"]
    assert found.part.copy(mask(found.documents, {"3"}), tmp_path / "kept") == 1
    assert read(tmp_path / "kept" / name).ids == ["3"] and not read(tmp_path / "kept" / name).rejects


def test_a_record_a_little_longer_than_the_limit_is_rejected_too(tmp_path: Path) -> None:
    rows = [(str(n), b"x" * (size * MB)) for n, size in enumerate((1, 6, 1, 1, 7, 1))]
    (tmp_path / "a.jsonl.gz").write_bytes(
        gzip.compress(b"".join(b'{"id": "%s", "text": "%s"}\n' % (doc.encode(), text) for doc, text in rows), 1)
    )
    found = read(tmp_path / "a.jsonl.gz", largest_record=5 * MB)
    assert found.ids == ["0", "2", "3", "5"]
    assert [reject.record for reject in found.rejects] == ["line 2", "line 5"]


def test_a_quote_that_is_never_closed_ends_a_csv_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b'id,text\n1,a\n2,"' + b"x\n" * (10 * MB), 1))
    found = read(tmp_path / "a.csv.gz", largest_record=5 * MB)
    assert found.ids == ["1"] and "what follows it was not read" in found.rejects[0].reason


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, gzip"])
def test_an_http_body_that_unpacks_to_more_than_the_limit_is_rejected(encoding: str, tmp_path: Path) -> None:
    import brotli

    text = b"a" * (50 * MB)
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress, "deflate": zlib.compress, "br": lambda data: brotli.compress(data, quality=1),
        "gzip, gzip": lambda data: gzip.compress(gzip.compress(data)),
    }  # fmt: skip
    (tmp_path / "a.warc").write_bytes(warc(pack[encoding](text), encoding) + warc(pack[encoding](b"ok"), encoding))
    found = read(tmp_path / "a.warc", largest_record=MB)
    assert len(found.rejects) == 1 and "unpacks to more than 1 MB" in found.rejects[0].reason
    assert len(found.ids) == 1
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: " + encoding.encode() + b"\r\n\r\n" + pack[encoding](text)
    assert read_payload(block, ReadLimits(record=50 * MB)).data[-9:] in (b"a" * 9, pack["gzip"](text)[-9:])


def test_zstd_makes_little_at_a_time() -> None:
    packed = zstandard.ZstdCompressor(level=19, write_checksum=True).compress(b"a" * (64 * MB))
    frame, data, out, longest = ZstdFrame(1 << 27), packed, 0, 0
    while not frame.eof:
        piece = frame.decompress(data, 1)
        data = frame.unused_data if frame.eof else frame.unconsumed_tail
        longest, out = max(longest, len(piece)), out + len(piece)
    assert out == 64 * MB and longest <= 2 * MB and not data


@pytest.mark.parametrize("step", [1, 2, 7, 100_000])
def test_zstd_frames_in_small_pieces(step: int) -> None:
    parts = [os.urandom(300_000), b"", b"abc" * 100_000, os.urandom(1000)]
    for checksum in (False, True):
        packer = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=checksum)
        for part in parts[1:] if step < 3 else parts:
            frame, out, data = ZstdFrame(1 << 27), b"", packer.compress(part)
            for at in range(0, len(data), step):
                rest = data[at : at + step]
                while rest:
                    out += frame.decompress(rest, 1)
                    rest = frame.unconsumed_tail
            assert frame.eof and out == part


def test_a_file_that_unpacks_too_far_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughly.sources.streams, "UNSUSPICIOUS", 8 * MB)
    for name, data in (
        ("newlines.jsonl.gz", gzip_of(b"\n" * MB, 200)),
        ("lines.jsonl.zst", zstandard.compress(b'{"text": "a"}\n' * (8 * MB))),
        ("header.warc.gz", gzip_of(b"WARC/1.0\r\n" + b"a: b\r\n" * 100_000, 200)),
    ):
        (tmp_path / name).write_bytes(data)
        with Reader((tmp_path / name).open("rb"), name) as reader:
            size = sum(len(block) for block in iter(lambda: reader.read_block(MB), b""))
        assert size <= 10 * MB and "more than 250 times its size" in (reader.damage or "")
    found = read(tmp_path / "newlines.jsonl.gz")
    assert not found.ids and "--largest-ratio" in found.rejects[0].reason


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("kind", ["mbox", "sgml", "warc", "members.warc"])
def test_too_many_tiny_records_end_a_file(
    kind: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roughly.sources.streams, "_FEW", 300)
    monkeypatch.setattr(roughly.sources.records, "BLOCK", 1 << 14)
    monkeypatch.setattr(roughly.sources.archive, "_COUNTED", 64)
    page = b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\na\r\n\r\n"
    mail = b"From a@b Thu Mar  5 10:00:00 2020\nSubject: x\n\nhi\n\n"
    record = {"mbox": mail, "sgml": b"<DOC><DOCNO>1</DOCNO>a</DOC>\n"}.get(kind, page)
    at_once = 100 if kind == "members.warc" else 1200
    piece = record * at_once
    packed = gzip.compress(piece, mtime=0) if ending == "gz" else zstandard.compress(piece)
    path = tmp_path / f"a.{kind}.{ending}"
    path.write_bytes(packed * (1200 // at_once))
    found = read(path)
    count = len(found.ids)
    assert 300 <= count < 1000 and len(found.rejects) == 1
    assert "a record counts as 4 KB" in found.rejects[0].reason and "--largest-ratio" in found.rejects[0].reason
    used = sum(chunk.nbytes for chunk in found.part.chunks())
    assert used == path.stat().st_size  # or as many documents would be expected in the rest
    assert found.part.copy(np.ones(count, np.bool_), tmp_path / "out") == count
    assert len(read(tmp_path / "out" / path.name, largest_ratio=10**6).ids) == count
    assert len(read(path, largest_ratio=10**6).ids) == 1200


# ---------------------------------------------------------------- time


def test_a_line_of_mbox_is_judged_as_before() -> None:
    for line, expected in (
        (b"From a@b Thu Mar  5 10:00:00 2020\n", True), (b"From a@b Thu, 5 Mar 2020 10:00\nx", True),
        (b"From a 10:00 Thu Mar 5\n10:00", False), (b"From me to you\n", False), (b"XFrom a Thu Mar 5 10:00", False),
    ):  # fmt: skip
        assert is_dated(line) == expected


@pytest.mark.parametrize("column", ["text", "other"])
def test_a_page_of_parquet_that_unpacks_too_far_is_not_read(column: str, tmp_path: Path) -> None:
    rows = [{"text": f"a text {n}", "other": ""} for n in range(6)]
    rows[3][column] = "x" * (9 * MB)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2, compression="zstd", use_dictionary=False)
    found = read(path, record_memory=MB)
    assert found.texts == ["a text 0", "a text 1", "a text 4", "a text 5"]
    assert [reject.record for reject in found.rejects] == ["rows 3 to 4"]
    assert f"a page of column '{column}' unpacks to 9 MB; they were not read" in found.rejects[0].reason
    assert found.part.copy(mask(found.documents, set(found.ids)), tmp_path / "kept") == 4
    assert read(tmp_path / "kept" / "a.parquet").texts == found.texts


def test_row_groups_whose_dictionaries_unfold_too_far_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roughly.sources.parquet, "UNSUSPICIOUS", 64 * MB)
    short = [f"text {n}" for n in range(600)]
    values = pa.array(["x" * MB, *short])
    rows = np.concatenate([np.arange(300), np.zeros(300, np.int64), np.arange(300, 600)]).astype(np.int32)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": pa.DictionaryArray.from_arrays(rows, values)}), path, row_group_size=300)
    found = read(path)
    assert len(found.texts[0]) == MB and found.texts[1:] == short[:599]  # one long value among short ones does no harm
    assert [reject.record for reject in found.rejects] == ["rows 301 to 600"]
    assert "unpack to more than 250 times the size of the file" in found.rejects[0].reason
    assert found.part.copy(mask(found.documents, set(found.ids)), tmp_path / "kept") == 600
    assert read(tmp_path / "kept" / "a.parquet").texts == found.texts
