"""Random orderings for min-wise hashing: x → a·x + b mod 2^32 with odd a, drawn from a seed.

A counter-based generator makes them the same on every machine and for every version of Python and numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Words: TypeAlias = npt.NDArray[np.uint32]


_WORD = (1 << 64) - 1


def draw(orderings: int, seed: int) -> tuple[Words, Words]:
    """(multipliers, increments) of this number of orderings."""
    import numpy as np

    words = np.array([word >> 32 for word in islice(philox(seed), 2 * orderings)], np.uint32)
    return words[:orderings] | np.uint32(1), words[orderings:]


def philox(seed: int) -> Iterator[int]:
    """The 64-bit words of Philox4x64-10 (Salmon et al., SC 2011), with the seed as key and a counter from 1 on."""
    for block in count(1):
        a, b, c, d = block, 0, 0, 0
        for turn in range(10):
            x, y = a * 0xD2E7470EE14C6C93, c * 0xCA5A826395121157
            first = (seed + turn * 0x9E3779B97F4A7C15) & _WORD
            second = ((seed >> 64) + turn * 0xBB67AE8584CAA73B) & _WORD
            a, b, c, d = (y >> 64) ^ b ^ first, y & _WORD, (x >> 64) ^ d ^ second, x & _WORD
        yield from (a, b, c, d)
