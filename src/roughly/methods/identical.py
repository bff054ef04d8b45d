"""`identical`: two documents are duplicates when their texts are equal, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from roughly.methods.method import Judge
from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class Identical:
    """Equal 128-bit fingerprints of the raw bytes (Broder 1997, §5.2, "identical")."""

    name: ClassVar[str] = "identical"
    collapse: ClassVar[Literal["identical", "lexical"]] = "identical"
    equality: ClassVar[bool] = True
    common: ClassVar[int] = 0
    filters: ClassVar[None] = None

    def keys(self, tokens: Tokens) -> None:
        """None: equality is the whole method."""
        return None

    def sketch(self, tokens: Tokens) -> None:
        """None: pairs are judged on the text."""
        return None

    def counts(self, tokens: Tokens) -> dict[str, int]:
        """Nothing beyond what has no key."""
        return {}

    def judge(self) -> Judge:
        """Equal or not; there is nothing between."""
        return Judge("text", "resemblance", 1.0)

    def candidate_probability(self, similarity: float) -> float:
        """Only equal documents are candidates."""
        return 1.0 if similarity >= 1 else 0.0

    def describe(self) -> dict[str, Any]:
        """Nothing follows."""
        return {}
