"""Keys and sets that are held in memory, on the one road: `grouping.group`, `star.resolve`, `components`.

For stored sketches and signatures, features of the caller's own, and experiments. Documents are numbered as they
come; `rank` lists them, best first. Documents that are equal (`first`) are one until the end, so a page that is in a
collection five thousand times does not make its own keys too common (Broder 1997, §5.2). A key in more than `common`
documents forms no pairs (§5.1), and counts in the scores all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.cluster import grouping
from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.components import components
from roughly.cluster.evidence import together, witnesses
from roughly.cluster.grouping import Hashes, Members
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, slice_of
from roughly.cluster.star import resolve
from roughly.dates import NO_DAY
from roughly.errors import InputError
from roughly.features.shingle_sets import Sets
from roughly.features.sketch import limits_of
from roughly.methods.method import Judge, Keys
from roughly.settings import Resources

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ClusterRules:
    """How documents are clustered."""

    common: int = 0  # keys that more documents share are left out, if that is not 0
    linked: bool = False  # clusters are connected components instead of stars
    every_pair: bool = False  # pairs are all that are found, not the 16 most alike of a document


@dataclass(frozen=True)
class DocumentFacts:
    """What a judge may want to know of documents beside their keys."""

    sets: Sets | None = None  # what pairs are scored on: sketches, or full shingle sets
    lengths: Ints | None = None  # tokens
    days: npt.NDArray[np.int32] | None = None  # NO_DAY where a document has no date


@dataclass(frozen=True)
class ClusterVerdict:
    """What became of each document, by its number."""

    kept: Flags
    witness: Ints  # who stays in its place; itself where kept
    root: Ints  # the best document of its cluster
    pairs: Ints  # rows (document, better document, c, m, n), of documents that are not equal
    compared: int
    common: int  # keys left out because too many documents have them


@dataclass(frozen=True)
class InMemoryRows:
    """Rows for `grouping.group`."""

    keys: Hashes
    members: Members

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[Hashes, Members]]:
        yield self.keys, self.members


class InMemorySets:
    """The sets of candidates 0, 1, …, which are the documents `docs`."""

    def __init__(self, sets: Sets, docs: Ints) -> None:
        self._docs, self._sizes = docs, np.diff(sets.offsets)
        limits = sets.limits
        # where every limit is the same, sketches are small sets like any other
        same = limits is None or len(docs) == 0 or bool((limits[docs] == limits[docs[0]]).all())
        self.complete = same and sets.most == 0
        self._sets = replace(sets, limits=None if self.complete else limits_of(sets))

    def weight(self) -> Ints:
        """Bytes that each document's set takes."""
        return 8 * self._sizes[self._docs] + 24

    def load(self, docs: Ints) -> Sets:
        """The sets of these documents, in this order."""
        return slice_of(self._sets, self._docs[docs])


def work_of(resources: Resources) -> ResolveBudget:
    """What resolution may use beside the keys and sets themselves."""
    return ResolveBudget(resources.memory // 2, resources.threads)


def candidates_of(
    keys: Keys, documents: Ints, *, common: int = 0, once: bool = True, work: ResolveBudget
) -> tuple[Ints, Candidates, int]:
    """Of `documents`, best first, those that share a key with another: (them, their candidates, keys too common)."""
    from roughly.kernels.grouping import NO_MEMBER

    count = len(keys.values) if keys.offsets is None else len(keys.offsets) - 1
    members = np.full(count, NO_MEMBER, np.uint32)
    members[documents] = np.arange(len(documents), dtype=np.uint32)
    asking = keys.probes is not None
    found = grouping.group(
        _streams(keys, members), budget=work.budget, threads=work.threads, asking=asking, most=common, once=once
    )
    left_out = found.common
    chosen, candidates = found.candidates(len(documents))
    return documents[chosen], candidates, left_out


def resolve_in_memory(
    keys: Keys,
    judge: Judge,
    facts: DocumentFacts,
    *,
    rank: Ints,
    work: ResolveBudget,
    first: Ints | None = None,
    rules: ClusterRules | None = None,
) -> ClusterVerdict:
    """Decide which documents are kept. `first` names the document that each one is equal to."""
    rules = rules or ClusterRules()
    numbers = np.arange(len(rank))
    first = numbers if first is None else first
    leaders = rank[first[rank] == rank]
    once = judge.on != "keys" or judge.threshold <= 1
    docs, candidates, left_out = candidates_of(keys, leaders, common=rules.common, once=once, work=work)
    sets, constraints = _sets(judge, facts, docs, candidates), constraints_of(judge, facts, docs)
    resolution = resolve(
        candidates, sets, measure=judge.measure, threshold=judge.threshold, work=work, every_pair=rules.every_pair,
        constraints=constraints,
    )  # fmt: skip
    links, compared = NO_PAIRS, resolution.compared
    witness = np.arange(len(docs))
    if rules.linked:
        roots, links, more = components(
            resolution, sets, measure=judge.measure, threshold=judge.threshold, work=work, constraints=constraints
        )
        compared += more
    pairs = together(resolution.pairs, links)
    best = pairs[witnesses(pairs, resolution.kept, judge.measure)]
    witness[best[:, 0]] = best[:, 1]

    kept, stands_for, root = first == numbers, numbers.copy(), numbers.copy()
    kept[docs[~resolution.kept]] = False
    stands_for[docs] = docs[witness]
    root[docs] = docs[roots if rules.linked else witness]
    named = pairs.astype(np.int64)
    named[:, :2] = docs[named[:, :2]]
    return ClusterVerdict(kept, stands_for[first], root[first], named, compared, left_out)


def constraints_of(judge: Judge, facts: DocumentFacts, docs: Ints) -> PairConstraints:
    """Dates and lengths of the candidates, where they matter. Where no document has a date, dates do not."""
    days, lengths = np.empty(0, np.int32), np.empty(0, np.int64)
    if judge.dates is not None:
        known = _known(facts.days, "dates")
        days = known[docs].astype(np.int32) if (known != NO_DAY).any() else days
    if judge.lengths is not None:
        lengths = _known(facts.lengths, "lengths")[docs]
    return PairConstraints(days, judge.dates or 0, lengths, 1.0 - (judge.lengths or 0.0))


def longest_first(lengths: Ints, place: Ints | None = None) -> Ints:
    """Documents in order of rank: the longest first, and of equals the first by `place`, or by number."""
    return np.lexsort((np.arange(len(lengths)) if place is None else place, -lengths))


def first_of(groups: npt.NDArray[Any], rank: Ints) -> Ints:
    """The best document in the group of each."""
    order = np.empty(len(rank), np.int64)
    order[rank] = np.arange(len(rank))
    _, number = np.unique(groups, axis=0, return_inverse=True)
    best = np.full(len(rank), len(rank), np.int64)
    np.minimum.at(best, number.ravel(), order)
    leaders: Ints = rank[best[number.ravel()]]
    return leaders


def equivalent(sketch: Sets, rank: Ints) -> Ints:
    """The best document with the same sketch as each (*shingle-equivalent*); itself where nothing was sampled."""
    from roughly.kernels.hashing import hash_sequences

    prints = np.column_stack((hash_sequences(sketch.values, sketch.offsets), limits_of(sketch)))
    return np.where(np.diff(sketch.offsets) == 0, np.arange(len(sketch)), first_of(prints, rank))


def _streams(keys: Keys, members: Members) -> list[InMemoryRows]:
    from roughly.kernels.grouping import NO_MEMBER

    if keys.offsets is None:
        return [InMemoryRows(np.ascontiguousarray(column), members) for column in keys.values.T]
    owners = np.repeat(members, np.diff(keys.offsets))
    values = np.ascontiguousarray(keys.values[keys.offsets[0] : keys.offsets[-1]])
    if keys.probes is not None:
        asks = keys.probes[keys.offsets[0] : keys.offsets[-1]]
        owners = np.where(owners == NO_MEMBER, NO_MEMBER, owners << np.uint32(1) | asks).astype(np.uint32)
    return [InMemoryRows(values, owners)]


def _sets(judge: Judge, facts: DocumentFacts, docs: Ints, candidates: Candidates) -> SetLoader:
    if judge.on == "keys":
        return candidates.key_sets()
    if facts.sets is None:
        raise InputError("these signatures hold no sketch, so pairs cannot be judged; sign the documents again")
    return InMemorySets(facts.sets, docs)


def _known(values: npt.NDArray[Any] | None, name: str) -> Ints:
    if values is None:
        raise InputError(f"this method has a window of {name}, and the {name} of the documents are not known")
    return values.astype(np.int64)
