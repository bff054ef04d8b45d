"""`super-shingles` (DSC-SS): shingles of the sorted sample; documents that have one in common are duplicates.

Broder 1997, §5.3. With V(A) = v₁ < v₂ < … < v_n the sorted sample of A's shingles:

    super shingles of A = { hash(v_i, …, v_{i+k−1}) : 1 ≤ i ≤ n − k + 1 }
    meta-sketch of A    = a sample of them; all of them as a rule
    A and B are duplicates  ⇔  their meta-sketches share a value

or, with a threshold, those whose estimated resemblance reaches it. Super shingles cannot measure containment.

Each of the u values of the sorted union of two samples is in both with probability r; a super shingle in common is a
run of k of them. Probability of no run (de Moivre): q(u) = 1 for u < k, q(k) = 1 − r^k, then

    q(u) = q(u − 1) − (1 − r)·r^k·q(u − k − 1)          candidate_probability(r) = 1 − q(u)

**Short documents.** A sample of fewer than k shingles has no super shingle, and DSC-SS ignored such documents (I-Match
2002, §4.4). They are counted (`short_documents`) and handled as `short` says:

    sample   one super shingle of the whole sample; if that is empty, the k smallest shingles are the sample
    keep     no super shingle: they are kept, as duplicates of none

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

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.methods.option_values import every_shingle, read_sampling, read_threshold
from roughly.methods.shingles import TYPICAL
from roughly.methods.verdict_chance import averaged, distinct_shingles, reaching
from roughly.options import GROUPS, JUDGE, SKETCH, MethodSpec, Option, register

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from roughly.features.sampling import Sampling
    from roughly.features.sketch import Sketch
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens

SHORT = ("sample", "keep")


@dataclass(frozen=True)
class SuperShingles(Method):
    """Super shingles as keys; the sample as sketch if there is a threshold."""

    size: int = 4
    shingle_size: int = 10
    sampling: Sampling = field(default_factory=read_sampling)
    meta: Sampling = field(default_factory=every_shingle)
    short: Literal["sample", "keep"] = "sample"
    threshold: float | None = None
    shingle_unit: str = "word"

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
        """The meta-sketch of each document is its keys; the sample is its sketch, if there is a threshold.

        A document without a sampled shingle has its smallest ones as sample, with their limit.
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
                sample = _replaced(
                    sample,
                    sizes == 0,
                    Sampling("min", self.size, seed=self.sampling.seed).apply(tokens, self.shingle_size),
                )
            shingled = sample
        meta = self.meta.apply(Tokens(shingled.values, shingled.offsets), self.size)
        return Signature(Keys(meta.values, meta.offsets), None if self.threshold is None else sample, counts)

    def judge(self) -> Judge:
        """One super shingle in common, or the estimated resemblance."""
        if self.threshold is None:
            return Judge("keys", "common", 1)
        return Judge("sketch", "resemblance", self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """1 − q(u), the probability of a common run of k, for documents of 1,000 shingles."""
        union = max(self.size, round(TYPICAL * self.sampling.ratio(TYPICAL) * 2 / (1 + similarity)))
        return chance_of_run(union, self.size, similarity)

    def candidate_probability_at(self, similarity: float, tokens: int) -> float:
        """The same for documents of this length; a sample too short for a super shingle is one, or none."""
        return self._averaged(similarity, tokens, lambda union, _: self._run(union, similarity))

    def found_probability(self, similarity: float, tokens: int) -> float:
        """The same, and the estimate reaches the threshold, if there is one."""
        threshold = self.threshold
        if threshold is None:
            return self.candidate_probability_at(similarity, tokens)
        return self._averaged(
            similarity,
            tokens,
            lambda union, values: self._run(union, similarity) * reaching(union, values, similarity, threshold),
        )

    def _averaged(self, similarity: float, tokens: int, found: Callable[[int, int], float]) -> float:
        n = distinct_shingles(tokens, self.shingle_size)
        values = round(2 * n / (1 + similarity))
        if self.sampling.kind == "min":
            return found(min(values, self.sampling.number), values)
        return averaged(values, self.sampling.ratio(tokens), lambda union: found(union, values))

    def _run(self, union: int, similarity: float) -> float:
        """The chance of a common super shingle, given the number of sampled values of both documents together."""
        if union >= self.size:
            return chance_of_run(union, self.size, similarity)
        return 0.0 if self.short == "keep" else similarity ** (union or self.size)

    def describe(self) -> dict[str, Any]:
        """How super shingles are made, and how short documents are handled."""
        groups = [list(group) for group in self.sampling.groups]
        return {
            "sketch": str(self.sampling), "groups": groups, "size": self.size, "meta": str(self.meta),
            "short": self.short, **({"seed": self.sampling.seed} if self.sampling.seed else {}),
        }  # fmt: skip


def chance_of_run(trials: int, length: int, chance: float) -> float:
    """The probability of `length` successes in a row in `trials` trials."""
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
    sampling, unit = read_sampling(given, seed=settings.seed), settings.shingle_unit
    return SuperShingles(size, settings.shingle_size, sampling, meta, short, threshold, unit)


register(
    MethodSpec(
        SuperShingles,
        settings=("threshold", "shingle_size", "shingle_unit", "seed"),
        options=(
            SKETCH,
            GROUPS,
            Option("super_size", "whole", "number of shingles per super shingle", 4),
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
