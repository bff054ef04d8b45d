"""Conrad's signature as 184 bytes: date, length and sixty terms of three bytes each (Conrad 2003, §7.3).

    bytes 0–1     days since 1 January 1980; 65,535 if the date is unknown, 65,535 − n for n days before (to 1890-04-15)
    bytes 2–3     tokens of the document; 65,535 means that many or more
    bytes 4–183   up to sixty term numbers of three bytes, ascending; 16,777,215 fills the rest

All are little-endian. A term's number is its position among the lexicon's terms that count, rarest first, so ascending
numbers have falling idf, and the rarest terms are compared first.

`compare` goes through two signatures at once and stops as soon as enough terms are common to both, or too few are left
for that. Its verdict is that of `term_vector` on vectors within both windows; `compared` shows what it saves. A
document without a date is near to none; where no document of a collection has a date, compare without the window of
dates (`dates=None`), as a run does.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from roughly.errors import InputError, SettingsError
from roughly.fast_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.lexicon.lexicon import Lexicon
    from roughly.methods.term_vector import TermVector
    from roughly.text.canonical import Tokens

TERMS = 60
SIZE = 184
FIRST_DAY = date(1980, 1, 1)
UNKNOWN = 0xFFFF
MOST_DAYS = 0x7FFF
"""Days from the first that two bytes hold, either way."""
FIRST_DATE, LAST_DATE = (date.fromordinal(FIRST_DAY.toordinal() + days) for days in (-MOST_DAYS, MOST_DAYS))
LONGEST = 0xFFFF
EMPTY = 0xFFFFFF
_HEAD = struct.Struct("<HH")


@dataclass(frozen=True)
class StoredVector:
    """A signature, unpacked."""

    date: date | None
    length: int  # at most 65,535
    terms: tuple[int, ...]  # numbers, ascending

    @cached_property
    def repeats(self) -> tuple[int, ...]:
        """How often each term occurs in the vector of sixty: short ones are repeated, rarest first."""
        count = len(self.terms)
        return tuple(TERMS // count + (place < TERMS % count) for place in range(count))


@dataclass(frozen=True)
class VectorComparison:
    """The result of comparing two signatures."""

    duplicates: bool
    compared: int  # terms compared until that was certain


def pack(when: date | None, length: int, terms: Sequence[int]) -> bytes:
    """A signature in 184 bytes."""
    if length < 0:
        raise InputError(f"a document cannot have {length} tokens")
    if len(terms) > TERMS:
        raise InputError(f"a signature holds {TERMS} terms, not {len(terms)}: give the rarest")
    numbers = sorted(terms)
    if numbers and not 0 <= numbers[0] <= numbers[-1] < EMPTY:
        raise InputError(f"term numbers go from 0 to {EMPTY - 1}; {numbers[0]} to {numbers[-1]} do not fit three bytes")
    if len(set(numbers)) < len(numbers):
        raise InputError("a term occurs twice in a signature; give each once")
    days = 0 if when is None else (when - FIRST_DAY).days
    if abs(days) > MOST_DAYS:
        raise InputError(f"{when} does not fit two bytes: dates go from {FIRST_DATE} to {LAST_DATE}")
    days = UNKNOWN if when is None else days if days >= 0 else UNKNOWN + days
    padded = [*numbers, *[EMPTY] * (TERMS - len(numbers))]
    return _HEAD.pack(days, min(length, LONGEST)) + b"".join(number.to_bytes(3, "little") for number in padded)


def unpack(data: bytes) -> StoredVector:
    """The signature in 184 bytes."""
    if len(data) != SIZE:
        raise InputError(f"a stored signature has {SIZE} bytes, not {len(data)}")
    days, length = _HEAD.unpack_from(data)
    numbers = [int.from_bytes(data[at : at + 3], "little") for at in range(_HEAD.size, SIZE, 3)]
    terms = tuple(number for number in numbers if number != EMPTY)
    if numbers != sorted(numbers) or len(set(terms)) < len(terms):
        raise InputError("a stored signature is damaged: its terms are not in order")
    return StoredVector(vector_day(days), length, terms)


def vector_day(days: int) -> date | None:
    """The date in the first two bytes of a signature."""
    if days == UNKNOWN:
        return None
    return date.fromordinal(FIRST_DAY.toordinal() + (days if days <= MOST_DAYS else days - UNKNOWN))


def compare(
    left: bytes, right: bytes, *, common: int = 48, dates: int | None = 42, lengths: float | None = 0.2
) -> VectorComparison:
    """Whether two signatures are those of duplicates; terms are compared by falling idf, no more than needed."""
    if not 1 <= common <= TERMS:
        raise SettingsError(f"common must be a whole number from 1 to {TERMS}, not {common!r}")
    a, b = unpack(left), unpack(right)
    if not a.terms or not b.terms or not within(a, b, dates, lengths):
        return VectorComparison(False, 0)
    i = j = shared = looked = 0
    rest_a = rest_b = TERMS  # entries not passed yet
    while shared < common and shared + min(rest_a, rest_b) >= common:
        looked += 1
        x, y = a.terms[i], b.terms[j]
        if x == y:
            shared += min(a.repeats[i], b.repeats[j])
        if x <= y:
            rest_a -= a.repeats[i]
            i += 1
        if y <= x:
            rest_b -= b.repeats[j]
            j += 1
        if i == len(a.terms) or j == len(b.terms):
            break
    return VectorComparison(shared >= common, looked)


def within(a: StoredVector, b: StoredVector, dates: int | None, lengths: float | None) -> bool:
    """Whether two documents are near enough in date and in length; a document without a date is near to none."""
    if dates is not None and (a.date is None or b.date is None or abs((a.date - b.date).days) > dates):
        return False
    return lengths is None or abs(a.length - b.length) <= lengths * max(a.length, b.length)


class Numbers:
    """The terms of a lexicon that count, numbered from 0, rarest first, equals in the order of their hashes."""

    def __init__(self, eligible: Lexicon) -> None:
        import numpy as np

        counted = np.flatnonzero(eligible.table.counts)
        if len(counted) > EMPTY:
            raise InputError(f"{len(counted):,} terms do not fit three bytes: raise min_df, or prune the lexicon")
        self._hashes = np.asarray(eligible.table.hashes)[counted]
        order = np.lexsort((self._hashes, ~self._hashes >> np.uint64(32), np.asarray(eligible.table.counts)[counted]))
        self._numbers = np.empty(len(order), np.int64)
        self._numbers[order] = np.arange(len(order))

    def of(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Numbers of terms, all of which count."""
        import numpy as np

        places = np.searchsorted(self._hashes, hashes)
        found = self._hashes[np.minimum(places, len(self._hashes) - 1)] == hashes if len(self._hashes) else None
        if len(hashes) and (found is None or not found.all()):
            raise InputError("a term is not in the lexicon that numbers come from; use the lexicon of the signatures")
        return self._numbers[places]


def store(method: TermVector, tokens: Tokens, dates: Sequence[date | None], numbers: Numbers) -> list[bytes]:
    """The signature of each document in 184 bytes; without terms for one that has too few of them."""
    import numpy as np

    if method.terms != TERMS:
        raise SettingsError(f"stored signatures have {TERMS} terms; this method has {method.terms}")
    found, _, counts = method.rarest(tokens)
    lengths = np.diff(tokens.offsets)
    out = []
    for d, (count, when) in enumerate(zip(counts.tolist(), dates, strict=True)):
        terms = numbers.of(found[d, :count]).tolist() if count >= method.min_terms else []
        out.append(pack(when, int(lengths[d]), terms))
    return out
