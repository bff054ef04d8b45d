"""Where the records of a CSV file end: at the newlines that are not inside quotes.

A quote opens a value only where a value begins: after a delimiter or a line end; elsewhere, as in `5" disk`, it is an
ordinary character. In well-formed data every second quote closes, which numpy checks for a whole block at once; only a
block with stray quotes is checked quote by quote.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
_QUOTE, _NEWLINE, _RETURN = b'"\n\r'


def record_ends(data: bytes, delimiter: int, final: bool) -> Offsets:
    """The offset after each record's newline. If `final`, what is left at the end is a record too."""
    letters = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(letters == _NEWLINE)
    quotes = np.flatnonzero(letters == _QUOTE)
    if len(quotes):
        opening, closing = _quoted_ranges(letters, quotes, delimiter)
        first = np.searchsorted(newlines, opening)
        last = np.searchsorted(newlines, closing)
        inside = np.zeros(len(newlines) + 1, np.int8)
        np.add.at(inside, first, 1)
        np.add.at(inside, last, -1)
        newlines = newlines[np.cumsum(inside[:-1]) == 0]
    ends = newlines.astype(np.int64) + 1
    if final and len(data) and (not len(ends) or ends[-1] < len(data)):
        ends = np.append(ends, len(data))
    return ends


def is_left_open(record: bytes, delimiter: int) -> bool:
    """Whether a record ends inside quotes, as only the last one of a file can."""
    letters = np.frombuffer(record, np.uint8)
    quotes = np.flatnonzero(letters == _QUOTE)
    return len(quotes) > 0 and len(letters) in _quoted_ranges(letters, quotes, delimiter)[1]


def _quoted_ranges(letters: npt.NDArray[np.uint8], quotes: Offsets, delimiter: int) -> tuple[Offsets, Offsets]:
    """The offsets where quoted parts begin and end; the last end is the end of the data if a quote is left open."""
    opening, closing = quotes[0::2], quotes[1::2]
    before = letters[np.maximum(opening - 1, 0)]
    well_opened = (opening == 0) | (before == delimiter) | (before == _NEWLINE) | (before == _RETURN)
    well_opened[1:] |= opening[1:] == closing[: len(opening) - 1] + 1  # "" inside quotes
    after = letters[np.minimum(closing + 1, len(letters) - 1)]
    at_end = closing == len(letters) - 1
    well_closed = (after == delimiter) | (after == _NEWLINE) | (after == _RETURN) | (after == _QUOTE) | at_end
    if not (well_opened.all() and well_closed.all()):
        opening, closing = _walk(letters.tobytes(), quotes, delimiter)
    if len(closing) < len(opening):
        closing = np.append(closing, len(letters))
    return opening, closing


def _walk(data: bytes, quotes: Offsets, delimiter: int) -> tuple[Offsets, Offsets]:
    opening: list[int] = []
    closing: list[int] = []
    is_open, skipped = False, -1
    for quote in quotes.tolist():
        if quote == skipped:
            continue
        if not is_open:
            if quote == 0 or data[quote - 1] in (delimiter, _NEWLINE, _RETURN):
                opening.append(quote)
                is_open = True
        elif data[quote + 1 : quote + 2] == b'"':
            skipped = quote + 1
        else:
            closing.append(quote)
            is_open = False
    return np.array(opening, np.int64), np.array(closing, np.int64)
