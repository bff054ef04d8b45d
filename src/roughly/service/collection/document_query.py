"""Which documents a table shows: filter, order, page; checked, with all problems reported together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from roughly import checks
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.service.collection.page_limits import DEEPEST, MOST, PAGE

COLUMNS = {
    "doc_id": "id", "title": "title", "kept": "verdict", "kept_id": "witness", "resemblance": "resemblance",
    "containment": "contained in its witness", "contained_in": "contains of its witness", "kind": "kind",
    "cluster_id": "cluster", "date": "date", "source": "source", "url": "address", "tokens": "words", "bytes": "bytes",
    "equal_to": "same words as", "decided": "decided",
}  # fmt: skip
"""Columns of a table of documents, with their headings."""
SORTS = (
    "id", "title", "kept", "resemblance", "containment", "kind", "cluster", "date", "source", "words", "bytes"
)  # fmt: skip
VERDICTS = {"": "all documents", "yes": "kept", "no": "removed"}
_DAY = re.compile(r"(\d{1,4})(?:-(\d{2}))?(?:-(\d{2}))?")
_NUMBERS: dict[str, type] = {"low": float, "high": float, "least": int, "most": int}


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentQuery:
    """Which documents are wanted, and in which order; `-` before an order turns it round."""

    q: str = ""  # part of an id, a title or an address
    kept: str = ""
    kind: str = ""
    source: str = ""
    cluster: str = ""
    low: float | None = None  # bounds of the resemblance to the witness
    high: float | None = None
    least: int | None = None  # bounds of the number of words
    most: int | None = None
    since: date | None = None
    until: date | None = None
    decided: bool = False
    sort: str = ""
    offset: int = 0
    limit: int = PAGE

    def __post_init__(self) -> None:
        problems = [*checks.whole("offset", self.offset, 0, DEEPEST), *checks.whole("limit", self.limit, 1, MOST)]
        if self.kept not in VERDICTS:
            problems.append(f"kept must be yes, no or empty, not {self.kept[:40]!r}")
        if self.sort and self.sort.removeprefix("-") not in (*SORTS, "added"):
            problems.append(f"sort must be one of {', '.join(SORTS)}, not {self.sort[:40]!r}")
        for name, value in (("low", self.low), ("high", self.high)):
            if value is not None and not 0 <= value <= 1:
                problems.append(f"{name} must be from 0 to 1, not {value!r}")
        for name in ("least", "most"):
            if getattr(self, name) is not None:
                problems += checks.whole(name, getattr(self, name), 0, 2**62)
        if problems:
            raise SettingsError("; ".join(problems))

    @property
    def filters(self) -> bool:
        """Whether it leaves documents out."""
        names = ("q", "kept", "kind", "source", "cluster", "decided")
        bounds = ("low", "high", "least", "most", "since", "until")
        return any(getattr(self, name) for name in names) or any(getattr(self, name) is not None for name in bounds)


def parse_query(given: Mapping[str, str], **more: Any) -> DocumentQuery:
    """The query of an address."""
    texts = {name: given[name] for name in ("q", "kept", "kind", "source", "cluster", "sort") if given.get(name)}
    values: dict[str, Any] = {**texts, "decided": bool(given.get("decided")), **more}
    problems = []
    for name, kind in _NUMBERS.items():
        if given.get(name):
            try:
                values[name] = kind(given[name])
            except ValueError:
                problems.append(f"{name} must be a number, not {given[name][:40]!r}")
    for name, last in (("since", False), ("until", True)):
        if given.get(name):
            day = _day(given[name], last)
            if day is None:
                problems.append(f"{name} must be a day, a month or a year, such as 2024-05, not {given[name][:40]!r}")
            values[name] = day
    if problems:
        raise SettingsError("; ".join(problems))
    return DocumentQuery(**values)


def _day(given: str, last: bool) -> date | None:
    """The first or the last day of a year, a month or a day."""
    found = _DAY.fullmatch(given.strip())
    if found is None:
        return None
    year, month, day = (None if part is None else int(part) for part in found.groups())
    try:
        if year is not None and month is None:
            return date(year, 12, 31) if last else date(year, 1, 1)
        if year is not None and month is not None and day is None:
            if not last:
                return date(year, month, 1)
            return date(year, 12, 31) if month == 12 else date.fromordinal(date(year, month + 1, 1).toordinal() - 1)
        return date(year or 0, month or 0, day or 0)
    except ValueError:
        return None
