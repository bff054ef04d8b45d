"""Copies scattered ranges of an array together."""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit
from roughly.kernels.arrays import Hashes, Offsets, frozen


@jit
def _gather(values: Hashes, starts: Offsets, offsets: Offsets, out: Hashes) -> None:
    for i in range(starts.shape[0]):  # element by element: a slice assignment takes seconds to compile
        shift = starts[i] - offsets[i]
        for at in range(offsets[i], offsets[i + 1]):
            out[at] = values[at + shift]


def gather_ranges(values: Hashes, starts: Offsets, offsets: Offsets) -> Hashes:
    """out[offsets[i]:offsets[i+1]] = values[starts[i]:…], for uint64 values and int64 positions."""
    out = np.empty(offsets[-1], np.uint64)
    _gather(frozen(np.asarray(values), np.uint64, "values"), starts, offsets, out)
    return out


def warm_up() -> None:
    """Compile for the types it is called with."""
    gather_ranges(np.zeros(2, np.uint64), np.zeros(1, np.int64), np.array([0, 1]))
