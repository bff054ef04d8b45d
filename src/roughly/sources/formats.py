"""Which format a file is in, as its name tells.

`FORMATS` maps the last suffix (below `.gz` or `.zst`) to the name of the format; those names are what
`--format` takes and what a part calls itself. Nothing here opens a file.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from roughly.errors import InputError
from roughly.sources.streams import SUFFIXES

FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    ".html": "text",
    ".htm": "text",
    ".xhtml": "text",
    ".warc": "warc",
    ".wet": "warc",
    ".arc": "warc",
    ".mbox": "mbox",
    ".eml": "eml",
    ".sgm": "sgml",
    ".sgml": "sgml",
    ".trec": "sgml",
}
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
TAB_SUFFIXES = frozenset({".tsv", ".tab"})
# Many small files of these are one part, so that a folder of 100,000 pages is not 100,000 parts.
GATHERED = frozenset({"text", "eml"})
# What `--format` takes: the formats, and two ways to be more exact about one of them.
ALIASES = {"html": "text", "tsv": "csv", "arc": "warc", "maildir": "maildir"}


def suffix_of(name: str) -> str:
    """The suffix that tells the format: `.jsonl` of `news.JSONL.gz`."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in SUFFIXES else path.suffix


def format_of(name: str) -> str | None:
    """The format of a file of this name; None if the name does not tell."""
    return FORMATS.get(suffix_of(name))


def check_format(asked: str) -> str:
    """The format that `--format` asks for, or an error that lists all there are."""
    known = sorted({*FORMATS.values(), *ALIASES})
    if asked not in known:
        raise InputError(f"unknown format {asked!r}; known are {', '.join(known)}")
    return ALIASES.get(asked, asked)


def unknown_kind(name: str) -> InputError:
    """The error for a file whose name does not tell its format."""
    return InputError(
        f"{name}: the name does not tell the format; known endings are {', '.join(sorted(FORMATS))}, "
        f"each also with .gz or .zst. For any other name say which it is: --format jsonl"
    )
