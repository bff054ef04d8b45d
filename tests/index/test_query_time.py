"""A query of a request that has no time left is ended by the database, and the index answers the next one."""

from __future__ import annotations

import time
from contextvars import copy_context

import pytest

from roughly import Index
from roughly.errors import QueryTooSlow
from roughly.query_time import limit_queries

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"


def test_a_query_that_takes_too_long_is_ended(place: str) -> None:
    with Index.create(place) as index:
        index.add({"doc_id": "1", "text": "some words"})

        def ask() -> None:
            until = time.monotonic() + 0.2
            limit_queries(lambda: until - time.monotonic())
            with index.read_transaction() as connection:
                connection.exec_driver_sql(ENDLESS)

        with pytest.raises(QueryTooSlow, match="ask for less"):
            copy_context().run(ask)
        assert index.text("1") == "some words"
