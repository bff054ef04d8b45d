"""datatrove: its four MinHash stages with its own defaults for English (14 bands of 8, 5-grams of spaCy words).

The input is split into two files, one a worker, which is how it uses two cores. `save_cluster_id` gives the
clusters; its filter writes what stays.
"""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

from datatrove.executor.local import LocalPipelineExecutor  # type: ignore[import-not-found]
from datatrove.pipeline.dedup.minhash import (  # type: ignore[import-not-found]
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.readers import JsonlReader  # type: ignore[import-not-found]
from datatrove.pipeline.writers.jsonl import JsonlWriter  # type: ignore[import-not-found]

from benchmarks.peers import WORKERS
from benchmarks.peers.protocol import arguments, read_documents, write_clusters


def split(source: Path, folder: Path) -> list[int]:
    """Halve the file, in order, for the two workers; returns how many documents each half has."""
    folder.mkdir()
    middle, counts, size = source.stat().st_size / WORKERS, [0] * WORKERS, 0
    halves = [(folder / f"{half}.jsonl").open("wb") for half in range(WORKERS)]
    with source.open("rb") as lines:
        for line in lines:
            half = min(int(size / middle), WORKERS - 1)
            halves[half].write(line)
            counts[half] += 1
            size += len(line)
    for file in halves:
        file.close()
    return counts


def read_numbers(file: Path) -> tuple[int, ...]:
    """The 32-bit numbers of one of its binary files; none where it wrote none."""
    data = file.read_bytes() if file.exists() else b""
    return struct.unpack(f"<{len(data) // 4}I", data)


def main() -> None:
    """Deduplicate a JSONL file."""
    source, out = arguments()
    counts = split(source, out / "input")
    config = MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8)
    reader = JsonlReader(str(out / "input"), text_key="text", id_key="id")
    stages = (
        ([reader, MinhashDedupSignature(str(out / "signatures"), config=config)], WORKERS),
        ([MinhashDedupBuckets(str(out / "signatures"), str(out / "buckets"), config=config)], config.num_buckets),
        (
            [MinhashDedupCluster(str(out / "buckets"), str(out / "removed"), config=config, save_cluster_id=True)],
            1,
        ),
        (
            [
                reader,
                MinhashDedupFilter(str(out / "removed")),
                JsonlWriter(str(out / "kept"), compression=None),
            ],
            WORKERS,
        ),
    )
    for number, (pipeline, tasks) in enumerate(stages):
        LocalPipelineExecutor(
            pipeline=pipeline, tasks=tasks, workers=WORKERS, logging_dir=str(out / f"log-{number}")
        ).run()

    ids = [doc_id for doc_id, _ in read_documents(source)]
    starts = list(itertools.accumulate(counts, initial=0))
    cluster = [-1 - number for number in range(len(ids))]  # those it mentions nowhere stand alone
    kept = [True] * len(ids)
    for half in range(WORKERS):
        numbers = read_numbers(out / "removed" / f"{half:06d}.clusters")
        for document, cluster_id in zip(numbers[0::2], numbers[1::2], strict=True):
            cluster[starts[half] + document] = cluster_id
        for document in read_numbers(out / "removed" / f"{half:06d}.remove"):
            kept[starts[half] + document] = False
    write_clusters(out, zip(ids, cluster, kept, strict=True))


if __name__ == "__main__":
    main()
