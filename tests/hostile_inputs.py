"""Bytes that are made to be slow to read, by the number of repetitions, with the sizes at which they once were slow."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LINE = b"From a@b Thu Mar  5 10:00:00 2020\n"
FILEDESC = b"filedesc://x 0.0.0.0 20200101000000 text/plain 3\nabc\n\n"
FIRST = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n"


def doc(content: bytes) -> bytes:
    return b"<DOC><DOCNO>1</DOCNO>" + content + b"</DOC>\n"


def page(headers: bytes, body: bytes = b"hi") -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + headers + b"\r\n\r\n" + body
    return b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block)


def parquet(columns: dict[str, list[object]]) -> bytes:
    """A file with a row group per row."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, row_group_size=1)
    return bytes(sink.getvalue().to_pybytes())


FILES: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "text.sgml": (100_000, lambda n: doc(b"<text>" * n)),
    "title.sgml": (50_000, lambda n: doc(b"<title>" + b"</title          " * n)),
    "open title.sgml": (50_000, lambda n: doc(b"<title " * n)),
    "start.sgml": (50_000, lambda n: doc(b"") + b"<DOC " * n),
    "attributes.sgml": (50_000, lambda n: b"<DOC " + b'a="' * n + b">x</DOC>"),
    "header.warc": (100_000, lambda n: FIRST + b"WARC/1.0\r\n" + b"a: b\r\n" * n),
    "folded header.warc": (100_000, lambda n: FIRST + b"WARC/1.0\r\nx: 1\r\n" + b" a\r\n" * n),
    "noise.warc": (100_000, lambda n: FIRST + b"x\n" * n),
    "http header.warc": (100_000, lambda n: page(b"content-type: x;" * n)),
    "http chunks.warc": (50_000, lambda n: page(b"Transfer-Encoding: chunked", b"1\r\na\r\n" * n + b"0\r\n\r\n")),
    "line.arc": (5_000, lambda n: FILEDESC + b" a 12345678 x" * n + b"\n"),
    "from.mbox": (20_000, lambda n: LINE + b"Subject: x\n\nhi\n\nFrom " + b"Mon Jan 1 " * n + b"\n"),
    "many from.mbox": (20_000, lambda n: LINE + b"Subject: x\n\nhi\n" + b"From x\n" * n),
    "parameters.eml": (300_000, lambda n: b"Subject: x\nContent-Type: text/plain" + b"; a=1" * n + b"\n\nhi"),
    "boundary.eml": (300_000, lambda n: b"Subject: x\nContent-Type: multipart/mixed" + b"; a=1" * n + b"\n\nhi"),
    "subject.eml": (50_000, lambda n: b"Subject: " + b"=?a?q?" * n + b"\n\nhi"),
    "parts.eml": (5_000, lambda n: b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * n),
    "folded.eml": (50_000, lambda n: b"Subject: x\n" + b" y\n" * n + b"\nhi"),
    "returns.csv": (10_000, lambda n: b"id,text\n" + b"1,a\rb\n" * n),
    "quotes.csv": (50_000, lambda n: b"id,text\n" + b'1,"a\n' * n),
    "columns.csv": (50_000, lambda n: b"id,text" + b",a" * n + b"\n1,x\n"),
    "newlines.csv": (2_000_000, lambda n: b"id,text\n1,a\n" + b"\r\r\n" * (n // 3) + b"\n" * n),
    "newlines.jsonl": (2_000_000, lambda n: b'{"text": "a"}\n' + b"\n" * n),
    "nested.jsonl": (500_000, lambda n: b'{"text": "a"}\n{"text": "b", "x": ' + b"[" * n + b"\n"),
    "numbers.jsonl": (500_000, lambda n: b'{"text": "a"}\n{"text": "b", "id": ' + b"9" * n + b"}\n"),
    "members.jsonl.gz": (5_000, lambda n: gzip.compress(b'{"text": "a"}\n', 1, mtime=0) * n),
    "groups.parquet": (200, lambda n: parquet({"text": ["a"] * n})),
    "columns.parquet": (2_000, lambda n: parquet({"text": ["a"], **{f"c{i}": [1] for i in range(n)}})),
    "meta.html": (100_000, lambda n: b"<meta " * n),
    "bytes.txt": (500_000, lambda n: b"\xff\xfe\xfd" * n),
}
PAGES: dict[str, Callable[[int], str]] = {
    "div": lambda n: "<div>" * n + "x",
    "lists": lambda n: "<ul><li>" * n + "x",
    "closed by others": lambda n: "<div></b>" * n + "x",
    "attributes": lambda n: "<p " + " ".join(f"a{i}=1" for i in range(n)) + ">x",
    "quoted attributes": lambda n: "<p " + " ".join(f'a{i}="<a>"' for i in range(n)) + ">x",
    "formatting": lambda n: "".join(f"<b id={i}>" for i in range(n // 10)) + "<p>x" * n,
    "cells": lambda n: "<table>" + "<td>x" * n,
    "roots": lambda n: "".join(f"<html a{i}=1>" for i in range(n)) + "x",
    "svg": lambda n: "<svg>" + "<g>" * n,
    "names of tags": lambda n: "".join(f"<t{i}></t{i}>" for i in range(2 * n)) + "x",
    "paragraphs": lambda n: "<p>x y z w" * 4 * n,
    "names of attributes": lambda n: "".join(f"<p a{i} b{i}=1>" for i in range(n)) + "x",
}


def maildir(folder: Path, n: int) -> None:
    """Messages of one Message-ID, with long names."""
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number in range(n):
        name = f"{number}.{'x' * 200}:2,{'S' * 30}"
        (folder / ("cur", "new")[number % 2] / name).write_bytes(b"Message-ID: <a@b>\nSubject: x\n\nhi\n")


def lines(**columns: Callable[[int], object]) -> Callable[[int], bytes]:
    """JSON lines whose values depend on the number of the line."""
    return lambda n: b"".join(
        json.dumps({name: value(at) for name, value in columns.items()}).encode() + b"\n" for at in range(n)
    )


def one_line(**columns: Callable[[int], object]) -> Callable[[int], bytes]:
    """One JSON line whose values depend on the number of repetitions."""
    return lambda n: json.dumps({name: value(n) for name, value in columns.items()}).encode() + b"\n"


FEATURES: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "equal objects": (4_000, lines(id=lambda at: f"o{at}", features=lambda at: [1, 2, 3])),
    "a feature of all objects": (4_000, lines(id=lambda at: f"o{at}", features=lambda at: [0, at, at + 0.5])),
    "no features": (4_000, lines(id=lambda at: f"o{at}", features=lambda at: [])),
    "one object": (40_000, one_line(id=lambda n: "o", features=lambda n: list(range(n)))),
    "one feature again and again": (40_000, one_line(id=lambda n: "o", features=lambda n: ["x"] * n)),
    "a long feature": (400_000, one_line(id=lambda n: "o", features=lambda n: ["x" * n])),
}
"""Objects by their features."""
TEXTS: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "equal texts": (2_000, lines(text=lambda at: "some words that all of the texts have")),
    "words of all texts": (2_000, lines(text=lambda at: f"{at} some words that all of the texts have {at}")),
    "one word": (20_000, one_line(text=lambda n: "a " * n)),
    "two words in turn": (20_000, one_line(text=lambda n: "a b " * n)),
    "texts of one word": (2_000, lines(text=lambda at: "a " * 20)),
    "no words": (20_000, one_line(text=lambda n: ". " * n)),
}
"""Texts of an input, and of a test set too: what they share is everywhere."""
