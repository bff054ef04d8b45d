"""Streams that stay open: every record is handed over as soon as it is whole, in whatever pieces it comes."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from roughly.errors import InputError, InputMissing
from roughly.settings import ReadOptions
from roughly.sources import live
from roughly.sources.live import Arrived, read_live
from stream_texts import mail, mbox


class Pieces:
    """A stream that hands out what it was given, piece by piece."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)
        self.read = 0

    def read1(self, size: int) -> bytes:
        self.read += 1
        return self._pieces.pop(0) if self._pieces else b""


def arrived(*pieces: bytes, **options: Any) -> list[Arrived]:
    return [one for group in read_live(Pieces(*pieces), ReadOptions(**options)) for one in group]  # type: ignore[arg-type]


def told(found: list[Arrived]) -> list[tuple[str, str | None]]:
    return [(one.record, one.document["doc_id"] if one.document else one.reject and one.reject.reason) for one in found]


LINES = [json.dumps({"id": f"d{n}", "text": f"text {n} ü"}, ensure_ascii=False).encode() + b"\n" for n in range(3)]


def test_a_line_is_handed_over_before_the_next_is_asked_for() -> None:
    stream = Pieces(*LINES)
    groups = read_live(stream, ReadOptions())  # type: ignore[arg-type]
    for number in range(3):
        (one,) = next(groups)
        assert one.document and one.document["text"] == f"text {number} ü" and stream.read == number + 1


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("data", [b"".join(LINES), b"\n\r\n".join(LINES), b"\xef\xbb\xbf" + b"".join(LINES)[:-1]])
def test_json_lines_in_any_pieces(data: bytes, size: int) -> None:
    found = arrived(*(data[at : at + size] for at in range(0, len(data), size)))
    assert [one.document and one.document["doc_id"] for one in found] == ["d0", "d1", "d2"]


def test_bad_lines_are_told_in_their_place_with_their_number() -> None:
    assert told(arrived(b"\n", b"\n" + LINES[0])) == [("line 3", "d0")]
    found = arrived(b"{\n", b'[1]\n\n{"id": "x"}\n', *LINES[:1], b'{"id": 3, "text": 4}\nbroken\n', LINES[1])
    assert told(found) == [
        ("line 1", "broken JSON: Expecting property name enclosed in double quotes: line 2 column 1 (char 2)"),
        ("line 2", "not an object"),
        ("line 4", "no column looks like the text; its columns are id. Name it with --text-column NAME"),
        ("line 5", "d0"),
        ("line 6", "'text' is a number, not a string"),
        ("line 7", "broken JSON: unexpected character, expected a JSON value"),
        ("line 8", "d1"),
    ]


def test_a_document_without_an_id_gets_one_from_its_text() -> None:
    one, other, same = arrived(b'{"text": "a b"}\n{"text": "c"}\n{"text": "a b"}\n')
    assert one.document and other.document and same.document
    assert one.document["doc_id"] == same.document["doc_id"] != other.document["doc_id"]
    assert one.document["doc_id"].startswith("sha256:")


def test_a_line_that_is_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LONGEST", 100)
    long = b'{"text": "' + b"x" * 90
    found = arrived(LINES[0], long, b"y" * 50, b"y" * 500, b'"}\n' + LINES[1], LINES[2])
    assert told(found) == [("line 1", "d0"), ("line 2", "longer than 0 MB"), ("line 3", "d1"), ("line 4", "d2")]


@pytest.mark.parametrize("size", [1, 3, 64, 10_000])
def test_an_mbox_in_any_pieces(size: int) -> None:
    data = mbox(
        mail(1, "first\n\n>From the body\nFrom nobody in particular"), mail(2, "second"), b"\n", mail(4, "last")
    )
    found = arrived(*(data[at : at + size] for at in range(0, len(data), size)))
    assert told(found) == [
        ("message 1", "m1@example.org"), ("message 2", "m2@example.org"), ("message 3", "empty"),
        ("message 4", "m4@example.org"),
    ]  # fmt: skip
    document = found[0].document
    assert document and "\nFrom the body\nFrom nobody" in document["text"] and document["title"] == "Hello"
    assert document["date"] == "2024-03-04T10:00:00+00:00"


def test_a_message_of_an_mbox_is_handed_over_when_the_next_begins() -> None:
    first, second = mbox(mail(1, "first")), mbox(mail(2, "second"))
    stream = Pieces(first, second[:60], b"")
    groups = read_live(stream, ReadOptions())  # type: ignore[arg-type]
    assert told(next(groups)) == [("message 1", "m1@example.org")] and stream.read == 2


def test_one_message_with_and_without_the_line_that_mail_programs_put_before_it() -> None:
    for data in (mail(1, "body"), mbox(mail(1, "body"))):
        (one,) = arrived(data[:20], data[20:])
        assert one.document and one.document["doc_id"] == "m1@example.org"
    (one,) = arrived(b"From x\n" + mail(1, "body"), format="eml")
    assert one.document and one.document["text"] == "Hello\n\nbody\n"
    (one,) = arrived(b"no header\n\nbody", format="eml")
    assert one.reject and "no headers" in one.reject.reason


def test_text_and_html_are_one_document() -> None:
    (one,) = arrived(b"some ", b"text", format="text")
    assert one.document and one.document["text"] == "some text" and not one.document["markup"]
    (one,) = arrived(b"<p>some text", format="html")
    assert one.document and one.document["markup"]


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputMissing, match="standard input is empty"):
        arrived(b"\n")
    with pytest.raises(InputError, match="neither JSON lines nor mail; name the format: --format"):
        arrived(b"some words\nand more\n")
    with pytest.raises(InputError, match="'parquet' cannot be read from a stream"):
        arrived(b"x", format="parquet")
    assert [one.record for group in read_live(io.BytesIO(LINES[0]), ReadOptions()) for one in group] == ["line 1"]
