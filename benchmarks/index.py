"""The online index: adds a second, query times, bytes a document; on SQLite, PostgreSQL, and datasketch on Redis.

    python -m benchmarks.index --documents 100000
    python -m benchmarks.index --files 'grown/documents/*.parquet' --documents 1000000 --on sqlite
    python -m benchmarks.index --files 'grown/documents/*.parquet' --documents 10000000 --run deduplicated --on sqlite
    python -m benchmarks.index --kills 100

Documents are added in bulk (a few thousand a transaction) or, with `--run`, loaded from a run over them; then some
are added one by one, each acknowledged when it is on disk; then documents that are in the index are asked for, and ones
that are not. All in one process; the server is started for the run, with its defaults but for 256 MB of shared buffers.
`--kills` kills processes that add, remove, expire, refresh and upgrade at random moments, and checks the index each
time.
"""

from __future__ import annotations

import argparse
import glob
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpora import CORPORA, DATA
from benchmarks.grow import Growth, grow
from benchmarks.measure import machine
from benchmarks.peers import Peer
from benchmarks.peers.venvs import PeerUnavailable, python_of

ROOT = Path(__file__).resolve().parents[1]
REDIS = Peer("datasketch-redis", "datasketch_redis", ("datasketch==2.0.0", "redis"), "9×13 by its own choice")
SINGLY = 300
ASKED = 1000


@dataclass(frozen=True, slots=True)
class Measured:
    """What is put into each place."""

    documents: int
    store: str = "text"
    at_once: int = 10_000
    run: Path | None = None


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index", description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--files", help="a glob of Parquet files with id and text, instead of grown documents")
    parser.add_argument("--on", default="sqlite,postgresql,datasketch", help="any of these, with commas")
    parser.add_argument("--store", default="text", help="text, shingles or sketch")
    parser.add_argument("--at-once", type=int, default=10_000, help="documents in a transaction")
    parser.add_argument("--run", type=Path, help="what `roughly dedupe` wrote of these files; it is loaded in bulk")
    parser.add_argument("--kills", type=int, default=0, help="kill so many processes instead")
    parser.add_argument("--out", type=Path, help="also write the result here, as JSON")
    asked = parser.parse_args()
    if asked.kills:
        found: dict[str, Any] = kill(asked.kills)
    else:
        files = sorted(glob.glob(asked.files)) if asked.files else grown(asked.documents)  # noqa: PTH207 - a whole path
        found = {"machine": machine()} | compare(
            files, Measured(asked.documents, asked.store, asked.at_once, asked.run), asked.on
        )
        print(table(found, asked.on.split(",")))
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if not asked.kills or found["whole"] == found["kills"] else 1


def compare(files: list[str], asked: Measured, places: str) -> dict[str, Any]:
    """Each of the places, with commas."""
    found: dict[str, Any] = {"documents": asked.documents, "store": asked.store, "at_once": asked.at_once}
    for name in places.split(","):
        found[name] = measure(name, files, asked)
        print(json.dumps({name: found[name]}, indent=1), file=sys.stderr, flush=True)
    return found


def grown(documents: int, corpora: Path = CORPORA) -> list[str]:
    """Documents made of real ones, with edited copies."""
    folder = DATA / f"index-{documents}"
    if not (folder / "grown.json").exists():
        source = corpora / "large" / "debian_docs.parquet"
        grow([source], folder, Growth(documents=documents))
    return sorted(map(str, (folder / "documents").glob("*.parquet")))


def batches(files: list[str], count: int) -> Iterator[pa.Table]:
    """Tables of `doc_id` and `text`, so many documents in all."""
    left = count
    for file in files:
        if left <= 0:
            return
        table = pq.read_table(file, columns=["id", "text"]).rename_columns(["doc_id", "text"]).slice(0, left)
        left -= table.num_rows
        yield table


def measure(name: str, files: list[str], asked: Measured) -> dict[str, Any]:
    """One place."""
    with tempfile.TemporaryDirectory(prefix="roughly-bench-", dir=ROOT / "benchmarks") as folder:
        if name == "sqlite":
            return on(f"{folder}/a.db", files, asked)
        if name == "datasketch":
            return on_redis(files, asked.documents, Path(folder))
        sys.path.insert(0, str(ROOT / "tests" / "index"))
        from postgres_server import Server, binaries

        if binaries() is None:
            return {"unavailable": "no PostgreSQL server; install it from the system's packages"}
        server = Server("-c shared_buffers=256MB -c max_wal_size=4GB")
        try:
            return on(server.database(), files, asked)
        finally:
            server.close()


def on(where: str, files: list[str], asked: Measured) -> dict[str, Any]:
    """Add in bulk, add singly, ask."""
    from roughly import Index

    start, cpu, speeds = time.perf_counter(), time.process_time(), []
    run, store = asked.run, asked.store
    with Index.create(where, store=store) if run is None else Index.import_run(run, where, store=store) as index:
        if run is None:
            index.add({"doc_id": "first", "text": "something to begin with"})
            index.query("something to begin with")
            start, cpu = time.perf_counter(), time.process_time()
            speeds = add_all(index, files, asked)
        seconds, used = time.perf_counter() - start, time.process_time() - cpu
        stats = index.stats()
        texts = sample(files, asked.documents, ASKED)
        singly = timed([lambda n=n, t=t: index.add({"doc_id": f"new {n}", "text": f"{t} and more"})
                        for n, t in enumerate(texts[:SINGLY])])  # fmt: skip
        there = timed([lambda t=t: index.query(t) for t in texts])
        other = timed([lambda t=t: index.query(t[::-1]) for t in texts])
        return {
            "adds_a_second": stats.documents / seconds,
            "adds_a_second_at_the_end": speeds[-1] if speeds else stats.documents / seconds,
            "adds_a_cpu_second": stats.documents / used,
            "single_add_ms": singly,
            "query_ms": there,
            "query_unknown_ms": other,
            "bytes_a_document": stats.bytes / stats.documents,
            "matched": stats.documents - stats.clusters,
        }


def add_all(index: Any, files: list[str], asked: Measured) -> list[float]:
    """Add everything in bulk; documents a second for each of the files."""
    last, speeds = time.perf_counter(), []
    for table in batches(files, asked.documents):
        for _ in index.adding(table, at_once=asked.at_once):
            pass
        now = time.perf_counter()
        speeds.append(table.num_rows / (now - last))
        last = now
    return speeds


def timed(work: list[Any]) -> dict[str, float]:
    """Milliseconds of each, at the median and the 99th percentile, on the clock and of the processor."""
    seconds, cpu = [], []
    for one in work:
        start, used = time.perf_counter(), time.process_time()
        one()
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    p50, p99, most = (1000 * np.percentile(seconds, (50, 99, 100))).tolist()
    cpu50, cpu99 = (1000 * np.percentile(cpu, (50, 99))).tolist()
    return {"p50": p50, "p99": p99, "most": most, "cpu": 1000 * sum(cpu) / len(cpu), "cpu_p50": cpu50, "cpu_p99": cpu99}


def sample(files: list[str], documents: int, count: int) -> list[str]:
    """Texts from everywhere in the collection."""
    drawn = random.Random(1)
    texts: list[str] = []
    for table in batches(files, documents):
        share = -(-count * table.num_rows // documents)
        places = drawn.sample(range(table.num_rows), min(share, table.num_rows))
        texts += table["text"].take(pa.array(places)).to_pylist()
    drawn.shuffle(texts)
    return texts[:count]


def on_redis(files: list[str], documents: int, folder: Path) -> dict[str, Any]:
    """The same work by datasketch's MinHashLSH with Redis storage, in an environment of its own."""
    server = shutil.which("redis-server")
    if server is None:
        return {"unavailable": "no redis-server; install it from the system's packages"}
    try:
        python = python_of(REDIS)
    except PeerUnavailable as problem:
        return {"unavailable": str(problem)}
    source, asked = folder / "documents.jsonl", folder / "asked.jsonl"
    with source.open("wb") as stream:
        for table in batches(files, documents):
            for row in table.to_pylist():
                stream.write(orjson.dumps(row) + b"\n")
    asked.write_bytes(b"".join(orjson.dumps({"text": t}) + b"\n" for t in sample(files, documents, ASKED)))
    socket = folder / "redis.sock"
    redis = subprocess.Popen(
        [server, "--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--appendonly", "yes"],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not socket.exists():
            time.sleep(0.05)
        done = subprocess.run(
            [str(python), "-m", "benchmarks.peers.datasketch_redis", str(source), str(asked), str(socket)],
            capture_output=True, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
    finally:
        redis.terminate()
        redis.wait()
    if done.returncode:
        return {"unavailable": done.stderr.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def kill(count: int) -> dict[str, Any]:
    """Kill processes that work on an index, and look at what is left."""
    sys.path.insert(0, str(ROOT / "tests" / "index"))
    from index_worker import document
    from test_index_kills import METHOD, Nursery
    from test_index_upkeep import as_format_1

    from roughly import Index, Settings, lexicon

    nursery, drawn = Nursery(), random.Random(1)
    found: dict[str, Any] = {"kills": count, "whole": 0, "lost": 0, "tasks": {}}
    with tempfile.TemporaryDirectory(prefix="roughly-kills-") as folder:
        names = [f"{folder}/{n}.lexicon" for n in (1, 2)]
        for n, name in enumerate(names):
            lexicon.build([document(d)["text"] for d in range(0, 200, 1 + 4 * n)], output=name)
        for number in range(count):
            task = ("add:100-900", "remove:0-80", "expire:", f"refresh:{names[1]}", "upgrade")[number % 5]
            where = f"{folder}/{number}.db"
            settings = Settings() if task == "upgrade" else Settings.gather(METHOD, {"lexicon": names[0]})
            with Index.create(where, settings) as index:
                index.add([document(n) for n in range(200 if task == "upgrade" else 100)])
                if task == "upgrade":
                    as_format_1(index)
            told = nursery.killed(where, task, drawn.randrange(2**30), 0.6)
            if task == "upgrade":
                Index.upgrade(where)
            with Index.open(where) as index:
                added = {line[1] for line in told if line[0] == "added"}
                gone = {line[1] for line in told if line[0] == "removed"}
                found["lost"] += sum(index.get(d) is None for d in added) + sum(index.get(d) is not None for d in gone)
                found["whole"] += index.verify().whole
            name = task.split(":")[0]
            found["tasks"][name] = found["tasks"].get(name, 0) + 1
            for path in Path(folder).glob(f"{number}.db*"):
                path.unlink()
    nursery.close()
    print(json.dumps(found, indent=1))
    return found


def table(found: dict[str, Any], names: list[str]) -> str:
    """As Markdown."""
    lines = [
        "| | adds/s in bulk | at the end | one by one, ms (p50, p99) | query, ms | unknown text, ms | bytes each |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names:
        one = found[name]
        if "unavailable" in one:
            lines.append(f"| {name} | {one['unavailable']} | | | | | |")
            continue
        pairs = (f"{one[key]['p50']:.1f}, {one[key]['p99']:.1f}" for key in
                 ("single_add_ms", "query_ms", "query_unknown_ms"))  # fmt: skip
        speed = f"{one['adds_a_second']:,.0f} | {one['adds_a_second_at_the_end']:,.0f}"
        lines.append(f"| {name} | {speed} | {' | '.join(pairs)} | {one['bytes_a_document']:,.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
