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
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from roughly import checks
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.methods.option_values import every_shingle, read_sampling, read_threshold
from roughly.methods.shingles import TYPICAL
from roughly.options import GROUPS, JUDGE, SKETCH, MethodSpec, Option, register

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.features.sampling import Sampling
    from roughly.features.sketch import Sketch
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens

SHORT = ("sample", "keep")


@dataclass(frozen=True)
class SuperShingles(Method):
    """Super shingles as keys; the sample as sketch where there is a threshold."""

    size: int = 4
    shingle_size: int = 10
    sampling: Sampling = field(default_factory=read_sampling)
    meta: Sampling = field(default_factory=every_shingle)
    short: Literal["sample", "keep"] = "sample"
    threshold: float | None = None

    name: ClassVar[str] = "super-shingles"

    def __post_init__(self) -> None:
        problems = list(checks.shingle_size(self.shingle_size))
        if self.threshold is not None:
            problems += checks.threshold(self.threshold)
        if not 2 <= self.size <= 128:
            problems.append(f"a super shingle has 2 to 128 shingles, not {self.size!r}")
        problems += checks.one_of("short", self.short, SHORT)
        checks.refuse(problems)

    def sign(self, tokens: Tokens) -> Signature:
        """The meta-sketch of each document is its keys; the sample is its sketch, where there is a threshold.

        A document without a sampled shingle has its smallest ones as sample, with the limit that goes with them.
        """
        import numpy as np

        from roughly.features.sampling import Sampling
        from roughly.features.sketch import Sketch
        from roughly.text.canonical import Tokens

        sample = self.sampling.apply(tokens, self.shingle_size)
        sizes = np.diff(sample.offsets)
        short = sizes < self.size
        counts = {"short_documents": int((short & (np.diff(tokens.offsets) > 0)).sum())}
        if self.short == "keep":
            none = Sketch(np.empty(0, np.uint64), np.zeros(len(tokens) + 1, np.int64))
            shingled = _replaced(sample, short, none)
        else:
            if not sizes.all():
                sample = _replaced(sample, sizes == 0, Sampling("min", self.size).apply(tokens, self.shingle_size))
            shingled = sample
        meta = self.meta.apply(Tokens(shingled.values, shingled.offsets), self.size)
        return Signature(Keys(meta.values, meta.offsets), None if self.threshold is None else sample, counts)

    def judge(self) -> Judge:
        """One super shingle in common, or the estimated resemblance."""
        if self.threshold is None:
            return Judge("keys", "common", 1)
        return Judge("sketch", "resemblance", self.threshold)

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
    import numpy as np

    from roughly.features.sketch import Sketch, limits_of

    sizes = np.where(which, np.diff(other.offsets), np.diff(sample.offsets))
    offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    values = np.empty(int(offsets[-1]), np.uint64)
    chosen = np.repeat(which, sizes)
    values[~chosen] = sample.values[np.repeat(~which, np.diff(sample.offsets))]
    values[chosen] = other.values[np.repeat(which, np.diff(other.offsets))]
    return Sketch(values, offsets, np.where(which, limits_of(other), limits_of(sample)), sample.most)


def _make(settings: Settings, _: object) -> Method:
    given: dict[str, Any] = dict(settings.options)
    size, short = given.pop("super_size", 4), given.pop("short", "sample")
    threshold, meta = read_threshold(given, settings), read_sampling(given, "meta")
    return SuperShingles(size, settings.shingle_size, read_sampling(given), meta, short, threshold)


register(
    MethodSpec(
        SuperShingles,
        settings=("threshold", "shingle_size"),
        options=(
            SKETCH,
            GROUPS,
            Option("super_size", "whole", "shingles in a super shingle", 4),
            Option("meta", "text", "which super shingles are kept, written as a sketch", "all"),
            Option("short", "text", "documents too short for a super shingle: sample or keep", "sample"),
            JUDGE,
        ),
        has_curve=True,
        maker=_make,
        tuned={"sketch": ("mod:25", "mod:8"), "shingle_size": (10,)},
        place=5,
    )
)
