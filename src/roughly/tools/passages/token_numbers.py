"""Tokens by number: 32 bits each instead of the 64 of their hashes, whichever tokens there are.

Numbers depend on the input alone: threads look tokens up, and one of them, in reading order, numbers those that are
new. The tables lie in mapped files, so their memory can be taken back.
"""

from __future__ import annotations

import numpy as np

from roughly.errors import InputError
from roughly.kernels.arrays import Hashes, Words
from roughly.kernels.repeats import add_numbers, find_numbers
from roughly.tools.passages.mapped_arrays import MappedArrays

_FIRST = 1 << 16
"""Slots of the first table; every other has twice as many as the one before."""
_MOST_TABLES = 16
"""All slots together are fewer than 2^32."""


class TokenNumbers:
    """The numbers of the tokens of one collection."""

    def __init__(self, maps: MappedArrays) -> None:
        self._maps = maps
        self._tables: list[Hashes] = []
        self._used = 0  # slots of the last table
        self._grow()

    def find(self, hashes: Hashes) -> Words:
        """The numbers of tokens, as far as they have one; on any thread."""
        return find_numbers(list(self._tables), hashes)

    def add(self, hashes: Hashes, numbers: Words) -> None:
        """Number the tokens that have no number; on one thread."""
        done = 0
        while True:
            count, self._used = add_numbers(self._tables, hashes[done:], numbers[done:], self._used)
            done += count
            if done == len(hashes):
                return
            self._grow()

    def _grow(self) -> None:
        level = len(self._tables)
        if level == _MOST_TABLES:
            raise InputError("the input has more than two thousand million different tokens; divide it")
        self._tables.append(self._maps.new(f"numbers{level}", np.uint64, _FIRST << level))
        self._used = 0

    def delete(self) -> None:
        """Delete the tables."""
        names = [f"numbers{level}" for level in range(len(self._tables))]
        self._tables = []
        self._maps.delete(*names)
