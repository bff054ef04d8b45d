"""What an edit sees: one document, and the rest of the collection."""

from __future__ import annotations

import random
from typing import Any, Protocol

from roughly.tools.corpus import Corpus
from roughly.tools.perturb.cut_text import CutText
from roughly.tools.perturb.recipe import Foreign, Recipe

SITES = 500
"""Number of site frames; copies with the same frame share it."""
_LEAST_AIM = 0.05
_TRIES = 50


class CopySource(Protocol):
    """A corpus to copy from."""

    corpus: Corpus
    request: Any  # the request: seed, alpha, every, versions

    def passage(self, place: int) -> CutText:
        """A document, cut at its tokens."""
        ...

    def terms(self, place: int) -> list[str]:
        """The words that may be inserted into copies of a document."""
        ...


class Spot:
    """What an edit sees: one document and the rest of the collection (`recipe.Ground`)."""

    def __init__(self, maker: CopySource, place: int, stream: str) -> None:
        self._maker, self._place, self._stream = maker, place, stream
        self.chance = random.Random(stream)
        self.passage: CutText = maker.passage(place)
        self.alpha, self.every, self.versions = maker.request.alpha, maker.request.every, maker.request.versions
        self.aim = max(_LEAST_AIM, self.alpha / 10)
        self.version = 0

    def __len__(self) -> int:
        return len(self.passage)

    @property
    def terms(self) -> list[str]:
        """The words that may be inserted."""
        return self._maker.terms(self._place)

    def again(self, stream: str) -> Spot:
        """The same document with a random stream that all its copies share."""
        own = self._maker.corpus.ids[self._place]
        return Spot(self._maker, self._place, f"{self._maker.request.seed} {own} {stream}")

    def sentences(self) -> list[int]:
        """The tokens that begin a sentence or a line."""
        return self.passage.sentences

    def spelled(self, places: list[int]) -> list[str]:
        """The tokens at these positions as they are written."""
        return self.passage.spelled(places)

    def foreign(self, tokens: int) -> Foreign:
        """A run of tokens from another document."""
        other = self._other()
        size = len(self._maker.passage(other))
        first = int(self.chance.random() * max(1, size - tokens))
        return Foreign(other, first, min(size, first + tokens))

    def foreign_unit(self, paragraphs: bool) -> Foreign:
        """A sentence or a paragraph of another document."""
        other = self._other()
        found = self._maker.passage(other)
        begins = found.paragraphs if paragraphs else found.sentences
        at = self.chance.randrange(len(begins))
        return Foreign(other, begins[at], begins[at + 1] if at + 1 < len(begins) else len(found))

    def donors(self, count: int) -> list[Foreign]:
        """Single tokens from other documents."""
        return [self.foreign(1) for _ in range(count)]

    def frame(self, tokens: int) -> tuple[Foreign, Foreign]:
        """Header and footer of a random site."""
        site = self.chance.randrange(SITES)
        fixed = Spot(self._maker, self._place, f"{self._maker.request.seed} site {site}")
        other = fixed._other(but_self=False)
        size = len(self._maker.passage(other))
        head = min(size, max(1, tokens * 2 // 3))
        return Foreign(other, 0, head), Foreign(other, max(0, size - max(1, tokens - head)), size)

    def made(self, recipe: Recipe) -> str:
        """The copy made by a recipe."""
        return self.passage.made(recipe, _Others(self._maker))

    def _other(self, but_self: bool = True) -> int:
        """Another document with a word in it; the same one only if there is hardly any other."""
        found = self._place
        for _ in range(_TRIES):
            found = self.chance.randrange(len(self._maker.corpus))
            if len(self._maker.passage(found)) and not (but_self and found == self._place):
                return found
        return found if len(self._maker.passage(found)) else self._place


class _Others(dict[object, CutText]):
    """Texts by number, read on demand."""

    def __init__(self, maker: CopySource) -> None:
        super().__init__()
        self._maker = maker

    def __missing__(self, place: object) -> CutText:
        assert isinstance(place, int)
        return self._maker.passage(place)
