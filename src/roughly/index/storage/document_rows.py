"""Rows of documents, each joined with the row of its content."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, func, select

from roughly.index.storage.schema import CONTENTS, DOCUMENTS
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]


class DocumentRow(NamedTuple):
    """What an index knows of a document."""

    document: int
    content: int
    doc_id: str
    day: int | None
    added: int
    url: str | None
    date: str | None
    title: str | None
    source: str | None
    cluster: int
    tokens: int
    state: int


_OF_CONTENT = ("cluster", "tokens", "state")


def select_documents() -> Any:
    """A select of the columns of `DocumentRow`, in its order."""
    columns = [(CONTENTS if name in _OF_CONTENT else DOCUMENTS).c[name] for name in DocumentRow._fields]
    return select(*columns).select_from(DOCUMENTS).join(CONTENTS, CONTENTS.c.content == DOCUMENTS.c.content)


def documents_by_number(store: IndexStore, connection: Connection, numbers: list[int]) -> list[DocumentRow]:
    """Documents by their numbers."""
    rows = store.select_rows(
        connection,
        "documents by number",
        lambda: select_documents().where(store.one_of(DOCUMENTS.c.document)),
        values=store.list_parameter(np.array(sorted(numbers), np.int64)),
    )
    return list(map(DocumentRow._make, rows))


def earliest_documents(store: IndexStore, connection: Connection, contents: Ints) -> dict[int, DocumentRow]:
    """The document of each content that was added first."""
    if not len(contents):
        return {}
    rows = store.select_rows(
        connection,
        "earliest document of each content",
        lambda: (
            select(func.min(DOCUMENTS.c.document))
            .where(store.one_of(DOCUMENTS.c.content))
            .group_by(DOCUMENTS.c.content)
        ),
        values=store.list_parameter(contents),
    )
    return {row.content: row for row in documents_by_number(store, connection, [row[0] for row in rows])}
