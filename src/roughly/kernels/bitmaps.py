"""A bitmap of each set, which rules out most pairs that are too unlike without looking at the sets.

Bit v mod B is flipped for every value v. Two sets differ in at least as many values as their bitmaps differ in bits:
each value that only one of them has flips one bit. So a pair whose bitmaps differ too much is too unlike, for
certain. How many words a bitmap has changes the time and never the answer; without any it rules out nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from roughly.kernels import jit, jit_inner
from roughly.kernels.arrays import Hashes, Offsets

Maps = npt.NDArray[np.uint64]  # (documents, words), a power of two of words


@intrinsic
def ones(context, word):  # type: ignore[no-untyped-def]
    """How many bits of a word are set: one machine instruction."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@jit
def draw(values: Hashes, offsets: Offsets, maps: Maps, first: int) -> None:
    """Flip the bits of each set, beginning with that of document `first`."""
    if maps.shape[1] == 0:
        return
    mask = np.uint64(64 * maps.shape[1] - 1)
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            bit = values[i] & mask
            maps[first + d, np.int64(bit >> np.uint64(6))] ^= np.uint64(1) << (bit & np.uint64(63))


@jit_inner
def differ_by_more(maps: Maps, d: int, k: int, allowed: float) -> bool:
    """Whether the bitmaps of d and k differ in more than `allowed` bits."""
    bits = np.uint64(0)
    for w in range(maps.shape[1]):
        bits += ones(maps[d, w] ^ maps[k, w])  # type: ignore[call-arg]
    return bool(np.int64(bits) > allowed)


def warm_up() -> None:
    """Compile for the types it is called with."""
    draw(np.zeros(1, np.uint64), np.array([0, 1]), np.zeros((1, 2), np.uint64), 0)
