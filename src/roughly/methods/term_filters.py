"""Which terms I-Match keeps, by the names of the paper: the 52 filters of its Table IX, and others like them.

| name | keeps of a document's terms (I-Match 2002, §4.1, Tables IX and X) |
|---|---|
| `Doc-L-90` | all but the 90 % with the lowest idf |
| `Doc-H-90` | all but the 90 % with the highest idf |
| `DocR-I-20-80` | those from 20 % to 80 %, the most frequent first |
| `DocR-O-20-80` | all but those |
| `IDF-L-10` | those of normalised idf ≥ 0.1 |
| `IDF-H-10` | those of normalised idf ≤ 0.1 |
| `IDFR-I-20-80` | those of 0.2 ≤ idf ≤ 0.8 |
| `IDFR-O-20-80` | those of idf ≤ 0.2 or idf ≥ 0.8 |

The paper's tables write f1 for 10 %, f2 for 20 % and so on: `Doc-l-f9`, `IDFR-I-f2f8`. Both spellings are accepted, in
upper or lower case. Any whole percentages from 1 to 99 make a filter; the paper tried multiples of ten.

A share of n terms is rounded so that `Doc-L`, `Doc-H` and `DocR-O` keep at least one of any, and `DocR-I` may keep
none: Table IX counts 143 documents filtered by all of the former, those without a term, and more by the latter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass

if TYPE_CHECKING:
    from roughly.kernels.imatch import Selection
    from roughly.lexicon.lexicon import Lexicon
    from roughly.text.filters import Filters

_SIDE = re.compile(r"(doc|idf)-([lh])-(?:f([1-9])|([1-9][0-9]?))", re.IGNORECASE)
_RANGE = re.compile(r"(doc|idf)r-([io])-(?:f([1-9])f([1-9])|([1-9][0-9]?)-([1-9][0-9]?))", re.IGNORECASE)
_BASES = {"doc": "Doc", "idf": "IDF"}
_MOST_DF = 2**32 - 1
_HIGHEST = 2**64 - 1


@dataclass(frozen=True)
class TermFilter:
    """A filter by idf or by shares of the document."""

    base: str  # Doc or IDF
    side: str  # L, H, I or O
    low: int  # per cent
    high: int  # per cent; equal to `low` for L and H

    @classmethod
    def parse(cls, name: str) -> Self:
        """The filter of a name such as `IDF-L-10` or `Doc-l-f9`."""
        text = name.strip() if isinstance(name, str) else ""
        if found := _SIDE.fullmatch(text):
            share = int(found[3]) * 10 if found[3] else int(found[4])
            return cls(_BASES[found[1].lower()], found[2].upper(), share, share)
        if found := _RANGE.fullmatch(text):
            low, high = (int(found[3]) * 10, int(found[4]) * 10) if found[3] else (int(found[5]), int(found[6]))
            if low < high:
                return cls(_BASES[found[1].lower()], found[2].upper(), low, high)
        raise SettingsError(f"unknown term filter {name!r}; filters are {FORMS}")

    def __str__(self) -> str:
        if self.side in "LH":
            return f"{self.base}-{self.side}-{self.low}"
        return f"{self.base}R-{self.side}-{self.low}-{self.high}"

    @property
    def in_table(self) -> str:
        """The name as Table IX writes it, if it has the filter; otherwise its own."""
        if self.low % 10 or self.high % 10:
            return str(self)
        if self.side in "LH":
            return f"{self.base}-{self.side.lower()}-f{self.low // 10}"
        return f"{self.base}R-{self.side}-f{self.low // 10}f{self.high // 10}"

    @property
    def has_secondary(self) -> bool:
        """Whether terms rarer than those kept exist, for a secondary lexicon (Kołcz 2008, §3)."""
        return self.base == "IDF" and self.side in "HI"

    def selection(self, lexicon: Lexicon, norm: str) -> Selection:
        """The same as a range of rarity, for the kernels."""
        from roughly.kernels.imatch import BY_DOCUMENT, BY_IDF, Selection

        if self.base == "Doc":
            if self.side == "L":
                return Selection(BY_DOCUMENT, self.low, 100)
            if self.side == "H":
                return Selection(BY_DOCUMENT, 0, 100 - self.low, round_up=True)
            return Selection(BY_DOCUMENT, self.low, self.high, outer=self.side == "O")
        low, high = self.low / 100, self.high / 100
        if self.side == "L":
            return Selection(BY_IDF, at_least(lexicon, low, norm), _HIGHEST)
        if self.side == "H":
            return Selection(BY_IDF, 0, above(lexicon, high, norm))
        if self.side == "I":
            return Selection(BY_IDF, at_least(lexicon, low, norm), above(lexicon, high, norm))
        return Selection(BY_IDF, above(lexicon, low, norm), at_least(lexicon, high, norm), outer=True)


def at_least(lexicon: Lexicon, idf: float, norm: str) -> int:
    """The least rarity of terms whose normalised idf is `idf` or more."""
    return _least_rarity(_most_frequent(lexicon, norm, lambda found: found >= idf))


def above(lexicon: Lexicon, idf: float, norm: str) -> int:
    """The least rarity of terms whose normalised idf is more than `idf`."""
    return _least_rarity(_most_frequent(lexicon, norm, lambda found: found > idf))


def _least_rarity(frequency: int) -> int:
    return min((_MOST_DF - frequency) << 32, _HIGHEST) if frequency else _HIGHEST


def _most_frequent(lexicon: Lexicon, norm: str, holds: Callable[[float], bool]) -> int:
    """The greatest document frequency whose idf passes a test that only rarer terms pass; 0 for none."""
    import numpy as np

    low, high = 0, min(lexicon.documents, _MOST_DF)  # idf falls as df rises, so bisection finds the edge
    while low < high:
        middle = (low + high + 1) // 2
        if holds(float(lexicon.idf_of(np.array([middle], np.uint32), norm)[0])):
            low = middle
        else:
            high = middle - 1
    return low


def _table_ix() -> tuple[str, ...]:
    tens = range(10, 100, 10)
    names = [f"{base}-{side}-{share}" for base in ("Doc", "IDF") for side in "HL" for share in tens]
    ranges = [(low, 100 - low) for low in (10, 20, 30, 40)]
    names += [f"{base}R-{side}-{a}-{b}" for base in ("Doc", "IDF") for side in "OI" for a, b in ranges]
    return tuple(names)


TABLE_IX = _table_ix()
"""The 52 filters of Table IX, in its order."""

FORMS = (
    "Doc-L-10 … Doc-L-90, Doc-H-10 … Doc-H-90, IDF-L-10 … IDF-L-90, IDF-H-10 … IDF-H-90, and DocR-I, DocR-O, IDFR-I, "
    "IDFR-O with two percentages such as DocR-I-20-80; percentages from 1 to 99, the lower first"
)


def split_filters(text: str) -> tuple[Filters | None, str | None]:
    """The syntactic filters and the term filter in a list like `IDF-L-10,stem`; None for either that is missing."""
    from roughly.text.filters import Filters

    parts = [part.strip() for part in text.split(",") if part.strip()]
    terms = [part for part in parts if "-" in part]
    if len(terms) > 1:
        raise SettingsError(f"one term filter at a time, not {' and '.join(terms)}")
    filters = Filters.parse(",".join(part for part in parts if "-" not in part))
    return filters or None, str(TermFilter.parse(terms[0])) if terms else None
