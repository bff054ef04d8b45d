"""The three scores of pairs of documents, as arrays."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Scores = tuple[float | None, float | None, float | None]
"""(resemblance, containment, contained_in) of one pair; None where nothing is stored to measure them on."""
EQUAL: Scores = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class PairScores:
    """Scores of pairs; NaN where nothing is stored to measure them on."""

    resemblance: Floats
    containment: Floats  # fraction of the left document that the right one contains
    contained_in: Floats  # fraction of the right document that the left one contains
    estimated: bool = False

    @classmethod
    def unmeasured(cls, count: int) -> Self:
        """Scores of pairs that could not be measured."""
        return cls(*np.full((3, count), np.nan))

    @classmethod
    def of_counts(cls, c: Ints, m: Ints, n: Ints, *, estimated: bool = False) -> Self:
        """Scores from the numbers of values: c in both sets, m in the left one, n in the right one."""
        return cls(c / np.maximum(m + n - c, 1), c / np.maximum(m, 1), c / np.maximum(n, 1), estimated)

    def at(self, place: int) -> Scores:
        """The scores of one pair."""
        return (
            none_if_nan(self.resemblance[place]),
            none_if_nan(self.containment[place]),
            none_if_nan(self.contained_in[place]),
        )


def none_if_nan(value: Any) -> float | None:
    """A score as a plain number; None where it was not measured."""
    return None if value != value else float(value)
