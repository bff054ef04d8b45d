"""Exact resemblance and containment of two documents, on their full shingle sets.

Broder 1997, §2, for the sets of distinct w-shingles S(A) and S(B):

    r(A, B) = |S(A) ∩ S(B)| / |S(A) ∪ S(B)|        c(A, B) = |S(A) ∩ S(B)| / |S(A)|

Every number reported about a verified pair is exact in this sense.
Two empty documents are equal: r = c = 1. An empty document and another have nothing in common: r = c = 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import checks
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import shingle_sets
from roughly.settings import UNITS
from roughly.verify.tokenised import Reading

Shingles = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of two documents, from counts of distinct shingles."""

    resemblance: float  # shared / union
    containment: float  # fraction of left that right contains
    contained_in: float  # fraction of right that left contains
    shared: int
    left_size: int
    right_size: int


def score_sets(left: Shingles, right: Shingles) -> Scores:
    """The scores of two sorted arrays of distinct shingle hashes."""
    _check_set("left", left)
    _check_set("right", right)
    left_size, right_size = len(left), len(right)
    if left_size == 0 and right_size == 0:
        return Scores(1.0, 1.0, 1.0, 0, 0, 0)
    if left_size == 0 or right_size == 0:
        return Scores(0.0, 0.0, 0.0, 0, left_size, right_size)
    few, many = (left, right) if left_size <= right_size else (right, left)
    places = np.searchsorted(many, few)
    places[places == len(many)] = 0
    shared = int(np.count_nonzero(many[places] == few))
    union = left_size + right_size - shared
    return Scores(shared / union, shared / left_size, shared / right_size, shared, left_size, right_size)


def score_texts(left: str, right: str, shingle_size: int = 5, shingle_unit: str = "word") -> Scores:
    """The scores of two texts, read in canonical form and cut into shingles of `shingle_size` words or characters."""
    return score_readings(Reading(left, "left"), Reading(right, "right"), shingle_size, shingle_unit)


def score_readings(left: Reading, right: Reading, shingle_size: int = 5, shingle_unit: str = "word") -> Scores:
    """The scores of two texts already tokenised."""
    checks.refuse([*checks.shingle_size(shingle_size), *checks.one_of("shingle_unit", shingle_unit, UNITS)])
    one, other = (shingle_sets(side.units(shingle_unit), shingle_size).values for side in (left, right))
    return score_sets(one, other)


def _check_set(name: str, shingles: Shingles) -> None:
    if not isinstance(shingles, np.ndarray) or shingles.dtype != np.uint64 or shingles.ndim != 1:
        raise InputError(
            f"{name} must be a one-dimensional numpy array of uint64, sorted and distinct; make it with shingle_sets()"
        )
