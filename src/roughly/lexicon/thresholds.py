"""Which terms of a lexicon count: a minimum of documents, letters only, a minimum length.

A lexicon has all terms, so that lexicons can be merged exactly; thresholds apply when it is used, or permanently after
`prune`. Conrad 2003, §5, uses terms of three or more letters only, found in five documents or more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.lexicon.term_table import TermTable, refuse_disorder
from roughly.text.filters import is_letters
from roughly.text.vocabulary import decode_terms

Mask = npt.NDArray[np.bool_]
_BLOCK = 1 << 19


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """The conditions for a term to count. By default every term does."""

    min_df: int = 1
    letters_only: bool = False
    min_length: int = 1

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise SettingsError(*problems)

    def _problems(self) -> Iterator[str]:
        for name, value in (("min_df", self.min_df), ("min_length", self.min_length)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                yield f"{name} must be a whole number from 1, not {value!r}"
        if not isinstance(self.letters_only, bool):
            yield f"letters_only must be true or false, not {self.letters_only!r}"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return dataclasses.asdict(self)

    def together_with(self, other: Thresholds) -> Thresholds:
        """Both at once."""
        return Thresholds(
            min_df=max(self.min_df, other.min_df),
            letters_only=self.letters_only or other.letters_only,
            min_length=max(self.min_length, other.min_length),
        )

    def mask(self, table: TermTable) -> Mask:
        """Which terms of a table count."""
        mask: Mask = table.counts >= self.min_df
        if self.letters_only or self.min_length > 1:
            for first in range(0, len(mask), _BLOCK):
                mask[first : first + _BLOCK] &= self._fits(table.part(first, min(first + _BLOCK, len(mask))))
        return mask

    def _fits(self, part: TermTable) -> Mask:
        """By the terms themselves: a–z and digits by their bytes, all others one by one."""
        from roughly.kernels import frequency
        from roughly.kernels.arrays import frozen

        first, last = int(part.offsets[0]), int(part.offsets[-1])
        offsets = part.offsets.astype(np.int64) - first
        text = np.ascontiguousarray(part.text[first:last])
        refuse_disorder(offsets[:-1], offsets[1:], len(text))
        kinds = np.empty(len(part.hashes), np.uint8)
        frequency.classify_terms(frozen(text, np.uint8, "text"), offsets[1:], kinds)
        fits: Mask = np.diff(offsets) >= self.min_length
        if self.letters_only:
            fits &= kinds == frequency.PLAIN_LETTERS
        for place in np.flatnonzero(kinds == frequency.OTHER).tolist():
            (word,) = decode_terms(text, offsets[place : place + 2])
            fits[place] = len(word) >= self.min_length and (not self.letters_only or is_letters(word))
        return fits


EVERYTHING = Thresholds()
