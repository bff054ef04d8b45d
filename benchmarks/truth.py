"""Exact truth: every pair of documents whose resemblance is 0.5 or more, with no sampling and no hashing.

In: texts. Out: `Truth`, the pairs (left < right, by position) with their exact resemblance on 5-token
shingles. It shares no code with Roughly's kernels, so that a fault there cannot hide here.

1. `number_shingles` gives every distinct shingle a number. Tokens are interned in a dictionary; then two
   tokens, two such pairs, and those four with the fifth token are numbered by Arrow's dictionary encoding.
   Equal numbers mean equal shingles.
2. Documents with the same shingle set are one document with several names until the end.
3. `join` is a prefix-filter join (Chaudhuri 2006; Bayardo 2007; Xiao 2008). With shingles ranked rarest
   first, two sets with resemblance ≥ t share one of the first |x| − ⌈t·|x|⌉ + 1 of each. What they share
   in all is at most what their prefixes share plus the rest of the set whose prefix ends earlier. The pairs
   that pass are intersected exactly.

`truth_of` keeps the result in a cache folder, named by a hash of the texts: one truth judges every tool.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.tokens import SHINGLE_SIZE, tokens_of

Ints = npt.NDArray[np.int64]

FLOOR = 0.5
MOST_PAIRS = 100_000_000
_VERSION = "1"  # goes into the cache key; raise it when the definition changes


@dataclass(frozen=True, slots=True)
class Truth:
    """Every pair with resemblance ≥ FLOOR; `left` < `right` are positions in the list of texts."""

    documents: int
    left: Ints
    right: Ints
    resemblance: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ShingleSets:
    """The sets of all documents end to end: `shingles[offsets[d]:offsets[d + 1]]`, sorted, unique."""

    shingles: Ints
    offsets: Ints
    distinct: int

    def of(self, document: int) -> Ints:
        """The sorted shingle numbers of one document."""
        return self.shingles[self.offsets[document] : self.offsets[document + 1]]


def truth_of(texts: Sequence[str], cache: Path | None = None) -> Truth:
    """All pairs with resemblance ≥ 0.5, from the cache folder where the same texts were joined before."""
    if cache is None:
        return join(number_shingles(texts), FLOOR)
    kept = cache / f"truth-{_fingerprint(texts)}.npz"
    if kept.exists():
        with np.load(kept) as stored:
            return Truth(int(stored["documents"]), stored["left"], stored["right"], stored["resemblance"])
    truth = join(number_shingles(texts), FLOOR)
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_suffix(".partial.npz")
    np.savez(
        unfinished,
        documents=np.int64(truth.documents),
        left=truth.left,
        right=truth.right,
        resemblance=truth.resemblance,
    )
    unfinished.rename(kept)
    return truth


def number_shingles(texts: Sequence[str]) -> ShingleSets:
    """Exact shingle sets of all texts, every distinct shingle being one number."""
    vocabulary: dict[str, int] = {}
    pieces: list[npt.NDArray[np.int32]] = []
    lengths = np.zeros(len(texts), np.int64)
    for position, text in enumerate(texts):
        found = [vocabulary.setdefault(token, len(vocabulary)) for token in tokens_of(text)]
        lengths[position] = len(found)
        pieces.append(np.array(found, np.int32))
    tokens = np.concatenate(pieces).astype(np.int64) if pieces else np.zeros(0, np.int64)

    fives = _number_fives(tokens)
    owner = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    inside = owner[: len(fives)] == owner[SHINGLE_SIZE - 1 :]  # none may run over a document's end
    shingles, owners = fives[inside], owner[: len(fives)][inside]

    # A document shorter than a shingle is one shingle of its own kind; the token tuple is its name.
    short: dict[tuple[int, ...], int] = {}
    base = int(shingles.max()) + 1 if len(shingles) else 0
    brief = [
        (base + short.setdefault(tuple(pieces[d].tolist()), len(short)), int(d))
        for d in np.flatnonzero((lengths > 0) & (lengths < SHINGLE_SIZE))
    ]
    shingles = np.concatenate([shingles, np.array([shingle for shingle, _ in brief], np.int64)])
    owners = np.concatenate([owners, np.array([document for _, document in brief], np.int64)])

    both = np.sort(_pack(owners, shingles))
    both = both[np.flatnonzero(np.diff(both, prepend=-1))]
    offsets = np.searchsorted(both >> np.int64(32), np.arange(len(texts) + 1))
    return ShingleSets(both & np.int64(0xFFFFFFFF), offsets, base + len(short))


def join(sets: ShingleSets, threshold: float) -> Truth:
    """All pairs of the given sets with resemblance ≥ threshold, exactly."""
    names = _same_sets(sets)
    firsts = np.array([members[0] for members in names], np.int64)
    ranked = _rarest_first(sets, firsts)
    found = [(np.int64(a), b, score) for a, b, score in _similar(ranked, threshold)]
    expanded = sum(len(names[a]) * len(names[b]) for a, b, _ in found)
    expanded += sum(len(members) * (len(members) - 1) // 2 for members in names)
    if expanded > MOST_PAIRS:
        raise ValueError(
            f"the exact truth of these {len(sets.offsets) - 1:,} documents has {expanded:,} pairs, above the "
            f"limit of {MOST_PAIRS:,}: take fewer documents, or drop exact copies first"
        )
    left, right, scores = [], [], []
    for members in names:
        a, b = np.triu_indices(len(members), 1)
        left.append(members[a])
        right.append(members[b])
        scores.append(np.ones(len(a)))
    for one, other, score in found:
        left.append(np.repeat(names[one], len(names[other])))
        right.append(np.tile(names[other], len(names[one])))
        scores.append(np.full(len(left[-1]), score))
    if not left:
        nothing = np.zeros(0, np.int64)
        return Truth(len(sets.offsets) - 1, nothing, nothing, np.zeros(0))
    a, b, resemblance = np.concatenate(left), np.concatenate(right), np.concatenate(scores)
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((high, low))
    return Truth(len(sets.offsets) - 1, low[order], high[order], resemblance[order])


def _similar(sets: ShingleSets, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Pairs (a, b, resemblance) of distinct sets; shingle numbers must be ranks, rarest first."""
    sizes = np.diff(sets.offsets)
    prefixes = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
    postings = _postings(sets, prefixes)
    ends = np.array([int(sets.of(d)[prefixes[d] - 1]) if sizes[d] else -1 for d in range(len(sizes))], np.int64)
    marked = np.zeros(sets.distinct, bool)
    for one in range(len(sizes)):
        mine = sets.of(one)
        size = len(mine)
        hits = [postings[s] for s in mine[: prefixes[one]].tolist() if s in postings]
        if not hits:
            continue
        others, shared = np.unique(np.concatenate(hits), return_counts=True)
        shared, others = shared[others > one], others[others > one]
        fits = (sizes[others] * threshold <= size + 1e-9) & (size * threshold <= sizes[others] + 1e-9)
        rest = np.where(ends[one] <= ends[others], size - prefixes[one], sizes[others] - prefixes[others])
        needed = threshold / (1 + threshold) * (size + sizes[others])
        others = others[fits & (shared + rest >= needed - 1e-9)]
        if not len(others):
            continue
        marked[mine] = True
        for other in others.tolist():
            theirs = sets.of(other)
            common = int(np.count_nonzero(marked[theirs]))
            score = common / (size + len(theirs) - common)
            if score >= threshold:
                yield one, other, score
        marked[mine] = False


def _postings(sets: ShingleSets, prefixes: Ints) -> dict[int, Ints]:
    """Documents by shingle of their prefixes, for shingles that two or more prefixes hold."""
    rows = [np.full(int(prefixes[d]), d, np.int64) for d in range(len(prefixes)) if len(sets.of(d))]
    if not rows:
        return {}
    owners = np.concatenate(rows)
    shingles = np.concatenate([sets.of(int(row[0]))[: len(row)] for row in rows])
    order = np.lexsort((owners, shingles))
    owners, shingles = owners[order], shingles[order]
    starts = np.flatnonzero(np.r_[True, shingles[1:] != shingles[:-1]])
    stops = np.r_[starts[1:], len(shingles)]
    shared = stops - starts > 1
    return {int(shingles[a]): owners[a:b] for a, b in zip(starts[shared], stops[shared], strict=True)}


def _rarest_first(sets: ShingleSets, documents: Ints) -> ShingleSets:
    """The sets of the given documents with shingles renumbered by rank: rare ones first, ties by number."""
    chosen = [sets.of(int(d)) for d in documents]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in chosen], dtype=np.int64)]).astype(np.int64)
    shingles = np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
    frequency = np.bincount(shingles, minlength=sets.distinct)
    rank = np.empty(sets.distinct, np.int64)
    rank[np.argsort(frequency, kind="stable")] = np.arange(sets.distinct)
    owners = np.repeat(np.arange(len(chosen), dtype=np.int64), np.diff(offsets))
    packed = np.sort(_pack(owners, rank[shingles]))
    return ShingleSets(packed & np.int64(0xFFFFFFFF), offsets, sets.distinct)


def _same_sets(sets: ShingleSets) -> list[Ints]:
    """Documents grouped by equal shingle sets; those without any shingle belong to no group."""
    groups: dict[bytes, list[int]] = {}
    for document in range(len(sets.offsets) - 1):
        mine = sets.of(document)
        if len(mine):
            groups.setdefault(mine.tobytes(), []).append(document)
    return [np.array(members, np.int64) for members in groups.values()]


def _number_fives(tokens: Ints) -> Ints:
    """A number for every run of five tokens, equal exactly where all five are."""
    pairs = _number_pairs(tokens[:-1], tokens[1:])
    fours = _number_pairs(pairs[:-2], pairs[2:])
    return _number_pairs(fours[:-1], tokens[4:])


def _number_pairs(first: Ints, second: Ints) -> Ints:
    """A number for every distinct pair of numbers: equal exactly where both parts are."""
    codes = pa.array(_pack(first, second)).dictionary_encode().indices
    numbered: Ints = codes.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbered


def _pack(high: Ints, low: Ints) -> Ints:
    """Two numbers below 2³¹ in one."""
    packed: Ints = (high << np.int64(32)) | low
    return packed


def _fingerprint(texts: Sequence[str]) -> str:
    digest = hashlib.blake2b(_VERSION.encode(), digest_size=12)
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()
