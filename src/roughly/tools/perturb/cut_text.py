"""A text cut at its tokens, and copies of it made from recipes.

Tokens are canonical ones, so this works for any script. A token includes what follows it up to the next one (a space, a
comma), and the first also what comes before it; pieces can therefore be joined in any order. If a piece ends with a
token, a space is added, so that no two tokens merge into one.
"""

from __future__ import annotations

import re
from functools import cached_property

from roughly.tools.perturb.recipe import Foreign, New, Own, Piece, Recipe, Respaced, Rewritten, Spliced
from roughly.verify.tokenised import Reading

_STOPS = re.compile(r"[.!?…。！？؟।\n]")
_PARAGRAPH = re.compile(r"\n\s*\n")
_SPACE = re.compile(r"\s+")


class CutText:
    """A text and the positions of its tokens."""

    def __init__(self, text: str) -> None:
        reading = Reading(text)
        self.text, self.starts, self.ends = text, reading.starts, reading.ends

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def sentences(self) -> list[int]:
        """The tokens that begin a sentence or a line."""
        return self._breaks(_STOPS)

    @cached_property
    def lines(self) -> list[int]:
        """The tokens that begin a line."""
        return self._breaks(re.compile("\n"))

    @cached_property
    def paragraphs(self) -> list[int]:
        """The tokens that begin a paragraph: after an empty line; without any, a line; without any, a sentence."""
        for found in (self._breaks(_PARAGRAPH), self.lines, self.sentences):
            if len(found) > 1:
                return found
        return found

    def cut(self, first: int, last: int) -> str:
        """Tokens first … last − 1 with what follows each, and a space if nothing does."""
        if first >= last:
            return ""
        text = self.text[0 if first == 0 else self.starts[first] : self.starts[last]]
        return text + " " if self.ends[last - 1] == len(self.text) and last == len(self) else text

    def spelled(self, places: list[int]) -> list[str]:
        """The tokens at these positions as they are written."""
        return [self.text[self.starts[at] : self.ends[at]] for at in places]

    def made(self, recipe: Recipe, others: dict[object, CutText]) -> str:
        """The copy made by a recipe; `others` are the texts of its foreign pieces."""
        if isinstance(recipe, Respaced):
            return self._respaced()
        if isinstance(recipe, Spliced):
            if recipe.pieces == [Own(0, len(self))]:
                return self.text
            return "".join(self._piece(piece, others) for piece in recipe.pieces)
        if isinstance(recipe, Rewritten):
            return self._with(recipe.places, recipe.words)
        words = [others[donor.where].spelled([donor.first])[0] for donor in recipe.donors]
        return self._with(recipe.places, words)

    def _piece(self, piece: Piece, others: dict[object, CutText]) -> str:
        if isinstance(piece, Own):
            return self.cut(piece.first, piece.last)
        if isinstance(piece, Foreign):
            return others[piece.where].cut(piece.first, piece.last)
        assert isinstance(piece, New)
        return piece.words + " "

    def _with(self, places: list[int], words: list[str]) -> str:
        parts, done = [], 0
        for at, word in zip(places, words, strict=True):
            parts += [self.text[done : self.starts[at]], word]
            done = self.ends[at]
        return "".join([*parts, self.text[done:]])

    def _respaced(self) -> str:
        """A line break for each run of space between tokens, or two spaces if it was a line break already."""
        parts = [self.text[: self.starts[0]] if len(self) else self.text]
        for at in range(len(self)):
            between = self.text[self.ends[at] : self.starts[at + 1]]
            wide = _SPACE.sub(lambda found: "\n" if found[0] != "\n" else "  ", between)
            parts += [self.text[self.starts[at] : self.ends[at]], wide]
        return "".join(parts)

    def _breaks(self, pattern: re.Pattern[str]) -> list[int]:
        inside = (
            at for at in range(1, len(self)) if pattern.search(self.text[self.ends[at - 1] : self.starts[at]])
        )  # fmt: skip
        return [0, *inside] if len(self) else []
