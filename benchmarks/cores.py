"""How the whole job scales with threads: stage × threads, in one run over one grown collection.

    python -m benchmarks.grow corpora/large/debian_docs.parquet --documents 1000000 --format jsonl --out grown/1m
    python -m benchmarks.cores grown/1m --memory 32GB

Every run reads the same files from the system's cache, which one run before the others has warmed. Efficiency is the
speed-up against one thread divided by the number of threads. The tables of all runs must be equal.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import machine
from benchmarks.tables import markdown, write_json

TABLES = ("documents", "pairs", "clusters")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="a folder that benchmarks.grow made")
    parser.add_argument("--threads", default="", help="such as 1,2,4; by default doubled up to the number of cores")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    cores = os.cpu_count() or 1
    counts = [int(n) for n in given.threads.split(",") if n] or [2**i for i in range(cores.bit_length())]
    documents = given.folder / "documents"
    size = sum(path.stat().st_size for path in documents.iterdir())
    measure(documents, max(counts), given.memory)
    rows = [measure(documents, threads, given.memory) for threads in counts]
    print(table(rows, size))
    if len({row["digest"] for row in rows}) > 1:
        raise SystemExit("the answers differ between numbers of threads")
    if given.out:
        write_json(given.out, {"machine": machine(), "bytes": size, "memory": given.memory, "rows": rows})


def measure(documents: Path, threads: int, memory: str) -> dict[str, Any]:
    """One run: seconds of the whole process and of each stage."""
    with tempfile.TemporaryDirectory(prefix="roughly-cores-") as work:
        out = Path(work) / "out"
        command = [sys.executable, "-m", "roughly", "dedupe", str(documents), "-o", str(out), "--quiet"]
        start = time.perf_counter()
        subprocess.run([*command, "--memory", memory, "--threads", str(threads)], check=True)
        seconds = time.perf_counter() - start
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        digest = hashlib.sha256(b"".join((out / f"{name}.parquet").read_bytes() for name in TABLES)).hexdigest()
        stages = {stage["name"]: stage["seconds"] for stage in run["stages"]}
        shutil.rmtree(out)
    return {
        "threads": threads, "seconds": seconds, "stages": stages, "digest": digest[:16],
        "removed": run["counts"]["removed"], "peak_memory": run.get("peak_memory"),
    }  # fmt: skip


def table(rows: list[dict[str, Any]], size: int) -> str:
    """Stages in rows, threads in columns; below, the whole with speed and efficiency."""
    head = ["stage, s", *(f"{row['threads']} threads" for row in rows)]
    lines = [[name, *(f"{row['stages'].get(name, 0):.2f}" for row in rows)] for name in rows[0]["stages"]]
    first = rows[0]
    lines.append(["whole process", *(f"{row['seconds']:.2f}" for row in rows)])
    lines.append(["MB/s", *(f"{size / row['seconds'] / 1e6:.0f}" for row in rows)])
    gains = [first["seconds"] * first["threads"] / (row["seconds"] * row["threads"]) for row in rows]
    lines.append(["efficiency", *(f"{gain:.2f}" for gain in gains)])
    return markdown(head, lines)


if __name__ == "__main__":
    main()
