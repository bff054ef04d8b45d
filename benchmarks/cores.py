"""How the whole job scales with threads: stage × threads over grown collections, and a peer with the same cores.

    python -m benchmarks.grow corpora/large/debian_docs.parquet --documents 1000000 --format jsonl --out grown/1m
    python -m benchmarks.cores grown/1m --memory 32GB --peer 100000

Every run reads the same files from the system's cache, which one run before the others has warmed. Efficiency is the
speed-up against one thread divided by the number of threads. The tables of all runs must be equal. With `--peer N`,
gaoya, the fastest peer that makes clusters, and Roughly run on the first N documents of JSON lines with one core, two
cores and so on (each process is bound to that many cores).
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import roughly
from benchmarks.measure import machine
from benchmarks.peers import PEERS
from benchmarks.peers.venvs import python_of
from benchmarks.tables import markdown, write_json

TABLES = ("documents", "pairs", "clusters")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", help="folders that benchmarks.grow made")
    parser.add_argument("--threads", default="", help="such as 1,2,4; by default doubled up to the number of cores")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--peer", type=int, default=0, help="documents that gaoya and Roughly are compared on")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    cores = os.cpu_count() or 1
    counts = [int(n) for n in given.threads.split(",") if n] or [2**i for i in range(cores.bit_length())]
    compileall.compile_dir(roughly.__path__[0], quiet=1)  # as in an installed package
    collections = []
    for folder in given.folders:
        documents = folder / "documents"
        size = sum(path.stat().st_size for path in documents.iterdir())
        measure(documents, max(counts), given.memory)
        rows = [measure(documents, threads, given.memory) for threads in counts]
        print(table(rows, size), end="\n\n", flush=True)
        if len({row["digest"] for row in rows}) > 1:
            raise SystemExit("the answers differ between numbers of threads")
        collections.append({"input": _format(documents), "bytes": size, "memory": given.memory, "rows": rows})
    peers = compare(given.folders, given.peer, counts) if given.peer else []
    if peers:
        print(peer_table(peers))
    if given.out:
        write_json(given.out, {"machine": machine(), "collections": collections, "peers": peers})


def measure(documents: Path, threads: int, memory: str, pinned: bool = False) -> dict[str, Any]:
    """One run: seconds of the whole process and of each stage."""
    with tempfile.TemporaryDirectory(prefix="roughly-cores-") as work:
        out = Path(work) / "out"
        command = [sys.executable, "-m", "roughly", "dedupe", str(documents), "-o", str(out), "--quiet"]
        seconds = _timed([*command, "--memory", memory, "--threads", str(threads)], threads if pinned else None)
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        digest = hashlib.sha256(b"".join((out / f"{name}.parquet").read_bytes() for name in TABLES)).hexdigest()
        stages = {stage["name"]: stage["seconds"] for stage in run["stages"]}
        peak = run["peak_memory"]
        shutil.rmtree(out)
    return {
        "threads": threads, "seconds": seconds, "stages": stages, "digest": digest[:16],
        "removed": run["counts"]["removed"], "peak_memory": peak,
    }  # fmt: skip


def compare(folders: list[Path], documents: int, counts: list[int]) -> list[dict[str, Any]]:
    """Seconds of gaoya and of Roughly on the same documents, with the same cores."""
    source = next(folder for folder in folders if _format(folder / "documents") == "jsonl") / "documents"
    rows = []
    with tempfile.TemporaryDirectory(prefix="roughly-peer-") as work:
        lines = (line for path in sorted(source.iterdir()) for line in path.open("rb"))
        first = Path(work) / "first.jsonl"
        first.write_bytes(b"".join(itertools.islice(lines, documents)))
        for threads in counts:
            out = Path(work) / "out"
            seconds = {"gaoya": _timed([_gaoya(), "-m", "benchmarks.peers.gaoya", str(first), str(out)], threads)}
            shutil.rmtree(out)
            ours = (measure(first, threads, "8GB", pinned=True) for _ in range(3))
            seconds["roughly"] = min(row["seconds"] for row in ours)
            rows.append({"threads": threads, "bytes": first.stat().st_size, "seconds": seconds})
    return rows


def _gaoya() -> str:
    """The interpreter that has gaoya: this one, or that of the environment of the peer."""
    if importlib.util.find_spec("gaoya"):
        return sys.executable
    return str(python_of(next(peer for peer in PEERS if peer.name == "gaoya")))


def _timed(command: list[str], cores: int | None) -> float:
    """Seconds that a process takes, bound to this many cores if that is said."""
    bind = None if cores is None else partial(os.sched_setaffinity, 0, range(cores))
    environment = os.environ | ({} if cores is None else {"RAYON_NUM_THREADS": str(cores)})
    start = time.perf_counter()
    subprocess.run(command, check=True, preexec_fn=bind, env=environment)
    return time.perf_counter() - start


def _format(documents: Path) -> str:
    return next(documents.iterdir()).suffix.lstrip(".")


def table(rows: list[dict[str, Any]], size: int) -> str:
    """Stages in rows, threads in columns; below, the whole with speed and efficiency."""
    head = ["stage, s, by threads", *(str(row["threads"]) for row in rows)]
    lines = [[name, *(f"{row['stages'].get(name, 0):.2f}" for row in rows)] for name in rows[0]["stages"]]
    first = rows[0]
    lines.append(["whole process", *(f"{row['seconds']:.2f}" for row in rows)])
    lines.append(["MB/s", *(f"{size / row['seconds'] / 1e6:.0f}" for row in rows)])
    gains = [first["seconds"] * first["threads"] / (row["seconds"] * row["threads"]) for row in rows]
    lines.append(["efficiency", *(f"{gain:.2f}" for gain in gains)])
    lines.append(["peak memory, MB", *(f"{row['peak_memory'] / 2**20:,.0f}" for row in rows)])
    return markdown(head, lines)


def peer_table(rows: list[dict[str, Any]]) -> str:
    """A row per number of cores."""
    lines = [
        [
            str(row["threads"]),
            *(f"{row['bytes'] / 1e6 / row['seconds'][tool]:.1f}" for tool in ("roughly", "gaoya")),
            f"{row['seconds']['gaoya'] / row['seconds']['roughly']:.1f} ×",
        ]
        for row in rows
    ]
    return markdown(["cores", "Roughly, MB/s", "gaoya, MB/s", "ratio"], lines)


if __name__ == "__main__":
    main()
