"""The frozen Unicode table, read once: what each code point is and what it becomes.

`unicode.npz` is made by `make_tables` and committed; it is never made at run time, because Python's own
`unicodedata` differs between versions and every hash would change with it. `kernels.classes` says how to read it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Tables:
    """Two-stage table of all code points, and the version of Unicode that it follows."""

    stage1: npt.NDArray[np.uint16]
    stage2: npt.NDArray[np.uint32]
    unicode_version: str

    def entry(self, cp: int) -> int:
        """The entry of a code point."""
        return int(self.stage2[int(self.stage1[cp >> 8]) << 8 | cp & 255])

    def sequence(self, index: int) -> list[int]:
        """The code points of the sequence at an index of `stage2`."""
        count = int(self.stage2[index])
        return [int(cp) for cp in self.stage2[index + 1 : index + 1 + count]]


@cache
def load() -> Tables:
    """The table, as committed."""
    with Path(__file__).with_name("unicode.npz").open("rb") as file:
        held = np.load(file, allow_pickle=False)
        stage1, stage2, version = held["stage1"], held["stage2"], str(held["unicode_version"])
    stage1.flags.writeable = stage2.flags.writeable = False
    return Tables(stage1, stage2, version)
