"""Per document, the numbers of partners found, true, and both.

Two groupings of n documents have up to n²/2 pairs in common. They are never formed: with n_ij documents in true set i
and found group j, a_i in the set and b_j in the group, a document of that cell has

    n_ij − 1 partners that are found and true        b_j − 1 found        a_i − 1 true

Pairs that are listed one by one (truth that is not transitive, verdicts of judges) are counted at both ends. Either way
the sum over documents is twice the number of pairs, and a sum over some documents is what these contribute.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.cluster.connected import connected_components
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Overlap:
    """Partners of each document; `sets` are the true sets, which a bootstrap draws from."""

    found: Ints
    true: Ints
    both: Ints
    sets: Ints

    def __len__(self) -> int:
        return len(self.found)

    @classmethod
    def of_groups(cls, found: Ints, true: Ints) -> Overlap:
        """From two groupings: the group and the true set of each document, by any numbers."""
        if len(found) != len(true):
            raise InputError(f"{len(found):,} documents in groups and {len(true):,} in true sets do not match")
        group, true_set = numbered(found), numbered(true)
        cells = true_set * (int(group.max(initial=-1)) + 1) + group
        return cls(_others(group), _others(true_set), _others(numbered(cells)), true_set)

    @classmethod
    def of_pairs(cls, documents: int, found: Ints, true: Ints, sets: Ints | None = None) -> Overlap:
        """From two lists of pairs (n, 2) of document numbers; a pair that is listed twice counts once.

        Without `sets`, the connected components of the true pairs are used.
        """
        one, other = pair_numbers(found, documents), pair_numbers(true, documents)
        both = np.intersect1d(one, other, assume_unique=True)
        sets = components_of(documents, true) if sets is None else numbered(sets)
        return cls(_ends(one, documents), _ends(other, documents), _ends(both, documents), sets)

    @classmethod
    def of_groups_and_pairs(cls, groups: Ints, true: Ints) -> Overlap:
        """From found groups and a list of true pairs: only the true pairs are listed one by one."""
        numbers, documents = pair_numbers(true, len(groups)), len(groups)
        left, right = np.divmod(numbers, max(documents, 1))
        both = numbers[groups[left] == groups[right]]
        return cls(
            _others(numbered(groups)), _ends(numbers, documents), _ends(both, documents), components_of(documents, true)
        )

    @classmethod
    def of_pairs_and_groups(cls, found: Ints, true: Ints) -> Overlap:
        """From a list of found pairs and true groups."""
        turned = cls.of_groups_and_pairs(true, found)
        return cls(turned.true, turned.found, turned.both, numbered(true))


def numbered(names: npt.NDArray[np.generic]) -> Ints:
    """Groups renumbered 0, 1, …."""
    numbers: Ints = np.unique(names, return_inverse=True)[1].astype(np.int64)
    return numbers


def pair_numbers(pairs: Ints, documents: int) -> Ints:
    """A number for each pair of different documents, whatever their order; sorted, each once."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= documents):
        raise InputError(f"pairs must contain numbers of documents, 0 to {documents - 1}")
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    found: Ints = np.unique((low * documents + high)[low < high])
    return found


def components_of(documents: int, pairs: Ints) -> Ints:
    """The connected component of each document, numbered from 0."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    return connected_components(documents, pairs[:, 0], pairs[:, 1])


def _others(groups: Ints) -> Ints:
    others: Ints = np.bincount(groups)[groups] - 1
    return others


def _ends(numbers: Ints, documents: int) -> Ints:
    left, right = np.divmod(numbers, max(documents, 1))
    return np.bincount(left, minlength=documents) + np.bincount(right, minlength=documents)
