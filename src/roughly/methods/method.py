"""The one shape of every method: a signature with keys that make documents candidates, and how pairs are judged.

A method is a small, frozen, validated object that does no I/O. Engines and the index know nothing of any
particular method: they collapse documents that are equal at the method's `collapse` level, group the keys,
and verify pairs that share one. To add a method: a file beside this one with a frozen dataclass of `Method` and
`register(MethodSpec(…))` (see `roughly.options`), and a page of docs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.features.sketch import Sketch
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a batch of documents.

    `values` is (documents, bands) where each document has one key per band; then a key counts within its band, and
    a key of 0 is none. Otherwise it is flat, document i owning `values[offsets[i]:offsets[i + 1]]`, and `probes` says
    which of them ask (true) and which only answer (false): a pair is formed by a shared key that at least one of the
    two asks for.
    """

    values: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64] | None = None
    probes: npt.NDArray[np.bool_] | None = None

    @property
    def banded(self) -> bool:
        """Whether a key counts within its band only."""
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
    """What a method keeps of a batch of documents."""

    keys: Keys | None = None  # None: equality at the `collapse` level is the whole method
    sketch: Sketch | None = None  # what a pair is judged on without its texts, where it is judged on a sketch
    counts: dict[str, int] = field(default_factory=dict)  # documents that were not signed as the rest, by reason


@dataclass(frozen=True, slots=True)
class Judge:
    """How two documents that share a key are judged."""

    on: Literal["text", "sketch", "keys"]  # exactly, on their shingle sets; estimated; by what they have in common
    measure: Literal["resemblance", "containment", "common"]  # common: how many values or keys are equal
    threshold: float  # for "common" a whole number
    dates: int | None = None  # at most so many days apart, both dates known
    lengths: float | None = None  # token counts differ by at most this share of the longer


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
    def common(self) -> int:
        """Keys that more documents than this have are left out; 0: none is."""
        return 0

    @property
    def filters(self) -> Filters | None:
        """What is applied to the text before it is signed."""
        return None

    @property
    def finds_passages(self) -> bool:
        """Whether a passage in common makes two documents candidates."""
        return False

    @abstractmethod
    def sign(self, tokens: Tokens) -> Signature:
        """Keys and sketch of each document, and counts of what could not be signed as the rest."""

    @abstractmethod
    def judge(self) -> Judge:
        """How pairs that share a key are judged."""

    def candidate_probability(self, similarity: float) -> float:
        """Chance that a pair of this similarity becomes a candidate; unless overridden, certain for equal ones only."""
        return 1.0 if similarity >= 1 else 0.0

    def describe(self) -> dict[str, Any]:
        """What follows from the settings, for people and for run.json."""
        return {}


def s_curve(method: Method, steps: int = 100) -> list[tuple[float, float]]:
    """Points (similarity, candidate probability) from 0 to 1."""
    return [(i / steps, method.candidate_probability(i / steps)) for i in range(steps + 1)]
