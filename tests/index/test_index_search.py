"""Full-text search of an index: what is found, that it stays in step with the documents, that no query breaks it."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roughly import Index, Settings
from roughly.errors import SettingsError
from roughly.index.search import search_index
from roughly.index.search.search_words import Query, Term, words_of

ROWS: list[dict[str, Any]] = [
    {"doc_id": "a", "text": "The quick brown fox jumps over the lazy dog", "title": "On foxes"},
    {"doc_id": "b", "text": "A lazy afternoon at the café: quick, brown and quiet", "title": "Paris"},
    {"doc_id": "c", "text": "日本語のテキスト、東京で書かれた", "title": "東京"},
    {"doc_id": "d", "text": "Don't panic, said the dog", "title": "The lazy guide"},
    {"doc_id": "e", "text": "The quick brown fox jumps over the lazy dog!", "title": None},
]


def ids(index: Index, query: str) -> set[str]:
    found = index.search(query, limit=100)
    assert found.total == len(found.hits)
    return {hit.doc_id for hit in found.hits}


@pytest.fixture
def index(place: str) -> Any:
    with Index.create(place, Settings(threshold=0.7), search=True) as made:
        made.add(ROWS)
        yield made


def test_words_are_found(index: Index) -> None:
    assert index.searchable
    assert ids(index, "quick brown") == {"a", "b", "e"}
    assert ids(index, "QUICK, Fox!") == {"a", "e"}
    assert ids(index, '"brown fox"') == {"a", "e"}
    assert ids(index, '"fox brown"') == set()
    assert ids(index, "quick -fox") == {"b"}
    assert ids(index, 'lazy -"lazy dog"') == {"b", "d"}  # of d it is the title that has the word
    assert ids(index, "jum*") == {"a", "e"}
    assert ids(index, "cafe") == ids(index, "CAFÉ") == {"b"}
    assert ids(index, "don't") == {"d"}
    assert ids(index, "東京") == {"c"} and ids(index, "京東") == set()
    assert ids(index, "paris") == {"b"}
    assert ids(index, "nowhere") == set()
    for nothing in ("", "  ", "…", "-fox", '""', "*", "\0", "-"):
        assert index.search(nothing).total == 0
    assert index.verify().whole


def test_pages_of_hits(index: Index) -> None:
    index.add([{"doc_id": f"n{n}", "text": f"common word number{n} " + "filler " * n} for n in range(25)])
    whole = [hit.doc_id for hit in index.search("common word", limit=100).hits]
    assert len(whole) == 25 == len(set(whole))
    paged = [hit.doc_id for at in range(0, 30, 10) for hit in index.search("common word", limit=10, offset=at).hits]
    assert paged == whole
    beyond = index.search("common word", limit=10, offset=500)
    assert beyond.total == 25 and beyond.hits == ()
    with pytest.raises(SettingsError, match="limit"):
        index.search("x", limit=0)


def test_in_step_with_the_documents(index: Index) -> None:
    index.remove("a")
    assert ids(index, "fox") == {"e"}
    index.remove("e")
    assert ids(index, "fox") == set()
    index.add({"doc_id": "b", "text": "Another text altogether", "title": "Lyon"})
    assert ids(index, "quick") == ids(index, "paris") == set() and ids(index, "lyon") == {"b"} == ids(index, "another")
    index.add({"doc_id": "d", "text": "Don't panic, said the dog", "title": "Hitchhiking"})
    assert ids(index, "hitchhiking") == {"d"} and ids(index, "guide") == set()
    index.revoke("d")
    assert ids(index, "panic") == set() == ids(index, "hitchhiking")
    index.add({"doc_id": "old", "text": "something of long ago", "date": "1999-01-01", "title": "Long"})
    assert ids(index, "ago") == {"old"}
    assert index.expire(before="2000-01-01") == 1
    assert ids(index, "ago") == set() == ids(index, "long")
    assert index.verify().whole


def test_made_later_while_the_index_is_used(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "STEP", 7)
    with Index.create(place, Settings(threshold=0.7)) as index:
        index.add([{"doc_id": f"n{n}", "text": f"word{n} everywhere some text", "title": f"t{n}"} for n in range(60)])
        assert not index.searchable
        with pytest.raises(SettingsError, match="search-index"):
            index.search("x")
        at_work = random.Random(5)
        extra = iter(range(1000, 1030))  # it ends, though documents come all the time

        def meanwhile(done: int) -> None:
            gone = [f"n{at_work.randrange(60)}" for _ in range(2)]
            index.remove(gone)
            number = next(extra)
            index.add({"doc_id": f"n{number}", "text": f"word{number} everywhere new text", "title": f"t{number}"})
            index.add({"doc_id": f"n{at_work.randrange(60)}", "text": f"changed{done} everywhere", "title": "again"})
            index.revoke(f"n{at_work.randrange(60)}")
            assert index.verify().whole, index.verify().problems

        index.make_searchable(advance=meanwhile)
        assert index.searchable and index.verify().whole
        there = {row.doc_id for row in index._entries(True) if row.state == "live"}  # type: ignore[arg-type]
        assert ids(index, "everywhere") == there
        assert index.make_searchable() == 0
        index.forget_search()
        assert not index.searchable and index.verify().whole
        index.add({"doc_id": "z", "text": "after that"})
        assert index.make_searchable() > 0 and ids(index, "after") == {"z"}


def test_a_killed_making_goes_on(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "STEP", 5)
    with Index.create(place, Settings(threshold=0.7)) as index:
        index.add([{"doc_id": f"n{n}", "text": f"word{n} everywhere"} for n in range(30)])

        def stop(done: int) -> None:
            if done >= 15:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            index.make_searchable(advance=stop)
    with Index.open(place) as index:
        assert not index.searchable and index.verify().whole
        with pytest.raises(SettingsError, match="not complete"):
            index.search("everywhere")
        assert index.make_searchable() > 0
        assert len(ids(index, "everywhere")) == 30


def test_damage_is_noticed(index: Index) -> None:
    from roughly.index.search import fulltext

    with index.transactions.store.write_transaction() as connection:
        fulltext.put(index.transactions.store, connection, "words", [9_999], [["stray"]])
    assert any("deleted" in problem for problem in index.verify().problems)
    with index.transactions.store.write_transaction() as connection:
        fulltext.drop(index.transactions.store, connection, "words", [9_999], [["stray"]])
    assert index.verify().whole
    with index.transactions.store.write_transaction() as connection:
        fulltext.drop(index.transactions.store, connection, "words", [1], [words_of(ROWS[0]["text"])])
        fulltext.put(index.transactions.store, connection, "words", [1], [["other", "words"]])
    assert any("than they occur in" in problem for problem in index.verify().problems)


@pytest.mark.parametrize("store", ["shingles", "sketch"])
def test_search_needs_texts(place: str, store: str) -> None:
    with pytest.raises(SettingsError, match="--store text"):
        Index.create(place, Settings(), store=store, search=True)


def test_an_index_without_texts_says_so(tmp_path: Path) -> None:
    with Index.create(tmp_path / "s.db", Settings(), store="shingles") as index:
        index.add(ROWS)
        for ask in (lambda: index.search("fox"), index.make_searchable):
            with pytest.raises(SettingsError, match="no texts"):
                ask()


def test_hostile_texts_and_queries(index: Index) -> None:
    texts = [
        "<script>alert(1)</script>", "' OR 1=1; --", '"NEAR(a b)" AND (', "a:b{c}^*", "👩‍👩‍👧‍👦 🏳️‍🌈 ok",
        "\u202eevil\u2066",
        "x" * 300_000, " ".join(f"w{n}" for n in range(300_000)), "É" * 50_000, "\\ \\' back\\slash", "a\x01b\x1fc",
    ]  # fmt: skip
    index.add([{"doc_id": f"h{n}", "text": text, "title": text[:2_000]} for n, text in enumerate(texts)])
    assert index.verify().whole
    for text in [
        *texts,
        "\0",
        "a\0b",
        "\ud800",
        '"',
        '"""',
        "-" * 500,
        "NOT",
        "AND OR",
        "col:x",
        "^a",
        "a + b",
        "%s",
        ":q",
    ]:
        index.search(text[:20_000])
    assert ids(index, "alert") == {"h0"} and "h7" in ids(index, "w5")
    index.remove([f"h{n}" for n in range(len(texts))])
    assert index.verify().whole and ids(index, "alert") == set()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_any_text_is_a_query(tmp_path: Path, asked: str) -> None:
    path = tmp_path / "any.db"
    with Index.open(path) if path.exists() else Index.create(path, search=True) as index:
        index.search(asked)


def test_threads_write_and_search(place: str) -> None:
    problems: list[BaseException] = []
    with Index.create(place, Settings(threshold=0.7), search=True) as index:

        def work(first: int) -> None:
            try:
                for n in range(first, first + 10):
                    index.add({"doc_id": f"n{n}", "text": f"word{n} everywhere", "title": f"title{n}"})
                    assert index.search(f"word{n}").total == 1
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(10 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        assert index.search("everywhere").total == 40 and index.verify().whole


def test_words() -> None:
    assert words_of("Don’t stop, ÉTÉ!") == ["don", "t", "stop", "ete"]
    assert words_of("İstanbul ẞ ﬁn Ｗide 한국어") == ["istanbul", "ß", "fin", "wide", "한국어"]
    assert words_of("हिन्दी") == ["हिन्दी"]  # vowel signs are no accents
    assert len(words_of("y" * 500)[0]) == 64
    assert Query.parse('a "b c" -d -"e f" g*') == Query(
        (Term(("a",)), Term(("b", "c")), Term(("g",))), (Term(("d",)), Term(("e", "f")))
    )
    assert Query.parse("wor*").wanted == (Term(("wor",), True),)
    assert Query.parse("wor*").says("words") and not Query.parse("wor").says("words")
