"""The instructions of an edit, independent of how texts are stored.

An edit sees the tokens of a text: their number, and which begin a sentence or a paragraph. It returns a *recipe*:
pieces to be joined, or words to be replaced. The owner of the text makes the copy: `cut_text.py` with plain strings,
for any script; the benchmarks with bytes and a hash per token, fifty megabytes per second. So the edits are written
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from roughly.fast_dataclass import dataclass


@dataclass(slots=True)  # not frozen: millions are made
class Own:
    """The text's own tokens first … last − 1, each with the separators that follow it."""

    first: int
    last: int


@dataclass(slots=True)
class Foreign:
    """Tokens of another text: `where` is understood by its owner."""

    where: Any
    first: int
    last: int


@dataclass(slots=True)
class New:
    """Words that are in no text."""

    words: str


Piece = Own | Foreign | New


@dataclass(slots=True)
class Spliced:
    """Pieces one after another."""

    pieces: Sequence[Piece]


@dataclass(slots=True)
class Substituted:
    """The tokens at some positions, in order, replaced by single tokens of other texts."""

    places: list[int]
    donors: list[Foreign]


@dataclass(slots=True)
class Rewritten:
    """The tokens at some positions, in order, replaced by other words; a space in one makes two tokens of it."""

    places: list[int]
    words: list[str]


@dataclass(slots=True)
class Respaced:
    """The same tokens with other space between them."""


Recipe = Spliced | Substituted | Rewritten | Respaced


class Ground(Protocol):
    """What an edit sees of a text and of the other texts."""

    chance: Random
    aim: float  # the resemblance to aim at, above 0

    def __len__(self) -> int:
        """The number of tokens of the text: one or more."""
        ...

    def sentences(self) -> list[int]:
        """The tokens that begin a sentence or a line, the first one included."""
        ...

    def spelled(self, places: list[int]) -> list[str]:
        """The tokens at these positions as they are written."""
        ...

    def foreign(self, tokens: int) -> Foreign:
        """A run of this number of tokens, or fewer, from another text."""
        ...

    def donors(self, count: int) -> list[Foreign]:
        """Single tokens from other texts."""
        ...

    def frame(self, tokens: int) -> tuple[Foreign, Foreign]:
        """Header and footer of a random site, together of this number of tokens; the frame of a site never changes."""
        ...
