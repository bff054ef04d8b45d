"""The kernels of sketches once more in plain Python, from their formulas, to be compared bit for bit."""

from __future__ import annotations

import itertools

from kernel_twins import MASK, SEED, absorb, mix, shingle_set


def sample(tokens: list[int], size: int, limit: int) -> list[int]:
    return [value for value in shingle_set(tokens, size) if value <= limit]


def smallest(tokens: list[int], size: int, most: int) -> tuple[list[int], int]:
    """The sketch and its limit."""
    whole = shingle_set(tokens, size)
    return (whole[:most], whole[most - 1]) if len(whole) > most else (whole, MASK)


def estimate(a: list[int], limit_a: int, b: list[int], limit_b: int, most: int) -> tuple[int, int, int]:
    cut = min(limit_a, limit_b)
    left, right = {v for v in a if v <= cut}, {v for v in b if v <= cut}
    if most:
        counted = set(sorted(left | right)[:most])
        left, right = left & counted, right & counted
    return len(left & right), len(left), len(right)


def word_keys(tokens: list[int], words: int, multipliers: list[int], increments: list[int]) -> list[int]:
    distinct = set(tokens)
    keys = []
    for p, (a, b) in enumerate(zip(multipliers, increments, strict=True)):
        h = (SEED + p) & MASK
        for image in sorted((a * (token >> 32) + b) % 2**32 for token in distinct)[:words]:
            h = absorb(h, image)
        keys.append(max(mix(h), 1) if distinct else 0)
    return keys


def pair_keys(supers: list[int]) -> list[int]:
    return [
        max(mix(absorb(absorb((SEED + place) & MASK, a), b)), 1)
        for place, (a, b) in enumerate(itertools.combinations(supers, 2))
    ]


def tally(
    sets: list[set[int]], pairs: list[tuple[int, int]], levels: int, thresholds: list[float]
) -> tuple[list[list[int]], list[list[int]], list[int]]:
    """(right, wrong) by level and threshold, and how many pairs are true at each threshold."""
    right = [[0] * len(thresholds) for _ in range(levels + 1)]
    wrong = [[0] * len(thresholds) for _ in range(levels + 1)]
    true = [0] * len(thresholds)
    for d, k in pairs:
        a, b = sets[d], sets[k]
        if not a & b:
            continue
        for t, threshold in enumerate(thresholds):
            is_true = len(a & b) / len(a | b) >= threshold
            true[t] += is_true
            for level in range(levels + 1):
                for trial in range(2**level):
                    first = {v for v in a | b if v >> (64 - level) == trial}
                    if a & b & first and len(a & b & first) / len(first) >= threshold:
                        (right if is_true else wrong)[level][t] += 1
    return right, wrong, true
