"""Copy the kept records of one part."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from roughly.cluster.candidates import Ints
from roughly.sources.part import ALONE, CopyBudget, Part


def copy_part(part: Part, rows: Ints, folder: Path, budget: CopyBudget = ALONE) -> int:
    """Copy these rows (ascending) in the part's own format; returns the number of records copied."""
    keep = np.zeros(int(rows[-1]) + 1 if len(rows) else 0, np.bool_)
    keep[rows] = True
    return part.copy(keep, folder, budget)
