"""Requests made to hurt: bombs, deep nests, connections without end, forged headers."""

from __future__ import annotations

import gzip
import json
import logging
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import zstandard
from serving_process import READ, Service, serving

from roughly import Index, sources
from roughly.errors import IndexAway, SettingsError
from roughly.service.collection.run_collection import RunCollection
from roughly.service.error_responses import to_error_response
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.service.serving import OnceInAWhile

NESTED = "<ul><li>" * 70_000


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("hostile") / "a.db") as made:
        made.add({"doc_id": "a", "text": "some words that are long enough to be a document of the index"})
        yield made


@pytest.fixture(scope="module")
def http(index: Index) -> Iterator[httpx.Client]:
    with serving(ServedData(index=index), ServiceConfig(rate=0)) as client:
        yield client


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_an_upload_that_is_compressed_is_refused_whatever_its_name(http: httpx.Client, compress: object) -> None:
    bomb = compress(b'{"id": "x", "text": "' + b"a" * 50_000_000 + b'"}\n')  # type: ignore[operator]
    for ending in ("jsonl", "txt", "csv", "html", "eml"):
        answer = http.post("/ask.json", files={"file": (f"file.{ending}", bomb)})
        assert answer.status_code == 422 and "is compressed with" in answer.text, ending
        assert "upload it uncompressed" in answer.text


def test_markup_that_takes_too_long_is_ended_and_others_are_answered(http: httpx.Client) -> None:
    """Twelve requests of 560 KB, as many as there are threads."""
    document = {"text": NESTED, "markup": True}
    with ThreadPoolExecutor(12) as threads:
        start = time.monotonic()
        slow = [threads.submit(http.post, "/api/check", json=document) for _ in range(12)]
        time.sleep(0.5)
        for path, status in (("/health", 200), ("/nothing", 404), ("/api/stats", 200)):
            before = time.monotonic()
            assert http.get(path).status_code == status
            assert time.monotonic() - before < 5, path
        codes = {future.result().status_code for future in slow}
    assert codes <= {200, 422, 503} and time.monotonic() - start < 60
    assert http.post("/api/check", json={"text": "<p>honest</p>" * 1000, "markup": True}).status_code == 200


def test_one_line_with_slow_markup_spoils_no_others(http: httpx.Client) -> None:
    documents = [{"doc_id": "p", "text": "plain"}, {"doc_id": "n", "text": NESTED, "markup": True}]
    for path in ("/api/check/batch", "/api/documents/batch"):
        first, second = [json.loads(line) for line in http.post(path, json=documents).content.splitlines()]
        assert "error" not in first and second.get("code") in (None, 422), path
    for path in ("/api/documents", "/api/group"):
        body = documents[1] if path == "/api/documents" else {"results": documents}
        assert http.post(path, json=body).status_code in (200, 422), path
    http.cookies.clear()
    page = http.post("/ask.json", files={"file": ("page.html", NESTED)})
    assert page.status_code in (200, 422)


@pytest.mark.slow
def test_health_and_errors_have_threads_of_their_own(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(self: Index, *given: object, **more: object) -> list[object]:
        assert go_on.wait(60)
        return []

    with serving(ServedData(index=index), ServiceConfig(rate=0, timeout=5)) as http, ThreadPoolExecutor(30) as threads:
        monkeypatch.setattr(Index, "query", slow)
        waiting = [threads.submit(http.post, "/api/check", json={"text": "x"}) for _ in range(30)]
        time.sleep(1)
        start = time.monotonic()
        assert http.get("/health").status_code == 200
        assert "Not found" in http.get("/nothing").text
        assert time.monotonic() - start < 3
        assert {future.result().status_code for future in waiting} == {503}
        go_on.set()
        monkeypatch.undo()
        start = time.monotonic()
        assert http.post("/api/check", json={"text": "x"}).status_code == 200
        assert time.monotonic() - start < 5, "requests that had waited in vain are not carried out first"


def test_half_sent_requests_are_closed_in_time(index: Index) -> None:
    with serving(ServedData(index=index), ServiceConfig(rate=0, timeout=3, max_connections=400)) as http:
        assert http.get("/health").status_code == 200  # the first request takes longest, and may pass the time limit
        address = (http.base_url.host, http.base_url.port)
        halves = [socket.create_connection(address, timeout=30) for _ in range(90)]
        for number, half in enumerate(halves):
            half.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "[: 10 * (number % 5)])
        assert http.get("/health").status_code == 200
        for half in halves:
            assert half.recv(100).startswith(b"HTTP/1.1 408")
            half.close()
        again = socket.create_connection(address, timeout=30)
        again.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert again.recv(20).startswith(b"HTTP/1.1 200")
        again.sendall(b"GET /health HTTP/1.1\r\nHost: ")  # the second request of a connection has the same time
        start = time.monotonic()
        while again.recv(65536):
            pass
        assert time.monotonic() - start < 6
        again.close()


def test_a_client_has_a_quarter_of_the_connections(index: Index) -> None:
    with serving(ServedData(index=index), ServiceConfig(rate=0, max_connections=40)) as http:
        address = (http.base_url.host, http.base_url.port)
        held = [socket.create_connection(address, timeout=30) for _ in range(12)]
        refused = [one for one in held if _first_bytes(one).startswith(b"HTTP/1.1 503")]
        assert len(refused) == 2
        for one in held:
            one.close()
        time.sleep(0.2)
        assert http.get("/health").status_code == 200, "closed connections are not counted"


def _first_bytes(connection: socket.socket) -> bytes:
    connection.settimeout(0.3)
    try:
        return connection.recv(100)
    except TimeoutError:
        return b""


def test_connections_fit_the_file_descriptors(tmp_path: Path) -> None:
    """With few descriptors the service refuses connections, goes on, and logs little."""
    Index.create(tmp_path / "a.db").close()
    command = f"ulimit -n 128; exec {sys.executable} -m roughly serve {tmp_path / 'a.db'} --port 0 --rate 0"
    with subprocess.Popen(["bash", "-c", command], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stderr.readline())
        assert found is not None
        held = [socket.create_connection(("127.0.0.1", int(found[1])), timeout=30) for _ in range(300)]
        time.sleep(1)
        for one in held:
            one.close()
        time.sleep(0.5)
        assert httpx.get(f"http://127.0.0.1:{found[1]}/health").status_code == 200
        process.terminate()
        log = process.stderr.read()
    assert process.returncode == 0 and len(log) < 20_000 and "Traceback" not in log, log[-2000:]


def test_messages_of_libraries_are_logged_once_in_a_while() -> None:
    now = [0.0]
    sparing = OnceInAWhile(10.0, clock=lambda: now[0])
    one, other = (logging.LogRecord("uvicorn", logging.WARNING, "x.py", line, "Invalid", (), None) for line in (1, 2))
    assert [sparing.filter(record) for record in (one, one, other)] == [True, False, True]
    now[0] = 11.0
    assert sparing.filter(one)


def test_forwarded_addresses_count_only_from_a_named_proxy(index: Index) -> None:
    tokens = ServiceConfig(read_tokens=frozenset({READ}), rate=0)
    for config, last in ((tokens, 429), (replace(tokens, proxies=frozenset({"127.0.0.1"})), 401)):
        with serving(ServedData(index=index), config) as http:
            codes = [
                http.get(
                    "/api/stats", headers={"authorization": "Bearer wrong", "x-forwarded-for": f"10.0.0.{n}"}
                ).status_code
                for n in range(14)
            ]
            assert codes[0] == 401 and codes[-1] == last
    with pytest.raises(SettingsError, match="proxy must be an IP address"):
        ServiceConfig(proxies=frozenset({"proxy.example"}))


@pytest.mark.slow
def test_a_body_above_the_limit_gets_an_answer(http: httpx.Client) -> None:
    """17 MB against the limit of 16 MB, sent in full before the answer is read."""
    address = (http.base_url.host, http.base_url.port)
    for head in (b"Content-Length: 17000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"):
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(
                b"POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + head
            )
            chunk = b" " * 1_000_000
            for _ in range(17):
                connection.sendall(chunk if b"Length" in head else b"%x\r\n%s\r\n" % (len(chunk), chunk))
            if b"Length" not in head:
                connection.sendall(b"0\r\n\r\n")
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 413") and b"--max-body" in answer


def test_a_hit_that_is_deleted_meanwhile_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Index.create(tmp_path / "a.db", search=True) as index:
        index.add([{"doc_id": f"d{n}", "text": f"common words and number {n}"} for n in range(4)])
        real = Index.search

        def search(self: Index, *given: object, **more: object) -> object:
            hits = real(self, *given, **more)  # type: ignore[arg-type]
            self.remove("d2")
            return hits

        monkeypatch.setattr(Index, "search", search)
        with serving(ServedData(index=index)) as http:
            page = http.get("/search.json", params={"q": "common"})
            assert page.status_code == 200
            shown = {one["doc_id"] for group in page.json()["groups"] for one in (group["shown"], *group["duplicates"])}
            assert shown == {"d0", "d1", "d3"}
            index.remove(["d0", "d1", "d3"])
            assert http.get("/search.json", params={"q": "common"}).status_code == 200


def test_a_field_that_is_nested_deeply_spoils_no_others(http: httpx.Client) -> None:
    for depth in (150, 254, 900):
        deep = "[" * depth + "]" * depth
        for text in (f'{{"doc_id": "n", "text": "x", "more": {deep}}}', f'{{"doc_id": "n", "text": {deep}}}'):
            body = f'[{{"doc_id": "a", "text": "first"}}, {text}, {{"doc_id": "z", "text": "last"}}]'
            for path in ("/api/documents/batch", "/api/check/batch"):
                answer = http.post(path, content=body, headers={"content-type": "application/json"})
                lines = [json.loads(line) for line in answer.content.splitlines()]
                assert [one["line"] for one in lines] == [1, 2, 3], (depth, path, lines)
                assert "error" not in lines[0] and "error" not in lines[2]
                assert depth < 200 or lines[1]["error"] == "it is nested too deeply"


def test_nul_in_an_id_is_told_without_the_address_of_the_database(service: Service) -> None:
    with service.http() as http:
        for path in ("/documents.json?id=%00", "/documents.json?url=a%00b", "/ask.json?id=%00", "/ask.json?url=%00",
                     "/api/copies?id=%00", "/api/lost?url=http://x/%00", "/api/clusters/%00", "/clusters/%00",
                     "/compare.json?left=%00&right=b", "/search.json?q=%00"):  # fmt: skip
            answer = http.get(path)
            assert answer.status_code in (200, 404, 422), (path, answer.status_code, answer.text)
            assert "postgres" not in answer.text and "Traceback" not in answer.text


def test_an_unreachable_database_is_told_without_its_address() -> None:
    told = to_error_response(IndexAway("postgresql://ann@db.example/x cannot be reached: connection refused"))
    assert told is not None and told.status == 503 and "example" not in str(told.to_dict())


def test_a_run_of_someone_else_names_no_files(looked_at_run: Path, tmp_path: Path) -> None:
    """Only the input that --input names is read; a file in its own folder may be a link."""
    secret = tmp_path / "secret.txt"
    secret.write_text("what only the server may read", encoding="utf-8")
    foreign = tmp_path / "run"
    shutil.copytree(looked_at_run, foreign)
    account = json.loads((foreign / "run.json").read_text(encoding="utf-8"))
    account["reading"] |= {"inputs": [str(secret)], "options": {"format": "text"}}
    (foreign / "run.json").write_text(json.dumps(account), encoding="utf-8")
    (foreign / "run.json").chmod(0o666)
    run = RunCollection(foreign)
    assert run.open_input() is None
    assert (
        run.why_no_input
        == "every user can change run/run.json, so the input that it names is not read; name it with --input"
    )
    run.close()
    (foreign / "own").mkdir()
    (foreign / "own" / "link.txt").symlink_to(secret)
    for inside in ("../secret.txt", "s3://bucket/secret", "own", "own/*.txt", "own/link.txt"):
        account["reading"] |= {"inputs": [inside], "folder": str(foreign)}
        (foreign / "run.json").write_text(json.dumps(account), encoding="utf-8")
        run = RunCollection(foreign)
        assert run.open_input() is None, inside
        run.close()
    named = RunCollection(foreign, [str(secret)])
    assert named.open_input() is not None
    named.close()
    if os.geteuid() == 0:
        (foreign / "run.json").chmod(0o600)
        os.chown(foreign / "run.json", 65534, 65534)
        account["reading"]["inputs"] = [str(secret)]
        (foreign / "run.json").write_text(json.dumps(account), encoding="utf-8")
        run = RunCollection(foreign)
        assert run.open_input() is None and run.why_no_input.startswith("another user wrote")
        run.close()


def test_temporary_files_are_their_owners_only(
    http: httpx.Client, looked_at_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    real = sources.open_parts

    def open_parts(inputs: list[str], *more: object) -> object:
        modes.append(stat.S_IMODE(Path(inputs[0]).parent.stat().st_mode))
        return real(inputs, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(sources, "open_parts", open_parts)
    http.cookies.clear()
    assert http.post("/ask.json", files={"file": ("a.txt", b"some words")}).status_code == 200
    run = RunCollection(looked_at_run)
    modes.append(stat.S_IMODE(Path(run.tables._home.name).stat().st_mode))
    run.close()
    assert modes == [0o700, 0o700]


def test_no_error_page_repeats_a_token(index: Index) -> None:
    secret = "a-token-that-was-mistyped-0001"
    with serving(ServedData(index=index), ServiceConfig(read_tokens=frozenset({READ}), rate=0)) as http:
        for path in ("/clusters", "/api/stats", f"/nothing?token={secret}", "/health"):
            for headers in ({"authorization": f"Bearer {secret}"}, {"cookie": f"roughly_session={secret}"}):
                answer = http.get(path, headers=headers)
                assert READ not in answer.text and secret not in answer.text, path
