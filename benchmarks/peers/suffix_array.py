"""A suffix array of the whole input in memory, by libdivsufsort: the core of exact substring deduplication.

Google's program, which text-dedup and datatrove call, is in Rust and not on PyPI; this is the same work in C. It only
finds repeated runs of at least 300 bytes, which is about 50 tokens; nothing is removed.
"""

from __future__ import annotations

import json

import numpy as np
from pydivsufsort import divsufsort, kasai  # type: ignore[import-not-found]

from benchmarks.peers import LEAST_BYTES
from benchmarks.peers.protocol import arguments, read_documents


def main() -> None:
    """Count the bytes of a JSONL file that stand in runs of at least `LEAST_BYTES` bytes that occur twice."""
    source, out = arguments()
    data = b"\0".join(text.encode() for _, text in read_documents(source))
    order = divsufsort(np.frombuffer(bytearray(data), np.uint8))
    common = kasai(data, order)
    repeated = np.zeros(len(data) + 1, np.int64)
    is_long = np.flatnonzero(common[:-1] >= LEAST_BYTES)
    for start in (order[is_long], order[is_long + 1]):
        np.add.at(repeated, start, 1)
        np.add.at(repeated, start + LEAST_BYTES, -1)
    covered = int(np.count_nonzero(np.cumsum(repeated)))
    (out / "found.json").write_text(json.dumps({"repeated_bytes": covered}))


if __name__ == "__main__":
    main()
