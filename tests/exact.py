"""Exact truth by plain Python: shingle sets as tuples of words, all pairs by the prefix-filter join. No kernel, no
hash of ours."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping

from roughly.text.canonical import words

Shingles = frozenset[tuple[str, ...]]


@functools.lru_cache(2_000)
def shingles(text: str, size: int = 5) -> Shingles:
    """The set of shingles; a text shorter than `size` words is one shingle."""
    tokens = words(text)
    if not tokens:
        return frozenset()
    if len(tokens) < size:
        return frozenset([tuple(tokens)])
    return frozenset(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))


def resemblance(a: Shingles, b: Shingles) -> float:
    if not a and not b:
        return 1.0
    return len(a & b) / len(a | b)


def containment(a: Shingles, b: Shingles) -> float:
    """Share of a that b holds."""
    if not a:
        return 1.0 if not b else 0.0
    return len(a & b) / len(a)


def all_pairs(sets: Mapping[str, Shingles], threshold: float) -> dict[tuple[str, str], float]:
    """Every pair (smaller id first) of non-empty sets whose resemblance reaches the threshold."""
    frequency = Counter(shingle for members in sets.values() for shingle in members)
    posting: dict[tuple[str, ...], list[str]] = defaultdict(list)
    found = {}
    for doc in sorted(sets, key=lambda d: (len(sets[d]), d)):
        mine = sets[doc]
        if not mine:
            continue
        prefix = sorted(mine, key=lambda s: (frequency[s], s))[: len(mine) - math.ceil(threshold * len(mine)) + 1]
        candidates = {other for shingle in prefix for other in posting[shingle]}
        for other in candidates:
            if len(sets[other]) >= threshold * len(mine) and (score := resemblance(mine, sets[other])) >= threshold:
                found[min(doc, other), max(doc, other)] = score
        for shingle in prefix:
            posting[shingle].append(doc)
    return found
