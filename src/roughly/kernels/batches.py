"""Many documents in one call, on several threads: tokens gathered from a file, made into shingle sets, or aligned.

Tokens of all documents are stored one after the other in one or more files of uint64; document d has `lengths[d]` of
them from position `starts[d]` on, counted in tokens; the bits from `FILE_SHIFT` on are the number of the file.
Documents may be read in any order and more than once. Results do not depend on the number of threads (0 = one per
core). The GIL is released for the whole call, and Ctrl-C is answered. The loops are those of `core/gather_file.hpp` and
`core/shingle_batches.hpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets
from roughly.kernels.shingles import check_size

FILE_SHIFT = 48
Files = int | Sequence[int]
"""An open file, or several."""


def gather_tokens(
    files: Files, starts: Offsets, lengths: Offsets, docs: Offsets, threads: int = 1
) -> tuple[Hashes, Offsets]:
    """The tokens of these documents, in this order, from open files; returns (hashes, offsets).

    A file that is too short is an `OSError`.
    """
    hashes, offsets = _core.gather_tokens(_open(files), *_ranges(starts, lengths, docs), _threads(threads))
    return hashes, offsets


def gather_shingle_sets(
    files: Files, starts: Offsets, lengths: Offsets, docs: Offsets, size: int, threads: int = 1
) -> tuple[Hashes, Offsets]:
    """As `shingle_sets(*gather_tokens(…), size)`, without all tokens in memory at the same time as the sets."""
    check_size(size)
    values, offsets = _core.gather_shingle_sets(_open(files), *_ranges(starts, lengths, docs), size, _threads(threads))
    return values, offsets


def gather_outlines(files: Files, starts: Offsets, lengths: Offsets, threads: int = 1) -> Offsets:
    """The alignment of each pair of documents (`align.outlines`), read from open files.

    Pair p is documents 2p (left) and 2p + 1 (right): ranges `starts[d]` and `lengths[d]` of the files. A thread has one
    pair in memory.
    """
    starts, lengths = frozen(starts, np.int64, "starts"), frozen(lengths, np.int64, "lengths")
    if len(starts) != len(lengths) or len(starts) % 2:
        raise ValueError(f"every pair needs two starts and two lengths, not {len(starts)} and {len(lengths)} in all")
    rows: Offsets = _core.gather_outlines(_open(files), starts, lengths, _threads(threads))
    return rows


def parallel_shingle_sets(tokens: Hashes, offsets: Offsets, size: int, threads: int = 1) -> tuple[Hashes, Offsets]:
    """As `shingles.shingle_sets`, on several threads."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    values, set_offsets = _core.parallel_shingle_sets(tokens, offsets, size, _threads(threads))
    return values, set_offsets


def _ranges(starts: Offsets, lengths: Offsets, docs: Offsets) -> tuple[Offsets, Offsets, Offsets]:
    return (
        frozen(starts, np.int64, "starts"),
        frozen(lengths, np.int64, "lengths"),
        np.ascontiguousarray(docs, np.int64),
    )


def _open(files: Files) -> npt.NDArray[np.int32]:
    return np.atleast_1d(np.asarray(files, np.int32))


def _threads(threads: int) -> int:
    if threads < 0:
        raise ValueError(f"the number of threads is 0 (one per core) or more, not {threads}")
    return threads
