"""rensa: `RMinHash.digest_matrix_from_token_sets` on sets of 5-word shingles, 128 permutations.

This is its path that looks at every token; the one its own benchmark times samples tokens by position and
misses a copy with one inserted word. The matrix API tells which documents have a match but not which one, so
bands, the check of signatures and components are those of `bands.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import rensa  # type: ignore[import-not-found]

from benchmarks.peers import THRESHOLD
from benchmarks.peers.bands import join_checked
from benchmarks.peers.protocol import arguments, sketch_in_pool, write_first_of_each
from benchmarks.tokens import shingles_of, tokens_of

PERMUTATIONS = 128


def digest(texts: list[str]) -> Any:
    """The matrix of digests as the library holds it."""
    token_sets = [list(shingles_of(tokens_of(text))) for text in texts]
    return rensa.RMinHash.digest_matrix_from_token_sets(token_sets, PERMUTATIONS, 42)


sketch = digest


def digest_rows(texts: list[str]) -> npt.NDArray[np.uint32]:
    """The digests as numpy rows."""
    return np.array(digest(texts).to_rows(), np.uint32)


def main() -> None:
    """Deduplicate a JSONL file."""
    source, out = arguments()
    ids: list[str] = []
    parts: list[npt.NDArray[np.uint32]] = []
    for chunk, rows in sketch_in_pool(source, digest_rows):
        ids += chunk
        parts.append(rows)
    write_first_of_each(source, out, ids, join_checked(np.concatenate(parts), 16, 8, THRESHOLD))


if __name__ == "__main__":
    main()
