"""Random orderings for min-wise hashing: x → a·x + b mod 2^32 with odd a, drawn from a seed.

A counter-based generator makes them the same on every machine and for every version of Python and numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Words: TypeAlias = npt.NDArray[np.uint32]


def draw(count: int, seed: int) -> tuple[Words, Words]:
    """(multipliers, increments) of so many orderings."""
    import numpy as np

    words = np.random.Philox(key=seed).random_raw(2 * count) >> np.uint64(32)
    return words[:count].astype(np.uint32) | np.uint32(1), words[count:].astype(np.uint32)
