"""Any method with its candidates judged exactly: the keys are the method's, the verdict is that of the texts.

    A and B are duplicates  ⇔  they share a key of the method  and  r(A, B) or c(A, B), computed exactly, ≥ t

Windows of dates and lengths are the method's too, and hold. What the method would have called duplicates by a key in
common, and what its sketches would have estimated too high, is then told apart; what it did not find stays unfound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from roughly.features.shingles import Sets
from roughly.methods.method import Judge, Keys, Method
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters


@dataclass(frozen=True)
class Verified:
    """A method, and the threshold that its candidates must reach."""

    method: Method
    measure: str
    threshold: float

    collapse: ClassVar[Literal["identical", "lexical"]] = "lexical"
    equality: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """That of the method."""
        return self.method.name

    @property
    def common(self) -> int:
        """That of the method."""
        return self.method.common

    @property
    def filters(self) -> Filters | None:
        """Those of the method: they make its keys, and are not applied to what is compared."""
        return self.method.filters

    def keys(self, tokens: Tokens) -> Keys | None:
        """Those of the method."""
        return self.method.keys(tokens)

    def sketch(self, tokens: Tokens) -> Sets | None:
        """None: pairs are judged on the text."""
        return None

    def counts(self, tokens: Tokens) -> dict[str, int]:
        """Those of the method."""
        return self.method.counts(tokens)

    def judge(self) -> Judge:
        """Exactly, on the shingle sets."""
        measure: Any = self.measure
        return replace(self.method.judge(), on="text", measure=measure, threshold=self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """That of the method."""
        return self.method.candidate_probability(similarity)

    def describe(self) -> dict[str, Any]:
        """That of the method."""
        return self.method.describe()
