"""`mega-shingles`: documents that agree on two of six groups of fourteen min-wise samples are duplicates.

Fetterly 2003 draws 84 min-wise samples of a document's shingles, hashes them in groups of 14 to 6 super shingles and
makes a mega shingle of every two of these; one mega shingle in common is enough. (Kołcz 2008, §2 and §4.)

    m_i(A) = min { h_i(x) : x ∈ S(A) }                      i = 1 … 84
    super_j(A) = hash( m of group j )                       j = 1 … 6
    mega_{jk}(A) = hash( j, k, super_j(A), super_k(A) )     j < k, 15 of them

With p = r^14 the probability that one super shingle agrees, two documents share a mega shingle with probability

    candidate_probability(r) = 1 − (1 − p)^6 − 6·p·(1 − p)^5

| symbol | parameter |
|---|---|
| w | `shingle_size` (5) |
| 6 | `groups` |
| 14 | `samples` |
| h | `seed` |

Citation: D. Fetterly, M. Manasse, M. Najork: On the evolution of clusters of near-duplicate web pages. LA-WEB, 2003.
A. Kołcz, A. Chowdhury: Lexicon randomization for near-duplicate detection with I-Match. J. Supercomputing, 2008, §4.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.methods import permutations
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.methods.option_values import every_shingle, read_threshold
from roughly.options import JUDGE, MethodSpec, Option, register

if TYPE_CHECKING:
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class MegaShingles(Method):
    """Mega shingles as keys; the full shingle sets as sketch if there is a threshold."""

    groups: int = 6
    samples: int = 14
    shingle_size: int = 5
    threshold: float | None = None  # None: one mega shingle in common is enough
    seed: int = 0
    shingle_unit: str = "word"

    name: ClassVar[str] = "mega-shingles"

    def __post_init__(self) -> None:
        problems = list(checks.shingle_size(self.shingle_size))
        if self.threshold is not None:
            problems += checks.threshold(self.threshold)
        if not 2 <= self.groups <= 64:
            problems.append(f"mega shingles are made of 2 to 64 groups of samples, not {self.groups!r}")
        if not 1 <= self.samples <= 256:
            problems.append(f"a group has 1 to 256 samples, not {self.samples!r}")
        checks.refuse(problems)

    def sign(self, tokens: Tokens) -> Signature:
        """Keys: every two super shingles, none without tokens. Sketch: all shingles, if there is a threshold."""
        import numpy as np

        from roughly.kernels.minhash import band_keys
        from roughly.kernels.tuples import pair_keys

        supers = band_keys(
            tokens.hashes, tokens.offsets, self.shingle_size, *self._permutations, self.groups, self.samples
        )
        megas = pair_keys(supers)
        megas[np.diff(tokens.offsets) == 0] = 0
        sketch = None if self.threshold is None else every_shingle().apply(tokens, self.shingle_size)
        return Signature(Keys(megas), sketch)

    @cached_property
    def _permutations(self) -> tuple[permutations.Words, permutations.Words]:
        return permutations.draw(self.groups * self.samples, self.seed)

    def judge(self) -> Judge:
        """One mega shingle in common, or the resemblance."""
        if self.threshold is None:
            return Judge("keys", "common", 1)
        return Judge("sketch", "resemblance", self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """The probability that at least two of the super shingles agree."""
        p = similarity**self.samples
        agree = range(2, self.groups + 1)
        return min(1.0, sum(math.comb(self.groups, n) * p**n * (1 - p) ** (self.groups - n) for n in agree))

    def describe(self) -> dict[str, Any]:
        """Groups, samples and the number of mega shingles."""
        return {"groups": self.groups, "samples": self.samples, "mega_shingles": math.comb(self.groups, 2)}


def _make(settings: Settings, _: object) -> Method:
    given: dict[str, Any] = dict(settings.options)
    threshold = read_threshold(given, settings)
    groups, samples = given.pop("mega_groups", 6), given.pop("mega_samples", 14)
    return MegaShingles(groups, samples, settings.shingle_size, threshold, settings.seed, settings.shingle_unit)


register(
    MethodSpec(
        MegaShingles,
        settings=("threshold", "shingle_size", "shingle_unit", "seed"),
        options=(
            Option("mega_groups", "whole", "number of groups of min-wise samples", 6),
            Option("mega_samples", "whole", "number of samples per group", 14),
            JUDGE,
        ),
        has_curve=True,
        maker=_make,
        tuned={"mega_samples": (7, 14), "shingle_size": (5,)},
        place=6,
    )
)
