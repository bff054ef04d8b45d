"""Every reader: a changed file is read or refused, no document is unaccounted for, and a second reading agrees."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from mutation import Prepared

from roughly.model import DOCUMENTS
from roughly.settings import ReadOptions
from roughly.sources import Part, open_parts

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS)]

from stream_texts import mail, mbox, prose  # noqa: E402

FEW, MANY = 3, 150
"""Documents of a small and of a large seed: a large one has about 64 KB."""
ODD = "Größe “x” naïve, 𝔘nicode\u2028 \u202e é"


def texts(count: int) -> list[str]:
    """Texts that are not alike, some with characters of their own."""
    return [f"{ODD if number % 3 == 0 else 'Plain'} {prose(number, 50)}" for number in range(count)]


def reader(
    name: str, seeds: Callable[[int], list[bytes]], words: str = "", **options: str
) -> Callable[[Path], Prepared]:
    """A target that reads a file of this name, reads it again, and copies half of it."""

    def prepare(scratch: Path) -> Prepared:
        path, copies = scratch / name, scratch / "copies"

        def use(path: Path) -> None:
            for part in open_parts([path], ReadOptions(**options), scratch):
                read_twice(part, copies)
            shutil.rmtree(copies, ignore_errors=True)

        made = [(path, seed) for count in (FEW, MANY) for seed in seeds(count)]
        return Prepared(made, use, words=(*words.encode().split(b" "), b"\r\n", b"\n\n", b"\0"))

    return prepare


def read_twice(part: Part, copies: Path) -> None:
    """Read all of a part, every third document again, and copy every second."""
    found = pa.Table.from_batches([part.parse(chunk).batch for chunk in part.chunks()], DOCUMENTS)
    found.validate(full=True)
    rows = found["row"].to_numpy()
    assert (np.diff(rows) > 0).all(), "rows are not in order"
    again = [part.parse(chunk).batch for chunk in part.chunks(rows[::3])]
    third = found.take(pa.array(np.arange(0, len(rows), 3)))
    assert pa.Table.from_batches(again, DOCUMENTS).combine_chunks() == third.combine_chunks(), "read otherwise"
    keep = np.zeros(int(rows[-1]) + 1 if len(rows) else 0, np.bool_)
    keep[rows[::2]] = True
    written = part.copy(keep, copies)
    assert written == int(keep.sum()), f"{written} documents copied, not {int(keep.sum())}"


def packed(data: bytes) -> bytes:
    """As gzip."""
    return gzip.compress(data, mtime=0)


def json_lines(count: int) -> list[bytes]:
    """Objects with all kinds of values."""
    rows = [
        {
            "id": f"d{n}", "text": text, "title": None, "url": f"http://host/{n}", "date": "2024-03-04",
            "deep": [[{"a": [1.5e3]}]],
        }
        for n, text in enumerate(texts(count))
    ]  # fmt: skip
    plain = [json.dumps(row) for row in rows]
    return ["\n".join(plain).encode(), "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()]


def delimited(mark: str) -> Callable[[int], list[bytes]]:
    """Rows with quotes, line ends and marks in fields."""

    def seeds(count: int) -> list[bytes]:
        rows = [f'd{n}{mark}"{text} ""quoted""{mark}\nnext line"{mark}{n}.5' for n, text in enumerate(texts(count))]
        return [end.join([f"id{mark}text{mark}number", *rows, ""]).encode() for end in ("\n", "\r\n")]

    return seeds


def parquet(count: int) -> list[bytes]:
    """Files with and without dictionaries, statistics, compression and nested columns."""
    given = texts(count)
    table = pa.table({
        "id": [f"d{n}" for n in range(count)], "text": given, "source": ["a", None, "b"] * (count // 3),
        "nested": [[{"x": n}] for n in range(count)],
    })  # fmt: skip
    made = []
    for compression, dictionary, version in (("none", False, "1.0"), ("snappy", True, "2.6"), ("zstd", True, "2.6")):
        sink = pa.BufferOutputStream()
        pq.write_table(
            table, sink, compression=compression, use_dictionary=dictionary, row_group_size=50, version=version,
            data_page_version="2.0" if compression == "zstd" else "1.0",
        )  # fmt: skip
        made.append(sink.getvalue().to_pybytes())
    return made


def web_records(count: int) -> list[bytes]:
    """Records of a crawl: texts, pages, encoded bodies."""
    made = []
    for n, text in enumerate(texts(count)):
        page = f"<html><head><title>t{n}</title></head><body><p>{text}</p></body></html>".encode()
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nDate: Mon, 04 Mar 2024 10:00:00 GMT\r\n"
        match n % 4:
            case 0:
                kind, block = "conversion", text.encode()
            case 1:
                kind, block = "response", f"{head}\r\n".encode() + page
            case 2:
                body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(page), page)
                kind, block = "response", f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + body
            case _:
                kind, block = (
                    "response",
                    f"{head}Content-Encoding: gzip\r\n\r\n".encode() + gzip.compress(page, mtime=0),
                )
        kind_of_block = "text/plain" if kind == "conversion" else "application/http; msgtype=response"
        made.append(
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://host/{n}\r\nContent-Type: {kind_of_block}\r\n"
            f"WARC-Record-ID: <urn:uuid:{n}>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
            f"Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"
        )  # fmt: skip
    return made


def arc(count: int) -> list[bytes]:
    """The older form of web archives."""
    names = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n\n\n"
    made = [b"filedesc://a.arc 0.0.0.0 20240101000000 text/plain %d\n" % len(names) + names]

    for n, text in enumerate(texts(count)):
        block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{text}</p>".encode()
        made.append(f"http://host/{n} 10.0.0.1 20240101000000 text/html {len(block)}\n".encode() + block + b"\n")
    return [b"".join(made)]


def messages(count: int) -> list[bytes]:
    """Mail: plain, several parts, encodings, headers in words of RFC 2047, a message in a message."""
    made = []
    for n, text in enumerate(texts(count)):
        coded = base64.encodebytes(text.encode()).decode()
        head = (
            f"From: a@b.org\nMessage-ID: <m{n}@b.org>\nDate: Mon, 04 Mar 2024 10:00:00 +0000\n"
            "Subject: =?utf-8?B?R3LDvMOfZQ==?=\n"
        )
        parts = (
            f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n'
            f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n{coded}\n--b{n}\n"
            'Content-Type: text/html; charset="iso-8859-1"\nContent-Transfer-Encoding: quoted-printable\n\n'
            f"<p>caf=E9 =\n{n}</p>\n--b{n}\nContent-Type: message/rfc822\n\nSubject: inner\n\ninner {n}\n--b{n}\n"
            f"Content-Disposition: attachment; filename*=utf-8''a%20b.txt\n\nx\n--b{n}--\n"
        )
        made.append((head + parts).encode() if n % 2 else mail(n, text))
    return made


def pages(count: int) -> list[bytes]:
    """HTML with lists, tables, comments, entities, scripts."""
    body = "".join(
        f"<div class='c{n}'><h2>{n} &amp; &#x41;</h2><ul><li>{text}<li>b</ul><!-- x --><table><tr><td>{n}</table>"
        "<script>if (a<b) {}</script><style>p{}</style><nav><a href='/'>home</a></nav><pre>\n a</pre></div>"
        for n, text in enumerate(texts(count))
    )
    return [
        f"<!doctype html><html><head><title>t</title><meta charset=utf-8></head><body>{body}</body></html>".encode()
    ]


def plain(count: int) -> list[bytes]:
    """Text in several encodings."""
    given = "\n".join(texts(count))
    return [
        given.encode(),
        given.encode("utf-16"),
        given.encode("latin-1", "replace"),
        b"\xef\xbb\xbf" + given.encode(),
    ]


def sgml(count: int) -> list[bytes]:
    """Documents as of TREC and of Reuters."""
    trec = "".join(
        f"<DOC>\n<DOCNO>{n}</DOCNO>\n<TITLE>t</TITLE>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n"
        for n, text in enumerate(texts(count))
    )
    reuters = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + "".join(
        f'<REUTERS TOPICS="YES" NEWID="{n}">\n<DATE>26-FEB-1987 15:01:01.79</DATE>\n<TEXT>&#2;\n<TITLE>t</TITLE>\n'
        f"<BODY>{text} &lt;x>\n&#3;</BODY></TEXT>\n</REUTERS>\n"
        for n, text in enumerate(texts(count))
    )
    return [trec.encode(), reuters.encode()]


HTTP_WORDS = (
    "Content-Length: 99999999999999999999 Transfer-Encoding: chunked Content-Encoding: br gzip WARC/1.0 HTTP/1.1 "
    "charset= -1"
)
MAIL_WORDS = (
    "From  Content-Type: multipart/mixed; boundary= =?utf-8?Q? ?= charset=\"a\" base64 --b1 filename*=utf-8'' "
    "message/rfc822"
)
HTML_WORDS = (
    "<div> </div> <ul><li> <!-- --> <script> </script> <table> &#x110000; &amp <![CDATA[ <svg> <textarea> <a href="
)
READERS = {
    "jsonl": reader("in.jsonl", json_lines, '\\ud800 \\u0000 [[[[ {"text": } ] " 1e999 -0 "text": null'),
    "csv": reader("in.csv", delimited(","), '" "" , ," ", \r'),
    "tsv": reader("in.tsv", delimited("\t"), '" "" \t \r'),
    "parquet": reader("in.parquet", parquet),
    "text": reader("in.txt", plain, "\u0301 \u200b \ufeff"),
    "html": reader("in.html", pages, HTML_WORDS),
    "warc": reader("in.warc", lambda count: [b"".join(web_records(count))], HTTP_WORDS),
    "warc_gz": reader(
        "in.warc.gz",
        lambda count: [b"".join(map(packed, web_records(count))), packed(b"".join(web_records(count)))],
    ),
    "arc": reader("in.arc", arc, HTTP_WORDS),
    "mbox": reader("in.mbox", lambda count: [mbox(*messages(count))], MAIL_WORDS),
    "eml": reader(
        "in.eml", lambda count: messages(6) if count == FEW else [mail(0, "\n".join(texts(count)))], MAIL_WORDS
    ),
    "sgml": reader("in.sgml", sgml, "<DOC> </DOC> <TEXT> </TEXT> <REUTERS NEWID=\"1\"> </REUTERS> &lt; <!-- <TITLE>"),
    "jsonl_gz": reader(
        "in.jsonl.gz",
        lambda count: [gzip.compress(one, level, mtime=0) for one in json_lines(count) for level in (0, 9)],
    ),
    "jsonl_zst": reader(
        "in.jsonl.zst", lambda count: [zstandard.ZstdCompressor().compress(one) for one in json_lines(count)]
    ),
}  # fmt: skip
