"""A real process: it says where it is, ends in order, and what it acknowledged is there whatever happened to it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from serving_process import READ, TOKENS, WRITE, Service

from roughly import Index

WORDS = [f"word{n}" for n in range(60)]


def document(number: int) -> dict[str, str]:
    return {"doc_id": f"d{number}", "text": " ".join(WORDS[number % 30 :] + [f"own{number}"] * 4)}


class Load:
    """Clients that add until the service is gone, and note what was acknowledged."""

    def __init__(self, service: Service, clients: int = 4) -> None:
        self.service = service
        self.acknowledged: set[str] = set()
        self.refused: list[str] = []
        self._threads = [threading.Thread(target=self._add, args=(number,)) for number in range(clients)]
        for thread in self._threads:
            thread.start()

    def _add(self, number: int) -> None:
        with self.service.http() as http:
            for at in range(number * 100_000, number * 100_000 + 50_000):
                try:
                    if number % 2:
                        response = http.post("/api/documents", json=document(at))
                        done = [f"d{at}"] if response.status_code == 200 else []
                    else:
                        some = [document(at * 10 + n) for n in range(10)]
                        response = http.post("/api/documents/batch", json=some)
                        told = response.text.splitlines()
                        done = [one["doc_id"] for one, line in zip(some, told, strict=False) if '"status"' in line]
                except httpx.TransportError:
                    return
                if not done:
                    self.refused.append(response.text)
                self.acknowledged |= set(done)

    def wait_for(self, count: int) -> None:
        """Until so many were acknowledged."""
        end = time.monotonic() + 120
        while len(self.acknowledged) < count and time.monotonic() < end:
            time.sleep(0.02)
        assert len(self.acknowledged) >= count, self.refused[:3]

    def finish(self) -> None:
        for thread in self._threads:
            thread.join(60)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.slow
def test_what_was_acknowledged_is_there(
    how: signal.Signals, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = str(tmp_path / "a.db")
    if kind == "postgresql":
        place = request.getfixturevalue("postgres").database()
    Index.create(place).close()
    service = Service(place, options=("--rate", "0", "--quiet"))
    load = Load(service)
    load.wait_for(60)
    code = service.end(how)
    load.finish()
    assert code == (0 if how == signal.SIGTERM else -signal.SIGKILL), service.log
    with Index.open(place) as index:
        assert index.verify().whole
        lost = [doc_id for doc_id in load.acknowledged if index.get(doc_id) is None]
        assert lost == []
        assert len(load.acknowledged) >= 60


def test_a_request_under_way_is_finished(tmp_path: Path) -> None:
    """A stream that has begun when the signal comes is answered to its end; then the process goes."""
    Index.create(tmp_path / "a.db").close()
    service = Service(tmp_path / "a.db")
    host, _, port = service.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(
            b"POST /api/documents/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        stream = connection.makefile("rb")

        def send(line: bytes) -> bytes:
            connection.sendall(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            while not (got := stream.readline()).startswith(b"{"):
                assert got, "the connection ended"
            return got

        assert b'"added"' in send(b'{"doc_id": "a", "text": "one"}\n')
        service.process.send_signal(signal.SIGTERM)
        with pytest.raises(httpx.TransportError), service.http() as http:
            while True:
                http.get("/health/live")
                time.sleep(0.05)
        assert b'"added"' in send(b'{"doc_id": "b", "text": "two"}\n')
        connection.sendall(b"0\r\n\r\n")
        stream.read()
    assert service.end() == 0
    with Index.open(tmp_path / "a.db") as index:
        assert index.get("a") and index.get("b")


def test_tokens_from_a_file_and_a_quiet_log(tmp_path: Path) -> None:
    Index.create(tmp_path / "a.db").close()
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKENS, encoding="utf-8")
    tokens.chmod(0o600)
    service = Service(tmp_path / "a.db", options=("--token-file", str(tokens), "--max-text", "1KB"))
    with service.http(WRITE) as http:
        assert http.post("/api/documents", json={"doc_id": "a", "text": "secret words"}).status_code == 200
        assert http.post("/api/documents", json={"doc_id": "b", "text": "x" * 2000}).status_code == 413
    with service.http() as http:
        assert http.get("/api/stats").status_code == 401
    assert service.end(signal.SIGINT) == 0
    log = "".join(service.log)
    assert "POST /api/documents 200" in log
    for word in (READ, WRITE, "secret"):
        assert word not in log and word not in " ".join(service.command)


def test_a_port_in_use_is_told_plainly(tmp_path: Path) -> None:
    Index.create(tmp_path / "a.db").close()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "-m", "roughly", "serve", str(tmp_path / "a.db"), "--port"]
        done = subprocess.run(
            [*command, str(taken.getsockname()[1])], capture_output=True, text=True, check=False, timeout=120
        )
    assert done.returncode == 1 and "choose another with --port" in done.stderr and "Traceback" not in done.stderr


def test_nothing_to_serve(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "roughly", "serve", str(tmp_path / "none.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "no run and no index at" in done.stderr


def test_input_is_for_a_run(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db"):
        pass
    command = [sys.executable, "-m", "roughly", "serve", str(tmp_path / "a.db"), "--input", "documents.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2 and "no run is served" in done.stderr and "Traceback" not in done.stderr
