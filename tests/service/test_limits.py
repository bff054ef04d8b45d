"""How much is taken: bodies while they stream, batches, texts, time, requests a second."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_process import serving

from roughly import Index
from roughly.service.index_writer import IndexWriter
from roughly.service.limits import RateLimit, is_too_long
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.service.service_metrics import Metrics

SMALL = ServiceConfig(max_body=20_000, max_stream=700_000, max_text=5_000, max_batch=10, rate=0)
HASTY = ServiceConfig(timeout=1.0, rate=0)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("limits") / "a.db") as made:
        made.add({"doc_id": "a", "text": "to begin with"})
        yield made


@pytest.fixture(scope="module")
def http(index: Index) -> Iterator[httpx.Client]:
    with serving(ServedData(index=index), SMALL) as client:
        yield client


def chunks(size: int) -> Iterator[bytes]:
    """A body that does not say how long it is."""
    for _ in range(size // 1000):
        yield b" " * 1000


def test_a_body_that_is_too_large(http: httpx.Client) -> None:
    as_json = {"content-type": "application/json"}
    said = http.post("/api/check", content=b" " * 20_001, headers=as_json)
    assert said.status_code == 413 and "--max-body" in said.json()["remedy"]
    streamed = http.post("/api/check", content=chunks(40_000), headers=as_json)
    assert streamed.status_code == 413 and "more than 20,000 bytes" in streamed.json()["error"]
    listed = http.post("/api/documents/batch", content=chunks(40_000), headers=as_json)
    assert listed.status_code == 413


def test_a_stream_of_lines_has_limits_of_its_own(http: httpx.Client, index: Index) -> None:
    lines = [json.dumps({"doc_id": f"s{n}", "text": "words " * 500}) for n in range(400)]
    told = http.post(
        "/api/documents/batch", content=iter([f"{line}\n".encode() for line in lines]),
        headers={"content-type": "application/x-ndjson"},
    )  # fmt: skip
    answers = [json.loads(line) for line in told.content.splitlines()]
    assert "more than 700,000 bytes" in answers[-1]["error"]
    acknowledged = [one["doc_id"] for one in answers if "doc_id" in one]
    assert 0 < len(acknowledged) < 400 and all(index.get(one) for one in acknowledged)
    long = http.post(
        "/api/documents/batch", content=chunks(30_000), headers={"content-type": "application/x-ndjson"}
    )  # fmt: skip
    assert "more than 20,000 bytes" in json.loads(long.text)["error"], "a line without an end"


def test_texts_and_lists_that_are_too_long(http: httpx.Client) -> None:
    text = "word " * 1_001
    for path, body in (
        ("/api/check", {"text": text}),
        ("/api/documents", {"doc_id": "x", "text": text}),
        ("/api/compare", {"left": {"text": text}, "right": {"text": "b"}}),
        ("/api/group", {"results": [{"text": text}]}),
        ("/api/group", {"results": [{"text": str(n)} for n in range(11)]}),
        ("/api/documents/batch", [{"doc_id": str(n), "text": "b"} for n in range(11)]),
        ("/api/revoke", {"ids": [str(n) for n in range(11)]}),
    ):
        told = http.post(path, json=body)
        assert told.status_code == 413 and told.json()["remedy"], path
    line = http.post("/api/documents/batch", json=[{"doc_id": "x", "text": text}])
    assert json.loads(line.text)["code"] == 413
    assert http.get("/api/documents", params={"id": "x"}).status_code == 404


def test_bytes_count_not_characters() -> None:
    config = ServiceConfig(max_text=30)
    assert not is_too_long(config, "x" * 30) and is_too_long(config, "x" * 31)
    assert not is_too_long(config, "é" * 15) and is_too_long(config, "é" * 16)
    assert is_too_long(config, "\ud800" * 31)


def test_an_answer_that_takes_too_long(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told so; the work behind it goes on, and the service answers others meanwhile."""
    asked, go_on = threading.Event(), threading.Event()

    def slow(self: Index, *given: Any, **more: Any) -> list[Any]:
        asked.set()
        assert go_on.wait(120)
        return []

    with serving(ServedData(index=index), HASTY) as http:
        monkeypatch.setattr(Index, "query", slow)
        told = http.post("/api/check", json={"text": "x"})
        assert asked.is_set() and told.status_code == 503 and "no answer within 1 s" in told.json()["error"]
        assert int(told.headers["retry-after"]) >= 1
        assert http.get("/health/live").status_code == 200
        go_on.set()


def test_a_request_that_never_ends(index: Index) -> None:
    with (
        serving(ServedData(index=index), HASTY) as http,
        socket.create_connection((http.base_url.host, http.base_url.port), timeout=60) as connection,
    ):
        connection.sendall(
            b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 99\r\n\r\n{"
        )
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 408")


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    limit = RateLimit(2.0, 4.0, clock=lambda: now[0])
    assert [limit.take("a") for _ in range(4)] == [0.0] * 4
    assert limit.take("a") == pytest.approx(0.5) and limit.take("b") == 0.0
    now[0] = 0.5
    assert limit.take("a") == 0.0 and limit.take("a") > 0
    now[0] = 100.0
    assert [limit.take("a") for _ in range(5)].count(0.0) == 4, "it never holds more than its size"
    for number in range(20_000):
        limit.take(str(number))
    assert len(limit._buckets) <= 10_000
    assert RateLimit(0, 0).take("a") == 0.0


def test_too_many_requests_are_told_when_to_come_again(index: Index) -> None:
    with serving(ServedData(index=index), ServiceConfig(rate=0.5)) as http:
        codes = [http.get("/health").status_code for _ in range(4)]
        assert codes[0] == 200 and codes[-1] == 429
        told = http.get("/api/stats")
        assert told.status_code == 429 and int(told.headers["retry-after"]) >= 1 and told.json()["remedy"]


def test_requests_that_wait_go_in_together(tmp_path: Path) -> None:
    """While one transaction is under way, the others gather: many requests, few transactions, each told its own."""
    with Index.create(tmp_path / "a.db") as index:
        metrics = Metrics(index)
        writer = IndexWriter(index, metrics)
        told = [writer.add([{"doc_id": f"d{n % 40}", "text": f"text {n % 40}"}]) for n in range(60)]
        statuses = [future.result(60)[0] for future in told]
        writer.close()
        assert [one.doc_id for one in statuses] == [f"d{n % 40}" for n in range(60)]
        assert [one.status for one in statuses] == ["added"] * 40 + ["unchanged"] * 20
        done = float(metrics.text().decode().split("\nroughly_transactions_total ")[1].split("\n")[0])
        assert done < 60
        assert index.stats().documents == 40


def test_one_bad_document_spoils_no_others(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db") as index:
        writer = IndexWriter(index, Metrics(index))
        futures = [writer.add([{"doc_id": doc_id, "text": "words"}]) for doc_id in ("a", "n\0l", "b")]
        writer.close()
        assert futures[0].result()[0].status == "added" and futures[2].result()[0].status == "added"
        with pytest.raises(ValueError, match="NUL"):
            futures[1].result()
