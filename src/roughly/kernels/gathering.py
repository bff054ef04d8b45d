"""Copies scattered ranges of an array together."""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen


def gather_ranges(values: Hashes, starts: Offsets, offsets: Offsets) -> Hashes:
    """out[offsets[i]:offsets[i+1]] = values[starts[i]:…], for uint64 values and int64 positions."""
    values = frozen(np.asarray(values), np.uint64, "values")
    return _core.gather_ranges(values, np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(offsets, np.int64))
