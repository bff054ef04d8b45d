"""What a run on Spark moves: the cost model of `--engine spark --plan` and of the page on internet scale.

    shuffled = documents · (rank + k · key + share · (e · entry + judged)) + …

| symbol | meaning |
|---|---|
| k | keys per document |
| share | fraction of documents that share a key |
| e | buckets per candidate document |
| judged | what it is judged on: 8 bytes per token, or its sketch |

Constants are bytes of a row as Spark writes it to its shuffle files, compressed. They come from one collection of
20,000 documents (`benchmarks/spark.py`): the sum of FACTS and EQUAL, WANTED, ENTRY and DOCUMENT from the bytes of a
stage, TOKEN from what is left of `verify` when BUCKETS is assumed. KEYS, KEY and EDGE are computed from the width of a
row, because at that size Spark sends the smaller table to every worker and components take one task; BUCKETS and ROUNDS
are assumptions.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from roughly.fast_dataclass import dataclass

FACTS = 90.0
"""Bytes per document: its facts, sorted into ranks."""
EQUAL = 26.0
"""Bytes per document: its digest, to find equal ones."""
WANTED = 20.0
"""Bytes per candidate that is read again, request and answer, without its content."""
KEYS = 22.0
"""Bytes per document when keys are joined to ranks, without the keys."""
KEY = 8.0
"""Bytes per key in that row: hashes do not compress."""
ENTRY = 17.0
"""Bytes per bucket entry: a key with its document, grouped."""
EDGE = 14.0
"""Bytes per edge from a document to the best of its bucket, in one round of components."""
ROUNDS = 3
"""Rounds of components, four shuffles each; fewer where the edges fit one task."""
BUCKETS = 3.0
"""Buckets per candidate document, an assumption."""
TOKEN = 4.5
"""Bytes per token: eight before compression, and words recur."""
DOCUMENT = 45.0
"""Bytes per document's verdict, twice: joined to its witness and sorted by id."""
CORES = 4
TASK_MEMORY = 2 << 30
"""Memory per task: half for its Python worker, half for the JVM."""
EXECUTOR_SHUFFLE = 200 << 30
"""Shuffle bytes that one executor's disks should hold at most."""
OVERHEAD = 5.7
"""Core seconds on a cluster per core second on the local engine: rows cross between the JVM and Python, and are stored.
Rough: the seconds of two runs, 20,000 and 100,000 documents on one executor of one core of a busy machine, 53 s apart,
against 117 µs per document on the local engine. Seconds of tasks alone would give about 3."""
HOUR = 3600


@dataclass(frozen=True)
class StageCost:
    """Bytes of one stage."""

    name: str
    shuffled: int
    stored: int


@dataclass(frozen=True)
class CollectionSize:
    """The inputs of the model."""

    documents: float
    tokens: float  # in all
    keys: float  # per document
    share: float  # fraction of documents that are candidates
    judged: str = "text"  # text, sketch or keys
    sketch: float = 0.0  # values per sketch


def stages(of: CollectionSize) -> list[StageCost]:
    """What each stage moves and stores, in bytes."""
    n, candidates = of.documents, of.documents * of.share
    content = {"text": TOKEN * of.tokens / max(n, 1), "sketch": 8 * of.sketch, "keys": 0.0}[of.judged]
    entries = candidates * BUCKETS
    rows = [
        ("read", 0.0, n * (FACTS + 8 * of.keys + (8 * of.sketch if of.judged == "sketch" else 0))),
        ("rank", n * (FACTS + EQUAL), 2 * n * FACTS),
        ("group", n * (KEYS + of.keys * (KEY + ENTRY)) if of.keys else 0.0, entries * ENTRY),
        ("link", ROUNDS * 4 * entries * EDGE, ROUNDS * entries * EDGE),
        ("fetch", candidates * WANTED, candidates * content if of.judged == "text" else 0.0),
        ("verify", candidates * (content + WANTED) + 2 * entries * ENTRY, candidates * DOCUMENT),
        ("write", 2 * n * DOCUMENT, 2 * n * DOCUMENT),
    ]
    return [StageCost(name, round(shuffled), round(stored)) for name, shuffled, stored in rows]


def recommend(of: CollectionSize, core_seconds: float, target: float = HOUR) -> dict[str, Any]:
    """The stages, and the number of executors with which the run takes about `target` seconds."""
    moved = stages(of)
    shuffled = sum(stage.shuffled for stage in moved)
    work = OVERHEAD * core_seconds
    executors = max(1, -(-int(work) // (CORES * int(target))), -(-shuffled // EXECUTOR_SHUFFLE))
    return {
        "stages": [asdict(stage) for stage in moved],
        "shuffled_a_document": shuffled / max(1.0, of.documents),
        "core_seconds": work,
        "executors": executors,
        "cores": CORES,
        "executor_memory": CORES * TASK_MEMORY,
        "seconds": work / (CORES * executors),
    }
