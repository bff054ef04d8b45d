"""Guess which column is the text, which the id, and so on, if the user does not say.

The guess goes by name, in the order of the lists below and ignoring case; it is shown to the user as a note of the
part. A text column whose name says html holds HTML. A wrong name given by the user, or no column that could be the
text, is an error that lists the columns.

The text may be several columns, named with commas: their texts are joined by line breaks, in the order given; what is
missing, null or empty is left out. A column whose own name has commas comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from roughly.errors import InputError, list_names
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions

GUESSES: dict[str, tuple[str, ...]] = {
    "text": (
        "text",
        "content",
        "contents",
        "body",
        "raw_content",
        "document",
        "article",
        "full_text",
        "fulltext",
        "raw_text",
        "page_content",
        "passage",
        "message",
        "abstract",
        "description",
    ),
    "doc_id": ("doc_id", "docid", "id", "_id", "uid", "uuid", "guid", "document_id", "docno", "key"),
    "title": ("title", "headline", "subject"),
    "url": ("url", "uri", "link", "source_url", "warc-target-uri"),
    "date": (
        "date",
        "timestamp",
        "published",
        "published_at",
        "publish_date",
        "publication_date",
        "pub_date",
        "created",
        "created_at",
        "datetime",
        "crawl_date",
        "warc-date",
    ),
    "source": ("source", "domain", "host", "site", "publisher"),
}
_OPTIONS = {field: f"{'id' if field == 'doc_id' else field}_column" for field in GUESSES}
NUMBERED = "no id column: documents are numbered"


@dataclass(frozen=True, slots=True)
class Columns:
    """The column for each field of a document; only `text` always exists."""

    by_field: dict[str, str]
    notes: tuple[str, ...]
    markup: bool = False  # whether the texts are HTML
    features: bool = False  # whether the column of the text has lists of features (`feature_lists`)
    others: tuple[str, ...] = ()  # further columns of the text, which follow the first

    @property
    def text(self) -> str:
        """The column of the text, or the first of them."""
        return self.by_field["text"]

    @property
    def texts(self) -> tuple[str, ...]:
        """All columns of the text."""
        return self.text, *self.others

    @property
    def titled(self) -> str | None:
        """How `--text-column` names the title and the text together, if there is a title that is no part of it."""
        title = self.by_field.get("title")
        if title is None or self.features or any("," in name for name in (title, *self.texts)) or title in self.texts:
            return None
        return ",".join((title, *self.texts))

    @property
    def doc_id(self) -> str | None:
        """The column of the id, if there is one."""
        return self.by_field.get("doc_id")


def choose_columns(
    name: str,
    columns: Sequence[str],
    options: ReadOptions,
    *,
    usable: Callable[[str, str], bool] = lambda field, column: True,
    complete: bool = True,
) -> Columns:
    """Choose for the part called `name`.

    `usable(field, column)` says whether a guess is possible, for instance by the column's type.
    `complete` is false if `columns` is only a sample, as for JSONL: there a title, url, date or source column that the
    user names may come later.
    """
    by_field: dict[str, str] = {}
    notes: list[str] = []
    others: list[str] = []
    for field, guesses in GUESSES.items():
        named: str | None = getattr(options, _OPTIONS[field])
        if field == "text" and options.features is not None:
            named = options.features
            if named not in columns:
                listed = list_names(columns)
                raise InputError(f"{name}: no column {named!r}, which has the features; its columns are {listed}")
        elif field == "text" and named is not None:
            named, *others = text_names(named, columns)
            missing = [column for column in others if column not in columns]
            if missing:
                raise _no_column(name, f"no column {missing[0]!r}", field, columns)
            if len({named, *others}) <= len(others):
                raise InputError(f"{name}: --text-column {options.text_column} has a column twice; name each once")
        if named is not None:
            if named not in columns and (complete or field in ("text", "doc_id")):
                raise _no_column(name, f"no column {named!r}", field, columns)
            if named not in columns:
                notes.append(f"{field} column: {named}, which the first records do not have")
            by_field[field] = named
        elif (guess := _guess(field, guesses, columns, usable)) is not None:
            by_field[field] = guess
            notes.append(f"{'id' if field == 'doc_id' else field} column: {guess}")
    if "text" not in by_field:
        raise _no_column(name, "no column looks like the text", "text", columns)
    if "doc_id" not in by_field:
        notes.append(NUMBERED)
    if options.features is not None:
        return Columns(by_field, tuple(notes), features=True)
    markup = options.markup == "html"
    html = [column for column in (by_field["text"], *others) if "html" in re.split(r"[\W_]+", column.lower())]
    if options.markup == "auto" and html:
        markup = True
        notes.append(f"text column {html[0]}: read as HTML, its markup is removed; --markup none keeps it")
    return Columns(by_field, tuple(notes), markup, others=tuple(others))


def text_names(given: str, columns: Iterable[str]) -> list[str]:
    """The columns that a name of the text stands for: itself, or several with commas if there is none of that name."""
    return [given] if given in columns or "," not in given else [name.strip() for name in given.split(",")]


def null_problem(columns: Sequence[str], of_records: bool = False) -> str:
    """Why a record is rejected that has no value in any of these columns. Of records from Python, several columns are
    also null where one is not a string (`spool`)."""
    named = " and ".join(map(repr, columns))
    if len(columns) == 1:
        return f"{named} is null"
    return f"{named} are null, or one of them is not a string" if of_records else f"{named} are null"


def _guess(
    field: str, guesses: tuple[str, ...], columns: Sequence[str], usable: Callable[[str, str], bool]
) -> str | None:
    by_lower: dict[str, str] = {}
    for column in columns:
        by_lower.setdefault(column.lower(), column)
    present = [by_lower[guess] for guess in guesses if guess in by_lower]
    fallback = present[0] if present and field == "text" else None  # so that the error can say what is wrong
    return next((column for column in present if usable(field, column)), fallback)


def _no_column(name: str, what: str, field: str, columns: Sequence[str]) -> InputError:
    option = _OPTIONS[field].replace("_", "-")
    return InputError(f"{name}: {what}; its columns are {list_names(columns)}. Name it with --{option} NAME")
