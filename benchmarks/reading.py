"""How fast input is read, on one core: JSON lines by each road, Parquet, the second reading, the copy, and the start.

    python -m benchmarks.reading [--megabytes 200] [--corpora FOLDER]

Processor time, not the clock's, so that a busy machine does little harm; the best of three runs. MB/s are bytes of JSON
lines, or of decoded text for Parquet.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

import roughly
from benchmarks.corpora import CORPORA
from roughly.sources import Part, ReadOptions, open_parts
from roughly.sources.jsonl import JsonLines
from roughly.sources.records import row_numbers

SHARES = (0.05, 0.3, 0.9)


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of the fastest of three runs, after one that does not count."""
    work()
    taken = []
    for _ in range(3):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def open_one(path: Path) -> Part:
    """The file as a part."""
    (part,) = open_parts([path], ReadOptions(), path.parent / "spool")
    return part


def json_lines(path: Path) -> dict[str, float]:
    """Megabytes a second of each step."""
    part = open_one(path)
    assert isinstance(part, JsonLines)
    size = path.stat().st_size / 1e6
    chunks = list(part.chunks())
    count = sum(chunk.data.count for chunk in chunks)

    def other_roads() -> None:
        for chunk in chunks:
            ends = part._ends(chunk.data.data, True)
            part._parser.parse_without_kernel(chunk.data.data, ends, row_numbers(chunk, len(ends)))

    speeds = {
        "cut into blocks": size / seconds(lambda: [None for _ in part.chunks()]),
        "decode, kernel": size / seconds(lambda: [part.parse(chunk) for chunk in chunks]),
        "decode, pyarrow": size / seconds(other_roads),
    }
    draw = np.random.default_rng(0)
    for share in SHARES:
        rows = np.sort(draw.choice(count, int(count * share), replace=False)).astype(np.int64)
        taken = seconds(lambda rows=rows: [part.parse(chunk) for chunk in part.chunks(rows)])  # type: ignore[misc]
        speeds[f"second reading of {share:.0%}"] = size / taken
    for share in (0.5, 1.0):
        keep = draw.random(count) < share
        speeds[f"copy of {share:.0%}"] = size / seconds(lambda keep=keep: part.copy(keep, path.parent / "kept"))  # type: ignore[misc]
    return speeds


def parquet(path: Path) -> dict[str, float]:
    """Megabytes of text a second: what `parse` does, and pyarrow alone with nothing but the text column."""
    part = open_one(path)
    texts = [part.parse(chunk).batch["text"].nbytes for chunk in part.chunks()]
    size = sum(texts) / 1e6

    def bare() -> None:
        with pq.ParquetFile(path) as file:
            for index in range(file.num_row_groups):
                file.read_row_group(index, columns=["text"], use_threads=False)

    return {
        "documents": size / seconds(lambda: [part.parse(chunk) for chunk in part.chunks()]),
        "pyarrow, text alone": size / seconds(bare),
    }


def start(folder: Path) -> float:
    """Processor seconds of `roughly dedupe` on two documents, children included; the kernels are compiled."""
    (folder / "tiny.jsonl").write_text('{"id": 1, "text": "a rose"}\n{"id": 2, "text": "is"}\n', encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(roughly.__path__[0]).parent.resolve())}
    taken = []
    for number in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "roughly", "dedupe", "tiny.jsonl", "-o", f"out{number}"]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken[1:])


def write_inputs(folder: Path, corpora: Path, megabytes: int) -> list[Path]:
    """The same documents as JSON lines, with and without escapes for letters beyond ASCII, and as Parquet."""
    table = pq.read_table(corpora / "large" / "debian_docs.parquet")
    sizes = np.cumsum(pc.binary_length(table["text"]).to_numpy().astype(np.int64))
    table = table.slice(0, int(np.searchsorted(sizes, megabytes * 1_000_000)) + 1)
    for name, ascii_only in (("utf8.jsonl", False), ("ascii.jsonl", True)):
        with (folder / name).open("w", encoding="utf-8") as file:
            for batch in table.to_batches(1000):
                file.writelines(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in batch.to_pylist())
    for compression in ("snappy", "zstd"):
        pq.write_table(table, folder / f"{compression}.parquet", compression=compression, row_group_size=5000)
    return sorted(folder.iterdir())


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    given = parser.parse_args()
    print("| file | step | MB/s a core |\n|---|---|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in write_inputs(folder, given.corpora, given.megabytes):
            for step, speed in (json_lines if path.suffix == ".jsonl" else parquet)(path).items():
                print(f"| {path.name} | {step} | {speed:,.0f} |", flush=True)
        print(f"\nstart: {start(folder):.2f} s of processor time for a whole run on two documents")


if __name__ == "__main__":
    main()
