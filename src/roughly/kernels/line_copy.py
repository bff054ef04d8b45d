"""Lines of a file that are kept, copied into another file on several threads.

The loop is that of `core/line_copy.hpp`: the GIL is released for the whole call, and Ctrl-C is answered on the main
thread. What is written does not depend on the number of threads (0 = one per core).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Offsets, frozen


def copy_lines(source: int, target: int, blocks: Offsets, keep: npt.NDArray[np.bool_], at: int, threads: int) -> int:
    """Copy the kept lines of some blocks from one open file to another, from byte `at` on; returns where they end.

    A block is a row of `blocks`: its first line, how many it has, where it begins and its bytes. Lines beyond the end
    of `keep` are not kept. Where the file no longer has these lines, -1 is returned.
    """
    if blocks.ndim != 2 or blocks.shape[1] != 4:
        raise TypeError(f"blocks must have four columns, not the shape {blocks.shape}")
    blocks = frozen(blocks.ravel(), np.int64, "blocks").reshape(-1, 4)
    return _core.copy_lines(source, target, blocks, frozen(keep, np.bool_, "keep"), at, threads)
