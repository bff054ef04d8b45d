"""What full-text search costs an index: time to make it, bytes it adds, time of a query.

    python -m benchmarks.search archive.db --words "city,government policy,gov*"

The index is made searchable where it is not, and stays so. Times are of the processor, in this process: on PostgreSQL
the server's own work is not in them, and `clock` tells more.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from roughly import Index, group_results

REPEATS = 7


def measure(where: str, queries: list[str], repeats: int = REPEATS) -> dict[str, Any]:
    """Make it searchable, and ask."""
    with Index.open(where) as index:
        before = index.stats()
        cpu, clock = time.process_time(), time.perf_counter()
        texts = index.make_searchable()
        made = {"texts": texts, "cpu_s": time.process_time() - cpu, "clock_s": time.perf_counter() - clock}
        after = index.stats()
        made |= {"bytes_before": before.bytes, "bytes_after": after.bytes, "documents": after.documents}
        return {"made": made, "queries": [_asked(index, query, repeats) for query in queries]}


def _asked(index: Index, query: str, repeats: int) -> dict[str, Any]:
    found = index.search(query, limit=500)
    ids = [{"doc_id": hit.doc_id} for hit in found.hits]
    told = {"query": query, "found": found.total, **_timed(lambda: index.search(query, limit=20), repeats)}
    if ids:
        grouped = _timed(lambda: group_results(ids, index=index), repeats)
        told |= {"grouped": len(ids), "grouping_cpu_ms": grouped["cpu_ms"]}
    return told


def _timed(work: Callable[[], Any], repeats: int) -> dict[str, float]:
    cpu, clock = [], []
    for _ in range(repeats):
        first, second = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - first)
        clock.append(time.perf_counter() - second)
    return {"cpu_ms": 1000 * statistics.median(cpu), "clock_ms": 1000 * statistics.median(clock)}


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", help="a file, or postgresql://…")
    parser.add_argument("--words", default="the,policy,service policy,zyzzy", help="queries, with commas between them")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    asked = parser.parse_args()
    json.dump(measure(asked.index, asked.words.split(","), asked.repeats), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
