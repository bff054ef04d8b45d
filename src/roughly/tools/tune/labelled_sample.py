"""Labels for tuning: the set that each document is drawn with, and the pairs if labels are pairs.

What labels do not list is read in one of three ways (`unlisted`):

| reading | a labelled and an unlabelled document | two unlabelled documents | default |
|---|---|---|---|
| `unknown` | different | not counted | sets, and pairs that are all the same |
| `different` | different | different | with `--complete`: the labels are all there are |
| `ignore` | not counted | not counted | pairs of which some are different: only listed pairs count |

Sets are connected by pairs that are the same, never by pairs that are different. Two documents of one set that are not
listed as a pair are not counted either, unless labels are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.amounts import counted
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.tools.labels import LabelPairs, read_labels, refuse_unknown
from roughly.tools.metrics.overlap import components_of

READINGS = ("unknown", "different", "ignore")


@dataclass(frozen=True)
class SampleLabels:
    """`sets` names the set of each document listed; with pairs, sets are what pairs that are the same connect."""

    path: Path
    sets: dict[str, str]
    unlisted: str  # unknown, different or ignore
    pairs: list[tuple[str, str, bool]] | None = None  # (left, right, same), if labels are pairs
    weights: list[float] | None = None  # of the pairs
    seen: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sets)

    @classmethod
    def read(
        cls, path: Path, unlisted: str | None = None, columns: Sequence[str] = (), same_column: str | None = None
    ) -> SampleLabels:
        """The labels in a file."""
        given = read_labels(path, columns=columns, same_column=same_column)
        if not isinstance(given, LabelPairs):
            found = dict(zip(given.ids.to_pylist(), given.cluster.to_pylist(), strict=True))
            labels = cls(path, found, unlisted or "unknown")
            if given.empty:
                labels.notes.append(f"{counted(given.empty, 'row')} of {path} without a set count as not labelled")
            return labels
        left, right = given.left.to_pylist(), given.right.to_pylist()
        same = [True] * len(left) if given.same is None else given.same.tolist()
        weights = None if given.weight is None else given.weight.tolist()
        labels = cls.of_pairs(path, list(zip(left, right, same, strict=True)), weights, unlisted)
        remarks = []
        if given.verdicts not in (None, "same"):
            remarks.append(f"the column {given.verdicts} of {path} says which pairs are the same")
        if given.unread is not None:
            remarks.append(
                f"the values of the column {given.unread} of {path} say neither same nor different: all pairs count as "
                "the same"
            )
        labels.notes[:0] = remarks
        return labels

    @classmethod
    def of_pairs(
        cls, path: Path, pairs: list[tuple[str, str, bool]], weights: list[float] | None = None,
        unlisted: str | None = None,
    ) -> SampleLabels:  # fmt: skip
        """Labels that are pairs; `path` names them in messages."""
        if not any(same for _, _, same in pairs):
            raise InputError(
                f"{path} lists no pair as the same, so there is nothing to find; add pairs that are the same"
            )
        sets, broken = _joined(pairs)
        is_all_same = all(same for _, _, same in pairs)
        labels = cls(path, sets, unlisted or ("unknown" if is_all_same else "ignore"), pairs, weights)
        if broken:
            labels.notes.append(
                f"{counted(broken, 'pair')} of {path} {'is' if broken == 1 else 'are'} different although pairs that "
                "are the same connect the documents; each pair counts as listed"
            )
        return labels

    @classmethod
    def of_column(cls, name: str, unlisted: str | None = None) -> SampleLabels:
        """Labels that are a column of the documents; `take` reads them as documents come."""
        return cls(Path(f"the column {name}"), {}, unlisted or "unknown")

    def of_id(self, doc_id: str, label: str | None = None) -> str | None:
        """The name of a document's set; None if it has none."""
        del label
        if doc_id not in self.sets:
            return None
        self.seen.add(doc_id)
        return f"set:{self.sets[doc_id]}"

    def take(self, doc_id: str, label: str | None) -> str | None:
        """The same where documents bring their labels."""
        if label is not None and label.strip():
            self.sets[doc_id] = label
        return self.of_id(doc_id)

    def check_seen(self, ignore_unknown: bool) -> int:
        """The number of documents of the labels that the input lacks; refused unless they are to be ignored."""
        missing = sorted(self.sets.keys() - self.seen)
        if not self.seen:
            raise InputError(f"{self.path} names no document of the input; check its ids, or name --id-column")
        if not ignore_unknown:
            refuse_unknown(self.path, pa.array(missing, pa.string()), "the input")
        return len(missing)


def _joined(pairs: Sequence[tuple[str, str, bool]]) -> tuple[dict[str, str], int]:
    """(Connected components of the pairs that are the same, named by their first documents; the number of pairs that
    are different within one)."""
    names = sorted({name for left, right, _ in pairs for name in (left, right)})
    number = {name: at for at, name in enumerate(names)}
    listed = np.array([(number[a], number[b], same) for a, b, same in pairs], np.int64).reshape(-1, 3)
    same = listed[:, 2] == 1
    component = components_of(len(names), listed[same, :2])
    first: dict[int, str] = {}
    for at, name in enumerate(names):
        first.setdefault(int(component[at]), name)
    apart = listed[~same, :2]
    broken = int((component[apart[:, 0]] == component[apart[:, 1]]).sum()) if len(apart) else 0
    return {name: first[int(component[at])] for at, name in enumerate(names)}, broken
