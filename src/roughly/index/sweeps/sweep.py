"""Sweeps: the pages of a crawl, added to an index under the day of the crawl.

A page of a sweep is a document whose id is its url and the day, `http://a.org/x@2024-03-31`. So every version of a page
is kept, and a version that did not change costs one row, since its text is stored once. The sweeps themselves are noted
in the table `meta`, as `open` while one is running: an interrupted sweep is never mistaken for a crawl that missed
pages, and running it again continues with what is missing. Pages are ordinary documents of the index, so `remove` and
`expire` need not know about sweeps.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection, select

from roughly.amounts import records_were
from roughly.dates import NO_DAY, day_of
from roughly.errors import InputMissing, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.index.answers import PlainAnswer
from roughly.index.index import Index
from roughly.index.index_config import IndexConfig
from roughly.index.matching.signed_batch import LONGEST_ID
from roughly.index.storage.meta import delete_meta, write_meta
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, META
from roughly.index.writes import remove_numbers
from roughly.model import Reject
from roughly.urls import canonical_url, host_of

_NAME = "sweep:"


@dataclass(frozen=True, slots=True)
class Sweep(PlainAnswer):
    """One crawl."""

    date: str
    state: Literal["open", "done"]
    pages: int  # distinct urls
    rejected: int = 0  # records that could not be used
    left_out: int = 0  # responses without the page, such as errors
    revisits: int = 0  # pages that the crawler did not store again, because they had not changed
    unresolved: int = 0  # revisits whose earlier version the index does not have


@dataclass(frozen=True, slots=True)
class SweptPage:
    """A page as one sweep found it."""

    url: str
    date: str
    doc_id: str
    content: int
    document: int
    tokens: int
    title: str | None = None

    @property
    def host(self) -> str:
        """The host of its url."""
        return host_of(self.url)


def page_id(url: str, date: str) -> str:
    """The id of a page of a sweep."""
    return f"{url}@{date}"


def read_date(given: str) -> str:
    """The day of a sweep."""
    day = day_of(given)
    if day == NO_DAY:
        raise SettingsError(f"the date of a sweep must be a day such as 2024-03-31, not {given!r}")
    return datetime.date.fromordinal(day).isoformat()


class SweepWriter:
    """Adds a sweep to an index: `add` pages until there are no more, then `finish`."""

    def __init__(self, index: Index, date: str, *, redo: bool = False) -> None:
        self.index, self.date = index, read_date(date)
        before = {sweep.date: sweep for sweep in sweeps_of(index)}.get(self.date)
        self.resumed = before is not None and not redo
        if redo and before is not None:
            index.remove([page.doc_id for page in pages_of(index, self.date)])
        self.sweep = Sweep(self.date, "open", 0)
        _note(index, self.sweep)
        self.rejects: list[Reject] = []
        self._left_out = self._revisits = self._unresolved = 0

    def add(self, documents: Iterable[Mapping[str, Any]], name: str = "documents") -> int:
        """Add pages; those without a url are rejected. Returns how many were added."""
        pages: dict[str, dict[str, Any]] = {}
        for number, document in enumerate(documents, 1):
            url = document.get("url")
            address = canonical_url(url) if isinstance(url, str) else ""
            if problem := _problem(address, self.date):
                self.rejects.append(Reject(name, str(document.get("doc_id", number)), problem, address[:200]))
                continue
            page = {key: document.get(key) for key in ("text", "markup", "title")}
            facts = {"doc_id": page_id(address, self.date), "url": address, "date": self.date}
            pages[address] = page | facts | {"source": host_of(address) or None}  # the last page of a url counts
        self.index.add(list(pages.values()))
        return len(pages)

    def leave_out(self, count: int) -> None:
        """Count responses that did not contain the page."""
        self._left_out += count

    def revisit(self, pairs: Iterable[tuple[str, str | None]]) -> None:
        """Add pages that the crawler found unchanged, with the text of the version before."""
        for url, refers_to in pairs:
            address = canonical_url(url)
            if self.index.get(page_id(address, self.date)) is not None:
                continue
            self._revisits += 1
            text = None
            for other in (address, *([canonical_url(refers_to)] if refers_to else [])):
                for page in reversed(versions_of(self.index, other)):
                    if text is None and page.date <= self.date:
                        text = self.index.text(page.doc_id)
            if text is None:
                self._unresolved += 1
            else:
                self.add([{"url": address, "text": text}])

    def finish(self) -> Sweep:
        """Note that the sweep is complete."""
        count = len(pages_of(self.index, self.date))
        if not count:
            drop(self.index, self.date)
            raise InputMissing(
                f"no page with an address was found, so there is no sweep of {self.date}: "
                f"{records_were(len(self.rejects))} rejected, {self._left_out:,} answers were no pages; "
                "name the column of the urls with --url-column"
            )
        self.sweep = replace(
            self.sweep, state="done", pages=count, rejected=len(self.rejects), left_out=self._left_out,
            revisits=self._revisits, unresolved=self._unresolved,
        )  # fmt: skip
        _note(self.index, self.sweep)
        return self.sweep


def _problem(address: str, date: str) -> str | None:
    """Why no page can have this url; None where it can."""
    if not address:
        return "has no url, by which a page of a sweep is known"
    if "\0" in address or len(page_id(address, date).encode("utf-8", "surrogatepass")) > LONGEST_ID:
        return f"its url has more than {LONGEST_ID - 11:,} bytes, or the character NUL: no database stores it"
    return None


def _note(index: Index, sweep: Sweep) -> None:
    def work(connection: Connection, config: IndexConfig) -> None:
        write_meta(connection, {f"{_NAME}{sweep.date}": json.dumps(sweep.to_dict())})

    index.transactions.write(work)


def sweeps_of(index: Index) -> list[Sweep]:
    """All sweeps by date, finished or not."""
    sweeps = select(META.c.value).where(META.c.name.like(f"{_NAME}%")).order_by(META.c.name)
    rows = index.transactions.read(lambda connection, config: connection.execute(sweeps).scalars().all())
    return [Sweep(**json.loads(row)) for row in rows]


def finished(index: Index) -> list[Sweep]:
    """The finished sweeps by date; refuses an index that has none."""
    found = [sweep for sweep in sweeps_of(index) if sweep.state == "done"]
    if not found:
        raise InputMissing(f"{index.name} has no finished sweep; add one with `roughly index sweep`")
    return found


def drop(index: Index, date: str) -> int:
    """Remove a sweep with all its pages; returns how many there were."""
    day = read_date(date)
    pages = pages_of(index, day)

    def work(connection: Connection, config: IndexConfig) -> None:
        rows = [(page.document, page.content) for page in pages]
        remove_numbers(index.transactions.store, connection, config, rows)
        delete_meta(connection, f"{_NAME}{day}")

    index.transactions.write(work)
    return len(pages)


def pages_of(index: Index, date: str) -> list[SweptPage]:
    """The pages of a sweep, by url."""
    return sorted(_pages(index, DOCUMENTS.c.day == day_of(date)), key=lambda page: page.url)


def versions_of(index: Index, url: str) -> list[SweptPage]:
    """The versions of a page, the earliest first."""
    return sorted(_pages(index, DOCUMENTS.c.url == canonical_url(url)), key=lambda page: page.date)


def pages_with(index: Index, texts: Iterable[int]) -> list[SweptPage]:
    """The pages, of any sweep, that have one of these texts."""
    wanted = np.array(sorted(set(texts)), np.int64)
    found: list[SweptPage] = []
    for at in range(0, len(wanted), 10_000):
        found += _pages(index, index.transactions.store.among(DOCUMENTS.c.content, wanted[at : at + 10_000]))
    return found


def _pages(index: Index, where: Any) -> list[SweptPage]:
    names = ("url", "date", "doc_id", "content", "document")
    columns = select(*(DOCUMENTS.c[name] for name in names), CONTENTS.c.tokens, DOCUMENTS.c.title)
    statement = columns.join(CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content).where(where)
    rows = index.transactions.read(lambda connection, config: connection.execute(statement).all())
    pages = (SweptPage(*tuple(row)) for row in rows if row[0] is not None and row[1] is not None)
    return [page for page in pages if page.doc_id == page_id(page.url, page.date)]
