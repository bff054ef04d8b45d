"""SGML collections: TREC and Reuters-21578."""

from __future__ import annotations

import gzip
import html
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import roughly.sources.records
from reading import mask, read
from roughly.errors import InputError

TREC = b"""<DOC>
<DOCNO> AP880212-0001 </DOCNO>
<FILEID>AP-NR-02-12-88 2344EST</FILEID>
<HEAD>Reports Former Saigon Officials &amp; Others</HEAD>
<DATE>02/12/88</DATE>
<TEXT>
   More than 150 former officers of AT&amp;T.
</TEXT>
<TEXT>
   A second part.
</TEXT>
</DOC>
<DOC id="AFP_ENG_19940512.0001" type="story">
<HEADLINE>
A headline
over two lines
</HEADLINE>
<TEXT>
<P>
Paragraph one.
</P>
</TEXT>
</DOC>
<doc>
<docno>WT01-B01-1</docno>
<dochdr>
http://www.example.org:80/index.html 1.2.3.4 19970101 text/html 200
</dochdr>
<html><body>Welcome</body></html>
</doc>
<DOC>
no number, no text element
</DOC>
"""


def test_trec_documents_of_several_collections(tmp_path: Path) -> None:
    (tmp_path / "t.trec").write_bytes(TREC)
    found = read(tmp_path / "t.trec")
    assert [{k: d[k] for k in ("doc_id", "text", "markup", "title", "url", "date")} for d in found.documents] == [
        {"doc_id": "AP880212-0001", "text": "More than 150 former officers of AT&T.\n\n\n   A second part.",
         "markup": False, "title": "Reports Former Saigon Officials & Others", "url": None, "date": "02/12/88"},
        {"doc_id": "AFP_ENG_19940512.0001", "text": "<P>\nParagraph one.\n</P>", "markup": True,
         "title": "A headline over two lines", "url": None, "date": None},
        {"doc_id": "WT01-B01-1", "text": "<html><body>Welcome</body></html>", "markup": True,
         "title": None, "url": "http://www.example.org:80/index.html", "date": None},
        {"doc_id": "t.trec:4", "text": "no number, no text element", "markup": False,
         "title": None, "url": None, "date": None},
    ]  # fmt: skip
    assert found.part.format == "sgml" and found.documents[0]["source"] == "t.trec"


def reuters(number: str, title: str | None, body: str | None, date: str | None = None) -> str:
    """One document as the original distribution has it."""
    inside = f"<TITLE>{html.escape(title, quote=False)}</TITLE>\n" if title is not None else ""
    if body is not None:
        inside += (
            f"<DATELINE>    LONDON, March 1 - </DATELINE><BODY>{html.escape(body, quote=False)}\n Reuter\n&#3;</BODY>"
        )
    kind = "" if body else ' TYPE="BRIEF"'
    return (
        f'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="{number}">\n'
        f"<DATE>{date or '26-FEB-1987 15:01:01.79'}</DATE>\n<TOPICS><D>cocoa</D></TOPICS>\n"
        f"<UNKNOWN>\n&#5;&#5;&#5;C T\n</UNKNOWN>\n<TEXT{kind}>&#2;\n{inside}</TEXT>\n</REUTERS>\n"
    )


HEADER = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'


@pytest.mark.parametrize("block", [100, 4 << 20])
def test_reuters_documents(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughly.sources.records, "BLOCK", block)
    documents = [reuters(str(i), f"TITLE {i} & CO <CO.L>", f"Body {i} of <Coleco Inc>\nand more") for i in range(1, 9)]
    documents.append(reuters("9", "ONLY A TITLE", None))
    (tmp_path / "r.sgm").write_text(HEADER + "".join(documents), encoding="latin-1")
    found = read(tmp_path / "r.sgm")
    assert found.ids == [str(i) for i in range(1, 10)] and not found.rejects
    assert found.texts[2] == "Body 3 of <Coleco Inc>\nand more\n Reuter"
    assert found.texts[8] == "ONLY A TITLE"
    assert (
        found.documents[0]["title"] == "TITLE 1 & CO <CO.L>" and found.documents[0]["date"] == "26-FEB-1987 15:01:01.79"
    )
    assert not any(document["markup"] for document in found.documents)
    assert found.part.copy(mask(found.documents, {"2", "9"}), tmp_path / "kept") == 2
    copied = (tmp_path / "kept" / "r.sgm").read_text(encoding="latin-1")
    assert copied == HEADER + documents[1] + documents[8]
    assert found.part.copy(mask(found.documents, set()), tmp_path / "none") == 0
    assert read(tmp_path / "none" / "r.sgm").ids == []


def test_documents_whose_tags_are_missing(tmp_path: Path) -> None:
    data = b"<DOC><DOCNO>1</DOCNO><TEXT>a</TEXT></DOC>\n<DOC><DOCNO>2</DOCNO><TEXT>b</TEXT>\n"
    data += (
        b"<DOC><DOCNO>3</DOCNO><TEXT>c</TEXT></DOC>\nstray</DOC>\n<DOC><DOCNO>5</DOCNO><TEXT>e</TEXT></DOC>\n<DOC>cut"
    )
    (tmp_path / "t.sgml").write_bytes(data)
    found = read(tmp_path / "t.sgml")
    assert found.ids == ["1", "5"]
    assert found.reasons == [
        ("document 2", "its end tag is missing"),
        ("document 3", "its start tag is missing"),
        ("document 5", "its end tag is missing"),
    ]


def test_files_that_are_no_collections(tmp_path: Path) -> None:
    (tmp_path / "t.sgml").write_bytes(b"<html>a page</html>")
    with pytest.raises(InputError, match=r"t\.sgml: has no <DOC> and no <REUTERS>"):
        read(tmp_path / "t.sgml")
    (tmp_path / "e.sgml").write_bytes(b"\n")
    assert "empty: no documents" in read(tmp_path / "e.sgml").notes


@pytest.mark.corpora
def test_reuters_21578_in_its_own_form(corpora: Path, tmp_path: Path) -> None:
    table = (
        pq.read_table(corpora / "reuters21578.parquet", columns=["id", "title", "text", "date"])
        .slice(0, 3000)
        .to_pylist()
    )
    written = [reuters(row["id"], row["title"], row["text"] or None, row["date"]) for row in table]
    (tmp_path / "reut2-000.sgm.gz").write_bytes(gzip.compress((HEADER + "".join(written)).encode()))
    found = read(tmp_path / "reut2-000.sgm.gz")
    assert found.ids == [row["id"] for row in table] and not found.rejects
    for document, row in zip(found.documents, table, strict=True):
        expected = f"{row['text']}\n Reuter" if row["text"] else row["title"] or ""
        assert document["text"].split() == html.unescape(expected).split() if "&" in expected else expected.split()
        assert document["date"] == " ".join(row["date"].split())
