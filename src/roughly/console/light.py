"""A process that imports nothing it will not use.

Some packages import others merely because they are installed: pyarrow looks for pandas as soon as it sees a numpy
array, and NumPy's BLAS starts its threads. Python's garbage collector runs after every 700 new objects,
also while modules are imported, although little of what they create is ever freed. A library must not change that,
since its caller may want all of it. The command line has the process to itself and knows what it needs.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_NEW_OBJECTS = 100_000
"""New objects after which the garbage collector runs: about 10 MB."""


class NotInstalled:
    """Makes the import of a package fail as if it were not installed. (A None in `sys.modules` would crash pyarrow.)"""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Find nothing for other names; for this one, stop the search."""
        if fullname == self._name:
            raise ModuleNotFoundError(f"No module named {fullname!r}: the command line does not use it", name=fullname)
        return None


def travel_light() -> None:
    """Set up the process of the command line: no pandas, no threads for NumPy's BLAS, less garbage collection."""
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    sys.meta_path.insert(0, NotInstalled("pandas"))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def with_pandas() -> None:
    """Allow pandas again: PySpark imports it before it returns Arrow."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, NotInstalled)]
