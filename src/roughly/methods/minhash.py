"""`minhash`: word shingles, min-wise hashing and bands; every candidate verified.

Broder 1997, §2–3 defines the resemblance of two documents as that of their shingle sets and shows that two
sets have the same minimum under a random permutation with probability equal to it. `bands.py` turns that into a
guarantee of recall.

A shingle hash is 64 bits; the permutations are x → a·x + b mod 2³² with odd a on its high word, drawn from the
seed by a counter-based generator, so they are the same on every machine and for every Python. Each gives four samples,
two from either end (`kernels/minhash.py` says why the guarantee holds), and no band has two of one permutation. The key
of a band is a 64-bit hash of its samples and its number.

Departure from the paper: 40-bit Rabin fingerprints become 64-bit hashes, since 40 bits collide in
collections of today's size (Ye 2008, §4.3).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from roughly.fast_dataclass import dataclass
from roughly.methods import bands as banding
from roughly.methods import permutations
from roughly.methods.contained import Contained, fewest_probes
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.options import MethodSpec, register

if TYPE_CHECKING:
    from roughly.kernels.text_signing import BandSampling
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class MinHash(Method):
    """Min-hash bands over word shingles, derived from a threshold and a recall."""

    threshold: float
    recall: float
    shingle_size: int
    bands: int
    rows: int
    seed: int = 0
    shingle_unit: str = "word"

    name: ClassVar[str] = "minhash"

    def sign(self, tokens: Tokens) -> Signature:
        """One key per band for every document."""
        from roughly.kernels.minhash import band_keys

        return Signature(Keys(band_keys(tokens.hashes, tokens.offsets, *self.band_sampling)))

    @cached_property
    def band_sampling(self) -> BandSampling:
        """The bands, over permutations drawn from the seed."""
        from roughly.kernels.minhash import orderings
        from roughly.kernels.text_signing import BandSampling

        drawn = permutations.draw(orderings(self.bands, self.rows), self.seed)
        return BandSampling(self.shingle_size, *drawn, self.bands, self.rows)

    def judge(self) -> Judge:
        """Exactly, on the shingle sets."""
        return Judge("text", "resemblance", self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """1 − (1 − J^rows)^bands."""
        return banding.candidate_probability(similarity, self.bands, self.rows)

    def describe(self) -> dict[str, Any]:
        """Bands and rows."""
        return {"bands": self.bands, "rows": self.rows}


def _make(settings: Settings, _: object) -> Method:
    if settings.measure == "containment":
        probes = fewest_probes(settings.threshold, settings.recall)
        return Contained(settings.threshold, settings.recall, settings.shingle_size, probes, settings.shingle_unit)
    if settings.bands is not None and settings.rows is not None:
        bands, rows = settings.bands, settings.rows
    else:
        bands, rows = banding.choose(settings.threshold, settings.recall)
    return MinHash(
        settings.threshold, settings.recall, settings.shingle_size, bands, rows, settings.seed, settings.shingle_unit
    )


register(
    MethodSpec(
        MinHash,
        settings=("threshold", "recall", "measure", "shingle_size", "shingle_unit", "bands", "rows", "seed"),
        has_curve=True,
        maker=_make,
        tuned={"threshold": (0.5, 0.6, 0.7, 0.8, 0.9), "shingle_size": (3, 5, 10)},
        place=3,
    )
)
