"""Collections made to hurt: does any stage grow faster than its input?

    python -m benchmarks.skew --documents 1000000 --out skew.json

| case | what it is |
|---|---|
| copies | one page, n times, with one to three words changed: nearly all must go |
| boilerplate | n different pages around one common text of twice their length: all must stay |
| empty | n documents without a word: all but one go |
| sizes | documents of one byte and of 100 MB side by side |

Each case runs at a tenth of the size and at the full size; the exponent is that of CPU time between the two. A document
that must go and stays, or the other way round, is an error.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import cpu_of_children

_AT_ONCE = 20_000
_WORDS = 400
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string())])


def _words(rng: np.random.Generator, count: int) -> list[str]:
    return [f"w{number:x}" for number in rng.integers(0, 1 << 40, count)]


def copies(documents: int) -> Iterator[list[str]]:
    """One page with one to three words changed."""
    rng = np.random.default_rng(1)
    page = _words(rng, _WORDS)
    for start in range(0, documents, _AT_ONCE):
        some = []
        for _ in range(start, min(start + _AT_ONCE, documents)):
            words = list(page)
            for at in rng.integers(0, _WORDS, rng.integers(1, 4)):
                words[at] = f"x{rng.integers(0, 1 << 40):x}"
            some.append(" ".join(words))
        yield some


def boilerplate(documents: int) -> Iterator[list[str]]:
    """Different pages around one common text."""
    rng = np.random.default_rng(2)
    frame = " ".join(_words(rng, 2 * _WORDS // 3))
    for start in range(0, documents, _AT_ONCE):
        count = min(_AT_ONCE, documents - start)
        yield [f"{frame} {' '.join(_words(rng, _WORDS // 3))}" for _ in range(count)]


def empty(documents: int) -> Iterator[list[str]]:
    """No word at all."""
    for start in range(0, documents, _AT_ONCE):
        yield [""] * min(_AT_ONCE, documents - start)


def sizes(documents: int) -> Iterator[list[str]]:
    """One document in a million has 100 MB (at least one does); the others one byte."""
    rng = np.random.default_rng(3)
    for _ in range(max(1, documents // 1_000_000)):
        yield [" ".join(_words(rng, 8_300_000))]
    for start in range(0, documents, _AT_ONCE):
        yield [chr(97 + i % 26) for i in range(min(_AT_ONCE, documents - start))]


CASES: dict[str, tuple[Callable[[int], Iterator[list[str]]], Callable[[int], tuple[int, int]]]] = {
    # documents → (least, most) documents that stay
    "copies": (copies, lambda n: (1, max(50, n // 1000))),
    "boilerplate": (boilerplate, lambda n: (n, n)),
    "empty": (empty, lambda n: (1, 1)),
    "sizes": (sizes, lambda n: (26 + max(1, n // 1_000_000),) * 2),
}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.skew", description=__doc__.split("\n\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    rows = []
    for case in asked.cases.split(","):
        before = None
        for documents in (asked.documents // 10, asked.documents):
            row = measure(case, documents, asked.memory)
            if before is not None:
                row["exponent"] = math.log(row["cpu"] / before["cpu"]) / math.log(10)
            before = row
            rows.append(row)
            print(table(rows[-1:], heading=len(rows) == 1), flush=True)
    if asked.out:
        asked.out.write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(0 if all(row["right"] for row in rows) else 1)


def measure(case: str, documents: int, memory: str = "4GB") -> dict[str, Any]:
    """Make a collection, run over it, and look at what stayed."""
    make, expected = CASES[case]
    with tempfile.TemporaryDirectory(prefix="roughly-skew-") as folder:
        source, out = Path(folder) / "in.parquet", Path(folder) / "out"
        count = size = 0
        with pq.ParquetWriter(source, SCHEMA, compression="zstd") as writer:
            for texts in make(documents):
                ids = [f"{count + i}" for i in range(len(texts))]
                writer.write_table(pa.table({"id": ids, "text": texts}, schema=SCHEMA))
                count, size = count + len(texts), size + sum(map(len, texts))
        command = [
            sys.executable,
            "-m",
            "roughly",
            "dedupe",
            str(source),
            "-o",
            str(out),
            "--memory",
            memory,
            "--quiet",
        ]
        before = cpu_of_children()
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        cpu = cpu_of_children() - before
        run = json.loads((out / "run.json").read_text())
    least, most = expected(documents)
    return {
        "case": case,
        "documents": count,
        "mb": size / 1e6,
        "seconds": run["seconds"],
        "cpu": cpu,
        "peak_mb": run["peak_memory"] / 1e6,
        "comparisons": run["counts"].get("candidate_pairs", 0),
        "stay": run["counts"]["kept"],
        "right": least <= run["counts"]["kept"] <= most,
        "slowest": max(run["stages"], key=lambda stage: stage["seconds"])["name"],
    }


def table(rows: list[dict[str, Any]], heading: bool = True) -> str:
    """As Markdown."""
    lines = []
    if heading:
        lines += [
            "| case | documents | MB | seconds | CPU s | slowest | exponent | peak MB | comparisons | stay | right |",
            "|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---|",
        ]
    for row in rows:
        exponent = f"{row['exponent']:.2f}" if "exponent" in row else ""
        lines.append(
            f"| {row['case']} | {row['documents']:,} | {row['mb']:.0f} | {row['seconds']:.1f} | {row['cpu']:.1f} | "
            f"{row['slowest']} | "
            f"{exponent} | {row['peak_mb']:.0f} | {row['comparisons']:,} | {row['stay']:,} | "
            f"{'yes' if row['right'] else 'NO'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
