"""The chance that sampled detection is right about a pair: that enough of the sampled values are in both documents.

Two documents of n distinct shingles each and resemblance r have u = 2·n/(1 + r) in their union, r·u of which are in
both. Each is sampled with probability f. With U sampled values, S of which are in both, the estimate S/U reaches the
threshold t where S is at least ⌈t·U⌉, and at least 1:

    P = Σ over U of Binomial(U; u, f) · P(Hypergeometric(U of u, r·u in both) ≥ max(1, ⌈t·U⌉))

At r = t that is about one half, whatever the sampling: the estimate falls on either side. Short documents of which
nothing is sampled are never found.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_EXACT = 1_000  # sampled values up to which probabilities are summed; more are approximated by a normal distribution
_WIDE = 6.0  # standard deviations to either side that are summed


def distinct_shingles(tokens: int, shingle_size: int) -> int:
    """The number of shingles of a document whose shingles all differ."""
    return max(1, tokens - shingle_size + 1)


def reaching(sampled: int, values: int, similarity: float, threshold: float) -> float:
    """The chance that enough of the sampled ones of all values of two documents are in both; see above."""
    least = max(1, math.ceil(threshold * sampled - 1e-9))
    both = round(similarity * values)
    most = min(sampled, both)
    if most < least:
        return 0.0
    if sampled >= values:
        return float(both >= least)
    if sampled > _EXACT:
        share = both / values
        sd = math.sqrt(sampled * share * (1 - share) * (values - sampled) / max(1, values - 1))
        return 0.5 * math.erfc((least - 0.5 - sampled * share) / (sd * math.sqrt(2))) if sd else 1.0
    whole = _log_choices(values, sampled)
    low = max(least, sampled - (values - both))
    return min(
        1.0,
        math.fsum(
            math.exp(_log_choices(both, n) + _log_choices(values - both, sampled - n) - whole)
            for n in range(low, most + 1)
        ),
    )


def averaged(values: int, ratio: float, found: Callable[[int], float]) -> float:
    """The mean of `found(U)`, where U of this many values are sampled, each with the probability `ratio`."""
    if ratio >= 1:
        return found(values)
    mean, wide = values * ratio, _WIDE * math.sqrt(values * ratio * (1 - ratio)) + _WIDE
    low, high = max(0, math.floor(mean - wide)), min(values, math.ceil(mean + wide))
    step = max(1, (high - low) // _EXACT)
    sizes = range(low, high + 1, step)
    weights = [
        math.exp(_log_choices(values, n) + n * math.log(ratio) + (values - n) * math.log1p(-ratio)) for n in sizes
    ]
    return math.fsum(w * found(size) for w, size in zip(weights, sizes, strict=True)) / math.fsum(weights)


def _log_choices(of: int, taken: int) -> float:
    """The logarithm of the number of ways to choose k of n."""
    return math.lgamma(of + 1) - math.lgamma(taken + 1) - math.lgamma(of - taken + 1)
