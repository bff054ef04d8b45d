"""Web archives: which records are documents, HTTP decoding, damaged files, copies."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import numpy as np
import pytest
import zstandard

from reading import documents_at, mask, read
from roughly.errors import InputError
from roughly.sources.archive import Archive
from roughly.sources.streams import Reader

PAGE = "<html><body>Größe {}</body></html>"


def record(kind: str, number: int, block: bytes, **headers: str) -> bytes:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{kind}-{number}>",
        "WARC-Date": "2014-01-26T20:06:24Z",
        "WARC-Target-URI": f"http://www.example.org/{number}",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def http(
    body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200, end: str = "\r\n", **headers: str
) -> bytes:
    fields = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    head = end.join([f"HTTP/1.1 {status} OK", *(f"{name}: {value}" for name, value in fields.items()), "", ""])
    return head.encode() + body


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def crawl(pages: int) -> list[bytes]:
    """A crawl as programs write it: request, response, metadata for each page."""
    records = [record("warcinfo", 0, b"software: test\r\n", Content_Type="application/warc-fields")]
    for number in range(pages):
        response = f"<urn:uuid:response-{number}>"
        records += [
            record("request", number, b"GET / HTTP/1.1\r\n\r\n", WARC_Concurrent_To=response),
            record("response", number, http(PAGE.format(number).encode())),
            record("metadata", number, b"fetchTimeMs: 5\r\n", WARC_Concurrent_To=response),
        ]
    records.append(record("response", 100, http(b"\x89PNG", "image/png")))
    records.append(record("revisit", 0, http(b"")))
    return records


WAYS = {
    ".warc": b"".join,
    ".warc.gz": lambda records: b"".join(gzip.compress(record, mtime=0) for record in records),
    ".warc.zst": lambda records: b"".join(map(zstandard.ZstdCompressor().compress, records)),
    "-whole.warc.gz": lambda records: gzip.compress(b"".join(records)),
}


@pytest.mark.parametrize("ending", WAYS)
def test_pages_are_documents_and_nothing_else_is(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"crawl{ending}"
    path.write_bytes(WAYS[ending](crawl(3)))
    found = read(path)
    assert found.documents[1] == {
        "part": 0, "row": 5, "doc_id": "urn:uuid:response-1", "text": PAGE.format(1), "markup": True, "title": None,
        "url": "http://www.example.org/1", "date": "2014-01-26T20:06:24Z", "source": "www.example.org",
    }  # fmt: skip
    assert [document["row"] for document in found.documents] == [2, 5, 8] and not found.rejects
    assert found.part.format == "warc" and found.part.locate(5) == "record 6"
    assert {document["markup"] for document in read(path, markup="none").documents} == {False}
    assert sum(chunk.nbytes for chunk in found.part.chunks()) == found.part.size


@pytest.mark.parametrize("ending", WAYS)
def test_a_copy_leaves_out_what_belongs_to_the_removed_and_nothing_more(ending: str, tmp_path: Path) -> None:
    records = crawl(3)
    path = tmp_path / f"crawl{ending}"
    path.write_bytes(WAYS[ending](records))
    found = read(path)
    assert (
        found.part.copy(mask(found.documents, {"urn:uuid:response-0", "urn:uuid:response-2"}), tmp_path / "kept") == 2
    )
    kept = (tmp_path / "kept" / path.name).read_bytes()
    expected = records[:4] + records[7:]
    unpack = {".gz": gzip.decompress, ".zst": unpack_frames}
    assert unpack.get(path.suffix, bytes)(kept) == b"".join(expected)
    if ending != "-whole.warc.gz":
        assert kept == WAYS[ending](expected), "records are copied as they are in the file"
    assert read(tmp_path / "kept" / path.name).ids == ["urn:uuid:response-0", "urn:uuid:response-2"]


def unpack_frames(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()


def test_a_response_that_points_at_its_request_takes_it_along(tmp_path: Path) -> None:
    records = [
        record("request", 1, b"GET / HTTP/1.1\r\n\r\n"),
        record("response", 1, http(b"<p>a</p>"), WARC_Concurrent_To="<urn:uuid:request-1>"),
        record("response", 2, http(b"<p>b</p>")),
    ]
    (tmp_path / "c.warc").write_bytes(b"".join(records))
    found = read(tmp_path / "c.warc")
    found.part.copy(mask(found.documents, {"urn:uuid:response-2"}), tmp_path / "kept")
    assert (tmp_path / "kept" / "c.warc").read_bytes() == records[2]


CYRILLIC = "Привет, это проверка кодировки обычного русского текста."


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (http(chunked(b"<p>chunks</p>"), Transfer_Encoding="chunked"), "<p>chunks</p>"),
        (http(gzip.compress(b"<p>packed</p>", mtime=0), Content_Encoding="gzip"), "<p>packed</p>"),
        (http(chunked(gzip.compress(b"both", mtime=0)), Transfer_Encoding="chunked", Content_Encoding="gzip"), "both"),
        (http(b"<p>undone already</p>", Transfer_Encoding="chunked"), "<p>undone already</p>"),
        (http(b"<p>undone already</p>", Content_Encoding="gzip"), "<p>undone already</p>"),
        (http(b"<p>bare newlines</p>", end="\n"), "<p>bare newlines</p>"),
        (http(CYRILLIC.encode("cp1251"), 'text/html; charset="windows-1251"'), CYRILLIC),
        (http(b"<meta charset=koi8-r>" + CYRILLIC.encode("koi8-r"), "text/html"), "<meta charset=koi8-r>" + CYRILLIC),
        (http(CYRILLIC.encode("cp1251"), "text/html"), CYRILLIC),
        (http("é".encode(), "text/html; charset=iso-8859-1"), "é"),
        (http(b"<p>x</p>", "application/xhtml+xml"), "<p>x</p>"),
        (http(b"<p>404</p>", status=404), "<p>404</p>"),
        (http(b""), ""),
    ],
    ids=range(13),
)  # fmt: skip
def test_payloads_are_decoded(block: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / "c.warc.gz").write_bytes(gzip.compress(record("response", 1, block)))
    found = read(tmp_path / "c.warc.gz")
    assert found.texts == [text] and not found.rejects


def test_plain_text_resources_and_conversions(tmp_path: Path) -> None:
    records = [
        record("response", 1, http(b"plain <b>", "text/plain")),
        record("resource", 2, b"<p>resource</p>", Content_Type="text/html"),
        record("conversion", 3, b"a line of a WET file", Content_Type="text/plain"),
        record("resource", 4, b"%PDF", Content_Type="application/pdf"),
        record(
            "response",
            5,
            b"20140126200624\nexample.org. 1 IN A",
            Content_Type="text/dns",
            WARC_Target_URI="dns:example.org",
        ),
        record("response", 6, http(b"<p>[</p>"), WARC_Target_URI="http://[broken/"),
    ]
    (tmp_path / "c.warc.wet.gz").write_bytes(b"".join(map(gzip.compress, records)))
    found = read(tmp_path / "c.warc.wet.gz")
    assert [(d["text"], d["markup"]) for d in found.documents] == [
        ("plain <b>", False), ("<p>resource</p>", True), ("a line of a WET file", False), ("<p>[</p>", True),
    ]  # fmt: skip
    assert found.documents[3]["source"] == "c.warc.wet.gz"


def test_a_payload_that_cannot_be_decoded_is_rejected(tmp_path: Path) -> None:
    packed = gzip.compress(b"packed " * 100)[:10] + b"\xff\0" * 100
    records = [
        record("response", 1, http(packed, Content_Encoding="gzip")),
        record("response", 2, http(b"<p>ok</p>")),
    ]
    (tmp_path / "c.warc").write_bytes(b"".join(records))
    found = read(tmp_path / "c.warc")
    assert found.texts == ["<p>ok</p>"]
    (reject,) = found.rejects
    assert reject.record == "record 1" and "cannot be decoded" in reject.reason
    assert reject.excerpt == "http://www.example.org/1"


@pytest.mark.parametrize("ending", WAYS)
def test_a_file_that_is_cut_short(ending: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    records = [record("response", i, http(rng.bytes(2000).hex().encode())) for i in range(20)]
    whole = WAYS[ending](records)
    path = tmp_path / f"c{ending}"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    found = read(path)
    count = len(found.documents)
    assert 5 < count < 15 and found.ids == [f"urn:uuid:response-{i}" for i in range(count)]
    (reject,) = found.rejects
    assert reject.record == f"record {count + 1}" and "truncated" in reject.reason
    assert found.part.copy(np.ones(count, np.bool_), tmp_path / "kept") == count
    assert len(read(tmp_path / "kept" / path.name).documents) == count
    assert not read(tmp_path / "kept" / path.name).rejects


def test_a_record_of_a_damaged_member_is_copied(tmp_path: Path) -> None:
    """gzip finds a wrong checksum after the record: what it holds is read, and written anew."""
    first, second = (gzip.compress(record("response", n, http(PAGE.format(n).encode()))) for n in range(2))
    (tmp_path / "a.warc.gz").write_bytes(first + second[:-8] + b"\0" * 4 + second[-4:])
    found = read(tmp_path / "a.warc.gz")
    assert len(found.ids) == 2 and "checksum" in found.rejects[0].reason
    assert found.part.copy(mask(found.documents, set(found.ids)), tmp_path / "kept") == 2
    again = read(tmp_path / "kept" / "a.warc.gz")
    assert again.documents == found.documents and not again.rejects


def test_garbage_between_records_is_rejected_and_reading_goes_on(tmp_path: Path) -> None:
    records = crawl(2)
    data = (
        records[0] + b"garbage\r\nmore of it\r\n\r\n" + b"".join(records[1:4]) + b"WARC/1.0\r\nno length: here\r\n\r\n"
    )
    (tmp_path / "c.warc").write_bytes(data + b"".join(records[4:]))
    found = read(tmp_path / "c.warc")
    assert found.ids == ["urn:uuid:response-0", "urn:uuid:response-1"]
    assert found.reasons == [("record 2", "not a WARC record"), ("record 6", "a WARC record without a Content-Length")]
    found.part.copy(mask(found.documents, set(found.ids)), tmp_path / "kept")
    assert (tmp_path / "kept" / "c.warc").read_bytes() == b"".join(records)


def test_files_that_are_no_archives(tmp_path: Path) -> None:
    (tmp_path / "c.warc").write_bytes(b"<html>a page</html>")
    with pytest.raises(InputError, match=r"c\.warc: does not begin like a WARC or ARC file"):
        read(tmp_path / "c.warc")
    (tmp_path / "e.warc.gz").write_bytes(b"")
    assert "empty: no documents" in read(tmp_path / "e.warc.gz").notes


def test_arc_files(tmp_path: Path) -> None:
    def arc(url: str, kind: str, block: bytes) -> bytes:
        return f"{url} 1.2.3.4 20080430204825 {kind} {len(block)}\n".encode() + block + b"\n"

    records = [
        arc(
            "filedesc://c.arc", "text/plain", b"1 1 Archive\nURL IP-address Archive-date Content-type Archive-length\n"
        ),
        arc("dns:example.org", "text/dns", b"20080430204825\nexample.org. IN A"),
        arc("http://example.org/a b", "text/html", http(b"<p>a</p>")),
        arc("http://example.org/c", "image/gif", http(b"GIF89a", "image/gif")),
        arc("http://example.org/d", "text/html", http(b"<p>d</p>")),
    ]
    for name, data in {"c.arc": b"".join(records), "c.arc.gz": b"".join(map(gzip.compress, records))}.items():
        (tmp_path / name).write_bytes(data)
        found = read(tmp_path / name)
        assert found.ids == [f"{name}:3", f"{name}:5"] and found.texts == ["<p>a</p>", "<p>d</p>"]
        assert found.documents[0]["url"] == "http://example.org/a b" and found.documents[0]["date"] == "20080430204825"
        found.part.copy(mask(found.documents, {f"{name}:5"}), tmp_path / "kept")
        copied = (tmp_path / "kept" / name).read_bytes()
        expected = records[:2] + records[3:]
        assert (gzip.decompress(copied) if name.endswith("gz") else copied) == b"".join(expected)


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["example.warc.gz", "pywb-iana.warc.gz", "pywb-dupes.warc.gz", "pywb-example.warc.gz"])
def test_real_archives_against_fastwarc(name: str, corpora: Path, tmp_path: Path) -> None:
    from fastwarc.warc import ArchiveIterator  # here, because it warns of itself when it is loaded first

    path = corpora / "warc" / name
    expected = {}
    with path.open("rb") as file:
        for number, their in enumerate(ArchiveIterator(file, parse_http=True)):
            media = (their.http_content_type or "").split(";")[0].strip().lower() if their.is_http else ""
            if str(their.record_type) == "response" and media in ("text/html", "text/plain", "application/xhtml+xml"):
                expected[number] = (their.record_id, bytes(their.reader.read()))
    with path.open("rb") as file:
        places = [their.stream_pos for their in ArchiveIterator(file, parse_http=False)]
    found = read(path)
    assert len(expected) > 0
    assert {document["row"] for document in found.documents} == set(expected)
    for document in found.documents:
        record_id, payload = expected[document["row"]]
        assert document["doc_id"] == record_id.strip("<>")
        if payload.isascii() and not re.match(rb"[0-9a-fA-F]+ *\r\n", payload):  # neither packed nor in chunks
            assert document["text"] == payload.decode()
    with Reader(path.open("rb"), name) as reader:
        records = list(Archive(reader))
    assert [record.place for record in records] == places
    everything = mask(found.documents, set(found.ids))
    assert found.part.copy(everything, tmp_path) == len(found.documents)
    assert (tmp_path / name).read_bytes() == path.read_bytes(), "keeping all is copying the file"


@pytest.mark.corpora
def test_one_crawl_as_warc_and_as_arc_gives_the_same_pages(corpora: Path) -> None:
    arc, warc = read(corpora / "warc" / "example.arc.gz"), read(corpora / "warc" / "example.warc.gz")
    assert sum(document["markup"] for document in warc.documents) == 140
    assert [(d["url"], d["text"]) for d in arc.documents] == [(d["url"], d["text"]) for d in warc.documents]
    assert documents_at(arc.part, np.array([arc.documents[5]["row"]]))[0]["text"] == arc.texts[5]
