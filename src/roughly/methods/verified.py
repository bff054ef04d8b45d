"""Any method with its candidates judged exactly: the keys are the method's, the verdict is made on the texts.

    A and B are duplicates  ⇔  they share a key of the method  and  r(A, B) or c(A, B), computed exactly, ≥ t

The method's windows of dates and lengths apply too. Pairs that only share a key, or whose sketches overestimate the
similarity, are rejected; pairs that the method does not find are still missed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from roughly.fast_dataclass import dataclass
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
    def unit(self) -> str:
        """That of the method."""
        return self.method.unit

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
        """Whether the method finds passages."""
        return self.method.finds_passages

    def sign(self, tokens: Tokens) -> Signature:
        """The keys of the method; no sketch, since pairs are judged on the text."""
        return replace(self.method.sign(tokens), sketch=None)

    def judge(self) -> Judge:
        """Exactly, on the shingle sets."""
        measure: Any = self.measure
        return replace(self.method.judge(), on="text", measure=measure, threshold=self.threshold, ignore_common=False)

    def candidate_probability(self, similarity: float) -> float:
        """That of the method."""
        return self.method.candidate_probability(similarity)

    def candidate_probability_at(self, similarity: float, tokens: int) -> float:
        """That of the method."""
        return self.method.candidate_probability_at(similarity, tokens)

    @property
    def finds(self) -> str:
        """What the method finds, if it reaches the threshold."""
        found = self.method.finds
        return found and f"pairs with a {self.measure} of at least {self.threshold:g} among {found}"

    def describe(self) -> dict[str, Any]:
        """That of the method."""
        return self.method.describe()
