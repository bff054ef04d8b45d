"""Every page of the explorer over a run and an index of N documents: seconds and CPU seconds, the first time and again.

    python -m benchmarks.pages --documents 10000000 --folder /tmp/pages --out benchmarks/results/pages.json

The documents are 24 random words each, a quarter of them copies of others with one word changed or none; a few clusters
are large. `roughly dedupe` and `roughly index import` make the run and the index, once per folder. `roughly serve`
runs in a process of its own; what it does in the background is waited for before the pages are requested again.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import machine
from benchmarks.service import Server
from benchmarks.tables import markdown, write_json

WORDS, LETTERS = 24, 6  # of a text; of a word, with its space
_CHUNK = 100_000
_IDLE_SECONDS = 3.0
LISTS = {
    "run": (
        "/", "/overview/time", "/clusters", "/clusters?sort=lowest", "/clusters?sort=bytes", "/clusters?sort=newest",
        "/clusters?suspicion=any", "/clusters?kind=exact", "/clusters?source=source7", "/clusters?q=page%2012",
        "/clusters?q=abc&sort=newest", "/documents", "/documents?page=10000", "/documents?sort=-date",
        "/documents?sort=-words", "/documents?sort=resemblance&kept=no", "/documents?q=page%2012",
        "/documents?source=source7&since=2015&until=2015", "/documents?sort=title", "/threshold", "/threshold?t=0.93",
        "/threshold?t=0.97", "/judge", "/decisions",
    ),
    "index": (
        "/", "/overview/time", "/clusters", "/clusters?sort=smallest", "/clusters?sort=sources",
        "/clusters?sort=newest", "/clusters?suspicion=any", "/clusters?source=source7", "/clusters?q=doc-00001",
        "/clusters?q=https%3A&sort=newest", "/documents", "/documents?page=10000", "/documents?sort=-date",
        "/documents?sort=id", "/documents?q=doc-00001", "/documents?source=source7&since=2015&until=2015",
        "/documents?source=source7", "/search?q=page", "/ask", "/changes",
    ),
}  # fmt: skip
"""Pages of lists and figures; those of clusters, documents and pairs follow from what the lists name."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True, help="where documents, run and index are made, and stay")
    parser.add_argument("--of", choices=("run", "index"), help="only one of the two")
    parser.add_argument("--out", type=Path, help="also write the result here, as JSON")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    make(asked.folder, asked.documents)
    rows = [row for kind in ([asked.of] if asked.of else LISTS) for row in measure(asked.folder, kind)]
    print(
        markdown(
            ["of", "page", "first s", "first CPU s", "again s", "again CPU s"], [list(map(_cell, row)) for row in rows]
        )
    )
    if asked.out:
        names = ("of", "page", "first_seconds", "first_cpu", "again_seconds", "again_cpu")
        found = [dict(zip(names, row, strict=True)) for row in rows]
        write_json(asked.out, {"machine": machine(), "documents": asked.documents, "pages": found})


def make(folder: Path, documents: int) -> None:
    """The documents, the run and the index, each if it is not there yet."""
    source, run, index = folder / "documents.parquet", folder / "run", folder / "index.db"
    if not source.exists():
        write_documents(source, documents)
    command = [sys.executable, "-m", "roughly"]
    if not run.exists():
        subprocess.run([*command, "dedupe", str(source), "-o", str(run), "--quiet"], check=True)
    if not index.exists():
        subprocess.run([*command, "index", "import", str(index), str(run), "--quiet"], check=True)


def write_documents(path: Path, documents: int) -> None:
    """Random texts with title, date, source and address; the same number gives the same bytes."""
    chance = np.random.default_rng(1)
    letters = chance.integers(97, 123, (50_000, LETTERS), np.uint8)
    letters[:, -1] = 32
    vocabulary = np.ascontiguousarray(letters).view(f"S{LETTERS}")[:, 0]
    founders = max(1, int(0.75 * documents))
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for start in range(0, documents, _CHUNK):
            number = np.arange(start, min(start + _CHUNK, documents))
            founder = np.where(number % 4 < 3, number - number // 4, (founders * chance.random(len(number)) ** 3))
            words = _mixed(founder.astype(np.uint64)[:, None] * np.uint64(WORDS) + np.arange(WORDS, dtype=np.uint64))
            words[:, -1] += number.astype(np.uint64) % 3  # one word differs in some copies
            text = _strings(vocabulary[words % len(vocabulary)])
            day = chance.integers(14_610, 20_000, len(number))
            columns = {
                "id": [f"doc-{one:09}" for one in number.tolist()],
                "text": text,
                "title": [f"Page {one % 99_991} of the collection" for one in number.tolist()],
                "date": pa.array(day, pa.int32()).cast(pa.date32()).cast(pa.string()),
                "source": [f"source{one}" for one in (chance.random(len(number)) ** 2 * 2_000).astype(int).tolist()],
                "url": [f"https://example.org/{one}" for one in number.tolist()],
            }
            writer.write_table(pa.table(columns, SCHEMA))


SCHEMA = pa.schema([(name, pa.string()) for name in ("id", "text", "title", "date", "source", "url")])


def _mixed(values: Any) -> Any:
    """Numbers that look random (splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _strings(words: Any) -> pa.Array:
    rows, width = len(words), WORDS * LETTERS
    offsets = pa.py_buffer(np.arange(0, (rows + 1) * width, width, dtype=np.int32))
    return pa.StringArray.from_buffers(rows, offsets, pa.py_buffer(np.ascontiguousarray(words).tobytes()))


def measure(folder: Path, kind: str) -> list[tuple[Any, ...]]:
    """(of, page, seconds and CPU seconds of the first request, those of a second one) of every page."""
    server = Server(str(folder / ("run" if kind == "run" else "index.db")))
    try:
        first = {"/": _timed(server, "/")}
        cpu, start = server.cpu, time.perf_counter()
        _wait(server)
        first["in the background"] = time.perf_counter() - start, server.cpu - cpu
        first |= {page: _timed(server, page) for page in LISTS[kind][1:]}
        first |= {page: _timed(server, page) for page in _named(server)}
        _wait(server)
        rows = []
        for page, taken in first.items():
            again = _timed(server, page) if page.startswith("/") else (0.0, 0.0)
            rows.append((kind, page, *taken, *again))
            print(*map(_cell, rows[-1]), file=sys.stderr)
        print(f"{kind}: memory {server.memory:,.0f} MB, CPU {server.cpu:.1f} s", file=sys.stderr)
        return rows
    finally:
        server.end()


def _named(server: Server) -> list[str]:
    """Pages of the largest cluster and of a small one, and of a document and a pair of each."""
    pages = []
    for query in ("sort=size", "sort=smallest"):
        cluster = json.loads(_get(server, f"/clusters.json?{query}"))["clusters"][0]["cluster_id"]
        shown = json.loads(_get(server, f"/clusters.json?id={quote(cluster)}"))
        one, other = (member["doc_id"] for member in shown["members"][:2])
        pages += [f"/clusters?id={quote(cluster)}", f"/documents?id={quote(other)}"]
        pages.append(f"/compare?left={quote(one)}&right={quote(other)}")
    return pages


def _timed(server: Server, page: str) -> tuple[float, float]:
    cpu, start = server.cpu, time.perf_counter()
    _get(server, page)
    return time.perf_counter() - start, server.cpu - cpu


def _get(server: Server, page: str) -> bytes:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=600)
    try:
        return server.ask(connection, "GET", page, b"", {})
    finally:
        connection.close()


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}"


def _wait(server: Server) -> None:
    """Until nothing is done in the background."""
    while True:
        cpu = server.cpu
        time.sleep(_IDLE_SECONDS)
        if server.cpu - cpu < 0.1:
            return


if __name__ == "__main__":
    main()
