"""Agreement of judges, and precision with an interval.

Cohen's kappa, with p the share of pairs that two judges agree on and e the agreement expected by chance, from how often
each says *same*:

    κ = (p − e) / (1 − e)

Precision is the share of removed documents whose witness is truly the same.
With N_h pairs in stratum h, W_h = N_h / Σ N, n_h of them judged and p_h the share judged the same:

    P = Σ W_h · p_h        n* = 1 / Σ (W_h² / n_h)

The interval is Wilson's (1927) for P at n*, Kish's effective number of pairs: it holds at P = 1, where the usual one
has no width.

J. Cohen: A coefficient of agreement for nominal scales, 1960. E. B. Wilson: Probable inference, 1927. L. Kish: Survey
Sampling, 1965.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

from roughly.fast_dataclass import dataclass
from roughly.tools.judge.verdict_file import VerdictFile
from roughly.tools.metrics.intervals import Interval

Z = 1.959963984540054
"""The normal quantile of a 95 % interval."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of two judges, on pairs that both judged."""

    first: str
    second: str
    pairs: int
    same: int  # both say same
    different: int  # both say different

    @property
    def share(self) -> float | None:
        """The number of pairs they agree on."""
        return (self.same + self.different) / self.pairs if self.pairs else None

    kappa: float | None = None  # None if chance alone would make them agree, or without pairs


@dataclass(frozen=True)
class Precision:
    """Precision of what a run found."""

    value: float
    interval: Interval
    judged: int
    effective: float  # pairs, by Kish
    covered: float  # share of the found pairs in strata with a verdict


def consensus(verdicts: VerdictFile) -> dict[int, bool | None]:
    """For each pair with a verdict, whether most judges say same; None for a tie. Skips do not count."""
    found: dict[int, bool | None] = {}
    for pair in range(len(verdicts.drawn.pairs)):
        said = Counter(own[pair] for own in verdicts.said.values() if pair in own)
        if said["same"] or said["different"]:
            found[pair] = None if said["same"] == said["different"] else said["same"] > said["different"]
    return found


def agreements(verdicts: VerdictFile) -> list[Agreement]:
    """Agreement of every two judges. Arbiters are left out: they saw only what the others disagree on."""
    judges = [judge for judge in verdicts.judges if not _arbiter(verdicts, judge)]
    return [_agreement(verdicts, *two) for two in combinations(judges, 2)]


def _arbiter(verdicts: VerdictFile, judge: str) -> bool:
    """Whether someone judged only pairs that others disagree on."""
    others = [own for name, own in verdicts.said.items() if name != judge]
    return all({"same", "different"} <= {own.get(pair) for own in others} for pair in verdicts.said[judge])


def _agreement(verdicts: VerdictFile, first: str, second: str) -> Agreement:
    one, other = (
        {pair: said == "same" for pair, said in verdicts.said[judge].items() if said != "skip"}
        for judge in (first, second)
    )
    shared = sorted(one.keys() & other.keys())
    pairs = len(shared)
    same = sum(one[n] and other[n] for n in shared)
    different = sum(not one[n] and not other[n] for n in shared)
    return Agreement(
        first, second, pairs, same, different, kappa_of(pairs, same, different, sum(one[n] for n in shared))
    )


def kappa_of(pairs: int, same: int, different: int, first_same: int) -> float | None:
    """Cohen's kappa from the numbers of pairs: both say same, both say different, and the first says same."""
    if not pairs:
        return None
    second_same = pairs - different - (first_same - same)
    by_chance = (first_same * second_same + (pairs - first_same) * (pairs - second_same)) / pairs**2
    if by_chance == 1.0:
        return None
    return ((same + different) / pairs - by_chance) / (1 - by_chance)


def precision_of(verdicts: VerdictFile) -> Precision | None:
    """The precision of the run; None if nothing of it was judged."""
    decided = {pair: same for pair, same in consensus(verdicts).items() if same is not None}
    rows = []  # (pairs in the stratum, judged, same)
    strata = verdicts.drawn.strata
    for number, stratum in enumerate(strata):
        own = [same for pair, same in decided.items() if verdicts.drawn.pairs[pair].stratum == number]
        if stratum.found and own:
            rows.append((stratum.pairs, len(own), sum(own)))
    total = sum(size for size, _, _ in rows)
    if not total:
        return None
    value = sum(size / total * same / judged for size, judged, same in rows)
    effective = 1 / sum((size / total) ** 2 / judged for size, judged, _ in rows)
    everything = sum(stratum.pairs for stratum in strata if stratum.found)
    return Precision(
        value, wilson(value, effective), sum(judged for _, judged, _ in rows), effective, total / everything
    )  # fmt: skip


def wilson(share: float, number: float) -> Interval:
    """Wilson's 95 % interval of a share of a number of pairs."""
    middle = (share + Z * Z / (2 * number)) / (1 + Z * Z / number)
    half = Z / (1 + Z * Z / number) * math.sqrt(share * (1 - share) / number + Z * Z / (4 * number * number))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))
