"""Any method with its candidates judged exactly: the keys are the method's, the verdict is that of the texts.

    A and B are duplicates  ⇔  they share a key of the method  and  r(A, B) or c(A, B), computed exactly, ≥ t

Windows of dates and lengths are the method's too, and hold. What the method would have called duplicates by a key in
common, and what its sketches would have estimated too high, is then told apart; what it did not find stays unfound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from roughly.methods.method import Judge, Method, Signature

if TYPE_CHECKING:
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters


@dataclass(frozen=True)
class Verified(Method):
    """A method, and the threshold that its candidates must reach."""

    method: Method
    measure: str
    threshold: float

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

    @property
    def finds_passages(self) -> bool:
        """Whether the method does."""
        return self.method.finds_passages

    def sign(self, tokens: Tokens) -> Signature:
        """The keys of the method; no sketch, for pairs are judged on the text."""
        return replace(self.method.sign(tokens), sketch=None)

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
