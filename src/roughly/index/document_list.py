"""Documents of an index for people who browse it: by page, filtered and in one of a few orders, each with an index.

Documents that a filter leaves are not counted: that would mean reading all. `page` says whether there are more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Select, func, or_

from roughly.index.index import Index
from roughly.index.storage.document_rows import DocumentRow, select_documents
from roughly.index.storage.schema import DOCUMENTS

ORDERS = ("added", "-added", "id", "-id", "date", "-date")
_COLUMNS = {"added": "document", "id": "doc_id", "date": "day"}
_SEARCHED = ("doc_id", "title", "url")
_AT_ONCE = 2_000


@dataclass(frozen=True, kw_only=True)
class DocumentFilter:
    """Which documents are wanted, and in which order."""

    q: str = ""  # part of an id, a title or a url
    source: str = ""
    since: int | None = None  # days, counted from 1 January of year 1
    until: int | None = None
    order: str = "added"
    offset: int = 0
    limit: int = 50


def page(index: Index, wanted: DocumentFilter) -> tuple[list[DocumentRow], bool]:
    """(a page of documents, whether there are more)."""
    store = index.transactions.store
    if store.postgres and "\x00" in wanted.q + wanted.source:  # no text of PostgreSQL holds one
        return [], False
    query = _select(wanted).limit(wanted.limit + 1).offset(wanted.offset)
    rows = index.transactions.read(lambda connection, _: connection.execute(query).all())
    return [DocumentRow(*row) for row in rows[: wanted.limit]], len(rows) > wanted.limit


def every(index: Index, wanted: DocumentFilter, limit: int) -> Iterator[DocumentRow]:
    """All documents up to a limit, some at a time, so that no transaction is open for long."""
    offset = 0
    while offset < limit:
        some, more = page(index, replace(wanted, offset=offset, limit=min(_AT_ONCE, limit - offset)))
        yield from some
        if not more:
            return
        offset += len(some)


def named_like(index: Index, beginning: str, limit: int) -> list[DocumentRow]:
    """Documents whose id begins so, by id."""
    if not beginning or "\x00" in beginning:
        return []
    after = beginning[:-1] + chr(min(ord(beginning[-1]) + 1, 0x10FFFF))
    if 0xD800 <= ord(after[-1]) <= 0xDFFF:
        after = beginning[:-1] + "\ue000"
    column = DOCUMENTS.c.doc_id
    query = select_documents().where(column >= beginning, column < after).order_by(column).limit(limit)
    rows = index.transactions.read(lambda connection, _: connection.execute(query).all())
    return [DocumentRow(*row) for row in rows]


def _select(wanted: DocumentFilter) -> Select[Any]:
    query = select_documents()
    if wanted.q:
        within = (func.lower(DOCUMENTS.c[name]).contains(wanted.q.lower(), autoescape=True) for name in _SEARCHED)
        query = query.where(or_(*within))
    if wanted.source:
        query = query.where(DOCUMENTS.c.source == wanted.source)
    if wanted.since is not None:
        query = query.where(DOCUMENTS.c.day >= wanted.since)
    if wanted.until is not None:
        query = query.where(DOCUMENTS.c.day <= wanted.until)
    column = DOCUMENTS.c[_COLUMNS[wanted.order.removeprefix("-")]]
    falls = wanted.order.startswith("-")
    if wanted.order.endswith("date"):
        query = query.where(DOCUMENTS.c.day.is_not(None))
    orders = [column] if column.name != "day" else [column, DOCUMENTS.c.document]
    return query.order_by(*(one.desc() if falls else one for one in orders))  # type: ignore[no-any-return]
