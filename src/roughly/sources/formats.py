"""Every format: its name, its file endings, and its reader. Nothing here opens a file.

The names are the values of `--format` and of a part's `format`. Everything else reads this table: a new format is a
reader in a file of its own and a line here.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from roughly.errors import InputError, did_you_mean
from roughly.fast_dataclass import dataclass
from roughly.sources.streams import SUFFIXES


@dataclass(frozen=True, slots=True)
class Format:
    """One format. Its reader is imported when the first such file is read: some import large packages."""

    name: str
    suffixes: tuple[str, ...]  # below `.gz` or `.zst`
    module: str
    reader: str
    is_gathered: bool = False  # many small files are one part, so that 100,000 pages are not 100,000 parts


TABLE = {
    one.name: one
    for one in (
        Format("jsonl", (".jsonl", ".ndjson", ".json"), "roughly.sources.jsonl", "JsonLines"),
        Format("parquet", (".parquet", ".pq"), "roughly.sources.parquet", "Parquet"),
        Format("csv", (".csv", ".tsv", ".tab"), "roughly.sources.delimited", "Delimited"),
        Format(
            "text", (".txt", ".text", ".md", ".html", ".htm", ".xhtml"), "roughly.sources.text_folder", "TextFolder",
            is_gathered=True,
        ),
        Format("warc", (".warc", ".wet", ".arc"), "roughly.sources.warc", "WebArchive"),
        Format("mbox", (".mbox",), "roughly.sources.mbox", "Mbox"),
        Format("eml", (".eml",), "roughly.sources.mailfolder", "MailFolder", is_gathered=True),
        Format("sgml", (".sgm", ".sgml", ".trec"), "roughly.sources.sgml", "Sgml"),
        Format("maildir", (), "roughly.sources.mailfolder", "Maildir"),
    )
}  # fmt: skip
FORMATS = {suffix: one.name for one in TABLE.values() for suffix in one.suffixes}
"""The format of an ending."""
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
TAB_SUFFIXES = frozenset({".tsv", ".tab"})
# Values of `--format`: the formats, and two more exact names for one of them.
ALIASES = {"html": "text", "tsv": "csv", "arc": "warc", "maildir": "maildir"}


def register(added: Format) -> None:
    """Add a format."""
    TABLE[added.name] = added
    FORMATS.update(dict.fromkeys(added.suffixes, added.name))


def suffix_of(name: str) -> str:
    """The suffix that shows the format: `.jsonl` of `news.JSONL.gz`."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in SUFFIXES else path.suffix


def format_of(name: str) -> str | None:
    """The format of a file of this name; None if the name does not show it."""
    return FORMATS.get(suffix_of(name))


def check_format(name: str) -> str:
    """The format that `--format` names, or an error that lists all of them."""
    known = sorted({*FORMATS.values(), *ALIASES})
    if name not in known:
        raise InputError(f"unknown format {name!r}; known are {', '.join(known)}{did_you_mean(name, known)}")
    return ALIASES.get(name, name)


def unknown_kind(name: str) -> InputError:
    """The error for a file whose name does not show its format."""
    return InputError(
        f"{name}: the name does not show the format; known endings are {', '.join(sorted(FORMATS))}, "
        f"each also with .gz or .zst. For any other name give the format: --format jsonl"
    )
