"""Brute force for the truth: every pair of documents looked at, in plain Python, on tuples of words."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping

from exact import Shingles, shingles
from roughly.text.canonical import words

Pairs = dict[tuple[str, str], tuple[float, ...]]


def brute_sets(texts: Mapping[str, str], measure: str, threshold: float, size: int = 5, empty: bool = True) -> Pairs:
    """(resemblance, containment, contained_in) of all pairs that reach the threshold, smaller id first."""
    sets = {name: shingles(text, size) for name, text in texts.items()}
    found = {}
    for left, right in _sharing(sets):
        a, b = sets[left], sets[right]
        shared = len(a & b)
        score = shared / len(a | b) if measure == "resemblance" else shared / min(len(a), len(b))
        if score >= threshold:
            found[left, right] = (shared / len(a | b), shared / len(a), shared / len(b))
    if empty:
        found |= dict.fromkeys(_empties(sets), (1.0, 1.0, 1.0))
    return found


def brute_cosine(texts: Mapping[str, str], threshold: float, weigh: Mapping[str, float] | None, binary: bool) -> Pairs:
    """(cosine) of all pairs that reach the threshold; `weigh` are factors of the terms."""
    vectors = {}
    for name, text in texts.items():
        counts = Counter(words(text))
        vectors[name] = {t: (1.0 if binary else float(n)) * (weigh[t] if weigh else 1.0) for t, n in counts.items()}
    found: Pairs = {}
    for left, right in _sharing({name: frozenset(vector) for name, vector in vectors.items()}):
        a, b = vectors[left], vectors[right]
        if a == b:
            found[left, right] = (1.0,)
            continue
        few, many = (a, b) if len(a) < len(b) else (b, a)
        dot = math.fsum(weight * many[term] for term, weight in few.items() if term in many)
        score = dot / math.sqrt(math.fsum(w * w for w in a.values()) * math.fsum(w * w for w in b.values()))
        if score >= threshold:
            found[left, right] = (score,)
    return found | dict.fromkeys(_empties({n: frozenset(v) for n, v in vectors.items()}), (1.0,))


def _sharing(sets: Mapping[str, Shingles | frozenset[str]]) -> set[tuple[str, str]]:
    """Every pair that shares a feature; no other can have a score above 0."""
    posting = defaultdict(list)
    for name in sorted(sets):
        for feature in sets[name]:
            posting[feature].append(name)
    return {pair for names in posting.values() for pair in itertools.combinations(names, 2)}


def _empties(sets: Mapping[str, Shingles | frozenset[str]]) -> list[tuple[str, str]]:
    return list(itertools.combinations(sorted(name for name, own in sets.items() if not own), 2))
