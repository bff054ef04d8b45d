"""A process that imports nothing it will not use.

Some packages import others merely because they are installed: pyarrow looks for pandas as soon as it sees a numpy
array, numba for SciPy's BLAS, and NumPy's own BLAS starts its threads. A library must not meddle with that, for its caller
may want all of them later. The command line is alone in its process and knows what it needs.
"""

from __future__ import annotations

import os
import sys
from typing import Any


_alone = False


def travel_light() -> None:
    """This process is the command line's own: leave out the BLAS of numba and the threads of NumPy's."""
    global _alone
    from roughly.kernels import loading

    _alone = loading.alone = True
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def without_pandas() -> None:
    """Let pyarrow look for pandas and not find it; it looks once and remembers. Does nothing in others' processes."""
    modules: dict[str, Any] = sys.modules
    if not _alone or "pandas" in modules:
        return
    modules["pandas"] = None
    try:
        import pyarrow as pa

        getattr(getattr(pa.lib, "_pandas_api", None), "have_pandas", None)
    finally:
        del modules["pandas"]
