"""A throwaway method, whole: the one file that it takes to add a method. Documents that begin alike are duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.options import MethodSpec, Option

if TYPE_CHECKING:
    from roughly.text.canonical import Tokens


@dataclass(frozen=True)
class FirstWords(Method):
    """Equal first words."""

    first_words: int = 3

    name: ClassVar[str] = "first-words"

    def sign(self, tokens: Tokens) -> Signature:
        """One key for every document that is not empty."""
        import numpy as np

        starts, lengths = tokens.offsets[:-1], np.diff(tokens.offsets)
        keys = np.zeros((len(tokens), 1), np.uint64)
        for place in range(self.first_words):
            longer = lengths > place
            keys[longer, 0] = keys[longer, 0] * np.uint64(31) + tokens.hashes[starts[longer] + place]
        return Signature(Keys(keys))

    def judge(self) -> Judge:
        """The key in common."""
        return Judge("keys", "common", 1)

    def describe(self) -> dict[str, Any]:
        """How many words."""
        return {"first_words": self.first_words}


SPEC = MethodSpec(
    FirstWords,
    options=(Option("first_words", "whole", "words that duplicates begin with", 3),),
    tuned={"first_words": (2, 3)},
)
