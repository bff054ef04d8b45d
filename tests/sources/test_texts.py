"""Folders of text and HTML: encodings, unreadable files, copies."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import mask, read
from roughly.sources.encoding import clean, decode_text

GERMAN = "Früchte und Gemüse sind schön, größer als alle Bäume im Garten."
RUSSIAN = "Привет, это проверка кодировки обычного русского текста в старом файле."
JAPANESE = "日本語のテキストです。これは文字コードの検出テストです。"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-32"),
        (GERMAN, "latin-1"),
        (GERMAN + " “quoted” – €", "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        ("nul \0 bytes \0 stay", "utf-8"),
    ],
)
def test_texts_in_any_encoding(text: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    assert read(tmp_path / "a.txt").texts == [text]


@settings(deadline=None)
@given(
    st.binary(max_size=200), st.sampled_from([None, "latin-1", "utf-16", "nonsense", "base64", "iso-2022-jp", "\0", ""])
)
def test_no_bytes_are_too_strange(data: bytes, claimed: str | None) -> None:
    text = decode_text(data, claimed)
    text.encode("utf-8")
    if data and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) and data.isascii():
        assert text


def test_claims_are_believed_only_if_the_bytes_fit() -> None:
    assert decode_text("é".encode(), "latin-1") == "é", "valid UTF-8 is UTF-8, whatever is claimed"
    assert decode_text(RUSSIAN.encode("cp1251"), "windows-1251") == RUSSIAN
    assert decode_text(RUSSIAN.encode("cp1251"), "utf-8", '"Windows-1251"') == RUSSIAN
    assert decode_text(JAPANESE.encode("iso-2022-jp"), "ISO-2022-JP") == JAPANESE
    assert decode_text(GERMAN.encode("utf-16-le"), "utf-16le") == GERMAN
    assert decode_text(b"+AOQ-", "utf-7") == "ä"
    assert decode_text(b"plain", "no-such-charset") == "plain"


def test_half_surrogates_are_repaired() -> None:
    assert clean("caf\udce9") == "café"
    assert clean("\ud83d x") == "\ufffd x"
    assert clean("fine ü") == "fine ü"


def test_html_stays_as_it_is_and_is_marked(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"<meta charset=koi8-r><p>" + RUSSIAN.encode("koi8-r"))
    (tmp_path / "b.HTM").write_bytes(b"<p>b</p>")
    (tmp_path / "c.txt").write_bytes(b"<p>c</p>")
    (tmp_path / "d.md").write_bytes(b"# d <br>")
    found = read(tmp_path)
    assert found.texts == [f"<meta charset=koi8-r><p>{RUSSIAN}", "<p>b</p>", "<p>c</p>", "# d <br>"]
    assert [document["markup"] for document in found.documents] == [True, True, False, False]
    assert {document["markup"] for document in read(tmp_path, markup="none").documents} == {False}
    assert {document["markup"] for document in read(tmp_path, markup="html").documents} == {True}


def test_compressed_texts_and_texts_that_are_cut_short(tmp_path: Path) -> None:
    whole = gzip.compress(np.random.default_rng(4).bytes(5000).hex().encode())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"packed"))
    (tmp_path / "b.txt.gz").write_bytes(whole[:-100])
    (tmp_path / "c.txt").write_bytes(b"")
    found = read(tmp_path)
    assert dict(zip(found.ids, found.texts, strict=True)) == {"a.txt.gz": "packed", "c.txt": ""}
    (reject,) = found.rejects
    assert reject.file == str(tmp_path / "b.txt.gz") and reject.record == "whole file"
    assert reject.reason == f"truncated gzip at byte {len(whole) - 100}"


def test_a_file_that_is_gone_when_it_is_read_is_a_reject(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text(name)
    part = read(tmp_path).part
    (tmp_path / "b.txt").unlink()
    (tmp_path / "c.txt").write_text("longer than before")
    (parsed,) = [part.parse(chunk) for chunk in part.chunks()]
    assert parsed.batch["text"].to_pylist() == ["a.txt"]
    assert [(Path(reject.file).name, reject.reason.split(";")[0]) for reject in parsed.rejects] == [
        ("b.txt", "no such file"),
        ("c.txt", "changed while it was being read"),
    ]


def test_a_copy_keeps_files_and_paths(tmp_path: Path) -> None:
    names = ["a.txt", "deep/b.html", "deep/er/c.txt.gz"]
    for name in names:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(gzip.compress(b"c") if name.endswith("gz") else GERMAN.encode("latin-1"))
    found = read(tmp_path / "in")
    assert found.part.copy(mask(found.documents, {"a.txt", "deep/er/c.txt.gz"}), tmp_path / "kept") == 2
    copied = sorted(path.relative_to(tmp_path / "kept").as_posix() for path in (tmp_path / "kept").rglob("*.*"))
    assert copied == ["in/a.txt", "in/deep/er/c.txt.gz"]
    for name in copied:
        assert (tmp_path / "kept" / name).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("batch_size", [None, 7])
def test_many_little_files_make_few_chunks(batch_size: int | None, tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number:03}.txt").write_text(str(number))
    found = read(tmp_path, batch_size=batch_size)
    assert found.texts == [str(number) for number in range(300)]
    assert len(list(found.part.chunks())) == (1 if batch_size is None else 43)
    assert sum(chunk.nbytes for chunk in found.part.chunks()) == found.part.size
