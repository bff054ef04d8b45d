"""The canonical form of a text: the tokens that two documents are compared by.

Tokens are runs of letters, digits and marks in lower case; scripts written without spaces give one token per character.
The rules are in `docs/canonical-form.md`, the characters they apply to in the frozen table.

`tokenise` is the fast way: a whole Arrow column at once, hashes only. `words` and `spans` are the same rules in plain
Python for a single text, for what people see: diffs, passages, lexicons. Tests compare the two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.kernels.classes import (
    DELTA,
    DOT_ABOVE,
    IGNORED,
    LONGEST_RUN,
    MARK,
    PAYLOAD,
    SEPARATOR,
    SEQUENCE,
    SINGLE,
)
from roughly.text import tables


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token hashes of a batch: document i has hashes[offsets[i]:offsets[i + 1]], in the order of the text."""

    hashes: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def tokenise(column: pa.Array) -> Tokens:
    """The tokens of each text of an Arrow `string` or `large_string` array, without copying it."""
    from roughly.kernels import tokens

    table = tables.load()
    data, offsets = buffers(column)
    return Tokens(*tokens.tokenise(data, offsets, table.stage1, table.stage2))


def characters(column: pa.Array) -> Tokens:
    """The characters of each text's tokens, run together: what shingles of characters are made of."""
    from roughly.kernels import tokens

    table = tables.load()
    data, offsets = buffers(column)
    return Tokens(*tokens.characters(data, offsets, table.stage1, table.stage2))


def units_of(column: pa.Array, unit: str) -> Tokens:
    """What shingles are made of: the tokens of each text, or its characters."""
    return characters(column) if unit == "character" else tokenise(column)


def buffers(column: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of a text column and the n + 1 positions of its texts in them, without a copy."""
    if pa.types.is_large_string(column.type):
        kind: type[np.signedinteger] = np.int64
    elif pa.types.is_string(column.type):
        kind = np.int32
    else:
        raise InputError(f"text must be an Arrow string or large_string array, not {column.type}: cast it")
    if column.null_count:
        raise InputError(f"{column.null_count} of {len(column)} texts are null: leave them out or fill them with ''")
    _, positions, data = column.buffers()
    if len(column) == 0 or positions is None:
        return np.empty(0, np.uint8), np.zeros(len(column) + 1, np.int64)
    offsets = np.frombuffer(positions, kind, len(column) + 1, column.offset * np.dtype(kind).itemsize)
    text = np.frombuffer(data if data is not None else b"", np.uint8)
    text.flags.writeable = False  # Arrow's memory may be shared, although numpy marks it as read-only
    return text, offsets.astype(np.int64, copy=False)


def words(text: str) -> list[str]:
    """The canonical tokens of a text, as people write them (composed, NFC).

    >>> words("Don’t stop, ÉTÉ!")
    ['don', 't', 'stop', 'été']
    """
    return [unicodedata.normalize("NFC", word) for word, _, _ in _tokens(text)]


def spans(text: str) -> list[tuple[int, int]]:
    """The position of each token of `words(text)` in the text: (start, end) in characters."""
    return [(start, end) for _, start, end in _tokens(text)]


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Each token in canonical (decomposed) form, with its start and end in characters of the text."""
    token: list[int] = []
    orders: list[int] = []  # combining classes of the marks at the end of the token that may still change places
    start = end = base = 0
    last = SEPARATOR
    for at, character in enumerate(text):
        for cp, kind, order in _pieces(character):
            if kind == IGNORED or (kind == MARK and last == SEPARATOR):
                continue
            if kind == MARK:
                end = at + 1
                if cp != DOT_ABOVE or base != ord("i"):
                    _put_mark(token, orders, cp, order)
                continue
            if token and (kind in (SEPARATOR, SINGLE) or last == SINGLE):
                yield "".join(map(chr, token)), start, end
                token = []
            if kind != SEPARATOR:
                if not token:
                    start = at
                token.append(cp)
                end, base = at + 1, cp
            orders = []
            last = kind
    if token:
        yield "".join(map(chr, token)), start, end


def _put_mark(token: list[int], orders: list[int], cp: int, order: int) -> None:
    """Put a mark after those of its run that do not sort after it."""
    if order == 0 or len(orders) == LONGEST_RUN:
        orders.clear()
        token.append(cp)
        return
    place = len(orders)
    while place and orders[place - 1] > order:
        place -= 1
    token.insert(len(token) - len(orders) + place, cp)
    orders.insert(place, order)


@lru_cache(maxsize=4096)
def _pieces(character: str) -> tuple[tuple[int, int, int], ...]:
    """The canonical sequence of a character: (canonical code point, class, combining class) of each part."""
    table = tables.load()
    cp = ord(character)
    entry = table.entry(cp)
    if entry >> 24 == SEQUENCE:
        return tuple(piece for part in table.sequence(entry & PAYLOAD) for piece in _pieces(chr(part)))
    if entry >> 24 == MARK:
        return ((cp, MARK, entry & PAYLOAD),)
    return (((cp + entry) & DELTA, entry >> 24, 0),)
