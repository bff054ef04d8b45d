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
    filters: ClassVar[None] = None
    equality: ClassVar[bool] = True

    def keys(self, tokens: Tokens) -> None:
        """None: equality is the whole method."""
        return None

    def sketch(self, tokens: Tokens) -> None:
        """None: nothing is judged on sketches."""
        return None

    def judge(self) -> Judge:
        """Equal or not."""
        return Judge("keys", "common", 1)

    def candidate_probability(self, similarity: float) -> float:
        """Only equal documents are candidates."""
        return 1.0 if similarity >= 1 else 0.0

    def describe(self) -> dict[str, Any]:
        """Nothing follows."""
        return {}
