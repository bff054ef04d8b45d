"""The kernel path of JSON lines: the kernel's values as Arrow columns, without a copy of the texts.

The kernel (`kernels.jsonlines`) parses the lines it is sure of; a mask says which, and `jsonparse` parses the others.
Lines whose id is null, empty or missing are left to `jsonparse` too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.fast_dataclass import dataclass
from roughly.sources.part import Mask
from roughly.sources.records import Offsets

_QUOTE = ord('"')


@dataclass(frozen=True, slots=True)
class Values:
    """Columns of the parsed lines, and masks of the lines parsed and left over; blank lines are in neither."""

    columns: dict[str, pa.Array]
    taken: Mask
    left: Mask


class ValueFinder:
    """Finds the text and other columns, of which `strings` have strings only; lines without a text, or without a value
    for `required`, are left over."""

    def __init__(self, text: str, strings: Sequence[str], others: Sequence[str], required: str | None) -> None:
        self._text, self._strings, self._required = text, strings, required
        self._others = list(dict.fromkeys([*strings, *others]))
        names = [name.encode("utf-8", "surrogatepass") for name in (text, *self._others)]
        self._keys = np.frombuffer(b"".join(names), np.uint8)
        self._key_offsets = np.cumsum([0, *map(len, names)], dtype=np.int64)

    def find(self, data: bytes | memoryview, ends: Offsets) -> Values:
        """The values in lines that end at `ends`, at least one line."""
        from roughly.kernels.jsonlines import BLANK, NULL, TAKEN, find_values, gather

        letters = np.frombuffer(data, np.uint8)
        lines = find_values(letters, ends, self._keys, self._key_offsets)
        sure = lines.status == TAKEN
        taken = sure
        if self._required is not None:
            number = self._others.index(self._required)
            spans = lines.spans[number]
            taken = taken & (lines.kinds[number] != NULL) & (spans[:, 0] != spans[:, 1])
        for number in range(len(self._strings)):  # not a number
            starts, is_null = lines.spans[number][:, 0], lines.kinds[number] == NULL
            taken = taken & (is_null | (letters[np.maximum(starts, 1) - 1] == _QUOTE))
        text = _large_strings(lines.text, lines.ends[sure])
        columns = {self._text: text if np.array_equal(taken, sure) else text.filter(pa.array(taken[sure]))}
        everything = bool(taken.all())
        for column, spans, kinds in zip(self._others, lines.spans, lines.kinds, strict=True):
            if not everything:
                spans, kinds = spans[taken], kinds[taken]
            kind = pa.large_string() if column in self._strings else pa.string()
            columns[column] = _strings(kind, *gather(letters, spans, kinds), kinds == NULL)
        return Values(columns, taken, ~taken & (lines.status != BLANK))


def _large_strings(data: npt.NDArray[np.uint8], ends: Offsets) -> pa.Array:
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    return pa.Array.from_buffers(pa.large_string(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _strings(kind: pa.DataType, data: npt.NDArray[np.uint8], offsets: Offsets, null: Mask) -> pa.Array:
    valid = pa.py_buffer(np.packbits(~null, bitorder="little")) if null.any() else None
    width = np.int64 if kind == pa.large_string() else np.int32
    buffers = [valid, pa.py_buffer(offsets.astype(width)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(null), buffers)
