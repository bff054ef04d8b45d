"""The one shape of every method: keys that make documents candidates, and the verdict that decides.

A method is a small, frozen, validated object that does no I/O. Engines and the index know nothing of any
particular method: they collapse documents that are equal at the method's `collapse` level, group the keys,
and judge pairs that share one as the method says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from roughly.features.sketch import Sketch
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a batch of documents.

    `values` is (documents, bands) where each document has one key a band; then a key counts within its band, and 0
    means no key in this band. Otherwise it is flat, document i owning `values[offsets[i]:offsets[i + 1]]`, and `probes`
    says which of them ask (true) and which only answer (false): a pair is formed by a shared key that at least one of
    the two asks for.
    """

    values: Hashes
    offsets: npt.NDArray[np.int64] | None = None
    probes: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """How two documents that share a key are judged."""

    on: Literal["text", "sketch", "keys"]  # exactly on full shingle sets; estimated on sketches; by keys in common
    measure: Literal["resemblance", "containment", "common"]  # common: equal values of the two sketches (or keys)
    threshold: float  # for "common" a whole number
    dates: int | None = None  # at most so many days apart (both dates known)
    lengths: float | None = None  # token counts within this share of the longer (0.2 = ±20 %)


class Method(Protocol):
    """One published method."""

    name: ClassVar[str]
    collapse: ClassVar[Literal["identical", "lexical"]]  # equal documents are collapsed before anything else
    equality: ClassVar[bool]  # equality at that level is the whole method; there are no keys

    @property
    def filters(self) -> Filters | None:
        """Filters that are applied to the text before keys and sketch; None: canonical tokens."""
        ...

    def keys(self, tokens: Tokens) -> Keys | None:
        """The keys of each document, or None where equality at the `collapse` level is the whole method."""
        ...

    def sketch(self, tokens: Tokens) -> Sketch | None:
        """What a pair is scored on; None where judging is on text or on keys."""
        ...

    def judge(self) -> Judge:
        """How a pair is judged."""
        ...

    def candidate_probability(self, similarity: float) -> float:
        """Chance that a pair of this similarity becomes a candidate."""
        ...

    def describe(self) -> dict[str, Any]:
        """What follows from the settings, for people and for run.json."""
        ...


def s_curve(method: Method, steps: int = 100) -> list[tuple[float, float]]:
    """Points (similarity, candidate probability) from 0 to 1."""
    return [(i / steps, method.candidate_probability(i / steps)) for i in range(steps + 1)]
