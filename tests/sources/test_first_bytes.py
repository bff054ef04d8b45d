"""Formats are known by their first bytes; a name that disagrees is noted, and what is no documents is refused."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import run_roughly
from reading import read
from roughly.errors import InputError

LINES = "".join(json.dumps({"id": str(i), "text": f"words {i}"}) + "\n" for i in range(3)).encode()
WARC = (
    b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:0>\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 7\r\n\r\nwords 0\r\n\r\n"
)
MBOX = b"From x@y.z Thu Jan  2 03:04:05 2020\nMessage-ID: <0>\nSubject: s\n\nwords 0\n"
SGML = b"<DOC>\n<DOCNO> 0 </DOCNO>\n<TEXT>\nwords 0\n</TEXT>\n</DOC>\n"


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"id": ["0", "1", "2"], "text": ["words 0", "words 1", "words 2"]}), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("n.jsonl", parquet(), "parquet"),
        ("n.csv", parquet(), "parquet"),
        ("n.parquet", LINES, "jsonl"),
        ("n.csv", LINES, "jsonl"),
        ("n.tsv.gz", gzip.compress(LINES, mtime=0), "jsonl"),
        ("n.jsonl", WARC, "warc"),
        ("n.warc", MBOX, "mbox"),
        ("n.mbox", SGML, "sgml"),
        ("n.jsonl", b"id,text\n0,words 0\n", "csv"),
        ("n.json", b'"id"\t"Text"\r\n"0"\t"words 0"\r\n', "csv"),
        ("n.bin", parquet(), "parquet"),
        ("n", LINES, "jsonl"),
    ],
)
def test_the_first_bytes_are_believed(name: str, content: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    found = read(tmp_path / name)
    assert found.part.format == kind
    assert found.ids[0] in ("0", "urn:0") and not found.rejects
    assert any(f"first bytes say {kind}" in note or f"read as {kind}" in note for note in found.notes)


def test_a_name_that_is_right_needs_no_note(tmp_path: Path) -> None:
    for name, content in (("n.jsonl", LINES), ("n.parquet", parquet()), ("n.warc", WARC), ("n.csv", b"id,text\n1,x\n")):
        (tmp_path / name).write_bytes(content)
        assert not any("first bytes" in note or "although" in note for note in read(tmp_path / name).notes)


@pytest.mark.parametrize(
    ("magic", "told"),
    [
        (b"PK\x03\x04", "is a zip archive"), (b"%PDF-1.7", "is a PDF"), (b"SQLite format 3\0", "an SQLite database"),
        (b"BZh91AY", "compressed by bzip2"), (b"\xfd7zXZ\0", "compressed by xz"), (b"Obj\x01", "an Avro file"),
    ],
)  # fmt: skip
def test_what_is_no_documents_is_refused_at_once(magic: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_bytes(magic + b"\0" * 100)
    with pytest.raises(InputError, match=told):
        read(tmp_path / "n.jsonl")


def test_a_format_that_is_given_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_bytes(parquet())
    with pytest.raises(InputError, match="is Parquet, not JSON lines; say so: --format parquet"):
        read(tmp_path / "n.jsonl", format="jsonl")


def test_a_run_says_it(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_bytes(parquet())
    done = run_roughly("dedupe", "n.jsonl", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "n.jsonl: is parquet, although its name says jsonl; read as parquet" in done.stdout
    assert "3 in, " in done.stdout
    piped = run_roughly("dedupe", "-", "-o", "-", stdin=parquet(), cwd=tmp_path, text=False)
    assert piped.returncode == 0 and piped.stdout[:4] == b"PAR1"
    assert b"standard input: its first bytes say parquet" in piped.stderr


def test_a_table_is_piped_too(tmp_path: Path) -> None:
    table = "id,text\n1,the same words\n2,the same words\n"
    piped = run_roughly("dedupe", "-", "-o", "-", "--quiet", stdin=table, cwd=tmp_path)
    assert (piped.returncode, piped.stdout.splitlines()) == (0, ["id,text", "1,the same words"])
    piped = run_roughly("dedupe", "-", "-o", "-", stdin="words\nand words\n", cwd=tmp_path)
    assert piped.returncode == 1 and piped.stdout == ""
    assert "standard input: these are not JSON lines; name the format: --format csv" in piped.stderr


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_column_named_html_holds_html(ending: str, tmp_path: Path) -> None:
    rows = [{"id": str(i), "page_html": "<p>Fish &amp; chips</p>", "text": f"x {i}"} for i in (1, 2)]
    path = tmp_path / f"n.{ending}"
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif ending == "csv":
        path.write_text("id,page_html,text\n1,<p>Fish &amp; chips</p>,x\n2,a,y\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for options, markup in (({}, True), ({"markup": "none"}, False), ({"text_column": "text"}, False)):
        found = read(path, **{"text_column": "page_html"} | options)
        assert found.documents[0]["markup"] is markup
        assert any("its markup is removed" in note for note in found.notes) is markup
