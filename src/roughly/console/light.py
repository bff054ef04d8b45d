"""A process that imports nothing it will not use.

Some packages import others merely because they are installed: pyarrow looks for pandas as soon as it sees a numpy
array, and NumPy's BLAS starts its threads. A library must not meddle with that, for its
caller may want all of them later. The command line is alone in its process and knows what it needs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class NotInstalled(MetaPathFinder):
    """Makes the import of a package fail as if it were not installed. (A None in `sys.modules` would crash pyarrow.)"""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Nothing found for any other name; for this one, no one else is asked."""
        if fullname == self._name:
            raise ModuleNotFoundError(f"No module named {fullname!r}: the command line does without it", name=fullname)
        return None


def travel_light() -> None:
    """This process is the command line's own: no pandas, no threads for NumPy's BLAS."""
    sys.meta_path.insert(0, NotInstalled("pandas"))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def with_pandas() -> None:
    """Let pandas be found again: PySpark asks for it before it hands out Arrow."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, NotInstalled)]
