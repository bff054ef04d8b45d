"""JSON lines: the values of a few wanted columns, found and unescaped in one pass over the bytes.

A line is *taken* if it is, beyond doubt, one JSON object (RFC 8259) from its first to its last byte that has a string
for a text, and only strings, whole numbers and nulls for the other wanted columns. Everything else is *unsure*
and left to a slower reader, also much that is good JSON: a wanted key that occurs twice, a top-level key with an escape
in it, a lone surrogate, `-0`, more than 18 digits in a wanted number, an exponent of three digits, values nested deeper
than 60, bytes that are not UTF-8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Bytes, Offsets, frozen, frozen_offsets

UNSURE, TAKEN, BLANK = np.uint8(0), np.uint8(1), np.uint8(2)
NULL, PLAIN, ESCAPED = np.uint8(0), np.uint8(1), np.uint8(2)


class Lines(NamedTuple):
    """What was found. Column 0 is the text; spans and kinds are those of the others, in turn."""

    status: npt.NDArray[np.uint8]  # of each line: UNSURE, TAKEN or BLANK
    text: Bytes  # of the lines taken, one after another
    ends: Offsets  # where each line's text ends; where the line before ended, if it was not taken
    spans: npt.NDArray[np.int64]  # (columns, lines, 2): start and end of the value in the data
    kinds: npt.NDArray[np.uint8]  # (columns, lines): NULL, PLAIN to be copied, or ESCAPED


def find_values(data: Bytes, ends: Offsets, keys: Bytes, key_offsets: Offsets) -> Lines:
    """The values of the wanted keys, the first of which is the text's, in lines that end at `ends`."""
    data = frozen(data, np.uint8, "data")
    ends = frozen_offsets(ends, len(data), "ends")
    keys = frozen(keys, np.uint8, "keys")
    return Lines(*_core.find_values(data, ends, keys, frozen_offsets(key_offsets, len(keys), "key_offsets")))


def gather(data: Bytes, spans: npt.NDArray[np.int64], kinds: npt.NDArray[np.uint8]) -> tuple[Bytes, Offsets]:
    """One column: the values at `spans` one after another, unescaped, and n + 1 offsets."""
    data = frozen(data, np.uint8, "data")
    return _core.gather_values(data, np.ascontiguousarray(spans), frozen(kinds, np.uint8, "kinds"))
