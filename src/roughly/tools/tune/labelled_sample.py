"""Labels as choosing needs them: the set that each document is drawn with, and the pairs where labels are pairs.

What labels do not list is *different* (they are complete), or *ignored*, which is the default where they also say of
pairs that they are different. As in `roughly evaluate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.errors import InputError
from roughly.tools.labels import LabelPairs, read_labels, refuse_unknown
from roughly.tools.metrics.overlap import components_of


@dataclass(frozen=True)
class SampleLabels:
    """`sets` names the set of each document listed; with pairs, what a chain of pairs joins, so that no document
    stands in two sets."""

    path: Path
    sets: dict[str, str]
    unlisted: str  # different or ignore
    pairs: list[tuple[str, str, bool]] | None = None  # (left, right, same), where labels are pairs
    seen: set[str] = field(default_factory=set)

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
            return cls(path, found, unlisted or "different")
        left, right = given.left.to_pylist(), given.right.to_pylist()
        same = [True] * len(left) if given.same is None else given.same.tolist()
        pairs = list(zip(left, right, same, strict=True))
        return cls(path, _joined(left, right), unlisted or ("different" if all(same) else "ignore"), pairs)

    def set_of(self, doc_id: str) -> str | None:
        """The name of a document's set; its own where it is in none, or None where such documents are ignored."""
        if doc_id in self.sets:
            self.seen.add(doc_id)
            return f"set:{self.sets[doc_id]}"
        return None if self.unlisted == "ignore" else f"document:{doc_id}"

    def check_seen(self, ignore_unknown: bool) -> int:
        """How many documents of the labels the input did not have; refused unless they are to be ignored."""
        missing = sorted(self.sets.keys() - self.seen)
        if not self.seen:
            raise InputError(f"{self.path} names no document of the input; check its ids, or name --id-column")
        if not ignore_unknown:
            refuse_unknown(self.path, pa.array(missing, pa.string()), "the input")
        return len(missing)


def _joined(left: Sequence[str], right: Sequence[str]) -> dict[str, str]:
    """Documents that a chain of pairs joins, named by the first of them."""
    names = sorted({*left, *right})
    number = {name: at for at, name in enumerate(names)}
    pairs = np.array([(number[a], number[b]) for a, b in zip(left, right, strict=True)], np.int64).reshape(-1, 2)
    component = components_of(len(names), pairs).tolist()
    first: dict[int, str] = {}
    for at, name in enumerate(names):
        first.setdefault(component[at], name)
    return {name: first[component[at]] for at, name in enumerate(names)}
