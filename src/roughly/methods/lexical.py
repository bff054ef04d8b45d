"""`lexical`: two documents are duplicates when their canonical token sequences are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from roughly.fast_dataclass import dataclass
from roughly.methods.method import Judge, Method, Signature
from roughly.options import MethodSpec, register

if TYPE_CHECKING:
    from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class Lexical(Method):
    """Equal 128-bit fingerprints of the canonical tokens (Broder 1997, §5.2, "lexically equivalent").

    Case, punctuation, white space and markup do not count; see the page on the canonical form.
    """

    name: ClassVar[str] = "lexical"
    equality: ClassVar[bool] = True

    @property
    def finds(self) -> str:
        """Equal words."""
        return "every pair with the same words in the same order, and no other"

    def sign(self, tokens: Tokens) -> Signature:
        """Nothing: equality is the whole method."""
        return Signature()

    def judge(self) -> Judge:
        """Equal or not."""
        return Judge("text", "resemblance", 1.0)


register(MethodSpec(Lexical, place=2))
