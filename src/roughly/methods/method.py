"""The interface of every method: a signature with keys that make documents candidates, and how pairs are judged.

A method is a small, frozen, validated object that does no I/O. Engines and the index know nothing of any
particular method: they collapse documents that are equal at the method's `collapse` level, group the keys,
and verify pairs that share one. To add a method: a file beside this one with a frozen dataclass of `Method` and
`register(MethodSpec(…))` (see `roughly.options`), and a page of docs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from roughly.fast_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.features.sketch import Sketch
    from roughly.kernels.text_signing import BandSampling
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters


NO_CHANCE = "which words a copy changes decides, so there is no chance by resemblance or length"
"""Why a method that compares terms of a collection prints no probability."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a batch of documents.

    `values` is (documents, bands) if each document has one key per band; then a key belongs to its band, and a key of 0
    is none. Otherwise it is flat, document i owning `values[offsets[i]:offsets[i + 1]]`, and `probes` says which of
    them are looked up (true) and which are only found (false): a shared key makes a pair if it is a probe of at least
    one of the two.
    """

    values: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64] | None = None
    probes: npt.NDArray[np.bool_] | None = None

    @property
    def banded(self) -> bool:
        """Whether a key belongs to its band."""
        return self.offsets is None

    def missing(self) -> npt.NDArray[np.bool_]:
        """Documents that have no key."""
        none: npt.NDArray[np.bool_]
        if self.offsets is None:
            none = (self.values == 0).all(axis=1)
        else:
            none = self.offsets[1:] == self.offsets[:-1]
        return none


@dataclass(frozen=True, slots=True)
class Signature:
    """The signatures of a batch of documents."""

    keys: Keys | None = None  # None: equality at the `collapse` level is the whole method
    sketch: Sketch | None = None  # what a pair is judged on without its texts, if it is judged on a sketch
    counts: dict[str, int] = field(default_factory=dict)  # documents that were not signed like the others, by reason


@dataclass(frozen=True, slots=True)
class Judge:
    """How two documents that share a key are judged."""

    on: Literal["text", "sketch", "keys"]  # exactly, on their shingle sets; estimated on sketches; by common keys
    measure: Literal["resemblance", "containment", "common"]  # common: the number of equal values or keys
    threshold: float  # for "common" a whole number
    dates: int | None = None  # most days between the two; an unknown date is near to none
    lengths: float | None = None  # token counts differ by at most this fraction of the longer
    ignore_common: bool = False  # common keys do not count in estimates, except for documents that consist of them


class Method(ABC):
    """One published method."""

    collapse: ClassVar[Literal["identical", "lexical"]] = "lexical"
    equality: ClassVar[bool] = False  # equality at that level is the whole method; there are no keys
    units: ClassVar[str] = "shingles"  # what sketches are sets of

    @property
    @abstractmethod
    def name(self) -> str:
        """As people call it."""

    @property
    def unit(self) -> str:
        """What its shingles are made of: word or character."""
        return str(getattr(self, "shingle_unit", "word"))

    @property
    def common(self) -> int:
        """Keys of more documents than this are left out; 0: no limit."""
        return 0

    @property
    def filters(self) -> Filters | None:
        """The filters applied to the text before it is signed."""
        return None

    @property
    def finds_passages(self) -> bool:
        """Whether any passage in common makes two documents candidates."""
        return False

    @property
    def band_sampling(self) -> BandSampling | None:
        """The min-hash bands of the canonical tokens, where these are all that `sign` makes: then texts can be signed
        in one pass."""
        return None

    @abstractmethod
    def sign(self, tokens: Tokens) -> Signature:
        """Keys and sketch of each document, and counts of those that could not be signed like the others."""

    @abstractmethod
    def judge(self) -> Judge:
        """How pairs that share a key are judged."""

    def candidate_probability(self, similarity: float) -> float:
        """Probability that a pair of this similarity becomes a candidate; unless overridden, 1 for equal ones and 0
        otherwise."""
        return 1.0 if similarity >= 1 else 0.0

    def candidate_probability_at(self, similarity: float, tokens: int) -> float:
        """The same for documents of this length; unless overridden, it does not depend on it."""
        del tokens
        return self.candidate_probability(similarity)

    def found_probability(self, similarity: float, tokens: int) -> float:
        """Probability that a pair of this similarity and length is found: that it is a candidate, and judged to be a
        duplicate. Unless overridden, every candidate that reaches the threshold is."""
        return self.candidate_probability_at(similarity, tokens)

    @property
    def finds(self) -> str:
        """Which pairs are found, in words, where that does not depend on the similarity: then there is no S-curve."""
        return ""

    def describe(self) -> dict[str, Any]:
        """Parameters derived from the settings, for people and for run.json."""
        return {}


def s_curve(method: Method, steps: int = 100) -> list[tuple[float, float]]:
    """Points (similarity, candidate probability) from 0 to 1."""
    return [(i / steps, method.candidate_probability(i / steps)) for i in range(steps + 1)]
