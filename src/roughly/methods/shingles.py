"""`shingles` (DSC): documents that share sampled shingles, judged by how many they share.

Broder 1997, §4.1, in four phases: a sketch of every document; all (shingle, document) rows sorted; pairs that share a
shingle, with the number of shared shingles; those at or above the threshold are duplicates. With V(A) the sample of the
w-shingles S(A):

    keys(A) = V(A)
    A and B are duplicates  ⇔  estimate of r(A, B), or of c(A, B), from V(A) and V(B) ≥ t

Shingles in more than `common` documents form no pairs (§5.1): expanding them is quadratic, and they are usually
boilerplate. A document that consists of them is found by its rarest ones (`cluster.common_keys`). They still count in
the estimate; with `ignore_common` they do not, as in the paper, except for documents that consist of them.

| symbol | parameter |
|---|---|
| w | `shingle_size` (10 in the paper) |
| MOD_m, MIN_s, V_i, all | `sampling` (`mod:25` in the paper; see `features.sampling`) |
| t | `threshold` (0.5 in the paper) |
| 1,000 | `common` |
| §5.1 to the letter | `ignore_common` |
| which shingles are sampled | `sampling.seed` |

Two documents of n distinct shingles each and resemblance r have K = 2·r·n/(1 + r) of them in common, so with a sampling
ratio f they share a key with probability 1 − (1 − f)^K; for MIN_s it is 1 − (1 − r)^s. It depends on n:
`candidate_probability` is that of documents of `TYPICAL` shingles. A candidate is found where the estimate reaches the
threshold (`found_probability`), which at the threshold itself is a matter of chance.

Citation: A. Z. Broder, S. C. Glassman, M. S. Manasse, G. Zweig: Syntactic clustering of the Web. WWW6, 1997, §3–5.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.methods.option_values import read_sampling
from roughly.methods.verdict_chance import averaged, distinct_shingles, reaching
from roughly.options import GROUPS, SKETCH, MethodSpec, Option, register
from roughly.settings import MEASURES

if TYPE_CHECKING:
    from roughly.features.sampling import Sampling
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens

TYPICAL = 1000
"""Number of distinct shingles per document that `candidate_probability` assumes."""
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
    ignore_common: bool = False
    shingle_unit: str = "word"

    name: ClassVar[str] = "shingles"

    def __post_init__(self) -> None:
        checks.refuse(
            [
                *checks.threshold(self.threshold),
                *checks.shingle_size(self.shingle_size),
                *checks.one_of("measure", self.measure, MEASURES),
                *checks.common(self.common),
            ]
        )

    @property
    def finds_passages(self) -> bool:
        """Whether every passage is found: of a short one, a sample may have nothing."""
        return self.sampling.kind == "all"

    def sign(self, tokens: Tokens) -> Signature:
        """The sampled shingles of each document are its keys and, with their limits, its sketch."""
        sketch = self.sampling.apply(tokens, self.shingle_size)
        return Signature(Keys(sketch.values, sketch.offsets), sketch)

    def judge(self) -> Judge:
        """Estimated on the sketches."""
        return Judge("sketch", self.measure, self.threshold, ignore_common=self.ignore_common)

    def candidate_probability(self, similarity: float) -> float:
        """1 − (1 − f)^K, or 1 − (1 − r)^s for MIN_s; see above."""
        return self.candidate_probability_at(similarity, TYPICAL + self.shingle_size - 1)

    def candidate_probability_at(self, similarity: float, tokens: int) -> float:
        """The same for documents of this length."""
        n = distinct_shingles(tokens, self.shingle_size)
        shared = similarity * n if self.measure == "containment" else 2 * similarity * n / (1 + similarity)
        ratio = self._ratio(tokens, n)
        if self.sampling.kind == "min" and self.measure == "resemblance" and ratio < 1:
            return one_of(similarity, self.sampling.number)
        return one_of(ratio, shared)

    def found_probability(self, similarity: float, tokens: int) -> float:
        """The probability that the estimate reaches the threshold; see `verdict_chance`."""
        n = distinct_shingles(tokens, self.shingle_size)
        values = n if self.measure == "containment" else round(2 * n / (1 + similarity))
        ratio = self._ratio(tokens, n)
        if ratio >= 1 and (self.sampling.kind != "min" or values <= self.sampling.number):
            return float(similarity >= self.threshold)
        if self.sampling.kind == "min":
            return reaching(min(values, self.sampling.number), values, similarity, self.threshold)
        return averaged(values, ratio, lambda sampled: reaching(sampled, values, similarity, self.threshold))

    def _ratio(self, tokens: int, shingles: int) -> float:
        return self.sampling.ratio(shingles if self.sampling.kind == "min" else tokens)

    def describe(self) -> dict[str, Any]:
        """How shingles are sampled, and which are too common."""
        groups = [list(group) for group in self.sampling.groups]
        ignored = {"ignore_common": True} if self.ignore_common else {}
        seeded = {"seed": self.sampling.seed} if self.sampling.seed else {}
        return {"sketch": str(self.sampling), "groups": groups, "common": self.common, **ignored, **seeded}


def one_of(chance: float, tries: float) -> float:
    """1 − (1 − chance)^tries."""
    if chance >= 1:
        return 1.0 if tries > 0 else 0.0
    return -math.expm1(tries * math.log1p(-chance))


def _make(settings: Settings, _: object) -> Method:
    given: dict[str, Any] = dict(settings.options)
    sampling, measure = read_sampling(given, seed=settings.seed), settings.measure
    given["shingle_unit"] = settings.shingle_unit
    return Shingles(settings.threshold, measure, settings.shingle_size, sampling, **given)  # type: ignore[arg-type]


register(
    MethodSpec(
        Shingles,
        settings=("threshold", "measure", "shingle_size", "shingle_unit", "seed"),
        options=(
            SKETCH, GROUPS, Option("common", "whole", "a shingle that more documents have forms no pairs", COMMON),
            Option("ignore_common", "flag", "common shingles do not count in estimates either", False),
        ),
        has_curve=True,
        maker=_make,
        tuned={"sketch": ("mod:25", "mod:8"), "threshold": (0.5, 0.7, 0.85, 0.95), "shingle_size": (10,)},
        place=4,
    )
)  # fmt: skip
