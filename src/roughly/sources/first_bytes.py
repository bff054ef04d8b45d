"""What a file is, by its first bytes: where they disagree with its name, they are believed, and a note says so.

Only what cannot be mistaken counts. A text file may begin with anything, so folders of texts and mail are not looked
at; nor are remote files, for which every look is a request.
"""

from __future__ import annotations

import re

from roughly.errors import InputError
from roughly.sources.columns import GUESSES
from roughly.sources.files import File
from roughly.sources.streams import Reader

STANDARD_INPUT = "standard input"
_HEAD = 512
_STREAM_HEAD = 1 << 16
_KNOWN: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"PAR1"), "parquet"),
    (re.compile(rb"WARC/\d"), "warc"),
    (re.compile(rb"filedesc://"), "warc"),
    (re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"'), "jsonl"),
    (re.compile(rb"From \S+ .*\d\d:\d\d"), "mbox"),
    (re.compile(rb"\s*(?:<!DOCTYPE [^>]*>\s*)?<(?:DOC|REUTERS)[\s>]"), "sgml"),
)
_HEADER = re.compile(rb'(?:\xef\xbb\xbf)?("?[\w .-]{1,60}"?(?:[,\t;|]"?[\w .-]{1,60}"?)+)\r?\n')
"""The first line of a CSV file, if one of its names is that of a text (`_is_header`)."""
_FOREIGN = {
    b"PK\x03\x04": ("a zip archive (or an office document)", "unpack it"),
    b"%PDF-": ("a PDF", "extract its text"),
    b"SQLite format 3": ("an SQLite database", "export the table"),
    b"\xfd7zXZ": ("compressed by xz", "unpack it: xz -d"),
    b"BZh": ("compressed by bzip2", "unpack it: bzip2 -d"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it"),
    b"ARROW1": ("an Arrow file", "write it as Parquet"),
    b"ORC": ("an ORC file", "write it as Parquet"),
    b"Obj\x01": ("an Avro file", "write it as Parquet or JSON lines"),
}
_LOOKED_AT = ("jsonl", "parquet", "csv", "warc", "mbox", "sgml")
"""Formats whose files are looked at; None: a name that does not show the format."""


def find_format(file: File, named: str | None) -> tuple[str | None, str | None]:
    """The format of a file whose name shows the format `named`, and a note if it is another one.

    A file that is something else altogether is refused.
    """
    if file.fs is not None or (named is not None and named not in _LOOKED_AT):
        return named, None
    is_stream = file.name == STANDARD_INPUT
    with Reader(file.open(), file.name) as reader:
        head = reader.read_block(_STREAM_HEAD if is_stream else _HEAD)
    found = next((kind for pattern, kind in _KNOWN if pattern.match(head)), None)
    if found is None and _is_header(head):
        found = "csv"
    if found is None or found == named:
        if found is None:
            refuse_foreign(file.name, head)
            if is_stream and head.strip() and not re.search(rb"^\s*[\[{]", head, re.MULTILINE):
                raise InputError(f"{file.name}: these are not JSON lines; name the format: --format csv, text, html, …")
        return named, None
    if is_stream:
        return found, f"{file.name}: its first bytes say {found}"
    if named is None:
        return found, f"{file.name}: the name does not show the format; its first bytes say {found}"
    return found, f"{file.name}: is {found}, although its name says {named}; read as {found}"


def _is_header(head: bytes) -> bool:
    header = _HEADER.match(head)
    names = re.split(rb"[,\t;|]", header[1].lower()) if header else []
    return any(name.strip(b' "').decode("ascii", "replace") in GUESSES["text"] for name in names)


def refuse_foreign(name: str, head: bytes, wanted: str | None = None) -> None:
    """Refuse a file that is surely of another kind than documents, or than the format that is wanted."""
    for magic, (kind, remedy) in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{name}: is {kind}, not a file of documents; {remedy} first")
    if wanted is not None and head.startswith(b"PAR1"):
        raise InputError(f"{name}: is Parquet, not {wanted}; say so: --format parquet")
