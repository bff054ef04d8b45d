"""Candidates for containment: a few of a document's shingles, looked up among all shingles of the others.

Bands bound resemblance only: a short document wholly inside a long one resembles it hardly at all. So with
`measure="containment"` each document *looks up* its s smallest shingle hashes (a uniform sample of its shingles, the
MIN_s of Broder 1997, §3) and *is found by* all of its shingles. A shingle of A is in B with probability c(A, B), so

    candidate_probability(c) ≥ 1 − (1 − c)^s

(sampling is without replacement, which only helps). `probes` is the least s with the required recall.
A document with s shingles or fewer looks up all of them.

Cost: one key per distinct shingle, about 1.3 bytes of spill per byte of text.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from roughly.fast_dataclass import dataclass
from roughly.methods.method import Judge, Keys, Method, Signature

if TYPE_CHECKING:
    from roughly.text.canonical import Tokens


def fewest_probes(threshold: float, recall: float) -> int:
    """The least s with 1 − (1 − threshold)^s ≥ recall."""
    if threshold >= 1:
        return 1
    probes = max(1, math.ceil(math.log1p(-recall) / math.log1p(-threshold)))
    while -math.expm1(probes * math.log1p(-threshold)) < recall:  # rounding only
        probes += 1
    return probes


@dataclass(frozen=True)
class Contained(Method):
    """Shingle probes, derived from a containment threshold and a recall."""

    threshold: float
    recall: float
    shingle_size: int
    probes: int
    shingle_unit: str = "word"

    name: ClassVar[str] = "minhash"
    finds_passages: ClassVar[bool] = True

    def sign(self, tokens: Tokens) -> Signature:
        """Every distinct shingle of each document is a key; the smallest `probes` of them are probes."""
        import numpy as np

        from roughly.features.shingle_sets import shingle_sets

        sets = shingle_sets(tokens, self.shingle_size)
        sizes = np.diff(sets.offsets)
        position = np.arange(len(sets.values)) - np.repeat(sets.offsets[:-1], sizes)
        return Signature(Keys(sets.values, sets.offsets, position < self.probes))

    def judge(self) -> Judge:
        """Exactly, on the shingle sets."""
        return Judge("text", "containment", self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """1 − (1 − c)^probes."""
        return 1.0 if similarity >= 1 else -math.expm1(self.probes * math.log1p(-similarity))

    def describe(self) -> dict[str, Any]:
        """The number of probes per document."""
        return {"probes": self.probes}
