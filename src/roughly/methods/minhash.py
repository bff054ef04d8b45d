"""`minhash`: word shingles, min-wise hashing and bands; every candidate verified.

Broder 1997, §2–3 defines the resemblance of two documents as that of their shingle sets and shows that two
sets have the same minimum under a random permutation with probability equal to it. `bands.py` turns that
into a promise of recall.

A shingle hash is 64 bits; the permutations are x → a·x + b mod 2³² with odd a on its high word, drawn from the
seed by a counter-based generator, so they are the same on every machine and for every Python. Each gives four
samples, its two ends from either side (`kernels/minhash.py` tells why the promise holds), and no band has two of one
permutation. The key of a band is a 64-bit hash of its samples and its number.

Departure from the paper: 40-bit Rabin fingerprints become 64-bit hashes, since 40 bits collide in
collections of today's size (Ye 2008, §4.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from roughly.methods import bands as banding
from roughly.methods import permutations
from roughly.methods.method import Judge, Keys
from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class MinHash:
    """Min-hash bands over word shingles, derived from a threshold and a recall."""

    threshold: float
    recall: float
    shingle_size: int
    bands: int
    rows: int
    seed: int = 0

    name: ClassVar[str] = "minhash"
    collapse: ClassVar[Literal["identical", "lexical"]] = "lexical"
    equality: ClassVar[bool] = False
    common: ClassVar[int] = 0
    filters: ClassVar[None] = None

    def keys(self, tokens: Tokens) -> Keys:
        """One key a band for every document."""
        from roughly.kernels.minhash import band_keys

        multipliers, increments = self._permutations
        return Keys(
            band_keys(tokens.hashes, tokens.offsets, self.shingle_size, multipliers, increments, self.bands, self.rows)
        )

    @cached_property
    def _permutations(self) -> tuple[permutations.Words, permutations.Words]:
        from roughly.kernels.minhash import orderings

        return permutations.draw(orderings(self.bands, self.rows), self.seed)

    def sketch(self, tokens: Tokens) -> None:
        """None: pairs are judged on the text."""
        return None

    def counts(self, tokens: Tokens) -> dict[str, int]:
        """Nothing beyond what has no key."""
        return {}

    def judge(self) -> Judge:
        """Exactly, on the shingle sets."""
        return Judge("text", "resemblance", self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """1 − (1 − J^rows)^bands."""
        return banding.candidate_probability(similarity, self.bands, self.rows)

    def describe(self) -> dict[str, Any]:
        """Bands and rows."""
        return {"bands": self.bands, "rows": self.rows}
