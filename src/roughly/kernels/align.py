"""Alignment of two token sequences, and the runs of tokens that two sequences share.

`align` finds a long common subsequence of two sequences of token hashes, as blocks (left start, right start, length)
that rise on both sides. `shared_runs` ignores order: it scans the left sequence and finds, wherever a shingle of it
occurs in the right one, the longest run of equal tokens. The time of both is proportional to the sum of the lengths.

The algorithms are in `core/align.hpp` (common ends, the heaviest chain of runs too long for chance, chance agreements
dropped), `core/runs.hpp` (runs) and `core/edits.hpp` (Myers 1986, for the parts between).

Token hashes are uint64 and only compared, or mixed with wrap-around; positions and lengths are int64. Hashes of grams
only propose: every block and every run has been compared token by token.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets

Places = npt.NDArray[np.int64]


def align(left: Hashes, right: Hashes) -> Places:
    """Rows (left start, right start, length) of equal tokens, rising and disjoint on both sides."""
    return _core.align(frozen(left, np.uint64, "left"), frozen(right, np.uint64, "right"))


def outlines(hashes: Hashes, offsets: Offsets, lefts: Places, rights: Places) -> Places:
    """The alignment of each pair of documents, summed up as five counts of tokens per row.

    Aligned; of the left document, unaligned at its edges (before the first block and after the last) and inside;
    of the right document, the same two. Without any block everything is edge. Unlike `align`, this treats a short block
    at the edge of both documents as chance if a much longer change is beside it.
    """
    hashes = frozen(hashes, np.uint64, "hashes")
    offsets = frozen_offsets(offsets, len(hashes))
    lefts = frozen(lefts, np.int64, "lefts")
    rights = frozen(rights, np.int64, "rights")
    if len(lefts) != len(rights):
        raise ValueError(f"lefts and rights must be equally long, not {len(lefts)} and {len(rights)}")
    for side in (lefts, rights):
        if len(side) and not 0 <= side.min() <= side.max() < len(offsets) - 1:
            raise ValueError(f"documents must be numbered from 0 to {len(offsets) - 2}")
    return _core.outlines(hashes, offsets, lefts, rights)


def shared_runs(left: Hashes, right: Hashes, size: int) -> Places:
    """Rows (left start, right start, length) of `size` equal tokens or more, rising and disjoint on the left."""
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    return _core.shared_runs(frozen(left, np.uint64, "left"), frozen(right, np.uint64, "right"), size)
