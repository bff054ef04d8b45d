"""The pages of a large index: counted in the background, filtered by arrays, names found by their beginnings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from roughly.index import Index, survey
from roughly.service.application import create_app
from roughly.service.collection import index_collection
from roughly.service.collection.collection_types import ClusterQuery
from roughly.service.collection.document_query import DocumentQuery, parse_query
from roughly.service.collection.index_collection import IndexCollection
from roughly.service.served_data import ServedData
from service.in_process import PATIENT, client_of
from service.test_stored_pages import index_with


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with index_with(tmp_path_factory.mktemp("large") / "news.db") as made:
        yield made


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "LARGE", 1)


FILTERS = [
    {"source": "Herald"},
    {"since": "2024-01-03"},
    {"since": "2024", "until": "2024-01-02"},
    {"since": "2024", "sort": "-date"},
    {"source": "Herald", "sort": "date"},
    {"source": "nobody"},
    {"until": "2024", "sort": "-added"},
    {"source": "Herald", "sort": "id"},
]


@pytest.mark.parametrize("given", FILTERS, ids=lambda given: "-".join(given.values()))
def test_filters_give_what_they_give_in_a_small_index(
    index: Index, monkeypatch: pytest.MonkeyPatch, given: dict[str, str]
) -> None:
    query = parse_query(given, limit=2)
    small = IndexCollection(index).documents(query)
    monkeypatch.setattr(survey, "LARGE", 1)
    collection = IndexCollection(index)
    collection.statistics()
    assert collection.documents(query) == small


def test_words_are_found_at_the_beginning_of_ids_and_addresses(index: Index, large: None) -> None:
    collection = IndexCollection(index)
    assert [row.doc_id for row in collection.documents(DocumentQuery(q="first/")).rows] == ["first/a?b"]
    assert [row.doc_id for row in collection.documents(DocumentQuery(q="http://news.example/b")).rows] == ["second"]
    assert collection.documents(DocumentQuery(q="irst")).rows == ()
    assert [row.doc_id for row in collection.all_documents(DocumentQuery(q="sec"), 10)] == ["second"]
    found = collection.clusters(ClusterQuery(q="sec"))
    assert [(row.size, row.first_id) for row in found.rows] == [(2, "first/a?b")]
    assert collection.clusters(ClusterQuery(q="\x00")).total == 0


def test_pages_say_that_documents_are_being_counted(index: Index, large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    may_count, counts = threading.Event(), index_collection._Counts

    def slow(*given: object) -> index_collection._Counts:
        assert may_count.wait(60)
        return counts(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(index_collection, "_Counts", slow)
    app = create_app(ServedData(index=index), PATIENT)
    with client_of(app) as client:
        for page in ("/", "/clusters"):
            answer = client.get(page)
            assert answer.status_code == 200 and "being counted" in answer.text, page
        assert "begins with" in client.get("/documents").text
        shown = client.get(f"/clusters?id={index.get('second').cluster_id}")  # type: ignore[union-attr]
        assert shown.status_code == 200
        may_count.set()
        assert client.get("/clusters.json").json()["total"] > 0  # JSON waits for the counts
        assert "being counted" not in client.get("/").text + client.get("/clusters").text


def test_old_counts_are_shown_while_new_ones_are_made(
    tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_collection, "CACHE_FACTOR", 0)
    with index_with(tmp_path / "news.db") as index:
        collection = IndexCollection(index)
        before = collection.statistics().counts["documents"]
        index.add([{"doc_id": "new", "text": "A text that nobody has seen before, about nothing at all."}])
        assert collection.statistics().counts["documents"] == before
        assert collection._renewing is not None
        collection._renewing.join()
        assert collection.statistics().counts["documents"] == before + 1
        collection.close()
