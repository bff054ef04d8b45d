"""A text with its canonical tokens, from which scores, diff, passages and kinds are computed.

Tokens are compared in canonical form (case, punctuation and markup do not count), and results are shown in the words of
the original, so each token's position in the original is stored as well. Both are computed once, on first use.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import InputError, SettingsError
from roughly.text.canonical import Tokens, spans, tokenise, units_of

Hashes = npt.NDArray[np.uint64]

_SURROGATE = re.compile("[\ud800-\udfff]")
_IN_TOKENS = np.array([code == 128 or chr(code).isalnum() for code in range(129)])
"""Which ASCII characters are in tokens; the last stands for all that are not ASCII."""


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

    def units(self, unit: str) -> Tokens:
        """What shingles are made of: the tokens, or their characters."""
        return self.tokens if unit == "word" else units_of(pa.array([self._encodable], pa.large_string()), unit)

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
        """One hash per token."""
        return self.tokens.hashes

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return _quick_spans(self._encodable)

    @cached_property
    def _encodable(self) -> str:
        """The text without lone surrogates, which UTF-8 cannot encode; of the same length."""
        return _SURROGATE.sub("\ufffd", self.text)


def _quick_spans(text: str) -> list[tuple[int, int]]:
    """The result of `canonical.spans`, twice as fast or more if most words are ASCII, and so one token each."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    is_inside = np.r_[False, _IN_TOKENS[np.minimum(codes, 128)], False]
    edges = np.flatnonzero(is_inside[1:] != is_inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    beyond = np.r_[0, np.cumsum(codes >= 128)]  # characters beyond ASCII before each place
    is_ascii = beyond[starts] == beyond[ends]
    words = list(zip(starts.tolist(), ends.tolist(), strict=True))
    found: list[tuple[int, int]] = []
    done = 0
    for other in np.flatnonzero(~is_ascii).tolist():
        start, end = words[other]
        found += words[done:other]
        found.extend((start + first, start + last) for first, last in spans(text[start:end]))
        done = other + 1
    return found + words[done:]


def check_count(name: str, value: int) -> None:
    """Refuse a count below 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingsError(f"{name} must be a whole number from 0, not {value!r}")
