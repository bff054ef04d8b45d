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

from roughly.kernels import jit
from roughly.kernels.arrays import Hashes, Offsets

Floats = npt.NDArray[np.float64]
Tallies = npt.NDArray[np.int64]  # (groups, levels + 1, thresholds)


@jit
def tally(
    values: Hashes, offsets: Offsets, pairs: Offsets, groups: Offsets, levels: int, thresholds: Floats,
    right: Tallies, wrong: Tallies, true: Offsets,
) -> None:  # fmt: skip
    """Add to `right` and `wrong` the pairs found, in all trials, that are and are not true; to `true` those that are.

    pairs[p] = (d, k) are two sorted sets, counted in group groups[p]; `true` is (groups, thresholds).
    """
    finest = 1 << levels
    shift = np.uint64(64 - levels)
    shared, union = np.empty(finest, np.int64), np.empty(finest, np.int64)
    for p in range(pairs.shape[0]):
        for w in range(finest):
            shared[w] = 0
            union[w] = 0
        i, ie = offsets[pairs[p, 0]], offsets[pairs[p, 0] + 1]
        j, je = offsets[pairs[p, 1]], offsets[pairs[p, 1] + 1]
        both, whole = 0, 0
        while i < ie or j < je:
            if j == je or (i < ie and values[i] < values[j]):
                x = values[i]
                i += 1
            elif i == ie or values[j] < values[i]:
                x = values[j]
                j += 1
            else:
                x = values[i]
                i += 1
                j += 1
                both += 1
                shared[np.int64(x >> shift) if levels > 0 else 0] += 1
            whole += 1
            union[np.int64(x >> shift) if levels > 0 else 0] += 1
        if both == 0:
            continue
        g = groups[p]
        for t in range(thresholds.shape[0]):
            true[g, t] += int(both / whole >= thresholds[t])
        trials = finest
        for level in range(levels, -1, -1):
            for w in range(trials):
                if shared[w] == 0:
                    continue
                for t in range(thresholds.shape[0]):
                    if shared[w] / union[w] >= thresholds[t]:
                        if both / whole >= thresholds[t]:
                            right[g, level, t] += 1
                        else:
                            wrong[g, level, t] += 1
            trials >>= 1
            for w in range(trials):
                shared[w] = shared[2 * w] + shared[2 * w + 1]
                union[w] = union[2 * w] + union[2 * w + 1]


def warm_up() -> None:
    """Compile this module's kernels for the types they are called with."""
    tallies = np.zeros((1, 2, 1), np.int64)
    tally(
        np.ones(2, np.uint64), np.array([0, 1, 2]), np.array([[1, 0]]), np.zeros(1, np.int64), 1, np.ones(1),
        tallies, tallies.copy(), np.zeros((1, 1), np.int64),
    )  # fmt: skip
