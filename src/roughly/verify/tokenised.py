"""A text beside its canonical tokens: what scores, diff, passages and kinds are all computed from.

Tokens are compared in canonical form (case, punctuation and markup do not count), and results are shown in the
words of the original, so each token's place in the original is kept as well. Both are found on first use and once.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import InputError, SettingsError
from roughly.text.canonical import Tokens, spans, tokenise

Hashes = npt.NDArray[np.uint64]

_SURROGATE = re.compile("[\ud800-\udfff]")
_CHUNK = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")  # every other ASCII character separates tokens


class Reading:
    """One document as text and as tokens."""

    def __init__(self, text: str, name: str = "text") -> None:
        if not isinstance(text, str):
            remedy = "decode it first, for instance with .decode()" if isinstance(text, bytes) else "pass a str"
            raise InputError(f"{name} must be a string, not {type(text).__name__}; {remedy}")
        self.text = text

    @cached_property
    def tokens(self) -> Tokens:
        """The tokens as a column of one document."""
        return tokenise(pa.array([self._encodable], pa.large_string()))

    @cached_property
    def starts(self) -> list[int]:
        """Where each token starts, in characters; then the length of the text."""
        return [start for start, _ in self._spans] + [len(self.text)]

    @cached_property
    def ends(self) -> list[int]:
        """Where each token ends, in characters."""
        return [end for _, end in self._spans]

    @property
    def hashes(self) -> Hashes:
        """One hash a token."""
        return self.tokens.hashes

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return _quick_spans(self._encodable)

    @cached_property
    def _encodable(self) -> str:
        """The text without halves of surrogate pairs, which no UTF-8 can hold; character for character."""
        return _SURROGATE.sub("\ufffd", self.text)


def _quick_spans(text: str) -> list[tuple[int, int]]:
    """What `canonical.spans` gives, four times as fast where most words are ASCII, and so one token each."""
    found: list[tuple[int, int]] = []
    for match in _CHUNK.finditer(text):
        chunk, start = match[0], match.start()
        if chunk.isascii():
            found.append(match.span())
        else:
            found.extend((start + first, start + last) for first, last in spans(chunk))
    return found


def check_count(name: str, value: int) -> None:
    """Refuse a count below 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingsError(f"{name} must be a whole number from 0, not {value!r}")
