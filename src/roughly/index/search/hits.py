"""The documents that a search finds, the best first."""

from __future__ import annotations

from sqlalchemy import Connection

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.index.answers import PlainAnswer
from roughly.index.index_config import IndexConfig
from roughly.index.search import fulltext
from roughly.index.search.search_index import read_state, refuse_without_texts
from roughly.index.search.search_words import Query
from roughly.index.storage.document_rows import documents_by_number
from roughly.index.storage.store import IndexStore


@dataclass(frozen=True, slots=True)
class Hit(PlainAnswer):
    """A document that a search found."""

    doc_id: str
    cluster_id: int
    score: float  # the higher the better; comparable within one search only
    tokens: int
    title: str | None
    url: str | None
    date: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Hits(PlainAnswer):
    """Some of the documents that a search found, the best first."""

    query: str
    total: int  # documents found
    offset: int
    hits: tuple[Hit, ...]


def search(store: IndexStore, connection: Connection, config: IndexConfig, text: str, limit: int, offset: int) -> Hits:
    """The documents that have the words of a query, the best first."""
    refuse_without_texts(store, config)
    state = read_state(connection)
    if state is None:
        raise SettingsError(
            f"{store.name} has no search index yet; make one with `roughly index search-index {store.name}`"
        )
    if not state.ready:
        raise SettingsError(
            f"the search index of {store.name} is not complete; continue with `roughly index search-index {store.name}`"
        )
    query = Query.parse(text)
    if not query:
        return Hits(text, 0, offset, ())
    total = fulltext.count(store, connection, query)
    scores = dict(fulltext.best(store, connection, query, limit, offset)) if offset < total else {}
    rows = {row.document: row for row in documents_by_number(store, connection, list(scores))}
    found = [(rows[number], score) for number, score in scores.items()]
    hits = [Hit(r.doc_id, r.cluster, score, r.tokens, r.title, r.url, r.date, r.source) for r, score in found]
    return Hits(text, total, offset, tuple(hits))
