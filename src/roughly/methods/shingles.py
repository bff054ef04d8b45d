"""`shingles` (DSC): documents that share sampled shingles, judged by how many they share.

Broder 1997, §4.1, in four phases: a sketch of every document; all (shingle, document) rows sorted; pairs that share a
shingle, with the number that they share; those at or above the threshold are duplicates. With V(A) the sample of the
w-shingles S(A):

    keys(A) = V(A)
    A and B are duplicates  ⇔  estimate of r(A, B), or of c(A, B), from V(A) and V(B) ≥ t

Shingles in more than `common` documents form no pairs (§5.1): expanding them is quadratic, and they are mechanical as a
rule. They still count in the estimate.

| symbol | parameter |
|---|---|
| w | `shingle_size` (10 in the paper) |
| MOD_m, MIN_s, V_i, all | `sampling` (`mod:25` in the paper; see `features.sampling`) |
| t | `threshold` (0.5 in the paper) |
| 1,000 | `common` |

Two documents of n distinct shingles each and resemblance r have K = 2·r·n/(1 + r) of them in common, so with a sampling
ratio f they share a key with probability 1 − (1 − f)^K; for MIN_s it is 1 − (1 − r)^s. It depends on n:
`candidate_probability` is that of documents of `TYPICAL` shingles.

Citation: A. Z. Broder, S. C. Glassman, M. S. Manasse, G. Zweig: Syntactic clustering of the Web. WWW6, 1997, §3–5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from roughly import checks
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.methods.option_values import read_sampling
from roughly.options import GROUPS, SKETCH, MethodSpec, Option, register
from roughly.settings import MEASURES

if TYPE_CHECKING:
    from roughly.features.sampling import Sampling
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens

TYPICAL = 1000
"""Distinct shingles of the documents that `candidate_probability` speaks of."""
COMMON = 1000
"""A shingle in more documents than this forms no pairs (Broder 1997, §5.1)."""

Measure = Literal["resemblance", "containment"]


@dataclass(frozen=True)
class Shingles(Method):
    """Sampled shingles as keys and as sketch."""

    threshold: float = 0.5
    measure: Measure = "resemblance"
    shingle_size: int = 10
    sampling: Sampling = field(default_factory=read_sampling)
    common: int = COMMON

    name: ClassVar[str] = "shingles"
    finds_passages: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.refuse(
            [
                *checks.threshold(self.threshold),
                *checks.shingle_size(self.shingle_size),
                *checks.one_of("measure", self.measure, MEASURES),
                *checks.common(self.common),
            ]
        )

    def sign(self, tokens: Tokens) -> Signature:
        """The sampled shingles of each document are its keys and, with their limits, its sketch."""
        sketch = self.sampling.apply(tokens, self.shingle_size)
        return Signature(Keys(sketch.values, sketch.offsets), sketch)

    def judge(self) -> Judge:
        """Estimated on the sketches."""
        return Judge("sketch", self.measure, self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """1 − (1 − f)^K, or 1 − (1 − r)^s for MIN_s; see above."""
        if self.measure == "containment":
            shared = similarity * TYPICAL
        else:
            shared = 2 * similarity * TYPICAL / (1 + similarity)
        ratio = self.sampling.ratio(TYPICAL)
        if self.sampling.kind == "min" and self.measure == "resemblance" and ratio < 1:
            return one_of(similarity, self.sampling.number)
        return one_of(ratio, shared)

    def describe(self) -> dict[str, Any]:
        """How shingles are sampled, and which are too common."""
        groups = [list(group) for group in self.sampling.groups]
        return {"sketch": str(self.sampling), "groups": groups, "common": self.common}


def one_of(chance: float, tries: float) -> float:
    """1 − (1 − chance)^tries."""
    if chance >= 1:
        return 1.0 if tries > 0 else 0.0
    return -math.expm1(tries * math.log1p(-chance))


def _make(settings: Settings, _: object) -> Method:
    given: dict[str, Any] = dict(settings.options)
    sampling, measure = read_sampling(given), settings.measure
    return Shingles(settings.threshold, measure, settings.shingle_size, sampling, **given)  # type: ignore[arg-type]


register(
    MethodSpec(
        Shingles,
        settings=("threshold", "measure", "shingle_size"),
        options=(
            SKETCH, GROUPS, Option("common", "whole", "a shingle that more documents have forms no pairs", COMMON),
        ),
        has_curve=True,
        maker=_make,
        tuned={"sketch": ("mod:25", "mod:8"), "threshold": (0.5, 0.7, 0.85, 0.95), "shingle_size": (10,)},
        place=4,
    )
)  # fmt: skip
