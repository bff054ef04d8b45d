"""The one shape of every method: keys that make documents candidates, and the verdict that decides.

A method is a small, frozen, validated object that does no I/O. Engines and the index know nothing of any
particular method: they collapse documents that are equal at the method's `collapse` level, group the keys,
and verify pairs that share one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from roughly.features.shingles import Sets
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a batch of documents.

    `values` is (documents, bands) where each document has one key a band; then a key counts within its band, and
    a key of 0 is none. Otherwise it is flat, document i owning `values[offsets[i]:offsets[i + 1]]`, and `probes` says
    which of them ask (true) and which only answer (false): a pair is formed by a shared key that at least one of the
    two asks for.
    """

    values: Hashes
    offsets: npt.NDArray[np.int64] | None = None
    probes: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """How two documents that share a key are judged."""

    on: Literal["text", "sketch", "keys"]  # exactly, on their shingle sets; estimated; by what they have in common
    measure: Literal["resemblance", "containment", "common"]  # common: how many values or keys are equal
    threshold: float  # for "common" a whole number
    dates: int | None = None  # at most so many days apart, both dates known
    lengths: float | None = None  # token counts differ by at most this share of the longer


class Method(Protocol):
    """One published method."""

    collapse: ClassVar[Literal["identical", "lexical"]]
    equality: ClassVar[bool]  # equality at that level is the whole method; there are no keys

    @property
    def name(self) -> str:
        """As people call it."""
        ...

    @property
    def common(self) -> int:
        """Keys that more documents than this have are left out; 0: none is."""
        ...

    @property
    def filters(self) -> Filters | None:
        """What is applied to the text before keys and sketch are made."""
        ...

    def keys(self, tokens: Tokens) -> Keys | None:
        """The keys of each document, or None where equality at the `collapse` level is the whole method."""
        ...

    def sketch(self, tokens: Tokens) -> Sets | None:
        """What is kept of each document to judge a pair without its text, or None."""
        ...

    def counts(self, tokens: Tokens) -> dict[str, int]:
        """Of these documents, how many the method could not treat as the rest, by the name of the count."""
        ...

    def judge(self) -> Judge:
        """How pairs that share a key are judged."""
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
