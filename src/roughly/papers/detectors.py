"""Anything that finds duplicates, as experiments see it: texts in, groups out.

A detector is made from a method (`by_method`); any function of the same signature works. `judged` is the code that all
methods share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from roughly.cluster.in_memory import (
    ClusterRules,
    ClusterVerdict,
    DocumentFacts,
    first_of,
    longest_first,
    resolve_in_memory,
    work_of,
)
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import shingle_sets
from roughly.methods.method import Keys, Method
from roughly.settings import Resources
from roughly.signing.text_batch import TextBatch


@dataclass(frozen=True)
class Groups:
    """What a detector found: the group of each document, by the number of its first, and the documents without a
    key."""

    group: npt.NDArray[np.int64]
    ignored: npt.NDArray[np.bool_]  # documents without a key: completely filtered

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """For each document, the size of its group."""
        found: npt.NDArray[np.int64] = np.bincount(self.group, minlength=len(self.group))[self.group]
        return found

    @property
    def duplicates(self) -> int:
        """Documents in groups of two or more."""
        return int((self.sizes > 1).sum())

    @property
    def clusters(self) -> int:
        """Groups of two or more."""
        return len(np.unique(self.group[self.sizes > 1]))

    @property
    def largest(self) -> int:
        """Documents in the largest group."""
        return int(self.sizes.max(initial=0))


Detector = Callable[[TextBatch], Groups]


def judged(method: Method, texts: TextBatch, resources: Resources) -> tuple[Keys, ClusterVerdict]:
    """A method's keys, and the groups after judging all pairs that share one. Dates are not used."""
    signature, tokens = texts.sign(method), texts.terms(method.filters)
    keys, sets = signature.keys, signature.sketch
    if keys is None:
        raise TypeError(f"{method.name} has no keys; it finds only equal documents")
    judge = replace(method.judge(), dates=None)
    lengths = np.diff(tokens.offsets)
    if judge.on == "text":
        sets = shingle_sets(tokens, method.shingle_size)  # type: ignore[attr-defined]
    found = resolve_in_memory(
        keys,
        judge,
        DocumentFacts(sets, lengths),
        rank=longest_first(lengths),
        work=work_of(resources),
        rules=ClusterRules(common=method.common, linked=True),
    )
    return keys, found


def by_method(method: Method) -> Detector:
    """A method as a detector: its keys, judged by its rule. Dates are not used: experiments have none."""

    def find(texts: TextBatch) -> Groups:
        keys, found = judged(method, texts, Resources())
        return Groups(first_of(found.root, np.arange(len(texts))), keys.missing())

    return find


def signatures(method: Method, texts: TextBatch) -> npt.NDArray[np.uint64]:
    """The keys of a method that has one per band: (documents, bands)."""
    keys = texts.sign(method).keys
    if keys is None or not keys.banded:
        raise TypeError(f"{method.name} has no signature per band")
    return keys.values
