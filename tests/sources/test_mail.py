"""Mail: messages of all sorts, in .eml files, Maildirs and mbox files."""

from __future__ import annotations

import gzip
import re
import time
from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly.sources.records
from reading import mask, read
from roughly.errors import InputError
from roughly.sources.mail import read_mail

JAPAN = "日本".encode("iso-2022-jp")


def message(number: int = 1, **headers: str) -> bytes:
    mail = EmailMessage()
    mail["Subject"] = f"Größe {number}"
    mail["Date"] = "Sat, 03 Jan 1998 01:05:34 +0200"
    mail["Message-ID"] = f"<{number}@example.org>"
    for name, value in headers.items():
        mail[name] = value
    mail.set_content(f"Der Körper von {number}.\n")
    return mail.as_bytes()


def test_a_message_is_its_subject_and_its_body() -> None:
    mail = read_mail(message())
    assert mail.text == "Größe 1\n\nDer Körper von 1.\n"
    assert (mail.subject, mail.date, mail.message_id) == ("Größe 1", "1998-01-03T01:05:34+02:00", "1@example.org")
    assert not mail.is_html


def test_plain_text_is_preferred_and_html_is_marked() -> None:
    both = EmailMessage()
    both["Subject"] = "both"
    both.set_content("plain")
    both.add_alternative("<p>html</p>", subtype="html")
    both.add_attachment("attached", filename="notes.txt")
    assert read_mail(both.as_bytes()).text == "both\n\nplain\n"
    html = EmailMessage()
    html["Subject"] = "a < b"
    html.set_content("<p>only html</p>", subtype="html")
    mail = read_mail(html.as_bytes())
    assert mail.is_html and mail.text == "a &lt; b\n\n<p>only html</p>\n"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"Subject: =?utf-8?q?broken\n\nbody", "=?utf-8?q?broken\n\nbody"),
        (b"Subject: =?no-such-charset?q?x?=\n\nbody", "=?no-such-charset?q?x?=\n\nbody"),
        (b"Subject: caf\xe9\n\nbody", "café\n\nbody"),
        (b"Subject: s\nContent-Type: text/plain; charset=nonsense\n\ncaf\xc3\xa9", "s\n\ncafé"),
        (b"Subject: s\nContent-Type: text/plain; charset=iso-8859-1\n\ncaf\xe9", "s\n\ncafé"),
        (b"Subject: s\nContent-Transfer-Encoding: base64\n\nbm90IHF1aXRl!!", "s\n\nnot quite"),
        (b"Subject: s\nContent-Type: multipart/mixed\n\nno boundary at all", "s\n\n"),
        (b"Subject: s\nContent-Type: image/png\n\nxx", "s\n\n"),
        (b"Content-Type: ;;;=\n\nbody", "\n\nbody"),
        (b"Subject: a\n folded\n\tsubject\n\nbody", "a folded subject\n\nbody"),
        (b"Subject: =?iso-2022-jp?B?GyRCRnxLXBsoQg==?=\nContent-Type: text/plain; charset=iso-2022-jp\n\n" + JAPAN,
         "日本\n\n日本"),
    ],
)  # fmt: skip
def test_broken_and_strange_messages(data: bytes, text: str) -> None:
    assert read_mail(data).text == text


FRAGMENTS = [
    b"Subject:", b"Date:", b"Content-Type:", b"multipart/mixed;", b'boundary="x"', b"\n", b"\n--x\n", b"=?utf-8?q?",
    b"\xff", b"\0", b"text/html", b"charset=", b"utf-16", b" ", b"<", b"Content-Transfer-Encoding: base64\n", b"a",
    b"\r\n", b'"', b"filename*0*=",
]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=20).map(b"".join))
def test_nothing_in_a_message_is_a_crash(data: bytes) -> None:
    try:
        mail = read_mail(data)
    except InputError:
        return
    for text in (mail.text, mail.subject, mail.date, mail.message_id):
        (text or "").encode("utf-8")


@pytest.mark.parametrize(
    "header", [b"Content-Type: text/plain" + b";" * 100_000, b"Subject: " + b"=?utf-8?q?x?= " * 10_000]
)
def test_a_hostile_header_does_not_take_for_ever(header: bytes) -> None:
    start = time.process_time()
    assert "body" in read_mail(header + b"\n\nbody").text
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Thu, 22 Aug 2002 18:26:25 +0700", "2002-08-22T18:26:25+07:00"),
        ("22 Aug 02 18:26 GMT", "2002-08-22T18:26:00+00:00"),
        ("yesterday", "yesterday"),
        ("Thu, 99 Aug 2002 18:26:25", "Thu, 99 Aug 2002 18:26:25"),
    ],
)
def test_dates_are_iso_if_they_can_be(date: str, expected: str) -> None:
    assert read_mail(f"Date: {date}\n\nbody".encode()).date == expected


def test_eml_files_of_a_folder_are_one_part(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / "in" / "x").mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / "x" / f"{number}.eml").write_bytes(message(number))
    (tmp_path / "in" / "none.eml").write_bytes(b"Subject: without an id\n\nbody")
    (tmp_path / "in" / "not.eml").write_bytes(b"no header here\n\nbody")
    found = read(tmp_path / "in")
    assert found.part.format == "eml"
    assert found.ids == ["none.eml", *(f"{number}@example.org" for number in range(5))]
    assert [(Path(r.file).name, r.reason) for r in found.rejects] == [
        ("not.eml", "not a mail message: it has no headers")
    ]
    assert found.part.copy(mask(found.documents, {"3@example.org"}), tmp_path / "kept") == 1
    assert (tmp_path / "kept" / "in" / "x" / "3.eml").read_bytes() == message(3)


def test_maildirs_and_the_maildirs_in_them(tmp_path: Path) -> None:
    for folder in ("Mail", "Mail/.Sent"):
        for name in ("cur", "new", "tmp"):
            (tmp_path / folder / name).mkdir(parents=True)
    (tmp_path / "Mail" / "cur" / "1:2,S").write_bytes(message(1))
    (tmp_path / "Mail" / "new" / "2").write_bytes(message(2))
    (tmp_path / "Mail" / "tmp" / "3").write_bytes(message(3))
    (tmp_path / "Mail" / ".Sent" / "cur" / "4:2,S").write_bytes(message(4))
    (tmp_path / "Mail" / "dovecot.index").write_bytes(b"index")
    found = read(tmp_path / "Mail")
    assert [(part.format, part.kept_name) for part in found.parts] == [("maildir", "Mail"), ("maildir", ".Sent")]
    assert found.ids == ["1@example.org", "2@example.org", "4@example.org"]
    assert read(tmp_path).ids == found.ids
    assert found.parts[0].copy(np.array([True, False]), tmp_path / "kept") == 1
    kept = read(tmp_path / "kept" / "Mail")
    assert kept.ids == ["1@example.org"] and kept.part.format == "maildir"
    assert (tmp_path / "kept" / "Mail" / "cur" / "1:2,S").read_bytes() == message(1)


def mbox(*messages: bytes, line: bytes = b"From a@b Sat Jan  3 01:05:34 1998\n", end: bytes = b"\n\n") -> bytes:
    return b"".join(line + content + end for content in messages)


@pytest.mark.parametrize("name", ["m.mbox", "m.mbox.gz"])
@pytest.mark.parametrize("block", [64, 4 << 20])
def test_mbox_files(name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughly.sources.records, "BLOCK", block)
    data = mbox(*(message(number) for number in range(20)))
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = read(tmp_path / name)
    assert found.ids == [f"{number}@example.org" for number in range(20)] and not found.rejects
    assert found.documents[7]["text"].startswith("Größe 7\n\nDer Körper von 7.\n")
    assert {document["source"] for document in found.documents} == {name}
    found.part.copy(mask(found.documents, {"3@example.org", "4@example.org", "19@example.org"}), tmp_path / "kept")
    copied = (tmp_path / "kept" / name).read_bytes()
    assert (gzip.decompress(copied) if name.endswith("gz") else copied) == mbox(message(3), message(4), message(19))


@pytest.mark.parametrize(
    "line",
    [
        b"From a@b Sat Jan  3 01:05:34 1998\n",
        b"From a at b  Sat Jan  3 01:05 1998\n",
        b"From - Sat Jan 03 01:05:34 1998\r\n",
        b"From a@b Sat, 3 Jan 1998 01:05:34 +0000\n",
    ],
)
def test_lines_that_begin_a_message_and_lines_that_do_not(line: bytes, tmp_path: Path) -> None:
    body = b"Subject: s\n\nFrom here on:\n>From quoted\n>>From twice\nFrom Sat to Sunday"
    (tmp_path / "m.mbox").write_bytes(mbox(body, body, line=line))
    found = read(tmp_path / "m.mbox")
    assert found.ids == ["m.mbox:1", "m.mbox:2"]
    assert found.texts[0].strip() == "s\n\nFrom here on:\nFrom quoted\n>From twice\nFrom Sat to Sunday"


def test_files_whose_first_line_has_no_date(tmp_path: Path) -> None:
    body = b"Subject: s\n\nThe letter is\nFrom me"
    (tmp_path / "m.mbox").write_bytes(mbox(body, body, line=b"From a@b\n"))
    assert read(tmp_path / "m.mbox").texts == ["s\n\nThe letter is\nFrom me\n\n"] * 2


def test_messages_without_a_blank_line_between_them(tmp_path: Path) -> None:
    (tmp_path / "m.mbox").write_bytes(mbox(b"Subject: a\n\na", b"Subject: b\n\nb", end=b"\n"))
    assert read(tmp_path / "m.mbox").texts == ["a\n\na\n", "b\n\nb\n"]


def test_bad_mbox_files(tmp_path: Path) -> None:
    (tmp_path / "none.mbox").write_bytes(b"Subject: s\n\nbody\n")
    with pytest.raises(InputError, match=r"none\.mbox: is not an mbox"):
        read(tmp_path / "none.mbox")
    (tmp_path / "empty.mbox").write_bytes(b"")
    assert "empty: no documents" in read(tmp_path / "empty.mbox").notes
    (tmp_path / "holes.mbox").write_bytes(mbox(message(1), b"", message(2)))
    found = read(tmp_path / "holes.mbox")
    assert found.ids == ["1@example.org", "2@example.org"] and found.reasons == [("message 2", "empty")]
    packed = gzip.compress(mbox(*(message(i, X=np.random.default_rng(i).bytes(200).hex()) for i in range(200))))
    (tmp_path / "cut.mbox.gz").write_bytes(packed[: len(packed) // 2])
    found = read(tmp_path / "cut.mbox.gz")
    assert 50 < len(found.ids) < 150
    assert found.reasons == [(f"message {len(found.ids) + 1}", f"truncated gzip at byte {len(packed) // 2}")]


@pytest.mark.corpora
def test_real_mail_with_all_its_faults(corpora: Path, tmp_path: Path) -> None:
    """500 messages of 2002, spam too: as .eml files and as one mbox they are the same documents."""
    raw = [
        text.encode("utf-8", "surrogateescape").partition(b"\n")[2] if text.startswith("From ") else text.encode()
        for text in pq.read_table(corpora / "spamassassin_raw.parquet")["raw"].to_pylist()
    ]
    (tmp_path / "eml").mkdir()
    for number, data in enumerate(raw):
        (tmp_path / "eml" / f"{number:03}.eml").write_bytes(data)
    (tmp_path / "all.mbox").write_bytes(
        mbox(*(re.sub(rb"(?m)^(>*From )", rb">\1", data).rstrip(b"\n") + b"\n" for data in raw), end=b"\n")
    )
    files, box = read(tmp_path / "eml"), read(tmp_path / "all.mbox")
    assert len(files.documents) == len(box.documents) == 500 and not files.rejects and not box.rejects
    assert sum(document["markup"] for document in files.documents) > 50
    dated = sum("T" in (document["date"] or "") for document in files.documents)
    assert dated > 480
    for one, other in zip(files.documents, box.documents, strict=True):
        assert (one["title"], one["date"], one["markup"]) == (other["title"], other["date"], other["markup"])
        assert one["text"].split() == other["text"].split()
        assert len(one["text"]) > 2
