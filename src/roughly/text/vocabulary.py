"""The distinct tokens of many texts, numbered: filters decide on them and lexicons count them.

Texts are long and their distinct tokens few, so facts about a token (is it a stop word, its stem, its document
frequency) are computed once per term and then looked up by number.

A vocabulary grows and is not shared between threads: each thread keeps its own. Numbers mean nothing outside it.
"""

from __future__ import annotations

import itertools
import unicodedata
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.text import tables
from roughly.text.canonical import buffers

S = TypeVar("S", bound=np.generic)

CUT = "…"
"""The end of a term that is truncated because it has more than 255 bytes; no token contains it."""
_FIRST_ROOM = 1 << 16


class Numbered(NamedTuple):
    """Tokens of a batch by number: document i has numbers[offsets[i]:offsets[i + 1]], in the order of the text."""

    numbers: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]


class Vocabulary:
    """Terms by number, in the order of their first occurrence: their hashes and their canonical UTF-8."""

    def __init__(self) -> None:
        from roughly.kernels.arrays import Table, frozen

        table = tables.load()
        self._table = Table(frozen(table.stage1, np.uint16, "stage1"), frozen(table.stage2, np.uint32, "stage2"))
        self.clear()

    def clear(self) -> None:
        """Remove every term."""
        from roughly.kernels.frequency import Terms

        self._terms, self._text = 0, 0
        self._arrays = Terms(
            np.zeros(4 * _FIRST_ROOM, np.uint64),
            np.empty(_FIRST_ROOM, np.uint64),
            np.empty(_FIRST_ROOM, np.int64),
            np.empty(16 * _FIRST_ROOM, np.uint8),
        )

    def __len__(self) -> int:
        return self._terms

    @property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """Token hash of each term."""
        return self._arrays.hashes[: self._terms]

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """Where each term ends in `text`."""
        return self._arrays.ends[: self._terms]

    @property
    def text(self) -> npt.NDArray[np.uint8]:
        """The terms' canonical (decomposed) UTF-8, one after another."""
        return self._arrays.text[: self._text]

    @property
    def nbytes(self) -> int:
        """Memory of the terms in bytes."""
        return sum(array.nbytes for array in self._arrays)

    def words(self, first: int = 0) -> list[str]:
        """The terms from number `first` on, as people write them (composed, NFC)."""
        starts = np.concatenate([[0], self.ends])[first:]
        return decode_terms(self.text, starts)

    def number(self, column: pa.Array) -> Numbered:
        """The tokens of each text of an Arrow `string` or `large_string` array, those of `tokenise`, by number."""
        from roughly.kernels import frequency
        from roughly.kernels.tokens import refuse_longer

        data, offsets = buffers(column)
        refuse_longer(int(np.diff(offsets).max(initial=0)))
        scratch = frequency.make_scratch(data, offsets)
        numbers = np.empty(int(offsets[-1] - offsets[0]) // 5 + 64, np.uint32)
        token_offsets = np.zeros(len(offsets), np.int64)
        state = np.array([0, 0, 0, self._terms, self._text], np.int64)
        while True:
            short = frequency.number_tokens(
                data, offsets, self._table, scratch, self._arrays, numbers, token_offsets, state
            )
            self._terms, self._text = int(state[frequency.TERMS]), int(state[frequency.TEXT])
            if short == frequency.DONE:
                return Numbered(numbers[: state[frequency.TOKENS]], token_offsets)
            if short == frequency.NEEDS_NUMBERS:
                numbers = _larger(numbers, int(state[frequency.TOKENS]), len(scratch.hashes))
            elif short == frequency.NEEDS_TERMS:
                self._make_room_for_terms()
            else:
                room = frequency.ROOM_FOR_A_TERM
                self._arrays = self._arrays._replace(text=_larger(self._arrays.text, self._text, room))

    def _make_room_for_terms(self) -> None:
        from roughly.kernels import frequency

        hashes = _larger(self._arrays.hashes, self._terms)
        slots = np.zeros(4 * len(hashes), np.uint64)
        frequency.fill_slots(slots, hashes, self._terms)
        ends = _larger(self._arrays.ends, self._terms)
        self._arrays = frequency.Terms(slots, hashes, ends, self._arrays.text)


def decode_terms(text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.integer]) -> list[str]:
    """The terms text[offsets[i]:offsets[i + 1]] as people write them (composed, NFC)."""
    data = text[int(offsets[0]) : int(offsets[-1])].tobytes()
    places = (offsets - offsets[0]).tolist()
    if data.isascii():
        plain = data.decode("ascii")
        return [plain[a:b] for a, b in itertools.pairwise(places)]
    return [unicodedata.normalize("NFC", data[a:b].decode("utf-8", "replace")) for a, b in itertools.pairwise(places)]


def _larger(array: npt.NDArray[S], used: int, more: int = 0) -> npt.NDArray[S]:
    larger = np.empty(2 * len(array) + more, array.dtype)
    larger[:used] = array[:used]
    return larger
