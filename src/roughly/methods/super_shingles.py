"""`super-shingles` (DSC-SS): shingles of the sorted sample; documents that have one in common are duplicates.

Broder 1997, §5.3. With V(A) = v₁ < v₂ < … < v_n the sorted sample of A's shingles:

    super shingles of A = { hash(v_i, …, v_{i+k−1}) : 1 ≤ i ≤ n − k + 1 }
    meta-sketch of A    = a sample of them; all of them as a rule
    A and B are duplicates  ⇔  their meta-sketches share a value

or, with a threshold, those whose estimated resemblance reaches it. Super shingles cannot tell containment.

Each of the u values of the sorted union of two samples is in both with probability r; a super shingle in common is a
run of k of them. Chances of no run (de Moivre): q(u) = 1 for u < k, q(k) = 1 − r^k, then

    q(u) = q(u − 1) − (1 − r)·r^k·q(u − k − 1)          candidate_probability(r) = 1 − q(u)

**Short documents.** A sample of fewer than k shingles has no super shingle, and DSC-SS ignored such documents (I-Match
2002, §4.4). They are counted (`short_documents`) and handled as `short` says:

    sample   one super shingle of what the sample holds; where it holds nothing, the k smallest shingles are the sample
    keep     no super shingle: they stay, and are duplicates of none

| symbol | parameter |
|---|---|
| k | `size` (2, 4, 5, 10, … in I-Match 2002) |
| w | `shingle_size` |
| V | `sampling` |
| meta-sketch | `meta` |
| t | `threshold`; None: one super shingle in common is enough |

Citation: A. Z. Broder, S. C. Glassman, M. S. Manasse, G. Zweig: Syntactic clustering of the Web. WWW6, 1997, §5.3.
A. Chowdhury, O. Frieder, D. Grossman, M. C. McCabe: Collection statistics for fast duplicate document detection. ACM
TOIS 20(2), 2002, §4.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from roughly import checks
from roughly.features.sampling import Sampling
from roughly.features.sketch import Sketch, limits_of
from roughly.methods.method import Judge, Keys
from roughly.methods.shingles import TYPICAL
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters

SHORT = ("sample", "keep")


@dataclass(frozen=True)
class SuperShingles:
    """Super shingles as keys; the sample as sketch where there is a threshold."""

    size: int = 4
    shingle_size: int = 10
    sampling: Sampling = field(default_factory=lambda: Sampling("mod", 25))
    meta: Sampling = field(default_factory=Sampling)
    short: Literal["sample", "keep"] = "sample"
    threshold: float | None = None

    name: ClassVar[str] = "super-shingles"
    collapse: ClassVar[Literal["identical", "lexical"]] = "lexical"
    equality: ClassVar[bool] = False
    common: ClassVar[int] = 0
    filters: ClassVar[Filters | None] = None

    def __post_init__(self) -> None:
        problems = list(checks.shingle_size(self.shingle_size))
        if self.threshold is not None:
            problems += checks.threshold(self.threshold)
        if not 2 <= self.size <= 128:
            problems.append(f"a super shingle has 2 to 128 shingles, not {self.size!r}")
        problems += checks.one_of("short", self.short, SHORT)
        checks.refuse(problems)

    def keys(self, tokens: Tokens) -> Keys:
        """The meta-sketch of each document."""
        sample = self._sample(tokens)
        if self.short == "keep":
            short = np.diff(sample.offsets) < self.size
            sample = _replaced(sample, short, Sketch(np.empty(0, np.uint64), np.zeros(len(tokens) + 1, np.int64)))
        meta = self.meta.apply(Tokens(sample.values, sample.offsets), self.size)
        return Keys(meta.values, meta.offsets)

    def sketch(self, tokens: Tokens) -> Sketch | None:
        """The sample, where there is a threshold to estimate for."""
        return None if self.threshold is None else self._sample(tokens)

    def _sample(self, tokens: Tokens) -> Sketch:
        """The sampled shingles; of a document without any its smallest ones, with the limit that goes with them."""
        sample = self.sampling.apply(tokens, self.shingle_size)
        empty = np.diff(sample.offsets) == 0
        if self.short == "keep" or not empty.any():
            return sample
        return _replaced(sample, empty, Sampling("min", self.size).apply(tokens, self.shingle_size))

    def judge(self) -> Judge:
        """One super shingle in common, or the estimated resemblance."""
        if self.threshold is None:
            return Judge("keys", "common", 1)
        return Judge("sketch", "resemblance", self.threshold)

    def counts(self, tokens: Tokens) -> dict[str, int]:
        """Documents too short for a super shingle."""
        return {"short_documents": self.short_documents(tokens)}

    def short_documents(self, tokens: Tokens) -> int:
        """How many documents have tokens but too small a sample for a super shingle."""
        sample = self.sampling.apply(tokens, self.shingle_size)
        return int(((np.diff(sample.offsets) < self.size) & (np.diff(tokens.offsets) > 0)).sum())

    def candidate_probability(self, similarity: float) -> float:
        """1 − q(u), the chance of a run of k in common, for documents of 1,000 shingles."""
        union = max(self.size, round(TYPICAL * self.sampling.ratio(TYPICAL) * 2 / (1 + similarity)))
        return chance_of_run(union, self.size, similarity)

    def describe(self) -> dict[str, Any]:
        """How super shingles are made, and what becomes of short documents."""
        groups = [list(group) for group in self.sampling.groups]
        return {
            "sketch": str(self.sampling), "groups": groups, "size": self.size, "meta": str(self.meta),
            "short": self.short,
        }  # fmt: skip


def chance_of_run(trials: int, length: int, chance: float) -> float:
    """The chance that so many successes in a row occur in so many trials."""
    none = [1.0] * length + [1.0 - chance**length]
    ends = (1.0 - chance) * chance**length
    for n in range(length + 1, trials + 1):
        none.append(none[n - 1] - ends * none[n - length - 1])
    return min(1.0, max(0.0, 1.0 - none[trials]))


def _replaced(sample: Sketch, which: npt.NDArray[np.bool_], other: Sketch) -> Sketch:
    """The sample with some documents' values and limits taken from another sketch."""
    sizes = np.where(which, np.diff(other.offsets), np.diff(sample.offsets))
    offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    values = np.empty(int(offsets[-1]), np.uint64)
    chosen = np.repeat(which, sizes)
    values[~chosen] = sample.values[np.repeat(~which, np.diff(sample.offsets))]
    values[chosen] = other.values[np.repeat(which, np.diff(other.offsets))]
    return Sketch(values, offsets, np.where(which, limits_of(other), limits_of(sample)), sample.most)
