"""Search results grouped: 500 results of 5 KB, from their texts and from what is stored of them.

    python -m benchmarks.results_grouping --results 500 --kilobytes 5

Results are pieces of real documentation, a fifth of them near-copies of another (every fiftieth word changed). Printed
are the median and the best of many calls in milliseconds, on the clock and of the processor: with other work on the
machine the clock says little. The aim is 50 ms from texts and 5 ms from stored signatures.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import corpora
from roughly import Index, Settings, group_results
from roughly.results.judged_results import StoredSignatures
from roughly.signing.sign_files import sign

Row = dict[str, Any]
FROM_TEXTS: dict[str, Row] = {
    "minhash, verified": {},
    "shingles, all": {"method": "shingles", "sketch": "all"},
    "super-shingles": {"method": "super-shingles"},
    "imatch": {"method": "imatch"},
    "rare-terms": {"method": "rare-terms"},
    "term-vector": {"method": "term-vector"},
}
STORED: dict[str, Row] = {
    "shingles, mod 25": {"method": "shingles"},
    "super-shingles": {"method": "super-shingles"},
    "imatch": {"method": "imatch"},
    "term-vector": {"method": "term-vector"},
}


def drawn(folder: Path, count: int, kilobytes: float = 5) -> list[Row]:
    """Results from the documentation among the corpora."""
    found = corpora.documentation(folder, int(1.5 * count * 1024 * kilobytes))
    return results_of(found.read()[1], count, int(1024 * kilobytes))


def results_of(texts: list[str], count: int, size: int, seed: int = 1) -> list[Row]:
    """So many results of so many characters, a fifth of them copies of another with every fiftieth word changed."""
    draw = random.Random(seed)
    whole = " ".join(" ".join(texts).split())
    step = max(size, (len(whole) - size) // max(count, 1))
    pieces = [whole[at : at + size] for at in range(0, step * count, step)]
    pieces = [piece for piece in pieces if len(piece) == size][:count]
    if len(pieces) < count:
        raise SystemExit(f"only {len(pieces)} pieces of {size} characters; ask for fewer results")
    for place in range(0, count, 5):
        words = pieces[draw.randrange(count)].split(" ")
        for at in range(draw.randrange(50), len(words), 50):
            words[at] = f"changed{draw.randrange(1000)}"
        pieces[place] = " ".join(words)
    return [{"doc_id": f"r{n}", "text": text, "date": f"2024-01-{n % 28 + 1:02d}"} for n, text in enumerate(pieces)]


def timed(work: Callable[[], Any], repeats: int) -> dict[str, float]:
    """Milliseconds of a call: median and best on the clock, and median of the processor."""
    work()
    clock, processor = [], []
    for _ in range(repeats):
        begun, used = time.perf_counter(), time.process_time()
        work()
        clock.append(1000 * (time.perf_counter() - begun))
        processor.append(1000 * (time.process_time() - used))
    return {
        "median_ms": statistics.median(clock), "best_ms": min(clock), "cpu_ms": statistics.median(processor),
    }  # fmt: skip


def measure(results: list[Row], repeats: int) -> list[Row]:
    """A row for each way."""
    ids = [{"doc_id": row["doc_id"]} for row in results]
    rows: list[Row] = []

    def note(source: str, method: str, work: Callable[[], Any]) -> None:
        rows.append({"from": source, "method": method, "groups": len(work()), **timed(work, repeats)})

    for name, options in FROM_TEXTS.items():
        note("texts", name, lambda options=options: group_results(results, **options))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, options) in enumerate(STORED.items()):
            path = Path(folder) / f"{number}.parquet"
            sign(results, output=path, **options)
            stored = StoredSignatures(path)
            note("signatures in memory", name, lambda stored=stored: group_results(ids, signatures=stored))  # type: ignore[misc]
        for number, (name, options) in enumerate({"minhash, verified": {}, **STORED}.items()):
            for kept in ("shingles", "sketch"):
                with Index.create(Path(folder) / f"{number}-{kept}.db", Settings.gather(options), store=kept) as index:
                    index.add(results)
                    note(f"index, store {kept}", name, lambda index=index: group_results(ids, index=index))  # type: ignore[misc]
    return rows


def table(rows: list[Row]) -> str:
    """As Markdown."""
    lines = ["| from | method | groups | median ms | best ms | cpu ms |", "|---|---|---:|---:|---:|---:|"]
    lines += [
        f"| {row['from']} | {row['method']} | {row['groups']} | {row['median_ms']:.1f} | {row['best_ms']:.1f} | "
        f"{row['cpu_ms']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results_grouping", description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=int, default=500)
    parser.add_argument("--kilobytes", type=float, default=5)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA, help="folder of the corpora")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    rows = measure(drawn(chosen.corpora, chosen.results, chosen.kilobytes), chosen.repeats)
    print(json.dumps(rows, indent=1) if chosen.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
