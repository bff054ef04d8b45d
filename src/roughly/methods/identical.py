"""`identical`: two documents are duplicates when their texts are equal, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from roughly.fast_dataclass import dataclass
from roughly.methods.method import Judge, Method, Signature
from roughly.options import MethodSpec, register

if TYPE_CHECKING:
    from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class Identical(Method):
    """Equal 128-bit fingerprints of the raw bytes (Broder 1997, §5.2, "identical")."""

    name: ClassVar[str] = "identical"
    collapse: ClassVar[Literal["identical", "lexical"]] = "identical"
    equality: ClassVar[bool] = True

    @property
    def finds(self) -> str:
        """Equal texts."""
        return "every pair of texts that are equal byte for byte, and no other"

    def sign(self, tokens: Tokens) -> Signature:
        """Nothing: equality is the whole method."""
        return Signature()

    def judge(self) -> Judge:
        """Equal or not."""
        return Judge("text", "resemblance", 1.0)


register(MethodSpec(Identical, place=1))
