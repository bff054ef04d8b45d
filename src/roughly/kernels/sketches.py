"""Sketches: sorted samples of a document's w-shingles, and what two of them say about the documents (Broder 1997, §3).

A sample keeps the shingle hashes that are at most a limit. Hashes are uniform, so a limit of 2^64/m − 1 keeps one in
m, as MOD_m does; and since it keeps a *prefix* of the sorted set, a sketch is reduced to a coarser one by cutting it
at the smaller limit. MIN_s, the s smallest, is a prefix too, whose limit is its last value.

    samples      every document by a limit of its own: MOD_m, V_i, or all of them
    smallest     MIN_s
    estimates    what pairs of sketches have in common (`judging`), and up to which value that was counted

Hashes and limits are uint64, positions int64. The loops are those of `core/sketches.hpp`.

| symbol | name |
|---|---|
| w | `size` |
| s | `most` |
| 2^64/m − 1 | `limits` |
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets
from roughly.kernels.shingles import check_size


def samples(tokens: Hashes, offsets: Offsets, size: int, limits: Hashes) -> tuple[Hashes, Offsets]:
    """The distinct `size`-shingle hashes of document i that are at most limits[i], sorted."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    limits = _one_each(limits, offsets)
    check_size(size)
    return _core.samples(tokens, offsets, size, limits)


def smallest(tokens: Hashes, offsets: Offsets, size: int, most: int) -> tuple[Hashes, Offsets, Hashes]:
    """The `most` smallest distinct `size`-shingle hashes of each document, sorted, and the limit of each.

    A document that has no more than `most` is complete, and its limit is 2^64 − 1.
    """
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    if most < 1:
        raise ValueError(f"a sketch holds at least 1 value, not {most}")
    return _core.smallest(tokens, offsets, size, most)


def estimates(
    values: Hashes, offsets: Offsets, limits: Hashes, most: int, left: Offsets, right: Offsets
) -> tuple[Offsets, Hashes]:
    """(shared, mine, theirs) of each pair of sketches, as (n, 3), and the value up to which they were counted."""
    values = frozen(values, np.uint64, "values")
    offsets = frozen_offsets(offsets, len(values))
    limits = _one_each(limits, offsets)
    left, right = frozen(left, np.int64, "left"), frozen(right, np.int64, "right")
    if len(left) != len(right):
        raise ValueError(f"{len(left)} left and {len(right)} right sketches do not pair up")
    for name, side in (("left", left), ("right", right)):
        if len(side) and (side.min() < 0 or side.max() >= len(offsets) - 1):
            raise ValueError(f"{name} must contain numbers of sketches, 0 to {len(offsets) - 2}")
    return _core.estimates(values, offsets, limits, most, left, right)


def _one_each(limits: Hashes, offsets: Offsets) -> Hashes:
    limits = frozen(limits, np.uint64, "limits")
    if len(limits) != len(offsets) - 1:
        raise ValueError(f"{len(offsets) - 1} documents need as many limits, not {len(limits)}")
    return limits
