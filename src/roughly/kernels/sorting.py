"""Sorting of hashes; most kernels use it inside the compiled core (`core/sorting.hpp`)."""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, frozen


def sort_hashes(values: Hashes) -> Hashes:
    """A sorted copy of values that should be uniform; correct, and never quadratic, for any others."""
    return _core.sort_hashes(frozen(values, np.uint64, "values"))
