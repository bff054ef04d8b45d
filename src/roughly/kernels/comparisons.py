"""What a learned verdict compares, for many pairs of documents: shared words with their weights, shared runs.

*Facts* of a word are one 64-bit number of three fields: a weight below 65,536, and two flags (`pack_facts`). The loops
are those of `core/comparisons.hpp`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets
from roughly.kernels.shingles import check_size


def pack_facts(weight: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike) -> Hashes:
    """Facts of words: their weights, and two flags of each."""
    weights, ones, twos = (np.asarray(one).astype(np.uint64) for one in (weight, first, second))
    packed: Hashes = weights | ones << np.uint64(32) | twos << np.uint64(48)
    return packed


def facts_of(values: Hashes, keys: Hashes, facts: Hashes, absent: int) -> Hashes:
    """The facts of each value: those of the same key, or `absent`. Keys are sorted hashes."""
    values, keys = frozen(values, np.uint64, "values"), frozen(keys, np.uint64, "keys")
    return _core.facts_of(values, keys, frozen(facts, np.uint64, "facts"), absent)


def sums_of_facts(facts: Hashes, offsets: Offsets) -> Offsets:
    """The sums of the three fields of each set's facts: (sets, 3)."""
    fields = [facts & np.uint64(0xFFFFFFFF), facts >> np.uint64(32) & np.uint64(1), facts >> np.uint64(48)]
    sums = [np.r_[0, np.cumsum(one.astype(np.int64))] for one in fields]
    return np.column_stack([np.diff(one[offsets]) for one in sums])


def without_lone_values(values: Hashes, offsets: Offsets) -> tuple[Hashes, Offsets]:
    """The sets without most of the values that only one of them has: intersections of two are the same."""
    values = frozen(values, np.uint64, "values")
    return _core.without_lone_values(values, frozen_offsets(offsets, len(values)))


def shared_facts(values: Hashes, facts: Hashes, offsets: Offsets, left: Offsets, right: Offsets) -> Offsets:
    """(shared values, sums of the three fields of their facts) of the sets left[i] and right[i]: (pairs, 4)."""
    values = frozen(values, np.uint64, "values")
    rows: Offsets = _core.shared_facts(
        values, frozen(facts, np.uint64, "facts"), frozen_offsets(offsets, len(values)),
        frozen(left, np.int64, "left"), frozen(right, np.int64, "right"),
    )  # fmt: skip
    return rows


def shared_runs(
    tokens: tuple[Hashes, Offsets], size: int, sets: tuple[Hashes, Offsets], left: Offsets, right: Offsets
) -> Offsets:
    """(shared values, longest run of shingles, shared ones in order) of the documents left[i] and right[i]: (pairs, 3).

    `sets` are their shingles of `size` tokens, without lone values. A run is a number of consecutive shingles of one
    document that the other all has, anywhere; of both documents' longest runs the shorter is taken. *In order* is the
    largest number of shared values whose first occurrences are in the same order in both documents.
    """
    check_size(size)
    (words, word_offsets), (values, offsets) = tokens, sets
    words, values = frozen(words, np.uint64, "tokens"), frozen(values, np.uint64, "values")
    rows: Offsets = _core.shared_runs(
        words, frozen_offsets(word_offsets, len(words)), size, values, frozen_offsets(offsets, len(values)),
        frozen(left, np.int64, "left"), frozen(right, np.int64, "right"),
    )  # fmt: skip
    return rows
