"""The kernels of the exact joins against plain-Python twins, bit for bit, and against what they promise."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest

from roughly.kernels import cosine, joining
from roughly.kernels.bitmaps import draw
from roughly.kernels.judging import CONTAINMENT, RESEMBLANCE

SLOTS = 1 << 10


def sets_of(seed: int, count: int = 40) -> list[list[int]]:
    """Sorted sets of 64-bit values, near-copies among them, the smallest first."""
    dice = random.Random(seed)
    pool = [dice.getrandbits(64) for _ in range(300)]
    out = [sorted(dice.sample(pool, dice.randint(1, 60))) for _ in range(count)]
    for own in list(out[: count // 2]):
        kept = [value for value in own if dice.random() < 0.9]
        out.append(sorted({*kept, dice.getrandbits(64)}))
    return sorted(out, key=len)


def flat(sets: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array(list(itertools.chain.from_iterable(sets)), np.uint64)
    return values, np.r_[0, np.cumsum([len(own) for own in sets])].astype(np.int64)


def counts_of(sets: list[list[int]]) -> list[int]:
    counts = [0] * SLOTS
    for value in itertools.chain.from_iterable(sets):
        counts[value >> 54] = min(255, counts[value >> 54] + 1)
    return counts


def least(threshold: float, reaches: object) -> int:
    return next(c for c in itertools.count() if reaches(c) >= threshold)  # type: ignore[operator]


def flags_of(sets: list[list[int]], counts: list[int], measure: int, threshold: float) -> list[int]:
    out = []
    for own in filter(None, sets):
        n = len(own)
        longer = n - least(threshold, lambda c, n=n: c / n) + 1
        shorter = longer
        if measure == RESEMBLANCE:
            shorter = n - least(threshold, lambda c, n=n: c / (2 * n - c)) + 1
        order = sorted(range(n), key=lambda i: (counts[own[i] >> 54], i))
        flags = [0] * n
        for rank, i in enumerate(order[:longer]):
            if counts[own[i] >> 54] > 1:
                flags[i] = 2 if rank < shorter else 1
        out += flags
    return out


def test_a_tally_stops_at_255() -> None:
    values = np.repeat(np.array([1 << 63, 5], np.uint64), [300, 7])
    counts = np.zeros(SLOTS, np.uint8)
    joining.tally(values, counts)
    assert counts[512] == 255 and counts[0] == 7 and counts.astype(int).sum() == 262


@pytest.mark.parametrize("measure", [RESEMBLANCE, CONTAINMENT])
@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.8, 1.0])
def test_prefixes(measure: int, threshold: float) -> None:
    sets = [*sets_of(3), []]
    values, offsets = flat(sets)
    counts = np.zeros(SLOTS, np.uint8)
    joining.tally(values, counts)
    assert counts.tolist() == counts_of(sets)
    assert joining.prefix_flags(values, offsets, counts, measure, threshold).tolist() == flags_of(
        sets, counts.tolist(), measure, threshold
    )


def buckets_of(sets: list[list[int]], flags: list[int], everything: bool) -> dict[int, list[tuple[int, int]]]:
    """(document, flag) by value; with `everything`, values outside of prefixes too."""
    found: dict[int, list[tuple[int, int]]] = {}
    place = 0
    for d, own in enumerate(sets):
        for value in own:
            if flags[place] or everything:
                found.setdefault(value, []).append((d, flags[place]))
            place += 1
    return {value: members for value, members in found.items() if len(members) > 1}


@pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9])
@pytest.mark.parametrize("measure", [RESEMBLANCE, CONTAINMENT])
def test_who_meets_whom(measure: int, threshold: float) -> None:
    sets = sets_of(7)
    values, offsets = flat(sets)
    flags = flags_of(sets, counts_of(sets), measure, threshold)
    buckets = buckets_of(sets, flags, measure == CONTAINMENT)
    maps = np.zeros((len(sets), 16), np.uint64)
    draw(values, offsets, maps, 0)
    sizes = np.diff(offsets)
    starts = np.r_[0, np.cumsum([len(members) for members in buckets.values()])].astype(np.int64)
    docs = np.array([d for members in buckets.values() for d, _ in members], np.uint32)
    marked = np.array([flag == 2 for members in buckets.values() for _, flag in members])
    by_doc = [[b for b, members in enumerate(buckets.values()) if d in dict(members)] for d in range(len(sets))]
    probes = np.array([dict(list(buckets.values())[b])[d] == 2 for d, own in enumerate(by_doc) for b in own], np.bool_)
    doc_offsets = np.r_[0, np.cumsum([len(own) for own in by_doc])].astype(np.int64)
    doc_buckets = np.array(list(itertools.chain.from_iterable(by_doc)), np.uint32)
    stamp = np.full(len(sets), -1)

    found_pairs = set()
    for members in buckets.values():
        for (k, k_flag), (d, d_flag) in itertools.combinations(members, 2):
            if measure == RESEMBLANCE and k_flag == 2 and len(sets[k]) / len(sets[d]) >= threshold:
                found_pairs.add((d, k))
            if measure == CONTAINMENT and k_flag == 2:
                found_pairs.add((k, d))
            assert d_flag in (0, 1, 2)
    if measure == RESEMBLANCE:
        pairs, count = joining.find_smaller(
            0, len(sets), doc_offsets, doc_buckets, starts, docs, marked, sizes, maps, threshold, stamp
        )
    else:
        pairs, count = joining.find_larger(
            0, len(sets), doc_offsets, doc_buckets, probes, starts, docs, sizes, maps, threshold, stamp
        )
    listed = [tuple(pair) for pair in pairs.tolist()]
    assert count == len(found_pairs) and len(set(listed)) == len(listed) and set(listed) <= found_pairs
    for a, b in itertools.combinations(range(len(sets)), 2):
        one, other = set(sets[a]), set(sets[b])
        whole = len(one | other) if measure == RESEMBLANCE else min(len(one), len(other))
        if len(one & other) / whole >= threshold:
            assert (a, b) in listed or (b, a) in listed  # no pair is lost


def test_term_counts() -> None:
    dice = random.Random(2)
    documents = [[dice.choice([5, 9, 1 << 63, 77]) for _ in range(n)] for n in (0, 1, 30, 7)]
    tokens, offsets = flat(documents)
    terms, counts, where = cosine.term_counts(tokens, offsets)
    for d, own in enumerate(documents):
        here = slice(where[d], where[d + 1])
        assert list(zip(terms[here].tolist(), counts[here].tolist(), strict=True)) == sorted(Counter(own).items())


def vectors(seed: int, count: int = 50, terms: int = 60) -> list[dict[int, float]]:
    dice = random.Random(seed)
    out = []
    for _ in range(count):
        own = {term: float(dice.randint(1, 5)) for term in range(terms) if dice.random() < 0.9 / (1 + term / 10)}
        out.append(own or {0: 1.0})
        if dice.random() < 0.5:
            out.append({term: weight + (dice.random() < 0.1) for term, weight in out[-1].items()})
    return out


def arrays(held: list[dict[int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    terms = np.array([term for own in held for term in sorted(own)], np.uint32)
    weights = np.array([own[term] for own in held for term in sorted(own)])
    return terms, weights, np.r_[0, np.cumsum([len(own) for own in held])].astype(np.int64)


def test_cosines_and_lengths() -> None:
    held = vectors(4)
    terms, weights, offsets = arrays(held)
    norms = cosine.squares(weights, offsets)
    assert norms.tolist() == [sum(w * w for w in own.values()) for own in held]
    pairs = np.array(list(itertools.combinations(range(len(held)), 2)))
    found = cosine.cosines(pairs, terms, weights, offsets, norms, terms, weights, offsets, norms)
    for (a, b), score in zip(pairs.tolist(), found.tolist(), strict=True):
        dot = sum(held[a][term] * held[b][term] for term in sorted(held[a]) if term in held[b])
        assert score == min(1.0, dot / math.sqrt(norms[a] * norms[b]))


TERMS = 160
"""Enough for terms on both sides of the rows of the commonest."""


@pytest.mark.parametrize("threshold", [0.02, 0.3, 0.6, 0.9, 0.99, 1.0])
def test_no_pair_is_dropped(threshold: float) -> None:
    held = vectors(5, terms=TERMS) + vectors(6, count=20)
    terms, weights, offsets = arrays(held)
    norms = cosine.squares(weights, offsets)
    firsts = cosine.indexed_from(weights, offsets, norms, threshold)
    for d, first in enumerate(firsts.tolist()):
        before = sum(w * w for w in weights[offsets[d] : first]) / norms[d]
        assert before < threshold**2 <= before + weights[first] ** 2 / norms[d] + 1e-5
    inside = np.concatenate([np.arange(first, end) for first, end in zip(firsts, offsets[1:], strict=True)])
    starts = np.r_[0, np.cumsum(np.bincount(terms[inside], minlength=TERMS))].astype(np.int64)
    units = cosine.scale(weights, norms, terms, offsets)
    postings = cosine.build_index(weights, norms, units, firsts, starts)
    for term in range(TERMS):
        here = slice(starts[term], starts[term + 1])
        expected = {d for d in range(len(held)) if term in terms[firsts[d] : offsets[d + 1]]}
        assert set(postings.docs[here].tolist()) == expected and len(postings.docs[here]) == len(expected)
        assert (np.diff(postings.through[here]) <= 0).all()
        for slot in range(here.start, here.stop):
            vector, length = held[postings.docs[slot]], math.sqrt(norms[postings.docs[slot]])
            through = math.sqrt(sum(w * w for t, w in vector.items() if t <= term)) / length
            middle = math.sqrt(sum(w * w for t, w in vector.items() if cosine.HEAD <= t < term)) / length
            assert postings.through[slot] == pytest.approx(through, rel=1e-6)
            assert postings.middle[slot] == pytest.approx(middle, rel=1e-6)
            assert postings.unit[slot] == (np.float32(vector[term] / length) if term >= cosine.HEAD else 0)
    pairs, found_pairs = cosine.candidates(0, len(held), 0, units, units, postings, threshold)
    listed = {tuple(pair) for pair in pairs.tolist()}
    assert len(listed) == len(pairs) <= found_pairs and all(y < x for x, y in listed)
    every = np.array([(x, y) for x in range(len(held)) for y in range(x)])
    scores = cosine.cosines(every, terms, weights, offsets, norms, terms, weights, offsets, norms)
    assert {tuple(pair) for pair in every[scores >= threshold].tolist()} <= listed
    low = dict(zip(map(tuple, every.tolist()), scores.tolist(), strict=True))
    assert all(low[pair] >= threshold - 0.001 for pair in listed)  # rows are rounded up, by 2·√H / ONE at most


def test_rows_of_the_commonest_terms_are_rounded_up() -> None:
    held = [{0: 1.0}, dict.fromkeys(range(200), 1.0), *vectors(7, terms=TERMS)]
    terms, weights, offsets = arrays(held)
    norms = cosine.squares(weights, offsets)
    units = cosine.scale(weights, norms, terms, offsets)
    for d, own in enumerate(held):
        exact = [own.get(term, 0.0) / math.sqrt(norms[d]) * cosine.ONE for term in range(cosine.HEAD)]
        assert units.heads[d].tolist() == [math.ceil(value) for value in exact]
