"""Full-text search over the texts and titles of an index, for those who ask for it.

An index has it after `Index.make_searchable`, or from the beginning (`create(…, search=True)`). From then on every
transaction that puts texts in or takes them out does so here as well; an index without it pays one look at `meta`.

`meta` has a row `search` with two numbers: texts up to the first, and titles of documents up to the second, are in.
While it is being made they grow, a step a transaction, and `ALL` stands there when it is done. What comes in meanwhile
has higher numbers and is met later; what goes out, or changes, is treated by the same rule. So it can be killed and
called again at any time, and is in step at every moment.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, delete, select

from roughly.errors import IndexRefused, SettingsError
from roughly.index.config import IndexConfig
from roughly.index.search import fulltext
from roughly.index.search.search_words import Query, words_of
from roughly.index.storage.bodies import unpack_texts
from roughly.index.storage.failures import attempt
from roughly.index.storage.schema import BODIES, CONTENTS, DOCUMENTS, LIVE, META
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
ALL = 2**62
STEP = 2_000
_NAME = "search"


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that a search found."""

    doc_id: str
    cluster_id: int
    score: float  # the higher the better; says nothing by itself
    tokens: int
    title: str | None
    url: str | None
    date: str | None
    source: str | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Hits:
    """Some of the documents that a search found, the best first."""

    query: str
    total: int  # documents that were found
    offset: int
    hits: tuple[Hit, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SearchState:
    """How far the making has come."""

    contents: int
    documents: int

    @property
    def ready(self) -> bool:
        """It is complete."""
        return self.contents == self.documents == ALL


def state(connection: Connection) -> SearchState | None:
    """How far the search index of an index is; None where it has none."""
    found = connection.exec_driver_sql(f"SELECT value FROM meta WHERE name = '{_NAME}'").scalar()
    return None if found is None else SearchState(**json.loads(found))


def _note(store: IndexStore, connection: Connection, new: SearchState | None) -> None:
    connection.execute(delete(META).where(META.c.name == _NAME))
    if new is not None:
        store.insert(connection, "meta", ("name", "value"), [(_NAME, json.dumps(asdict(new)))])


# ---------------------------------------------------------------------- kept in step by those who write


def begin(store: IndexStore, connection: Connection, bound: IndexConfig, *, empty: bool) -> SearchState:
    """Make the tables where there are none; an index that is `empty` is done with that."""
    found = state(connection)
    if found is None:
        refuse_without_texts(store, bound)
        fulltext.create(store, connection)
        found = SearchState(ALL, ALL) if empty else SearchState(0, 0)
        _note(store, connection, found)
    return found


def refuse_without_texts(store: IndexStore, bound: IndexConfig) -> None:
    """Search needs texts."""
    if bound.store != "text":
        raise SettingsError(
            f"{store.name} stores {bound.store} and no texts, so there are no words to search; "
            "make an index with --store text"
        )


def put_texts(
    store: IndexStore, connection: Connection, numbers: Sequence[int], texts: Callable[[], Iterable[str]]
) -> None:
    """New texts come in; `texts` is asked for them where they are wanted."""
    found = state(connection)
    if found is not None and found.contents == ALL:
        fulltext.put(store, connection, "words", numbers, map(words_of, texts()))


def drop_texts(store: IndexStore, connection: Connection, contents: Ints) -> None:
    """Texts go, whose bodies are still there."""
    found = state(connection)
    if found is None or not len(contents):
        return
    for at in range(0, len(contents), STEP):
        some = contents[at : at + STEP]
        numbers, texts = _read(store, connection, some[some <= found.contents])
        fulltext.take(store, connection, "words", numbers, map(words_of, texts))


def put_titles(store: IndexStore, connection: Connection, titles: Sequence[tuple[int, str | None]]) -> None:
    """Documents come in: (number, title)."""
    found = state(connection)
    if found is not None:
        _put_titles(store, connection, [row for row in titles if row[0] <= found.documents])


def drop_titles(store: IndexStore, connection: Connection, documents: Ints) -> None:
    """Documents go, or their titles will change; they are still as they were."""
    found = state(connection)
    if found is None or not len(documents):
        return
    columns = (DOCUMENTS.c.document, DOCUMENTS.c.title)
    rows = store.fetch(connection, columns, DOCUMENTS.c.document, documents[documents <= found.documents])
    titled = [(number, words_of(title)) for number, title in rows if title]
    if titled:
        fulltext.take(store, connection, "titles", [row[0] for row in titled], [row[1] for row in titled])


def _put_titles(store: IndexStore, connection: Connection, titles: Sequence[tuple[int, str | None]]) -> None:
    titled = [(number, words_of(title)) for number, title in titles if title]
    if titled:
        fulltext.put(store, connection, "titles", [row[0] for row in titled], [row[1] for row in titled])


def _read(store: IndexStore, connection: Connection, contents: Ints) -> tuple[list[int], list[str]]:
    """The texts that are stored of these."""
    rows = store.fetch(connection, (BODIES.c.content, BODIES.c.body), BODIES.c.content, contents)
    return [row[0] for row in rows], unpack_texts([bytes(row[1]) for row in rows]).to_pylist()


# ---------------------------------------------------------------------- made for an index that is there


def make(store: IndexStore, bound: IndexConfig, advance: Callable[[int], None]) -> int:
    """Make the search index, in steps, while the index is in use; returns how many texts were put in."""
    refuse_without_texts(store, bound)

    def first() -> SearchState:
        with store.writing() as connection:
            return begin(store, connection, bound, empty=False)

    now, done = attempt(store.name, first), 0
    while not now.ready:
        now, texts = attempt(store.name, partial(_step, store, now))
        done += texts
        advance(done)
    return done


def _step(store: IndexStore, now: SearchState) -> tuple[SearchState, int]:
    """Put in the next texts, or where there are no more, the next titles.

    Words are made before the transaction that writes begins. Only the last few, which came in meanwhile, are made in
    it: otherwise someone who adds all the time would keep it from ever being done.
    """
    with store.reading() as connection:
        numbers = _next(connection, now)
        found = _words(store, connection, now, numbers)
    with store.writing() as connection:
        if state(connection) != now:
            raise IndexRefused(f"{store.name}: another process is making its search index; wait for it")
        done = _put(store, connection, now, numbers, found)
        new = _moved(now, int(numbers[-1])) if len(numbers) else now
        rest = _next(connection, new)
        if len(rest) < STEP:
            done += _put(store, connection, new, rest, _words(store, connection, new, rest))
            new = _moved(new, ALL)
        _note(store, connection, new)
    return new, done


def _words(store: IndexStore, connection: Connection, now: SearchState, numbers: Ints) -> dict[int, list[str]]:
    if now.contents == ALL:
        return {}
    held, texts = _read(store, connection, numbers)
    return {number: words_of(text) for number, text in zip(held, texts, strict=True)}


def _put(
    store: IndexStore, connection: Connection, now: SearchState, numbers: Ints, found: dict[int, list[str]]
) -> int:
    """Put in what is still there of these; how many texts there were."""
    if now.contents == ALL:
        columns = (DOCUMENTS.c.document, DOCUMENTS.c.title)
        _put_titles(store, connection, store.fetch(connection, columns, DOCUMENTS.c.document, numbers))
        return 0
    rows = store.fetch(connection, (CONTENTS.c.content, CONTENTS.c.state), CONTENTS.c.content, numbers)
    live = [row[0] for row in rows if row[1] == LIVE and row[0] in found]
    fulltext.put(store, connection, "words", live, (found[number] for number in live))
    return len(live)


def _moved(now: SearchState, to: int) -> SearchState:
    return SearchState(to, now.documents) if now.contents < ALL else SearchState(ALL, to)


def _next(connection: Connection, now: SearchState) -> Ints:
    """The numbers of the next texts, or documents."""
    of_texts = now.contents < ALL
    column = CONTENTS.c.content if of_texts else DOCUMENTS.c.document
    asked = select(column).where(column > (now.contents if of_texts else now.documents))
    if of_texts:
        asked = asked.where(CONTENTS.c.state == LIVE)
    return np.array(connection.scalars(asked.order_by(column).limit(STEP)).all(), np.int64)


def forget(store: IndexStore, connection: Connection) -> None:
    """Take the search index away."""
    if state(connection) is not None:
        fulltext.drop_tables(connection)
        _note(store, connection, None)


# ---------------------------------------------------------------------- asked


def search(store: IndexStore, connection: Connection, bound: IndexConfig, asked: str, limit: int, offset: int) -> Hits:
    """The documents that have the words, the best first."""
    from roughly.index.matching import scored_answers as answers

    refuse_without_texts(store, bound)
    found = state(connection)
    if found is None:
        raise SettingsError(
            f"{store.name} has no search index yet; make one with `roughly index search-index {store.name}`"
        )
    if not found.ready:
        raise SettingsError(
            f"the search index of {store.name} is not complete; go on with `roughly index search-index {store.name}`"
        )
    query = Query.parse(asked)
    if not query:
        return Hits(asked, 0, offset, ())
    total = fulltext.count(store, connection, query)
    scores = dict(fulltext.best(store, connection, query, limit, offset)) if offset < total else {}
    rows = {row.document: row for row in answers.by_number(store, connection, list(scores))}
    hits = []
    for number, score in scores.items():
        row = rows[number]
        hits.append(Hit(row.doc_id, row.cluster, score, row.tokens, row.title, row.url, row.date, row.source))
    return Hits(asked, total, offset, tuple(hits))


# ---------------------------------------------------------------------- checked


def problems(store: IndexStore, connection: Connection, sample: int | None) -> list[str]:
    """What is wrong with it: rows too many or too few, words that are not those of the texts."""
    found = state(connection)
    if found is None:
        return []
    texts = select(CONTENTS.c.content).where(CONTENTS.c.state == LIVE, CONTENTS.c.content <= found.contents)
    titles = select(DOCUMENTS.c.document, DOCUMENTS.c.title).where(
        DOCUMENTS.c.title.is_not(None), DOCUMENTS.c.title != "", DOCUMENTS.c.document <= found.documents
    )
    titled: dict[int, str] = {row[0]: row[1] for row in connection.execute(titles)}
    expected = {"words": set(connection.scalars(texts)), "titles": set(titled)}
    told = []
    for table, what in (("words", "texts"), ("titles", "titles")):
        there = fulltext.numbers_in(store, connection, table)
        if missing := len(expected[table] - there):
            told.append(f"{missing:,} {what} cannot be searched")
        if extra := len(there - expected[table]):
            told.append(f"{extra:,} {what} can be searched that are gone")
    if sample is None and not told:
        counted: Counter[str] = Counter()
        numbers = np.array(sorted(expected["words"]), np.int64)
        for at in range(0, len(numbers), STEP):
            for text in _read(store, connection, numbers[at : at + STEP])[1]:
                counted.update(set(words_of(text)))
        told += _differ(counted, dict(fulltext.frequencies(store, connection, "words")), "texts")
        counted = Counter(word for title in titled.values() for word in set(words_of(title)))
        told += _differ(counted, dict(fulltext.frequencies(store, connection, "titles")), "titles")
    return told


def _differ(expected: Counter[str], there: dict[str, int], what: str) -> list[str]:
    wrong = sum(expected[word] != there.get(word, 0) for word in expected.keys() | there.keys())
    return [f"{wrong:,} words are searched in other {what} than they stand in"] if wrong else []
