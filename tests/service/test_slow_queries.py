"""Queries that are made to be slow are ended, and answered with a sentence."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from serving_process import serving

from roughly import Index
from roughly.engines.local.run_browser import Browsing
from roughly.errors import QueryTooSlow
from roughly.query_time import limit_queries, seconds_left
from roughly.service import request_stream
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig

SENTENCE = "the query takes too long"
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
ROWS = [{"doc_id": f"d{number}", "text": f"words of document {number} and {number * 7}"} for number in range(5)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("slow") / "a.db", search=True) as made:
        made.add(ROWS)
        yield made


def soon() -> Callable[[], float]:
    end = time.monotonic() + 0.1
    return lambda: end - time.monotonic()


def limited(work: Callable[[], Any], left: Callable[[], float] | None = None) -> Any:
    """Work with little time; the limit is forgotten afterwards."""

    def both() -> Any:
        limit_queries(left or soon())
        return work()

    return copy_context().run(both)


def endless(index: Index) -> None:
    with index.read_transaction() as connection:
        connection.exec_driver_sql(ENDLESS).all()


def test_an_endless_query_of_an_index_is_ended(index: Index) -> None:
    with pytest.raises(QueryTooSlow, match=SENTENCE):
        limited(lambda: endless(index))
    assert seconds_left() == math.inf
    assert limited(lambda: index.search("words"), lambda: 600.0).hits, "the connection can be used again"
    assert index.search("words").hits


def test_an_endless_query_of_a_run_is_ended(looked_at_run: Path) -> None:
    browsing = Browsing(looked_at_run)
    try:
        with pytest.raises(QueryTooSlow, match=SENTENCE):
            limited(lambda: browsing.rows("SELECT count(*) FROM range(1000000000000) a, range(1000000000000) b"))
        assert limited(lambda: browsing.rows("SELECT 1 AS one"), lambda: 600.0) == [{"one": 1}]
    finally:
        browsing.close()


def test_pages_say_so(index: Index, looked_at_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "SELECT count(*) FROM range(1000000000000) a, range(1000000000000) b"
    monkeypatch.setattr(Browsing, "count", lambda self, where: self.rows(slow))
    monkeypatch.setattr(Index, "search", lambda self, *given, **more: endless(index))
    monkeypatch.setattr(request_stream, "_FOR_THE_ERROR", 0.995)  # queries have 0.3 s, the rest of the request a minute
    with serving(ServedData(run=looked_at_run, index=index), ServiceConfig(rate=0, timeout=60.0)) as http:
        for page in ("/documents.json?q=a", "/search.json?q=a"):
            answer = http.get(page)
            assert answer.status_code == 422 and answer.json()["error"] == SENTENCE, answer.text
            assert answer.json()["remedy"].startswith("ask for less")


def test_an_answer_that_has_begun_may_go_on(index: Index) -> None:
    begun = iter([5.0, math.inf, math.inf, math.inf])
    assert limited(lambda: index.search("words"), lambda: next(begun, math.inf)).hits
