"""What an index stores: its settings, documents, clusters and texts, as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, func, select

from roughly.errors import RoughlyError, SettingsError
from roughly.index import queries
from roughly.index.answers import Entry, Stats
from roughly.index.index_config import IndexConfig
from roughly.index.search import search_index
from roughly.index.search.hits import Hits, search
from roughly.index.stats import count_stats
from roughly.index.storage.schema import CONTENTS, DOCUMENTS
from roughly.index.storage.store import IndexStore
from roughly.index.transactions import IndexTransactions
from roughly.model import SCORED_PAIRS
from roughly.settings import Settings
from roughly.urls import canonical_url, host_of

_PAGE = 10_000  # ids read at once


class IndexReader:
    """The reading half of an index: a collection of documents by their ids."""

    transactions: IndexTransactions
    """For code that uses the tables of the index; it must not change what the index stores."""

    @property
    def name(self) -> str:
        """The file or address, without a password."""
        return self._store.name

    @property
    def settings(self) -> Settings:
        """The settings that it was made with."""
        return self.config.settings

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the settings and of the files that they name."""
        return self.config.fingerprint

    @property
    def config(self) -> IndexConfig:
        """The settings and what follows from them."""
        return self.transactions.config

    @property
    def _store(self) -> IndexStore:
        return self.transactions.store

    def read_transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that reads, for programs that know the tables."""
        return self.transactions.read_transaction()

    def __len__(self) -> int:
        return int(self.transactions.read(lambda connection, config: connection.scalar(_COUNT)) or 0)

    def __bool__(self) -> bool:
        return True  # an index without documents is an index too

    def __contains__(self, doc_id: object) -> bool:
        return isinstance(doc_id, str) and self.get(doc_id) is not None

    def __iter__(self) -> Iterator[str]:
        last = -1
        while True:
            following = _IDS.where(DOCUMENTS.c.document > last).order_by(DOCUMENTS.c.document).limit(_PAGE)
            rows = self.transactions.read(_rows_of(following))
            yield from (row[1] for row in rows)
            if len(rows) < _PAGE:
                return
            last = rows[-1][0]

    def __repr__(self) -> str:
        try:
            count = len(self)
        except RoughlyError:
            return f"<{type(self).__name__} {self.name}>"
        judged = f"{self.settings.method}, threshold {self.settings.threshold:g}"
        return f"<{type(self).__name__} {self.name}: {count:,} document{'' if count == 1 else 's'}; {judged}>"

    def get(self, doc_id: str) -> Entry | None:
        """A document by its id, or None."""
        found = self._entries(DOCUMENTS.c.doc_id == doc_id)
        return found[0] if found else None

    def text(self, doc_id: str) -> str | None:
        """The stored text of a document, without markup; None where no text is stored."""
        return self.transactions.read(
            lambda connection, config: queries.text_of(self._store, connection, config, doc_id)
        )  # fmt: skip

    def cluster(self, cluster_id: int) -> list[Entry]:
        """The documents of a cluster, in the order in which they were added."""
        return self._entries(CONTENTS.c.cluster == cluster_id)

    def by_url(self, url: str) -> list[Entry]:
        """The documents with this url, in the order in which they were added.

        Looked up are the url as given and its canonical form. If no document has either, all urls of its host are
        read, which takes longer, for one of the same canonical form.
        """
        canonical = canonical_url(url)
        found = self._entries(DOCUMENTS.c.url.in_((url, canonical)))
        if found or not (host := host_of(canonical)):
            return found
        stored = self.transactions.read(lambda connection, config: queries.urls_with(connection, host))
        same = [own for own in stored if canonical_url(own) == canonical]
        return self._entries(DOCUMENTS.c.url.in_(same)) if same else []

    def _entries(self, where: Any) -> list[Entry]:
        return self.transactions.read(lambda connection, config: queries.entries(connection, where))

    def search(self, query: str, *, limit: int = 10, offset: int = 0) -> Hits:
        """The documents whose text or title has these words, the best first; `search_words` shows the forms of queries.

        The index must have been made with `search`, or have got a search index by `make_searchable`.
        """
        if limit < 1 or offset < 0:
            raise SettingsError(f"limit must be 1 or more and offset 0 or more, not {limit!r} and {offset!r}")
        return self.transactions.read(
            lambda connection, config: search(self._store, connection, config, query, limit, offset)
        )

    @property
    def searchable(self) -> bool:
        """Whether the search index is complete."""
        state = self.transactions.read(lambda connection, config: search_index.read_state(connection))
        return state is not None and state.ready

    def pairs(self) -> pa.Table:
        """Every pair of duplicates, as a batch run with `pairs="all"` finds them (`model.SCORED_PAIRS`)."""
        batches = self.transactions.read(
            lambda connection, config: list(queries.pairs(self._store, connection, config))
        )  # fmt: skip
        return pa.Table.from_batches(batches, schema=SCORED_PAIRS).sort_by(
            [("left_id", "ascending"), ("right_id", "ascending")]
        )

    def stats(self) -> Stats:
        """The size of the index in numbers."""
        return self.transactions.read(lambda connection, config: count_stats(self._store, connection, config))


def _rows_of(statement: Any) -> Callable[[Connection, IndexConfig], Sequence[Any]]:
    return lambda connection, config: connection.execute(statement).all()


_COUNT = select(func.count()).select_from(DOCUMENTS)
_IDS = select(DOCUMENTS.c.document, DOCUMENTS.c.doc_id)
