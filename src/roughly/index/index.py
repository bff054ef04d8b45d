"""`roughly.Index`: a store of documents that answers which of them are duplicates of a document, as a batch run would.

    >>> with Index.create("archive.db", Settings(threshold=0.8)) as index:
    ...     index.add([{"doc_id": "a", "text": "…"}])
    ...     index.query("…")

Every method works: an index knows keys, sketch and verdict, and nothing else of a method. It is an SQLite file, or a
PostgreSQL database that many processes write to (see `store`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import pyarrow as pa
from sqlalchemy import Connection
from sqlalchemy import inspect as inspected
from sqlalchemy.exc import DBAPIError

from roughly import checks
from roughly.dates import NO_DAY, day_of
from roughly.errors import IndexRefused, OutputExists, SettingsError
from roughly.index import config as binding
from roughly.index import incoming as documents
from roughly.index import queries as reading
from roughly.index import writes as writing
from roughly.index.answers import Added, Entry, Match, Stats
from roughly.index.config import IndexConfig
from roughly.index.matching.signed_batch import SignedBatch, sign
from roughly.index.search import search as searching
from roughly.index.search.search import Hits
from roughly.index.storage import counts as counting
from roughly.index.storage.failures import attempt, told
from roughly.index.storage.schema import CONTENTS, DOCUMENTS, METADATA
from roughly.index.storage.store import IndexStore, check_place
from roughly.index.upkeep import check as checking
from roughly.index.upkeep import export as exporting
from roughly.index.upkeep import refresh as refreshing
from roughly.index.upkeep import upgrade as upgrading
from roughly.index.upkeep.check import IndexCheck
from roughly.index.upkeep.refresh import Refreshed
from roughly.lexicon.lexicon import Lexicon
from roughly.measures import FOR_QUERY
from roughly.model import SCORED_PAIRS
from roughly.settings import Settings
from roughly.threads import map_in_order

T = TypeVar("T")
_REFRESHES = 5  # that may happen while one call is under way
_GENERATION = "SELECT value FROM meta WHERE name = 'generation'"
_EXPIRED = 1_000  # documents in one transaction


class _Refreshed(Exception):
    pass


class Index:
    """A store of documents; make one with `create`, open it with `open`. Threads may share it."""

    def __init__(self, store: IndexStore, bound: IndexConfig, key_file: str | os.PathLike[str] | None = None) -> None:
        self._store, self._bound, self._key_file = store, bound, key_file

    # ------------------------------------------------------------------ making and opening

    @classmethod
    def create(
        cls,
        where: str | os.PathLike[str],
        settings: Settings | None = None,
        *,
        store: str = "text",
        lexicon: Lexicon | None = None,
        search: bool = False,
    ) -> Self:
        """Make an index: a file that is not there yet, or an empty PostgreSQL database.

        `store` says what is kept of a text to judge it on: the `text` itself, compressed; its `shingles`; or a `sketch`
        of them, from which scores are estimated. `lexicon` is what the lexicon `collection` of the settings stands for.
        With `search` its texts can be searched by their words.
        """
        settings = settings or Settings()
        bound = binding.bind(settings, store, lexicon)
        check_place(where, new=True)
        place = IndexStore(where, new=True)

        def make() -> None:
            with place.writing() as connection:
                if inspected(connection).has_table("meta"):
                    raise OutputExists(f"{place.name} already holds an index; open it, or use another database")
                METADATA.create_all(connection)
                binding.write(connection, place, bound, fresh=True)
                if search:
                    searching.begin(place, connection, bound, empty=True)

        try:
            attempt(place.name, make, tries=2)
        except BaseException:
            place.close()
            raise
        return cls(place, bound, settings.options.get("key_file"))

    @classmethod
    def open(cls, where: str | os.PathLike[str], *, key_file: str | os.PathLike[str] | None = None) -> Self:
        """Open an index that is there. One that was made with a secret key needs it again."""
        place = IndexStore(where)
        try:
            bound = attempt(place.name, lambda: _read_bound(place, key_file))
        except BaseException:
            place.close()
            raise
        return cls(place, bound, key_file)

    @classmethod
    def import_run(
        cls,
        folder: str | os.PathLike[str],
        where: str | os.PathLike[str],
        *,
        inputs: Sequence[str | os.PathLike[str]] | None = None,
        store: str = "text",
        key_file: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Make an index of the output folder of a run, by bulk load: its settings, its documents, its clusters.

        The run's input is read again, from where it was or from `inputs`.
        """
        from roughly.index.upkeep.import_run import import_run

        key = None if key_file is None else os.fspath(key_file)
        given = None if inputs is None else [os.fspath(path) for path in inputs]
        import_run(Path(folder), where, inputs=given, store=store, key_file=key)
        return cls.open(where, key_file=key_file)

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """Where it lies, without a password."""
        return self._store.name

    @property
    def settings(self) -> Settings:
        """What it is bound to."""
        return self._bound.settings

    @property
    def fingerprint(self) -> str:
        """Of the settings and of what the files hold that they name."""
        return self._bound.fingerprint

    @property
    def bound(self) -> IndexConfig:
        """The settings and all that follows from them."""
        return self._bound

    # ------------------------------------------------------------------ writing

    def add(self, documents_: Any, *, at_once: int = documents.AT_ONCE) -> list[Added]:
        """Put documents in; each joins the cluster of the document that it is most like, or starts one.

        A document is a mapping with `doc_id`, `text` and what else is known (`title`, `url`, `date`, `source`); an
        Arrow table or batch will do. `at_once` of them go in one transaction. One that is there already is left as it
        is; one whose text has changed replaces what was there.
        """
        return [added for some in self.adding(documents_, at_once=at_once) for added in some]

    def adding(self, documents_: Any, *, at_once: int = documents.AT_ONCE) -> Iterator[list[Added]]:
        """The same, a transaction at a time: what has been handed out is safe."""
        pieces = (
            piece
            for batch in documents.batches(documents_, self.settings.markup, at_once)
            for piece in documents.unrepeated(batch)
        )
        few = isinstance(documents_, dict) or (hasattr(documents_, "__len__") and len(documents_) <= at_once)
        signed = map_in_order(lambda piece: (self._bound, self._sign(piece, self._bound)), pieces, 1 if few else 2)
        for bound, some in signed:
            yield self._add(bound, some)

    def _add(self, bound: IndexConfig, signed: SignedBatch) -> list[Added]:
        held = {"bound": bound, "signed": signed}

        def work(connection: Connection, bound: IndexConfig) -> list[Added]:
            if held["bound"] is not bound:  # refreshed meanwhile
                held.update(bound=bound, signed=self._sign(signed.batch, bound))
            return writing.DocumentWriter(self._store, connection, bound, held["signed"]).run()  # type: ignore[arg-type]

        return self._write(work)

    def remove(self, ids: str | Iterable[str]) -> list[str]:
        """Take documents out; returns the ids that were there. Clusters keep their ids."""
        listed = _listed(ids)
        return self._write(lambda connection, bound: writing.remove(self._store, connection, bound, listed))

    def revoke(self, ids: str | Iterable[str]) -> list[str]:
        """Declare that the texts of documents match nothing, now and whenever they are added again.

        The documents stay and are listed as revoked; so are others of exactly the same text. Returns the ids that were
        there.
        """
        listed = _listed(ids)
        return self._write(lambda connection, bound: writing.revoke(self._store, connection, bound, listed))

    def expire(self, *, before: str | None = None, older_than: float | None = None) -> int:
        """Take out documents dated before a day, or added longer ago than so many seconds; returns how many.

        It goes in steps of a thousand, so others never wait long. Documents without a date have no `before`.
        """
        if (before is None) == (older_than is None):
            raise SettingsError("expire by the documents' date (before) or by when they were added (older_than)")
        day = None if before is None else _day("before", before)
        limit = None if older_than is None else int(time.time() - older_than) + 1
        gone = 0
        while True:
            some = self._write(
                lambda connection, bound: writing.expire(
                    self._store, connection, bound, before=day, added_before=limit, limit=_EXPIRED
                )
            )
            gone += some
            if some < _EXPIRED:
                return gone

    # ------------------------------------------------------------------ asking

    def query(
        self,
        asked: Any,
        *,
        limit: int | None = 10,
        minimum: float | None = None,
        since: str | None = None,
        until: str | None = None,
        measure: str | None = None,
    ) -> list[Match]:
        """The documents that a text, or a document, is a duplicate of, the most alike first.

        `minimum` is the least `measure` (`resemblance`, or `containment`, or `contained_in`), which is also what they
        are ordered by; `since` and `until` are days of the documents' dates.
        """
        batch = documents.one(asked, self.settings.markup)
        return self._matches(batch, limit, minimum, since, until, measure)[0]

    def queries(
        self,
        asked: Any,
        *,
        limit: int | None = 10,
        minimum: float | None = None,
        since: str | None = None,
        until: str | None = None,
        measure: str | None = None,
    ) -> list[list[Match]]:
        """The same for many documents at once."""
        if isinstance(asked, list | tuple):
            asked = [{"doc_id": "?", "text": item} if isinstance(item, str) else item for item in asked]
        return [
            found
            for batch in documents.batches(asked, self.settings.markup)
            for found in self._matches(batch, limit, minimum, since, until, measure)
        ]

    def _matches(
        self, batch: pa.RecordBatch, limit: int | None, minimum: float | None, since: str | None, until: str | None,
        measure: str | None,
    ) -> list[list[Match]]:  # fmt: skip
        if measure is not None:
            checks.refuse(checks.one_of("measure", measure, FOR_QUERY))
        if limit is not None and limit < 1:
            raise SettingsError(f"limit must be 1 or more, or None for all, not {limit!r}")
        days = [None if day is None else _day(name, day) for name, day in (("since", since), ("until", until))]
        wanted = reading.QueryRequest(limit, minimum, days[0], days[1], measure)
        return self._read(
            lambda connection, bound: reading.matches(
                self._store, connection, bound, self._sign(batch, bound), wanted
            )
        )  # fmt: skip

    def get(self, doc_id: str) -> Entry | None:
        """A document by its id, or None."""
        found = self._entries(DOCUMENTS.c.doc_id == doc_id)
        return found[0] if found else None

    def text(self, doc_id: str) -> str | None:
        """The stored text of a document, without markup; None where there is none."""
        return self._read(lambda connection, bound: reading.text_of(self._store, connection, bound, doc_id))

    def cluster(self, cluster_id: int) -> list[Entry]:
        """The documents of a cluster, in the order in which they came."""
        return self._entries(CONTENTS.c.cluster == cluster_id)

    def by_url(self, url: str) -> list[Entry]:
        """The documents with this url, in the order in which they came."""
        return self._entries(DOCUMENTS.c.url == url)

    def _entries(self, where: Any) -> list[Entry]:
        return self._read(lambda connection, bound: reading.entries(connection, where))

    def search(self, query: str, *, limit: int = 10, offset: int = 0) -> Hits:
        """The documents whose text or title has these words, the best first; see `words` for what can be asked.

        The index must have been made with `search`, or made so by `make_searchable`.
        """
        if limit < 1 or offset < 0:
            raise SettingsError(f"limit must be 1 or more and offset 0 or more, not {limit!r} and {offset!r}")
        return self._read(
            lambda connection, bound: searching.search(self._store, connection, bound, query, limit, offset)
        )

    @property
    def searchable(self) -> bool:
        """Whether `search` has all it needs."""
        found = self._read(lambda connection, bound: searching.state(connection))
        return found is not None and found.ready

    def pairs(self) -> pa.Table:
        """Every pair of duplicates, as a batch run with `pairs="all"` finds them (`model.SCORED_PAIRS`)."""
        batches = self._read(lambda connection, bound: list(reading.pairs(self._store, connection, bound)))
        return pa.Table.from_batches(batches, schema=SCORED_PAIRS).sort_by(
            [("left_id", "ascending"), ("right_id", "ascending")]
        )

    def stats(self) -> Stats:
        """How much it holds."""
        return self._read(lambda connection, bound: counting.stats(self._store, connection, bound))

    # ------------------------------------------------------------------ upkeep

    def verify(self, sample: int | None = None) -> IndexCheck:
        """Whether it is whole; with `sample`, keys are made again for so many texts only."""
        return self._read(lambda connection, bound: checking.verify(self._store, connection, bound, sample))

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> int:
        """Write all documents to a Parquet file (`exporting.SCHEMA`); returns how many."""
        target = Path(path)
        return self._read(lambda connection, bound: exporting.export(self._store, connection, bound, target, overwrite))

    def make_searchable(self, *, advance: Callable[[int], None] = lambda done: None) -> int:
        """Make the search index, in steps, while the index is in use; returns how many texts were put in.

        After a kill, the same call goes on where it was; where it is there already, nothing is done.
        """
        return searching.make(self._store, self._bound, advance)

    def forget_search(self) -> None:
        """Take the search index away."""
        self._write(lambda connection, bound: searching.forget(self._store, connection))

    def refresh(
        self, lexicon: str | os.PathLike[str] | Lexicon, *, advance: Callable[[int], None] = lambda done: None
    ) -> Refreshed:
        """Sign all texts with another lexicon, in steps, while the index is in use; then exchange the keys at once.

        After a kill, the same call goes on where it was.
        """
        old = self._read(lambda connection, bound: bound)
        new = binding.with_lexicon(old, lexicon, self.name)
        refreshed = refreshing.refresh(self._store, old, new, advance)
        self._bound = new
        return refreshed

    @classmethod
    def upgrade(
        cls, where: str | os.PathLike[str], *, key_file: str | os.PathLike[str] | None = None
    ) -> tuple[int, int]:
        """Bring an index to this version's format; (format before, format now). After a kill, call it again."""
        place = IndexStore(where)
        try:
            return upgrading.upgrade(place, None if key_file is None else os.fspath(key_file))
        finally:
            place.close()

    # ------------------------------------------------------------------ transactions

    def _sign(self, batch: pa.RecordBatch, bound: IndexConfig) -> SignedBatch:
        return sign(batch, bound.method, bound.settings)

    def _read(self, work: Callable[[Connection, IndexConfig], T]) -> T:
        return self._run(self._store.reading, work)

    def _write(self, work: Callable[[Connection, IndexConfig], T]) -> T:
        return self._run(self._store.writing, work)

    def _run(self, transaction: Callable[[], Any], work: Callable[[Connection, IndexConfig], T]) -> T:
        """One transaction, with the settings that hold in it."""

        def once() -> T:
            bound = self._bound
            with transaction() as connection:
                generation = self._store.value(connection, _GENERATION)
                if generation is None or int(generation) != bound.generation:
                    raise _Refreshed
                return work(connection, bound)

        for _ in range(_REFRESHES):
            try:
                return attempt(self.name, once)
            except _Refreshed:
                self._bound = attempt(self.name, lambda: _read_bound(self._store, self._key_file))
        raise IndexRefused(f"{self.name} is being refreshed again and again; try when that is over")

    @contextmanager
    def moment(self) -> Iterator[Connection]:
        """A transaction that reads, for what is built on top of an index."""
        try:
            with self._store.reading() as connection:
                yield connection
        except DBAPIError as problem:
            raise told(self.name, problem) from problem


def _read_bound(store: IndexStore, key_file: str | os.PathLike[str] | None) -> IndexConfig:
    with store.reading() as connection:
        return binding.read(connection, store.name, None if key_file is None else os.fspath(key_file))


def _listed(ids: str | Iterable[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else [str(doc_id) for doc_id in ids]


def _day(name: str, given: str) -> int:
    day = day_of(given)
    if day == NO_DAY:
        raise SettingsError(f"{name} must be a date such as 2024-03-31, not {given!r}")
    return day
