"""Where lines end."""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Bytes, Offsets, frozen


def line_ends(data: Bytes) -> Offsets:
    """Where each line ends, its line feed included; the last may lack it."""
    return _core.line_ends(frozen(data, np.uint8, "data"))
