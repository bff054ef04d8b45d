"""FastSketchLSH: `FastSimilaritySketch.batch` on 5-word shingles, 128 values, and its `LSH` with 16 bands of 8.

Tokens come from two processes as sets of 32-bit shingle hashes (CRC-32, which its integer input takes); sketches
are made there, the LSH here. Candidates are joined as they come: the library has no check of its own in bulk.
"""

from __future__ import annotations

import zlib
from itertools import pairwise

import FastSketchLSH  # type: ignore[import-not-found]
import numpy as np
import numpy.typing as npt

from benchmarks.peers import WORKERS
from benchmarks.peers.protocol import Components, arguments, sketch_in_pool, write_first_of_each
from benchmarks.tokens import shingles_of, tokens_of

SIZE, BANDS = 128, 16


def sketch(texts: list[str]) -> npt.NDArray[np.uint64]:
    """One row of 128 values a text."""
    sets = [[zlib.crc32(s.encode()) for s in shingles_of(tokens_of(text))] for text in texts]
    offsets = np.cumsum([0] + [len(one) for one in sets], dtype=np.uint64)
    data = np.fromiter((shingle for one in sets for shingle in one), np.uint32, int(offsets[-1]))
    sketcher = FastSketchLSH.FastSimilaritySketch(SIZE, 42)
    rows: npt.NDArray[np.uint64] = sketcher.batch_csr(data, offsets, num_threads=1)
    return rows


def main() -> None:
    """Deduplicate a JSONL file."""
    source, out = arguments()
    ids: list[str] = []
    parts: list[npt.NDArray[np.uint64]] = []
    for chunk, rows in sketch_in_pool(source, sketch):
        ids += chunk
        parts.append(rows)
    sketches = np.concatenate(parts)
    lsh = FastSketchLSH.LSH(SIZE, BANDS, num_threads=WORKERS)
    lsh.insert(sketches)
    components = Components(len(ids))
    for start in range(0, len(ids), 1000):
        found, offsets = lsh.query(sketches[start : start + 1000], format="csr")
        bounds = np.asarray(offsets).tolist()
        for place, (begin, end) in enumerate(pairwise(bounds)):
            for other in np.asarray(found[begin:end]).tolist():
                components.join(start + place, other)
    write_first_of_each(source, out, ids, components.roots())


if __name__ == "__main__":
    main()
