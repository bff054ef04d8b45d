"""The search index: the words of the texts and titles of an index, for those who want full-text search.

An index has one after `Index.make_searchable`, or from the beginning (`create(…, search=True)`). From then on every
transaction that adds or deletes texts updates it here; an index without one pays for one look at `meta`.

`meta` has an entry `search` with two numbers: it covers contents up to the first, and titles of documents up to the
second. While the search index is being made they grow with every transaction; when it is complete, both are `ALL`. What
is added meanwhile has higher numbers and is covered later; what is deleted or changed is treated by the same rule. So
the making can be killed and resumed at any time, and the two are consistent after every transaction.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from roughly.errors import IndexRefused, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.index.index_config import IndexConfig
from roughly.index.search import fulltext
from roughly.index.search.search_words import words_of
from roughly.index.storage.bodies import stored_bytes, unpack_texts
from roughly.index.storage.contents import live_after, live_lengths
from roughly.index.storage.failures import attempt
from roughly.index.storage.meta import delete_meta, read_meta, write_meta
from roughly.index.storage.schema import BODIES, CONTENTS, DOCUMENTS, LIVE
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
ALL = 2**62
STEP = 2_000
_NAME = "search"


@dataclass(frozen=True, slots=True)
class SearchState:
    """How much the search index covers: contents and documents up to these numbers."""

    contents: int
    documents: int

    @property
    def ready(self) -> bool:
        """Whether it is complete."""
        return self.contents == self.documents == ALL

    def advanced(self, to: int) -> SearchState:
        """The state after contents, or when these are complete documents, are covered up to a number."""
        return SearchState(to, self.documents) if self.contents < ALL else SearchState(ALL, to)


def read_state(connection: Connection) -> SearchState | None:
    """How much the search index covers; None where there is none."""
    found = read_meta(connection, _NAME)
    return None if found is None else SearchState(**json.loads(found))


def _write_state(connection: Connection, state: SearchState) -> None:
    write_meta(connection, {_NAME: json.dumps(asdict(state))})


# ---------------------------------------------------------------------- kept consistent by those who write


def create(store: IndexStore, connection: Connection, config: IndexConfig, *, empty: bool) -> SearchState:
    """Make the tables unless they exist; with `empty`, an index without documents, that completes the search index."""
    state = read_state(connection)
    if state is None:
        refuse_without_texts(store, config)
        fulltext.create(store, connection)
        state = SearchState(ALL, ALL) if empty else SearchState(0, 0)
        _write_state(connection, state)
    return state


def refuse_without_texts(store: IndexStore, config: IndexConfig) -> None:
    """Refuse an index that stores no texts."""
    if config.store != "text":
        raise SettingsError(
            f"{store.name} stores {config.form} and no texts, so there are no words to search; "
            "make an index with --store text"
        )


def add_texts(
    store: IndexStore, connection: Connection, numbers: Sequence[int], texts: Callable[[], Iterable[str]]
) -> None:
    """Add new texts; `texts` is called only where there is a search index."""
    state = read_state(connection)
    if state is not None and state.contents == ALL:
        fulltext.put(store, connection, "words", numbers, map(words_of, texts()))


def drop_texts(store: IndexStore, connection: Connection, contents: Ints) -> None:
    """Delete the words of texts, whose bodies must still be stored."""
    state = read_state(connection)
    if state is None or not len(contents):
        return
    for at in range(0, len(contents), STEP):
        some = contents[at : at + STEP]
        numbers, texts = _read_texts(store, connection, some[some <= state.contents])
        fulltext.drop(store, connection, "words", numbers, map(words_of, texts))


def add_titles(store: IndexStore, connection: Connection, titles: Sequence[tuple[int, str | None]]) -> None:
    """Add the titles of documents: pairs (number, title)."""
    state = read_state(connection)
    if state is not None:
        _add_titles(store, connection, [row for row in titles if row[0] <= state.documents])


def drop_titles(store: IndexStore, connection: Connection, documents: Ints) -> None:
    """Delete the titles of documents, which must still be stored, before the documents are deleted or changed."""
    state = read_state(connection)
    if state is None or not len(documents):
        return
    columns = (DOCUMENTS.c.document, DOCUMENTS.c.title)
    rows = store.fetch(connection, columns, DOCUMENTS.c.document, documents[documents <= state.documents])
    titled = [(number, words_of(title)) for number, title in rows if title]
    if titled:
        fulltext.drop(store, connection, "titles", [row[0] for row in titled], [row[1] for row in titled])


def _add_titles(store: IndexStore, connection: Connection, titles: Sequence[tuple[int, str | None]]) -> None:
    titled = [(number, words_of(title)) for number, title in titles if title]
    if titled:
        fulltext.put(store, connection, "titles", [row[0] for row in titled], [row[1] for row in titled])


def _read_texts(store: IndexStore, connection: Connection, contents: Ints) -> tuple[list[int], list[str]]:
    """(contents, texts) of those of the contents that have a stored text."""
    rows = store.fetch(connection, (BODIES.c.content, BODIES.c.body), BODIES.c.content, contents)
    return [row[0] for row in rows], unpack_texts([stored_bytes(row[1]) for row in rows]).to_pylist()


# ---------------------------------------------------------------------- made for an index that has documents


def make(store: IndexStore, config: IndexConfig, advance: Callable[[int], None]) -> int:
    """Make the search index, in steps, while the index is in use; returns the number of texts added."""
    refuse_without_texts(store, config)

    def begin() -> SearchState:
        with store.write_transaction() as connection:
            return create(store, connection, config, empty=False)

    state, done = attempt(store.name, begin), 0
    while not state.ready:
        state, texts = attempt(store.name, partial(_step, store, state))
        done += texts
        advance(done)
    return done


def _step(store: IndexStore, state: SearchState) -> tuple[SearchState, int]:
    """Add the next texts, or when these are complete, the next titles.

    Words are made before the transaction that writes begins. Only the last few, which were added meanwhile, are made in
    it: otherwise a process that adds all the time would keep the search index from ever being complete.
    """
    with store.read_transaction() as connection:
        numbers = _next(connection, state)
        words = _words(store, connection, state, numbers)
    with store.write_transaction() as connection:
        if read_state(connection) != state:
            raise IndexRefused(f"{store.name}: another process is making its search index; wait for it")
        done = _add_step(store, connection, state, numbers, words)
        new = state.advanced(int(numbers[-1])) if len(numbers) else state
        rest = _next(connection, new)
        if len(rest) < STEP:
            done += _add_step(store, connection, new, rest, _words(store, connection, new, rest))
            new = new.advanced(ALL)
        _write_state(connection, new)
    return new, done


def _words(store: IndexStore, connection: Connection, state: SearchState, numbers: Ints) -> dict[int, list[str]]:
    if state.contents == ALL:
        return {}
    contents, texts = _read_texts(store, connection, numbers)
    return {content: words_of(text) for content, text in zip(contents, texts, strict=True)}


def _add_step(
    store: IndexStore, connection: Connection, state: SearchState, numbers: Ints, words: dict[int, list[str]]
) -> int:
    """Add the texts or titles of these numbers that are still there; returns how many texts were added."""
    if state.contents == ALL:
        columns = (DOCUMENTS.c.document, DOCUMENTS.c.title)
        _add_titles(store, connection, store.fetch(connection, columns, DOCUMENTS.c.document, numbers))
        return 0
    live = [content for content in live_lengths(store, connection, numbers) if content in words]
    fulltext.put(store, connection, "words", live, (words[content] for content in live))
    return len(live)


def _next(connection: Connection, state: SearchState) -> Ints:
    """The numbers of the next contents, or when these are complete, of the next documents."""
    if state.contents < ALL:
        return live_after(connection, state.contents, STEP)
    column = DOCUMENTS.c.document
    rows = select(column).where(column > state.documents).order_by(column).limit(STEP)
    return np.array(connection.scalars(rows).all(), np.int64)


def forget(connection: Connection) -> None:
    """Delete the search index."""
    if read_state(connection) is not None:
        fulltext.drop_tables(connection)
        delete_meta(connection, _NAME)


# ---------------------------------------------------------------------- checked


def problems(store: IndexStore, connection: Connection, sample: int | None) -> list[str]:
    """What is wrong with the search index: rows too many or too few, words that are not those of the texts."""
    state = read_state(connection)
    if state is None:
        return []
    texts = select(CONTENTS.c.content).where(CONTENTS.c.state == LIVE, CONTENTS.c.content <= state.contents)
    titles = select(DOCUMENTS.c.document, DOCUMENTS.c.title).where(
        DOCUMENTS.c.title.is_not(None), DOCUMENTS.c.title != "", DOCUMENTS.c.document <= state.documents
    )
    titled: dict[int, str] = {row[0]: row[1] for row in connection.execute(titles)}
    expected = {"words": set(connection.scalars(texts)), "titles": set(titled)}
    messages = []
    for table, what in (("words", "texts"), ("titles", "titles")):
        stored = fulltext.numbers_in(store, connection, table)
        if missing := len(expected[table] - stored):
            messages.append(f"{missing:,} {what} cannot be searched")
        if extra := len(stored - expected[table]):
            messages.append(f"{extra:,} deleted {what} can be searched")
    if sample is None and not messages:
        counted: Counter[str] = Counter()
        numbers = np.array(sorted(expected["words"]), np.int64)
        for at in range(0, len(numbers), STEP):
            for text in _read_texts(store, connection, numbers[at : at + STEP])[1]:
                counted.update(set(words_of(text)))
        messages += _differ(counted, dict(fulltext.frequencies(store, connection, "words")), "texts")
        counted = Counter(word for title in titled.values() for word in set(words_of(title)))
        messages += _differ(counted, dict(fulltext.frequencies(store, connection, "titles")), "titles")
    return messages


def _differ(expected: Counter[str], stored: dict[str, int], what: str) -> list[str]:
    wrong = sum(expected[word] != stored.get(word, 0) for word in expected.keys() | stored.keys())
    return [f"{wrong:,} words are found in other {what} than they occur in"] if wrong else []
