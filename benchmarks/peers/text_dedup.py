"""text-dedup: its own command `text_dedup.minhash`, called with its options, 250 permutations, two processes.

It splits words at `\\W` (an underscore joins two) and counts the empty strings between two separators as
words, so its resemblance differs a little from the one all are judged by. `--min_length 1` keeps it from
dropping short documents. What stays is saved by it as an Arrow dataset; its union-find gives the clusters.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from text_dedup import minhash  # type: ignore[import-not-found]

from benchmarks.peers import THRESHOLD, WORKERS
from benchmarks.peers.protocol import arguments, read_documents, write_clusters

PERMUTATIONS = 250


def sketch(texts: list[str]) -> list[Any]:
    """Its `embed_func` on each text, with 128 permutations in 16 bands, for the table of the hot loops."""
    count, rows = 128, 8
    prime = np.uint64((1 << 61) - 1)
    draws = np.random.RandomState(42)
    permutations = (draws.randint(1, prime, count, np.uint64), draws.randint(0, prime, count, np.uint64))
    return [
        minhash.embed_func(
            text,
            number,
            num_perm=count,
            ngram_size=5,
            min_length=1,
            hashranges=[(start, start + rows) for start in range(0, count, rows)],
            permutations=permutations,
            hash_func=minhash.xxh3_32hash,
            dtype=np.uint64,
            max_hash=np.uint32((1 << 32) - 1),
            modulo_prime=prime,
        )
        for number, text in enumerate(texts)
    ]


def main() -> None:
    """Deduplicate a JSONL file."""
    source, out = arguments()
    os.environ["HF_DATASETS_OFFLINE"] = "1"
    options = {
        "path": "json",
        "data_files": str(source),
        "split": "train",
        "cache_dir": str(out / "cache"),
        "output": str(out / "kept"),
        "column": "text",
        "ngram": "5",
        "min_length": "1",
        "num_perm": str(PERMUTATIONS),
        "threshold": str(THRESHOLD),
        "hash_func": "xxh3",
        "num_proc": str(WORKERS),
    }
    minhash.main([word for name, value in options.items() for word in (f"--{name}", value)], standalone_mode=False)
    rows = []
    for number, (doc_id, _) in enumerate(read_documents(source)):
        root = minhash.uf.find(number)
        rows.append((doc_id, root, root == number))
    write_clusters(out, rows)


if __name__ == "__main__":
    main()
