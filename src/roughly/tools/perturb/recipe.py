"""What an edit says is to be done with a text, without saying how texts are held.

An edit looks at a text through its tokens: how many there are, and which begin a sentence or a paragraph. What it
gives back is a *recipe*: pieces to be put together, or words to be put in place of others. Whoever holds the text
makes the copy: `passage.py` in plain strings, for any script; the benchmarks in bytes with a hash for every token,
fifty megabytes a second. So the edits have one home.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol


@dataclass(slots=True)  # not frozen: millions are made
class Own:
    """The text's own tokens first … last − 1, each with the separators that follow it."""

    first: int
    last: int


@dataclass(slots=True)
class Foreign:
    """Tokens of another text: `where` is for the one who holds it."""

    where: Any
    first: int
    last: int


@dataclass(slots=True)
class New:
    """Words that stand in no text."""

    words: str


Piece = Own | Foreign | New


@dataclass(slots=True)
class Spliced:
    """Pieces one after another."""

    pieces: Sequence[Piece]


@dataclass(slots=True)
class Substituted:
    """The tokens at some places, in order, replaced by single tokens of other texts."""

    places: list[int]
    donors: list[Foreign]


@dataclass(slots=True)
class Rewritten:
    """The tokens at some places, in order, replaced by other words; a space in one makes two tokens of it."""

    places: list[int]
    words: list[str]


@dataclass(slots=True)
class Respaced:
    """The same tokens with other space between them."""


Recipe = Spliced | Substituted | Rewritten | Respaced


class Ground(Protocol):
    """What an edit sees of a text and of the texts around it."""

    chance: Random
    aim: float  # the resemblance to aim at, above 0

    def __len__(self) -> int:
        """How many tokens the text has: one or more."""
        ...

    def sentences(self) -> list[int]:
        """The tokens that begin a sentence or a line, the first one included."""
        ...

    def spelled(self, places: list[int]) -> list[str]:
        """The tokens at these places as they are written."""
        ...

    def foreign(self, tokens: int) -> Foreign:
        """A run of so many tokens, or fewer, from somewhere else."""
        ...

    def donors(self, count: int) -> list[Foreign]:
        """Single tokens from somewhere else."""
        ...

    def frame(self, tokens: int) -> tuple[Foreign, Foreign]:
        """Head and foot, together so many tokens, of a site drawn by chance; the frame of a site never changes."""
        ...
