"""The service under load from another process on loopback: checks and adds a second, their times, errors, memory.

    python -m benchmarks.service --documents 20000
    python -m benchmarks.service --index archive.db --seconds 60 --clients 8

`roughly serve` runs in a process of its own, over an index of grown documents or over `--index`, and over a run of
`dedupe` and one of `passages` on a sample of it; this process is the load, a thread a client, each with one connection
that stays open. Asked about are documents of the index with a few words changed, and texts that are not in it; added
are such changed documents, one by one and many a request, and they are taken out again at the end. Pages are tables of
documents with filters and orders, clusters, comparisons, search and passages; decisions are looked at, and now and then
made. `--mixed` does all of this at once. Time is measured by the client, from the first byte sent to the last one read.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import psutil
import pyarrow.parquet as pq
from sqlalchemy import text as sql

import roughly
from benchmarks.measure import machine
from roughly import Index

LINES = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}
SAMPLE = 2_000


@dataclass
class Row:
    """One kind of load."""

    name: str
    seconds: float
    requests: int
    documents: int
    errors: int
    p50_ms: float
    p99_ms: float
    most_ms: float
    memory_mb: float  # of the server, at the end of it
    memory_over_time: list[float]  # ten times, in megabytes

    @property
    def rate(self) -> float:
        """Documents a second."""
        return self.documents / self.seconds


class Server:
    """`roughly serve` in a process of its own."""

    def __init__(self, *places: str) -> None:
        command = [sys.executable, "-m", "roughly", "serve", *places, "--port", "0", "--quiet", "--rate", "0"]
        self.process = subprocess.Popen([*command, "--timeout", "120"], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"http://([\d.]+):(\d+)/", line):
                self.host, self.port = found[1], int(found[2])
                break
        else:
            raise SystemExit(f"the service did not start; it ended with {self.process.wait()}")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    @property
    def memory(self) -> float:
        """Megabytes that are resident."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 1e6)

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes, kind: Any) -> bytes:
        """One request; an answer that is an error is raised."""
        connection.request(method, path, body, kind)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 303):
            raise ValueError(f"{answer.status}: {content[:200]!r}")
        return content

    def end(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.terminate()
        return self.process.wait(120)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=20_000, help="of an index that is grown for the run")
    parser.add_argument("--index", help="an index that is there, instead: a file, or postgresql://…")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each kind of load")
    parser.add_argument("--mixed", action="store_true", help="all kinds of load at once")
    parser.add_argument("--out", type=Path, help="also write the result here, as JSON")
    asked = parser.parse_args()
    if asked.index:
        found = measure(asked.index, asked)
    else:
        with tempfile.TemporaryDirectory(prefix="roughly-bench-") as folder:
            where = f"{folder}/a.db"
            grow(where, asked.documents)
            found = measure(where, asked)
    print(table(found))
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["errors"] for row in found["rows"]) or found["exit_code"] else 0


def grow(where: str, count: int) -> None:
    """An index of so many grown documents."""
    from benchmarks.index import batches, grown

    with Index.create(where) as index:
        for part in batches(grown(count), count):
            index.add(part, at_once=10_000)


def sample(where: str, count: int) -> tuple[int, list[str]]:
    """How many documents an index has, and the texts of some."""
    with Index.open(where) as index:
        with index.read_transaction() as connection:
            last = int(connection.execute(sql("SELECT max(document) FROM documents")).scalar_one())
            chosen = sorted(random.Random(1).sample(range(last + 1), min(2 * count, last + 1)))
            listed = ",".join(map(str, chosen))
            rows = connection.execute(sql(f"SELECT doc_id FROM documents WHERE document IN ({listed})"))
            ids = [row[0] for row in rows][:count]
        texts = [text for doc_id in ids if (text := index.text(doc_id))]
        return index.stats().documents, texts


def measure(where: str, asked: argparse.Namespace) -> dict[str, Any]:
    """All kinds of load, one after the other."""
    documents, texts = sample(where, SAMPLE)
    if not texts:
        raise SystemExit(f"{where} stores no texts to ask about")
    made = Made(texts)
    folder = Path(tempfile.mkdtemp(prefix="roughly-bench-runs-"))
    server = Server(where, *made.runs(folder))
    try:
        warm(server, made)
        memory, start = server.memory, server.cpu
        loads = kinds(made)
        if asked.mixed:
            loads = [("all at once", lambda number: kinds(made)[number % len(loads)][1](number // len(loads)))]
        rows = [load(server, name, one, asked.clients, asked.seconds) for name, one in loads]
        used, last = server.cpu - start, server.memory
        removed = clean(server, made)
    finally:
        code = server.end()
        shutil.rmtree(folder)
    return {
        "machine": machine(), "where": "postgresql" if "://" in where else "sqlite", "documents": documents,
        "clients": asked.clients, "cores": os.cpu_count(), "memory_mb_at_start": memory, "memory_mb_at_end": last,
        "server_cpu_seconds": used, "added_and_removed": removed, "exit_code": code,
        "rows": [{**asdict(row), "documents_a_second": row.rate} for row in rows],
    }  # fmt: skip


Request = tuple[str, Any, bytes | None, int]


def kinds(made: Made) -> list[tuple[str, Callable[[int], Request]]]:
    """Each kind of load: its name, and what is sent for a number (path, headers, body or none, documents)."""

    def known(number: int) -> Request:
        return "/api/check", JSON, _json({"text": made.known(number)}), 1

    return [
        ("pages", lambda number: (made.page(number), {}, None, 1)),
        ("decide", made.decision),
        ("check, known", known),
        ("check, unknown", lambda number: ("/api/check", JSON, _json({"text": made.unknown(number)}), 1)),
        ("check, 100 a request", lambda number: ("/api/check/batch", LINES, made.lines(number, 100, False), 100)),
        ("add, one by one", lambda number: ("/api/documents", JSON, _json(made.document(number)), 1)),
        ("add, 100 a request", lambda number: ("/api/documents/batch", LINES, made.lines(number, 100, True), 100)),
        ("check, known, again", known),
    ]


PAGES = (
    "/", "/documents?sort=-words&page={n}", "/documents?q=s{n}&kept=no", "/documents.json?least={n}&sort=title",
    "/documents/s{n}", "/clusters?page={few}", "/search?q={word}", "/compare?left=s{n}&right=s{m}", "/threshold",
    "/passages", "/passages/document?id={repeated}", "/decisions", "/api/stats", "/health",
)  # fmt: skip
_IN_RUN = 500


class Made:
    """Documents to ask about and to add; each is another."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self.added: set[str] = set()
        self._run = f"load-{os.getpid()}-{int(time.time())}"

    def runs(self, folder: Path) -> tuple[str, str]:
        """A run of `dedupe` and one of `passages`, over some documents and a changed copy of each."""
        texts = (
            text for number in range(_IN_RUN) for text in (self._texts[number % len(self._texts)], self.known(number))
        )
        rows = [{"id": f"s{number}", "text": text} for number, text in enumerate(texts)]
        given = folder / "sample.jsonl"
        given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self._removed = (
            roughly.dedupe(given, output=folder / "run", threshold=0.7).removed.to_arrow()["doc_id"].to_pylist()
        )
        roughly.passages(given, output=folder / "passages")
        self._repeated = pq.read_table(folder / "passages" / "documents.parquet")["doc_id"].to_pylist()
        return str(folder / "run"), str(folder / "passages")

    def page(self, number: int) -> str:
        """The address of a page."""
        n = 1 + number // len(PAGES) % 20
        words = (word for word in self._texts[number % len(self._texts)].split() if word.isalpha())
        return PAGES[number % len(PAGES)].format(
            n=n,
            m=n + 1,
            few=1 + n % 4,
            word=quote(next(words, "the")),
            repeated=self._repeated[n % len(self._repeated)],
        )

    def decision(self, number: int) -> Request:
        """A page about decisions, or one time in a hundred a decision."""
        name = self._removed[number % len(self._removed)]
        if number % 100:
            return ("/decisions", f"/documents/{name}")[number % 2], {}, None, 1
        form = urlencode({"decision": "keep", "id": name, "by": "load"}).encode()
        return "/decisions", {"content-type": "application/x-www-form-urlencoded"}, form, 1

    def known(self, number: int) -> str:
        """A document of the index with a word in fifty changed."""
        words = self._texts[number % len(self._texts)].split(" ")
        chosen = random.Random(number)
        for _ in range(max(1, len(words) // 50)):
            words[chosen.randrange(len(words))] = f"w{number}"
        return " ".join(words)

    def unknown(self, number: int) -> str:
        """A text with the words of a document in another order."""
        words = self._texts[number % len(self._texts)].split()
        random.Random(number).shuffle(words)
        return " ".join(words)

    def document(self, number: int) -> dict[str, str]:
        """One to add."""
        doc_id = f"{self._run}-{number}"
        self.added.add(doc_id)
        return {"doc_id": doc_id, "text": self.known(number)}

    def lines(self, number: int, count: int, add: bool) -> bytes:
        """Many, a line each."""
        numbers = range(10**9 + number * count, 10**9 + (number + 1) * count)
        made = (self.document(n) if add else {"text": self.known(n)} for n in numbers)
        return b"\n".join(map(_json, made))


def load(server: Server, name: str, one: Callable[[int], Request], clients: int, seconds: float) -> Row:
    """So many clients ask for so long."""
    times: list[float] = []
    counted = [0, 0]  # documents, errors
    lock = threading.Lock()
    end = time.perf_counter() + seconds

    def client(which: int) -> None:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=180)
        number = which
        while time.perf_counter() < end:
            path, kind, body, count = one(number)
            start = time.perf_counter()
            try:
                content = server.ask(connection, "GET" if body is None else "POST", path, body or b"", kind)
                bad = content.count(b'"error"') if count > 1 else 0
                short = count - content.count(b"\n") if count > 1 else 0
            except (OSError, http.client.HTTPException, ValueError) as problem:
                print(f"{name}: {problem}", file=sys.stderr)
                connection.close()
                bad, short = count, 0
            with lock:
                times.append(time.perf_counter() - start)
                counted[0] += count
                counted[1] += bad + short
            number += clients
        connection.close()

    start = time.perf_counter()
    threads = [threading.Thread(target=client, args=(which,)) for which in range(clients)]
    for thread in threads:
        thread.start()
    memory = []
    for step in range(1, 11):
        time.sleep(max(0.0, start + seconds * step / 10 - time.perf_counter()))
        memory.append(round(server.memory))
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    p50, p99, most = (1000 * np.percentile(times, (50, 99, 100))).tolist()
    row = Row(name, took, len(times), counted[0], counted[1], p50, p99, most, server.memory, memory)
    print(json.dumps(asdict(row)), file=sys.stderr, flush=True)
    return row


def warm(server: Server, made: Made) -> None:
    """The first of each kind loads what it needs."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=180)
    for number in range(20):
        server.ask(connection, "POST", "/api/check", _json({"text": made.known(number)}), JSON)
        server.ask(connection, "POST", "/api/documents", _json(made.document(10**8 + number)), JSON)
    server.ask(connection, "POST", "/api/check/batch", made.lines(0, 100, False), LINES)
    connection.close()


def clean(server: Server, made: Made) -> int:
    """Take out what was added; how many that were."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=600)
    ids, gone = sorted(made.added), 0
    for at in range(0, len(ids), 500):
        query = "&".join(f"id={doc_id}" for doc_id in ids[at : at + 500])
        gone += len(json.loads(server.ask(connection, "DELETE", f"/api/documents?{query}", b"", {}))["ids"])
    connection.close()
    return gone


def table(found: dict[str, Any]) -> str:
    """As Markdown."""
    lines = [
        f"{found['documents']:,} documents on {found['where']}, {found['clients']} clients, {found['cores']} cores; "
        f"memory {found['memory_mb_at_start']:.0f} MB at the start, {found['memory_mb_at_end']:.0f} MB at the end",
        "",
        "| load | documents/s | requests | p50 | p99 | most | errors | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['name']} | {row['documents_a_second']:,.0f} | {row['requests']:,} | {row['p50_ms']:.1f} ms | "
        f"{row['p99_ms']:.1f} ms | {row['most_ms']:.0f} ms | {row['errors']:,} | {row['memory_mb']:.0f} MB |"
        for row in found["rows"]
    ]
    return "\n".join(lines)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


if __name__ == "__main__":
    sys.exit(main())
