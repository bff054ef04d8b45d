"""Clustering of keys and sets in memory, with the code of batch runs: `grouping.group`, `star.resolve`, `components`.

For stored sketches and signatures, features of the caller's own, and experiments. Documents are numbered in the order
given; `rank` lists them, best first. Equal documents (`first`) are treated as one until the end, so a page that is in a
collection five thousand times does not make its own keys too common (Broder 1997, §5.2). A key in more than `common`
documents forms no pairs (§5.1, see `common_keys`), and counts in the scores all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.cluster import grouping
from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.common_keys import NO_LIMIT, CommonLimit, IgnoredKeys
from roughly.cluster.comparisons import WordsInMemory
from roughly.cluster.components import components
from roughly.cluster.evidence import together, witnesses
from roughly.cluster.grouping import Hashes, Members
from roughly.cluster.learned import accept
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, blocks, slice_of, tokens_of
from roughly.cluster.star import resolve
from roughly.dates import NO_DAY
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.features.sketch import limits_of
from roughly.methods.method import Judge, Keys
from roughly.settings import Resources
from roughly.text.canonical import Tokens

if TYPE_CHECKING:
    from roughly.cluster.fields import Fields

Flags = npt.NDArray[np.bool_]
_ROWS = 1 << 20
"""Rows of keys that are read together."""


@dataclass(frozen=True)
class ClusterRules:
    """How documents are clustered."""

    common: int = 0  # keys shared by more documents are left out; 0: no limit
    linked: bool = False  # clusters are connected components instead of stars
    every_pair: bool = False  # all pairs found, not only the 16 most similar of each document
    verdict: str | None = None  # a learned verdict, which decides about every pair that reaches the threshold


@dataclass(frozen=True)
class DocumentFacts:
    """What a judge may need of documents in addition to their keys."""

    sets: Sets | None = None  # what pairs are scored on: sketches, or full shingle sets
    lengths: Ints | None = None  # tokens
    days: npt.NDArray[np.int32] | None = None  # NO_DAY if a document has no date
    words: Tokens | None = None  # for a learned verdict
    fields: Fields | None = None  # if it compares them


@dataclass(frozen=True)
class ClusterVerdict:
    """The outcome of each document, by its number."""

    kept: Flags
    witness: Ints  # its witness; itself if kept
    root: Ints  # the best document of its cluster
    pairs: Ints  # rows (document, better document, c, m, n), of documents that are not equal
    compared: int
    common: int  # keys left out because too many documents have them
    mostly_common: int  # documents that consist of common keys, and form pairs by the rarest of these


@dataclass(frozen=True)
class InMemoryRows:
    """Rows for `grouping.group`."""

    keys: Hashes
    members: Members

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[Hashes, Members]]:
        yield self.keys, self.members


@dataclass(frozen=True)
class InMemoryLists:
    """The same for documents with any number of keys, whose values may be mapped from a file: some rows at a time."""

    keys: Keys
    members: Members  # of each document

    @property
    def count(self) -> int:
        """The number of rows."""
        offsets = self.offsets
        return int(offsets[-1] - offsets[0])

    @property
    def offsets(self) -> Ints:
        """Where the keys of each document begin and end."""
        return np.zeros(1, np.int64) if self.keys.offsets is None else self.keys.offsets

    def __iter__(self) -> Iterator[tuple[Hashes, Members]]:
        from roughly.kernels.grouping import NO_MEMBER

        for first, last in blocks(np.diff(self.offsets), _ROWS):
            part = slice(self.offsets[first], self.offsets[last])
            owners = np.repeat(self.members[first:last], np.diff(self.offsets[first : last + 1]))
            if self.keys.probes is not None:
                spread = owners << np.uint32(1) | self.keys.probes[part]
                owners = np.where(owners == NO_MEMBER, NO_MEMBER, spread).astype(np.uint32)
            yield np.ascontiguousarray(self.keys.values[part]), owners


class InMemorySets:
    """The sets of candidates 0, 1, …, which are the documents `docs`."""

    def __init__(self, sets: Sets, docs: Ints) -> None:
        self._docs, self._sizes = docs, np.diff(sets.offsets)
        limits = sets.limits
        # if every limit is the same, sketches are complete sets
        same = limits is None or len(docs) == 0 or bool((limits[docs] == limits[docs[0]]).all())
        self.complete = same and sets.most == 0
        self._sets = replace(sets, limits=None if self.complete else limits_of(sets))

    def weight(self) -> Ints:
        """Bytes of each document's set."""
        return 8 * self._sizes[self._docs] + 24

    def load(self, docs: Ints) -> Sets:
        """The sets of these documents, in this order."""
        return slice_of(self._sets, self._docs[docs])


def work_of(resources: Resources) -> ResolveBudget:
    """The memory that resolution may use in addition to the keys and sets themselves."""
    return ResolveBudget(resources.memory // 2, resources.threads)


def candidates_of(
    keys: Keys, documents: Ints, *, common: CommonLimit = NO_LIMIT, once: bool = True, work: ResolveBudget
) -> tuple[Ints, Candidates, grouping.Buckets]:
    """(the `documents` that share a key, best first; their candidates; what is known of common keys)."""
    from roughly.kernels.grouping import NO_MEMBER

    count = len(keys.values) if keys.offsets is None else len(keys.offsets) - 1
    members = np.full(count, NO_MEMBER, np.uint32)
    members[documents] = np.arange(len(documents), dtype=np.uint32)
    has_probes = keys.probes is not None
    found = grouping.group(
        _streams(keys, members), budget=work.budget, threads=work.threads, has_probes=has_probes, common=common,
        once=once,
    )  # fmt: skip
    chosen, candidates = found.candidates(len(documents))
    return documents[chosen], candidates, found


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
    limit = CommonLimit.of(rules.common, judge)
    docs, candidates, found = candidates_of(keys, leaders, common=limit, once=once, work=work)
    if judge.ignore_common and judge.on == "sketch" and facts.sets is not None:
        whole = np.zeros(len(facts.sets), np.bool_)
        whole[leaders[found.common_keys.documents]] = True
        ignored = IgnoredKeys(found.common_keys.keys, whole)
        facts = replace(facts, sets=ignored.dropped(facts.sets, np.arange(len(whole))))
    sets, constraints = _sets(judge, facts, docs, candidates), constraints_of(judge, facts, docs)
    resolution = resolve(
        candidates, sets, measure=judge.measure, threshold=judge.threshold, work=work,
        every_pair=rules.every_pair or rules.verdict is not None, constraints=constraints,
    )  # fmt: skip
    links, compared = NO_PAIRS, resolution.compared
    witness = np.arange(len(docs))
    if rules.verdict is not None:
        if facts.words is None:
            raise TypeError("a learned verdict needs the words of documents")
        fields = None if facts.fields is None else facts.fields.take(docs)
        words = WordsInMemory(tokens_of(facts.words, docs), fields)
        resolution, roots, links, _ = accept(
            resolution, rules.verdict, words, judge.measure, linked=rules.linked, every_pair=rules.every_pair, work=work
        )
    elif rules.linked:
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
    return ClusterVerdict(kept, stands_for[first], root[first], named, compared, found.common, found.mostly_common)


def constraints_of(judge: Judge, facts: DocumentFacts, docs: Ints) -> PairConstraints:
    """The constraints on dates and lengths of the candidates. If no document has a date, dates do not matter."""
    days, lengths = np.empty(0, np.int32), np.empty(0, np.int64)
    if judge.dates is not None:
        known = _known(facts.days, "dates")
        days = known[docs].astype(np.int32) if (known != NO_DAY).any() else days
    if judge.lengths is not None:
        lengths = _known(facts.lengths, "lengths")[docs]
    return PairConstraints(days, judge.dates or 0, lengths, 1.0 - (judge.lengths or 0.0))


def longest_first(lengths: Ints, place: Ints | None = None) -> Ints:
    """Documents in order of rank: the longest first, ties by `place` or by number."""
    return np.lexsort((np.arange(len(lengths)) if place is None else place, -lengths))


def first_of(groups: npt.NDArray[Any], rank: Ints) -> Ints:
    """The best document in the group of each document."""
    order = np.empty(len(rank), np.int64)
    order[rank] = np.arange(len(rank))
    _, number = np.unique(groups, axis=0, return_inverse=True)
    best = np.full(len(rank), len(rank), np.int64)
    np.minimum.at(best, number.ravel(), order)
    leaders: Ints = rank[best[number.ravel()]]
    return leaders


def equivalent(sketch: Sets, rank: Ints) -> Ints:
    """The best document with the same sketch as each (*shingle-equivalent*); itself if nothing was sampled."""
    from roughly.kernels.hashing import hash_sequences

    prints = np.column_stack((hash_sequences(sketch.values, sketch.offsets), limits_of(sketch)))
    return np.where(np.diff(sketch.offsets) == 0, np.arange(len(sketch)), first_of(prints, rank))


def _streams(keys: Keys, members: Members) -> Sequence[grouping.KeyStream]:
    if keys.offsets is None:
        return [InMemoryRows(np.ascontiguousarray(column), members) for column in keys.values.T]
    return [InMemoryLists(keys, members)]


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
