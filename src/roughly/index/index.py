"""`roughly.Index`: a store of documents that answers which of them are duplicates of a document, as a batch run would.

    >>> with Index.create("archive.db", threshold=0.8) as index:
    ...     index.add([{"doc_id": "a", "text": "…"}])
    ...     index.query("…")

Every method works: an index uses the keys, the sketch and the verdict of a method, and nothing else. It is an SQLite
file, or a PostgreSQL database that many processes write to (see `storage.store`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

import pyarrow as pa
from sqlalchemy import Connection

from roughly.errors import SettingsError
from roughly.index import incoming, queries, writes
from roughly.index.answers import Added, Match
from roughly.index.index_config import IndexConfig, check_same, create_tables, make_config, with_lexicon
from roughly.index.index_reader import IndexReader
from roughly.index.matching.signed_batch import SignedBatch, sign
from roughly.index.queries import QueryRequest, read_day
from roughly.index.search import search_index
from roughly.index.storage.failures import attempt
from roughly.index.storage.store import MEMORY, IndexStore
from roughly.index.transactions import IndexTransactions
from roughly.lexicon.lexicon import Lexicon
from roughly.settings import Resources, Settings
from roughly.threads import map_in_order

if TYPE_CHECKING:
    from roughly.index.upkeep.check import IndexCheck
    from roughly.index.upkeep.refresh import Refreshed
    from roughly.option_types import IndexOptions

_EXPIRED = 1_000  # documents per transaction


class Index(IndexReader):
    """A store of documents. `Index(":memory:")` is one in memory, `Index("archive.db")` opens one; `create` makes one.

    Threads may share it. It has a length, `doc_id in index` is whether a document is there, and iteration gives the
    ids in the order in which they were added.
    """

    # ------------------------------------------------------------------ making and opening

    def __init__(self, where: str | os.PathLike[str] = MEMORY, **options: Unpack[IndexOptions]) -> None:
        """Make an index in memory with these options, or open an existing one, which must have been made with them."""
        key_file = options.get("key_file")
        if where == MEMORY:
            self.transactions = _made(where, Settings.gather(options))
            return
        self.transactions = _opened(where, key_file)
        try:
            own = self.settings.to_dict() | {"options": dict(self.settings.options)}
            check_same(self.config, Settings.gather(own, options), self.name)
        except BaseException:
            self.close()
            raise

    @classmethod
    def of(cls, transactions: IndexTransactions) -> Self:
        """An index on the transactions of another."""
        made = cls.__new__(cls)
        made.transactions = transactions
        return made

    @classmethod
    def create(
        cls,
        where: str | os.PathLike[str],
        settings: Settings | None = None,
        *,
        store: str = "text",
        lexicon: str | os.PathLike[str] | Lexicon | None = None,
        search: bool = False,
        **options: Unpack[IndexOptions],
    ) -> Self:
        """Make an index: a file that does not exist yet, an empty PostgreSQL database, or `:memory:`.

        `options` are those of `Settings` and of the method, instead of `settings`. `store` says what is stored of a
        text for comparison: the `text` itself, compressed; its `shingles`; a `sketch` of them, from which scores are
        estimated; or `packed`, the 184 bytes of `term-vector`. `lexicon` is that of the method, and with settings the
        one used for `collection`. With `search`, full-text search is possible from the start.
        """
        if settings is None:
            settings = Settings.gather(options, {} if lexicon is None else {"lexicon": lexicon})
        elif options:
            raise SettingsError(f"give settings, or options by name, not both: {', '.join(options)}")
        counted = lexicon if isinstance(lexicon, Lexicon) else None if lexicon is None else Lexicon.open(lexicon)
        return cls.of(_made(where, settings, store, counted, search=search))

    @classmethod
    def open(cls, where: str | os.PathLike[str], *, key_file: str | os.PathLike[str] | None = None) -> Self:
        """Open an existing index. One that was made with a secret key needs the key again."""
        return cls.of(_opened(where, key_file))

    @classmethod
    def import_run(
        cls,
        folder: str | os.PathLike[str],
        where: str | os.PathLike[str],
        *,
        inputs: Sequence[str | os.PathLike[str]] | None = None,
        store: str = "text",
        key_file: str | os.PathLike[str] | None = None,
        temp: str | os.PathLike[str] | None = None,
        temp_limit: int | str | None = None,
    ) -> Self:
        """Make an index of the output folder of a run, with its settings, documents and clusters.

        The run's input is read again, from where it was or from `inputs`. Temporary files are written to `temp`, at
        most `temp_limit` of them (`"10GB"`).
        """
        from roughly.index.upkeep.import_run import import_run

        key = None if key_file is None else os.fspath(key_file)
        given = None if inputs is None else [os.fspath(path) for path in inputs]
        resources = Resources(temp=None if temp is None else Path(temp), temp_limit=temp_limit)  # type: ignore[arg-type]
        import_run(Path(folder), where, inputs=given, store=store, key_file=key, resources=resources)
        return cls.open(where, key_file=key_file)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ writing

    def add(self, documents: Any, *, at_once: int = incoming.AT_ONCE) -> list[Added]:
        """Add documents; each joins the cluster of the document that it resembles most, or starts one.

        A document is a text, or a mapping with `text` and other facts (`doc_id`, `title`, `url`, `date`, `source`); a
        list of them, a pandas, polars or Arrow table or a dataset is accepted too. Without an id it gets one made from
        its text. One transaction adds `at_once` of them. A document that is already there is left as it is; one whose
        text has changed replaces the earlier version.
        """
        return [added for some in self.adding(documents, at_once=at_once) for added in some]

    def adding(self, documents: Any, *, at_once: int = incoming.AT_ONCE) -> Iterator[list[Added]]:
        """The same, one transaction at a time: what was yielded is safely stored."""
        documents = incoming.with_ids(documents, self.settings.reading())
        pieces = (
            batch.slice(some.start, some.stop - some.start)
            for batch in incoming.batches(documents, self.settings.reading(), at_once)
            for some in incoming.unrepeated(batch.column("doc_id").to_pylist())
        )
        few = hasattr(documents, "__len__") and len(documents) <= at_once
        signed = map_in_order(lambda piece: (self.config, _sign(piece, self.config)), pieces, 1 if few else 2)
        for config, some in signed:
            yield self._add(config, some)

    def _add(self, signed_with: IndexConfig, signed: SignedBatch) -> list[Added]:
        def work(connection: Connection, config: IndexConfig) -> list[Added]:
            # another process may have refreshed the index since the batch was signed
            now = signed if config is signed_with else _sign(signed.batch, config)
            return writes.DocumentWriter(self._store, connection, config, now).run()

        return self.transactions.write(work)

    def remove(self, ids: str | Iterable[str]) -> list[str]:
        """Remove documents; returns the ids that were there. Clusters keep their ids."""
        listed = _listed(ids)
        return self.transactions.write(
            lambda connection, config: writes.remove(self._store, connection, config, listed)
        )  # fmt: skip

    def revoke(self, ids: str | Iterable[str]) -> list[str]:
        """Declare that the texts of documents match nothing, now and whenever they are added again.

        The documents are kept and listed as revoked, and so are others with exactly the same text. Returns the ids that
        were there.
        """
        listed = _listed(ids)
        return self.transactions.write(
            lambda connection, config: writes.revoke(self._store, connection, config, listed)
        )  # fmt: skip

    def expire(self, *, before: str | None = None, older_than: float | None = None) -> int:
        """Remove documents dated before a day, or added more than `older_than` seconds ago; returns how many.

        Each transaction removes up to a thousand, so other writers never wait long. With `before`, documents without a
        date are kept.
        """
        if (before is None) == (older_than is None):
            raise SettingsError("expire by the documents' date (before) or by when they were added (older_than)")
        day = read_day("before", before)
        limit = None if older_than is None else int(time.time() - older_than) + 1
        removed = 0
        while True:
            some = self.transactions.write(
                lambda connection, config: writes.expire(
                    self._store, connection, config, before=day, added_before=limit, limit=_EXPIRED
                )
            )
            removed += some
            if some < _EXPIRED:
                return removed

    # ------------------------------------------------------------------ querying

    def query(
        self,
        document: Any,
        *,
        limit: int | None = 10,
        minimum: float | None = None,
        since: str | None = None,
        until: str | None = None,
        measure: str | None = None,
        match_empty: bool = False,
    ) -> list[Match]:
        """The documents of the index that a text, or a document, is a duplicate of, the most similar first.

        `minimum` is the lowest `measure` (`resemblance`, `containment` or `contained_in`), which is also the order of
        the matches; `since` and `until` are days of the documents' dates. A document without words matches nothing,
        unless `match_empty`: then it matches the others without words.
        """
        request = QueryRequest.of_days(limit, minimum, since, until, measure, match_empty)
        return self._matches(incoming.one(document, self.settings.reading()), request)[0]

    def queries(
        self,
        documents: Any,
        *,
        limit: int | None = 10,
        minimum: float | None = None,
        since: str | None = None,
        until: str | None = None,
        measure: str | None = None,
        match_empty: bool = False,
    ) -> list[list[Match]]:
        """The same for many documents at once."""
        request = QueryRequest.of_days(limit, minimum, since, until, measure, match_empty)
        documents = incoming.with_ids(documents, self.settings.reading())
        return [
            found
            for batch in incoming.batches(documents, self.settings.reading())
            for found in self._matches(batch, request)
        ]

    def _matches(self, batch: pa.RecordBatch, request: QueryRequest) -> list[list[Match]]:
        return self.transactions.read(
            lambda connection, config: queries.matches(
                self._store, connection, config, _sign(batch, config), request
            )
        )  # fmt: skip

    # ------------------------------------------------------------------ upkeep

    def verify(self, sample: int | None = None) -> IndexCheck:
        """Check that the index is whole; with `sample`, keys are recomputed for a sample of this number of texts."""
        from roughly.index.upkeep import check

        return self.transactions.read(
            lambda connection, config: check.verify(self._store, connection, config, sample)
        )  # fmt: skip

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> int:
        """Write all documents to a Parquet file (`upkeep.export.SCHEMA`); returns how many."""
        from roughly.index.upkeep import export

        return self.transactions.read(
            lambda connection, config: export.export(self._store, connection, config, Path(path), overwrite)
        )

    def make_searchable(self, *, advance: Callable[[int], None] = lambda done: None) -> int:
        """Make the search index, in steps, while the index is in use; returns how many texts were added.

        After a kill, the same call continues; where the search index is complete, nothing is done.
        """
        return search_index.make(self._store, self.config, advance)

    def forget_search(self) -> None:
        """Delete the search index."""
        self.transactions.write(lambda connection, config: search_index.forget(connection))

    def refresh(
        self, lexicon: str | os.PathLike[str] | Lexicon, *, advance: Callable[[int], None] = lambda done: None
    ) -> Refreshed:
        """Sign all texts with another lexicon, in steps, while the index is in use; then exchange the keys at once.

        After a kill, the same call continues where it stopped.
        """
        from roughly.index.upkeep import refresh

        old = self.transactions.read(lambda connection, config: config)
        new = with_lexicon(old, lexicon, self.name)
        refreshed = refresh.refresh(self._store, old, new, advance)
        self.transactions.config = new
        return refreshed

    @classmethod
    def upgrade(
        cls, where: str | os.PathLike[str], *, key_file: str | os.PathLike[str] | None = None
    ) -> tuple[int, int]:
        """Bring an index to this version's format; (format before, format now). After a kill, call it again."""
        from roughly.index.upkeep import upgrade

        database = IndexStore(where)
        try:
            return upgrade.upgrade(database, None if key_file is None else os.fspath(key_file))
        finally:
            database.close()


def _made(
    where: str | os.PathLike[str],
    settings: Settings,
    store: str = "text",
    lexicon: Lexicon | None = None,
    *,
    search: bool = False,
) -> IndexTransactions:
    """A new index."""
    config = make_config(settings, store, lexicon)
    database = IndexStore(where, new=True)

    def make() -> None:
        with database.write_transaction() as connection:
            create_tables(database, connection, config)
            if search:
                search_index.create(database, connection, config, empty=True)

    try:
        attempt(database.name, make, tries=2)
    except BaseException:
        database.close()
        raise
    return IndexTransactions(database, config, settings.options.get("key_file"))


def _opened(where: str | os.PathLike[str], key_file: str | os.PathLike[str] | None) -> IndexTransactions:
    """An existing index."""
    database = IndexStore(where)
    try:
        return IndexTransactions.open(database, key_file)
    except BaseException:
        database.close()
        raise


def _sign(batch: pa.RecordBatch, config: IndexConfig) -> SignedBatch:
    return sign(batch, config.method, config.settings)


def _listed(ids: str | Iterable[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else [str(doc_id) for doc_id in ids]
