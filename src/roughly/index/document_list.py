"""Documents of an index for people who browse it: by page, filtered and in one of a few orders, each with an index.

Documents that a filter leaves are not counted: that would mean reading all. `page` says whether there are more. In a
large index words are looked for at the beginning of ids and addresses only, which have database indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, and_, func, or_, select

from roughly.fast_dataclass import dataclass
from roughly.index.index import Index
from roughly.index.storage.document_rows import DocumentRow, documents_by_number, select_documents
from roughly.index.storage.schema import DOCUMENTS
from roughly.index.storage.store import IndexStore

ORDERS = ("added", "-added", "id", "-id", "date", "-date")
_COLUMNS = {"added": "document", "id": "doc_id", "date": "day"}
_SEARCHED = ("doc_id", "title", "url")
_AT_ONCE = 2_000
_MOST_NAMED = 5_000  # documents whose names begin so


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


def page(index: Index, wanted: DocumentFilter, *, by_beginning: bool = False) -> tuple[list[DocumentRow], bool]:
    """(a page of documents, whether there are more); with the words anywhere in a name, or at its beginning."""
    store = index.transactions.store
    if store.postgres and "\x00" in wanted.q + wanted.source:  # no text of PostgreSQL holds one
        return [], False
    within = None
    if by_beginning and wanted.q:
        names = index.transactions.read(lambda connection, _: named_numbers(store, connection, wanted.q))
        within = store.among(DOCUMENTS.c.document, np.array(names, np.int64))
    query = _select(wanted, within).limit(wanted.limit + 1).offset(wanted.offset)
    rows = index.transactions.read(lambda connection, _: connection.execute(query).all())
    return [DocumentRow(*row) for row in rows[: wanted.limit]], len(rows) > wanted.limit


def every(index: Index, wanted: DocumentFilter, limit: int, *, by_beginning: bool = False) -> Iterator[DocumentRow]:
    """All documents up to a limit, some at a time, so that no transaction is open for long."""
    offset = 0
    while offset < limit:
        some, more = page(
            index,
            replace(wanted, offset=offset, limit=min(_AT_ONCE, limit - offset)),
            by_beginning=by_beginning,
        )
        yield from some
        if not more:
            return
        offset += len(some)


def numbered(index: Index, numbers: list[int]) -> list[DocumentRow]:
    """Those of these documents that there are, in this order."""
    store = index.transactions.store
    rows = index.transactions.read(lambda connection, _: documents_by_number(store, connection, numbers))
    known = {row.document: row for row in rows}
    return [known[number] for number in numbers if number in known]


def named_like(index: Index, beginning: str, limit: int) -> list[DocumentRow]:
    """Documents whose id begins so, by id."""
    if not beginning or "\x00" in beginning:
        return []
    column = DOCUMENTS.c.doc_id
    query = select_documents().where(_begins(column, beginning)).order_by(column).limit(limit)
    rows = index.transactions.read(lambda connection, _: connection.execute(query).all())
    return [DocumentRow(*row) for row in rows]


def named_numbers(store: IndexStore, connection: Connection, beginning: str) -> list[int]:
    """Numbers of documents whose id or address begins so, the first thousands of each.

    PostgreSQL has no sorted index of addresses, so there it must be a whole one.
    """
    if not beginning or "\x00" in beginning:
        return []
    url = DOCUMENTS.c.url
    conditions = (
        (DOCUMENTS.c.doc_id, _begins(DOCUMENTS.c.doc_id, beginning)),
        (url, url == beginning if store.postgres else _begins(url, beginning)),
    )
    found: set[int] = set()
    for column, condition in conditions:
        query = select(DOCUMENTS.c.document).where(condition).order_by(column).limit(_MOST_NAMED)
        found.update(connection.scalars(query))
    return sorted(found)


def _begins(column: Any, beginning: str) -> Any:
    after = beginning[:-1] + chr(min(ord(beginning[-1]) + 1, 0x10FFFF))
    if 0xD800 <= ord(after[-1]) <= 0xDFFF:
        after = beginning[:-1] + "\ue000"
    return and_(column >= beginning, column < after)


def _select(wanted: DocumentFilter, named: Any = None) -> Select[Any]:
    query = select_documents()
    if named is not None:
        query = query.where(named)
    elif wanted.q:
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
