"""A collection of three documents in every registered format, all of the same size whatever their first words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.sources.formats import TABLE
from stream_texts import mail, mbox, prose


def texts(*first_words: str) -> list[str]:
    """Texts that are not alike, each with its first word."""
    return [f"{word} {prose(number, 40)}" for number, word in enumerate(first_words)]


def _file(name: str, content: Callable[[list[str]], bytes]) -> Callable[[Path, list[str]], Path]:
    def write(folder: Path, given: list[str]) -> Path:
        (folder / name).write_bytes(content(given))
        return folder / name

    return write


def _files(form: str, content: Callable[[int, str], bytes]) -> Callable[[Path, list[str]], Path]:
    def write(folder: Path, given: list[str]) -> Path:
        for number, one in enumerate(given):
            path = folder / "in" / form.format(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content(number, one))
        return folder / "in"

    return write


def _maildir(folder: Path, given: list[str]) -> Path:
    for name in ("new", "tmp"):
        (folder / "in" / name).mkdir(parents=True, exist_ok=True)
    return _files("cur/1700000000.{}.host:2,S", mail)(folder, given)


def _parquet(folder: Path, given: list[str]) -> Path:
    pq.write_table(
        pa.table({"text": given}),
        folder / "in.parquet",
        compression="none",
        use_dictionary=False,
        write_statistics=False,
    )
    return folder / "in.parquet"


def _warc(given: list[str]) -> bytes:
    return b"".join(
        f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://host/{number}\r\nContent-Type: text/plain\r\n"
        f"WARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        f"Content-Length: {len(one)}\r\n\r\n{one}\r\n\r\n".encode()
        for number, one in enumerate(given)
    )


WRITERS: dict[str, Callable[[Path, list[str]], Path]] = {
    "jsonl": _file("in.jsonl", lambda given: "".join(f'{{"text": "{one}"}}\n' for one in given).encode()),
    "parquet": _parquet,
    "csv": _file("in.csv", lambda given: "\n".join(["text", *given, ""]).encode()),
    "text": _files("{}.txt", lambda number, one: one.encode()),
    "warc": _file("in.warc", _warc),
    "mbox": _file("in.mbox", lambda given: mbox(*(mail(number, one) for number, one in enumerate(given)))),
    "eml": _files("{}.eml", mail),
    "sgml": _file(
        "in.sgml",
        lambda given: "".join(
            f"<DOC>\n<DOCNO>{number}</DOCNO>\n<TEXT>\n{one}\n</TEXT>\n</DOC>\n" for number, one in enumerate(given)
        ).encode(),
    ),
    "maildir": _maildir,
}


def write(format: str, folder: Path, given: list[str]) -> Path:
    """Write the texts; returns what to read. A format without a sample here is an error: add one."""
    return WRITERS[format](folder, given)


def rewrite(format: str, folder: Path, given: list[str]) -> None:
    """Write other texts of the same length in place: sizes and times of the files remain."""
    before = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    write(format, folder, given)
    for path, old in before.items():
        assert path.stat().st_size == old.st_size, path
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


EVERY = sorted(TABLE)
