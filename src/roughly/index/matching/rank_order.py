"""What an index knows about documents if their rank matters (`keep_rules`).

A batch run judges equal documents by the best of them, and containment as that of the lower document in the higher. So
an index needs the same order if a method has a window of dates, and for containment between documents of the same
length.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from roughly import dates
from roughly.index.storage.schema import DOCUMENTS

COLUMNS = tuple(DOCUMENTS.c[name] for name in ("content", "bytes", "date", "document", "url", "source", "doc_id"))


class RankedDocument(NamedTuple):
    """The columns of keep rules."""

    tokens: int
    bytes: int
    published: int | None  # a timestamp; see `dates`
    doc: int
    url: str | None
    source: str | None
    doc_id: str


def documents_of(rows: Iterable[Any], tokens: dict[int, int], form: str | None) -> dict[int, list[RankedDocument]]:
    """The documents of each content, from rows of `COLUMNS`; `form` is the format of their dates, if one is set."""
    found: dict[int, list[RankedDocument]] = {}
    for content, size, date, *others in rows:
        one = RankedDocument(tokens[content], size, dates.timestamp_of(date, form), *others)
        found.setdefault(content, []).append(one)
    return found


def days_of(ranked: Iterable[RankedDocument | None]) -> dates.Days:
    """Their days."""
    return dates.days(pa.array([None if d is None else d.published for d in ranked], pa.int64()))
