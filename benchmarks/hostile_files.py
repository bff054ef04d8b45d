"""Files that are made to hurt, each with the arguments of `roughly dedupe` that read it."""

from __future__ import annotations

import base64
import gzip
import os
import socket
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import brotli
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]

from hostile_inputs import FILES, PAGES, page  # noqa: E402

MB, GB = 1 << 20, 1 << 30
Make = Callable[[Path], list[str]]
"""Writes what hurts into a folder; returns arguments: inputs, and options if it needs any."""
MAIL = b"From: a@b.org\nSubject: x\n"
PIECE = 4 * MB
CONTENT = {
    "txt": b"some words of a text\n", "html": b"<p>some words</p>\n", "eml": b"Subject: a line of a mail\n",
    "csv": b"1,some words of a text\n", "tsv": b"1\tsome words of a text\n", "jsonl": b'{"text": "some words"}\n',
    "mbox": b"From a@b Thu Mar  5 10:00:00 2020\nSubject: x\n\nhi\n\n", "sgml": b"<DOC><DOCNO>1</DOCNO>words</DOC>\n",
    "warc": b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 5\r\n\r\nwords\r\n\r\n",
    "arc": b"http://x 1.1.1.1 20200101000000 text/html 5\nwords\n",
}  # fmt: skip
ONE = {
    "jsonl": b'{"text": "', "csv": b'id,text\n1,"', "tsv": b'id\ttext\n1\t"', "sgml": b"<DOC><DOCNO>1</DOCNO>",
    "mbox": b"From a@b Thu Mar  5 10:00:00 2020\nSubject: x\n\n", "eml": b"Subject: x\n\n", "html": b"<p>",
    "txt": b"", "warc": b"WARC/1.0\r\nWARC-Type: response\r\n", "arc": b"http://x ",
}  # fmt: skip
"""The beginnings of records that never end."""


def packed(data: bytes, ending: str) -> bytes:
    """As gzip or zstd; either may follow another in one file."""
    return gzip.compress(data, 6, mtime=0) if ending == "gz" else zstandard.compress(data)


def bomb(folder: Path, *, kind: str, ending: str, begin: bytes, unit: bytes, size: int) -> list[str]:
    """A small file with this much content."""
    path = folder / f"bomb.{kind}.{ending}"
    whole = packed(unit * (PIECE // len(unit)), ending)
    path.write_bytes(packed(begin, ending) + whole * (size // PIECE))
    return [str(path)]


def one(folder: Path, *, name: str, data: Callable[[], bytes], options: tuple[str, ...] = ()) -> list[str]:
    """A file with this content."""
    (folder / name).write_bytes(data())
    return [str(folder / name), *options]


def bombs() -> Iterator[tuple[str, Make]]:
    """Files of a few megabytes with 10 GB of content: many records, one without end, and nothing but line ends."""
    for kind, unit in CONTENT.items():
        head = {"csv": b"id,text\n", "tsv": b"id\ttext\n"}.get(kind, b"")
        for ending in ("gz", "zst"):
            make = partial(bomb, kind=kind, ending=ending, size=10 * GB)
            yield f"records.{kind}.{ending}", partial(make, begin=head, unit=unit)
            yield f"endless.{kind}.{ending}", partial(make, begin=ONE[kind], unit=b"x")
            yield f"line ends.{kind}.{ending}", partial(make, begin=head, unit=b"\n", size=4 * GB)


def bodies() -> Iterator[tuple[str, Make]]:
    """Bodies of HTTP and parts of mail that unfold."""
    text = b"<p>words</p>" * (GB // 12)
    packs: dict[str, Callable[[], bytes]] = {
        "gzip": lambda: gzip.compress(text, 6), "deflate": lambda: zlib.compress(text, 6),
        "br": lambda: brotli.compress(text, quality=1), "gzip, gzip": lambda: gzip.compress(gzip.compress(text, 1)),
    }  # fmt: skip
    for encoding, pack in packs.items():
        data = partial(lambda encoding, pack: page(b"Content-Encoding: " + encoding.encode(), pack()), encoding, pack)
        yield f"body, {encoding}.warc", partial(one, name="body.warc", data=data)
        data_gz = partial(lambda data: gzip.compress(data(), 1), data)
        yield f"body, {encoding}.warc.gz", partial(one, name="body.warc.gz", data=data_gz)
    for coding, body in (
        ("base64", lambda: base64.encodebytes(b"a" * (50 * MB))), ("quoted-printable", lambda: b"=41=\n" * (10 * MB)),
    ):  # fmt: skip
        head = MAIL + f"Content-Type: text/plain\nContent-Transfer-Encoding: {coding}\n\n".encode()
        yield f"{coding}.eml", partial(one, name="a.eml", data=partial(lambda head, body: head + body(), head, body))


def parquet_files() -> Iterator[tuple[str, Make]]:
    """Dictionaries that unfold, names that occur twice, lengths that nobody wrote."""

    def dictionary(folder: Path) -> list[str]:
        values = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["x" * MB]))
        pq.write_table(pa.table({"text": values}), folder / "a.parquet", row_group_size=3000)
        return [str(folder / "a.parquet")]

    def twice(folder: Path) -> list[str]:
        pq.write_table(pa.Table.from_arrays([pa.array(["a"])] * 2, names=["text", "text"]), folder / "a.parquet")
        return [str(folder / "a.parquet")]

    def folded(folder: Path, compression: str) -> list[str]:
        pq.write_table(
            pa.table({"text": ["x" * (600 * MB)]}), folder / "a.parquet", compression=compression, use_dictionary=False
        )
        return [str(folder / "a.parquet")]

    yield "dictionary.parquet", dictionary
    yield "two columns of one name.parquet", twice
    for compression in ("zstd", "gzip", "snappy", "brotli"):
        yield f"one value, {compression}.parquet", partial(folded, compression=compression)
    for claimed in (0, 8, 2**31 - 1, 2**32 - 1):
        data = partial(lambda claimed: b"PAR1" + b"\x15" * 64 + claimed.to_bytes(4, "little") + b"PAR1", claimed)
        yield f"a footer of {claimed} bytes.parquet", partial(one, name="a.parquet", data=data)


def special_files() -> Iterator[tuple[str, Make]]:
    """What is in a folder and is not a file, names, links."""

    def of_folder(folder: Path, prepare: Callable[[Path], object]) -> list[str]:
        (folder / "in").mkdir()
        (folder / "in" / "a.txt").write_text("a text")
        prepare(folder / "in")
        return [str(folder / "in")]

    def deep(folder: Path) -> None:
        for depth in range(1, 1001):
            Path(f"{folder}{'/d' * depth}").mkdir()

    def bound(folder: Path) -> None:
        with socket.socket(socket.AF_UNIX) as end:
            os.chdir(folder)  # a socket's name has 108 bytes at most
            end.bind("s.txt")

    prepared: dict[str, Callable[[Path], object]] = {
        "a pipe in a folder": lambda folder: os.mkfifo(folder / "p.txt"),
        "a socket in a folder": bound,
        "a link to itself": lambda folder: (folder / "l.txt").symlink_to(folder / "l.txt"),
        "a link to nothing": lambda folder: (folder / "l.txt").symlink_to(folder / "none"),
        "a link to /dev/zero": lambda folder: (folder / "l.txt").symlink_to("/dev/zero"),
        "a folder that holds itself": lambda folder: (folder / "in").symlink_to(folder),
        "folders 1,000 deep": deep,
        "a name that is not UTF-8": lambda folder: Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).touch(),
        "a name of 250 bytes": lambda folder: (folder / ("n" * 246 + ".txt")).write_text("x"),
        "a name with line ends": lambda folder: (folder / "a\nb\r\x1b[31m.txt").write_text("x"),
        "10,000 empty files": lambda folder: [(folder / f"{n}.txt").touch() for n in range(10_000)],
    }  # fmt: skip
    for name, prepare in prepared.items():
        yield name, partial(of_folder, prepare=prepare)
    for given in ("/dev/zero", "/dev/stdin", "/dev/full", "/proc/self/mem", "x" * 300 + ".txt", "/dev/fd/0"):
        yield f"{given[:20]} as a file", partial(lambda folder, given: [given, "--format", "text"], given=given)


def sentences() -> Iterator[tuple[str, Make]]:
    """What once ended in a traceback."""
    nested = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(1000)).encode()
    digits = b"9" * 5000
    data: dict[str, bytes] = {
        "last.csv": b'id,text\n1,x\n2,a 6" pipe',
        "ends.csv": b'id,text\r\n1,"a\rb"\n2,x\r"y\n3,z\r\n',
        "head.csv": b"id,text," + b"h" * 140_000 + b"\n1,x,y\n",
        "digits.warc": b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: " + digits + b"\r\n\r\nabc",
        "digits.arc": b"filedesc://x 0.0.0.0 20200101000000 text/plain 1\na\n\nhttp://x 1.1.1.1 2020 text/html "
        + digits,
        "nested.eml": MAIL + nested + b"\nhello\n",
        "rfc822.eml": MAIL + b"Content-Type: message/rfc822\n\n" * 1000 + b"hi",
        "null in a name.eml": MAIL + b'Content-Disposition: inline; filename="a\0b"\n\nhi',
        "charset.eml": MAIL + b'Content-Type: text/plain; charset="a\0b"\n\nhi \xff',
        "charset words.eml": MAIL + b"Content-Type: text/plain; charset*=a\0b''x%00\n\nhi \xff",
        "entity.sgml": b"<DOC><DOCNO>1</DOCNO><TEXT>&#" + digits + b";</TEXT></DOC>",
        "number.jsonl": b'{"id": ' + digits + b', "text": "a"}\n',
        "surrogates.jsonl": b'{"text": "\\ud800\\udc00\\ud800"}\n{"text": "\\udfff"}\n',
        "deep.jsonl": b'{"text": "a", "x": ' + b"[" * 254 + b"]" * 254 + b"}\n",
        "names.jsonl": b'{"text": "a", ' + b", ".join(b'"k%d": 1' % n for n in range(100_000)) + b"}\n",
        "nothing.txt": b"", "nulls.txt": b"\0" * MB, "nothing.warc": b"", "nothing.parquet": b"", "nothing.gz": b"",
        "bom.jsonl": b"\xff\xfe" + '{"text": "a"}\n'.encode("utf-16-le"),
        "date.mbox": b"From a@b Thu Mar 99 99:99:99 9999\nDate: " + digits + b"\n\nhi\n",
    }  # fmt: skip
    for name, content in data.items():
        yield name, partial(one, name=name, data=partial(bytes, content))
    yield (
        "--threshold 1e-300",
        partial(one, name="a.txt", data=partial(bytes, b"words"), options=("--threshold", "1e-300")),
    )


def slow_files() -> Iterator[tuple[str, Make]]:
    """What once took quadratic time, at the sizes of then and ten times as many."""
    for name, (size, make) in FILES.items():
        for times in (1, 10):
            data = partial(make, size * times)
            yield f"{name}, {size * times:,}", partial(one, name=name, data=data)
    sizes = {"div": 1_000_000, "attributes": 200_000, "lists": 100_000}
    for name, text in PAGES.items():
        for options in ((), ("--main-text",)):
            size = sizes.get(name, 200_000)
            data = partial(lambda text, size: text(size).encode(), text, size)
            yield f"{name}.html, {size:,} {' '.join(options)}", partial(one, name="a.html", data=data, options=options)


def every() -> dict[str, Make]:
    """All of them, by name."""
    return {
        name: make
        for table in (sentences, special_files, parquet_files, slow_files, bodies, bombs)
        for name, make in table()
    }
