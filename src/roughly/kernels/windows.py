"""How often sampled detection is right, for all sampling ratios and all trials of each in one pass over a pair.

Ye 2008, §4.4 samples at the ratio 1/n n times, once for each remainder modulo n, and averages. Here a trial at ratio
1/2^l takes the hashes whose first l bits are the trial's number. Trials of a coarser ratio are then unions of
trials of a finer one, so one merge of two sorted sets that counts by the first `levels` bits has all of them.

| symbol | name |
|---|---|
| l | a level: the ratio is 2^−l, and there are 2^l trials |
| t | `thresholds` |
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets

Floats = npt.NDArray[np.float64]
Tallies = npt.NDArray[np.int64]  # (groups, levels + 1, thresholds)

FINEST = 30


def tally(
    values: Hashes, offsets: Offsets, pairs: Offsets, groups: Offsets, levels: int, thresholds: Floats,
    right: Tallies, wrong: Tallies, true: Offsets,
) -> None:  # fmt: skip
    """Add to `right` and `wrong` the numbers of found pairs, over all trials, that are and are not true; to `true` all
    true ones.

    pairs[p] = (d, k) are two sorted sets, counted in group groups[p]; `true` is (groups, thresholds).
    """
    values = frozen(values, np.uint64, "values")
    offsets = frozen_offsets(offsets, len(values))
    if not 0 <= levels <= FINEST:
        raise ValueError(f"there can be 0 to {FINEST} levels, not {levels}")
    shape = (len(true), levels + 1, len(thresholds))
    if right.shape != shape or wrong.shape != shape or true.shape != (shape[0], shape[2]):
        raise ValueError(f"right and wrong must have the shape {shape}, and true the same without the levels")
    if not all(counts.dtype == np.int64 and counts.flags.c_contiguous for counts in (right, wrong, true)):
        raise TypeError("right, wrong and true must be contiguous arrays of int64")
    if pairs.shape != (len(groups), 2) or not _within(pairs, len(offsets) - 1) or not _within(groups, len(true)):
        raise ValueError("pairs and groups must be numbers of sets and of groups")
    _core.tally_trials(
        values, offsets, np.ascontiguousarray(pairs, np.int64), np.ascontiguousarray(groups, np.int64), levels,
        np.ascontiguousarray(thresholds, np.float64), right.reshape(-1), wrong.reshape(-1), true.reshape(-1),
    )  # fmt: skip


def _within(numbers: Offsets, count: int) -> bool:
    return numbers.size == 0 or bool(numbers.min() >= 0 and numbers.max() < count)
