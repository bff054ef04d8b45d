"""Agreement on duplicate sets, one result list after the other (Conrad 2003, §7.2, Tables 6 to 8).

A *set* is what two or more documents of a list have in common: a true set, or a found group. With A true sets
recognised, M missed, and F found sets that share no two documents with a true one:

    recall = A / (A + M)        precision = A / (A + F)

A true set is recognised if it is a found set, or in part, if a found set has two of its documents; the paper does not
say which of these it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any, Self

from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.overlap import Ints

Sets = Collection[frozenset[int]]


@dataclass(frozen=True)
class SetAgreement:
    """Numbers of sets."""

    same: int  # true sets that were found as they are
    partly: int  # of which two documents or more were found together
    missed: int
    over: int  # found sets that share no two documents with a true one

    @classmethod
    def of(cls, found: Sets, true: Sets) -> Self:
        """The agreement of found with true sets of one list."""
        same = sum(own in found for own in true)
        missed = sum(is_missed(own, found) for own in true)
        return cls(same, len(true) - same - missed, missed, sum(is_missed(own, true) for own in found))

    @property
    def sets(self) -> int:
        """The number of true sets."""
        return self.same + self.partly + self.missed

    @property
    def recall(self) -> float | None:
        """The share of true sets that were recognised."""
        return (self.same + self.partly) / self.sets if self.sets else None

    @property
    def precision(self) -> float | None:
        """Recognised sets, as a share of these and the false ones."""
        right = self.same + self.partly
        return right / (right + self.over) if right + self.over else None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"sets": self.sets, **asdict(self), "precision": self.precision, "recall": self.recall}


def is_missed(own: frozenset[int], others: Sets) -> bool:
    """Whether no other set has two of its documents."""
    return all(len(own & other) < 2 for other in others)


@dataclass(frozen=True)
class ListScores:
    """The agreement in each list, by its name, and the sizes of the true sets."""

    lists: Mapping[str, SetAgreement]
    sizes: Mapping[int, int]

    @property
    def total(self) -> SetAgreement:
        """All sets of all lists."""
        names = ("same", "partly", "missed", "over")
        return SetAgreement(*(sum(getattr(one, name) for one in self.lists.values()) for name in names))

    @property
    def with_sets(self) -> int:
        """Lists that have a true set."""
        return sum(one.sets > 0 for one in self.lists.values())

    def mean(self, figure: str) -> float | None:
        """The mean of `precision` or `recall` over the lists that have one."""
        values = [value for one in self.lists.values() if (value := getattr(one, figure)) is not None]
        return sum(values) / len(values) if values else None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "total": self.total.to_dict(), "with_sets": self.with_sets,
            "mean_precision": self.mean("precision"), "mean_recall": self.mean("recall"),
            "sizes": {str(size): self.sizes[size] for size in sorted(self.sizes)},
            "lists": {name: one.to_dict() for name, one in self.lists.items()},
        }  # fmt: skip


def score_lists(lists: Mapping[str, Ints], found: Ints, true: Ints) -> ListScores:
    """The agreement in each list of documents, from the group and the true set of each document."""
    agreement, sizes = {}, Counter[int]()
    for name, members in lists.items():
        sets = sets_in(members, true)
        agreement[name] = SetAgreement.of(sets_in(members, found), sets)
        sizes.update(map(len, sets))
    return ListScores(agreement, sizes)


def sets_in(members: Ints, groups: Ints) -> set[frozenset[int]]:
    """What is left of the groups in a list, if it is two documents or more."""
    own: dict[int, list[int]] = {}
    for document in members.tolist():
        own.setdefault(int(groups[document]), []).append(document)
    return {frozenset(some) for some in own.values() if len(some) > 1}
