"""datasketch: `MinHashLSH(threshold=0.8)` with Redis storage, as its documentation shows, by an insertion session.

    python -m benchmarks.peers.datasketch_redis DOCUMENTS.jsonl ASKED.jsonl SOCKET

Redis appends every change to a file and waits for the disk once a second, its default; so up to a second of what was
acknowledged may be lost. Matches are candidates: nothing is verified.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import datasketch  # type: ignore[import-not-found]
import redis  # type: ignore[import-not-found]

from benchmarks.peers import THRESHOLD
from benchmarks.tokens import shingles_of, tokens_of

PERMUTATIONS = 128
AT_ONCE = 2000
SINGLY = 300


def sketch(texts: list[str]) -> list[Any]:
    """The min-hash of each text."""
    sets = [[shingle.encode() for shingle in shingles_of(tokens_of(text))] for text in texts]
    return list(datasketch.MinHash.bulk(sets, num_perm=PERMUTATIONS))


def timed(work: list[Any]) -> dict[str, float]:
    """Milliseconds of each, at the median and the 99th percentile."""
    seconds = []
    for one in work:
        start = time.perf_counter()
        one()
        seconds.append(1000 * (time.perf_counter() - start))
    seconds.sort()
    return {"p50": seconds[len(seconds) // 2], "p99": seconds[int(len(seconds) * 0.99)], "most": seconds[-1]}


def main() -> None:
    """Add, ask, print."""
    source, asked, socket = sys.argv[1:4]
    storage = {"type": "redis", "basename": b"bench", "redis": {"unix_socket_path": socket}}
    lsh = datasketch.MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, storage_config=storage)
    client = redis.Redis(unix_socket_path=socket)
    count, matched, held = 0, 0, []
    start = last = time.perf_counter()
    cpu, speed = time.process_time(), 0.0

    def flush() -> None:
        nonlocal count, matched, held, last, speed
        sketches = sketch([row["text"] for row in held])
        matched += sum(bool(lsh.query(one)) for one in sketches)  # as an index does: what is there already?
        with lsh.insertion_session() as session:
            for row, one in zip(held, sketches, strict=True):
                session.insert(row["doc_id"], one)
        count += len(held)
        now = time.perf_counter()
        speed, last, held = len(held) / (now - last), now, []

    with open(source, "rb") as stream:  # noqa: PTH123
        for line in stream:
            held.append(json.loads(line))
            if len(held) == AT_ONCE:
                flush()
    if held:
        flush()
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    with open(asked, "rb") as stream:  # noqa: PTH123
        texts = [json.loads(line)["text"] for line in stream]
    memory = client.info("memory")["used_memory"]

    def add(number: int, text: str) -> None:
        one = sketch([f"{text} and more"])[0]
        lsh.query(one)
        lsh.insert(f"new {number}", one)

    singly = timed([lambda n=n, t=t: add(n, t) for n, t in enumerate(texts[:SINGLY])])
    there = timed([lambda t=t: lsh.query(sketch([t])[0]) for t in texts])
    other = timed([lambda t=t: lsh.query(sketch([t[::-1]])[0]) for t in texts])
    found = {
        "adds_a_second": count / seconds,
        "adds_a_second_at_the_end": speed,
        "adds_a_cpu_second": count / used,
        "single_add_ms": singly,
        "query_ms": there,
        "query_unknown_ms": other,
        "bytes_a_document": memory / count,
        "matched": matched,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
