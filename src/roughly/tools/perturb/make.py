"""Copies of a corpus.

Every copy has a random stream of its own, named by seed, kind, source and number; so a copy does not depend on which
others are made, nor on the order of the input.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from roughly import checks
from roughly.errors import InputError
from roughly.text.canonical import words
from roughly.tools.corpus import Corpus
from roughly.tools.perturb.copy_kinds import KINDS
from roughly.tools.perturb.cut_text import CutText
from roughly.tools.perturb.inserted_terms import ADDED, term_list
from roughly.tools.perturb.recipe import Foreign, Recipe

SITES = 500
"""Frames: one is shared by all copies that were put into it."""
_LEAST_AIM = 0.05
_TRIES = 50


@dataclass(frozen=True, kw_only=True)
class PerturbRequest:
    """What copies to make."""

    kinds: tuple[str, ...] = ("words",)
    alpha: float = 9.0  # of ten, how much stays; see `kinds`
    every: int = 10  # kind words: words between two that may change
    added: str = "terms"  # kind words: where words that are put in come from
    versions: int = 3  # kind split: of a campaign
    copies: int = 1  # of each document and kind
    documents: int = 0  # how many are copied; 0: all
    seed: int = 0

    def __post_init__(self) -> None:
        checks.refuse(
            [
                *(line for kind in self.kinds for line in checks.one_of("kind", kind, KINDS)),
                *([] if self.kinds else ["no kind of copy is named; kinds are " + ", ".join(KINDS)]),
                *checks.share("alpha", self.alpha, most=10),
                *checks.whole("every", self.every, 1, 10**6),
                *checks.one_of("added", self.added, ADDED),
                *checks.whole("versions", self.versions, 1, 10**6),
                *checks.whole("copies", self.copies, 1, 10**6),
                *checks.whole("documents", self.documents, 0, 2**32),
                *checks.whole("seed", self.seed, 0, 2**63 - 1),
            ]
        )


@dataclass(frozen=True)
class LabelledCopy:
    """A copy and its label."""

    doc_id: str
    source: int  # number of the document in the corpus
    kind: str
    same: bool
    text: str
    parameters: dict[str, float | int | str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The parameters as JSON."""
        return json.dumps(self.parameters, sort_keys=True)


class Maker:
    """A corpus to copy from."""

    def __init__(self, corpus: Corpus, asked: PerturbRequest) -> None:
        self.corpus, self.asked = corpus, asked
        self._list = term_list(corpus, asked.added, asked.seed) if "words" in asked.kinds else []
        self._read = lru_cache(maxsize=256)(lambda place: CutText(corpus.texts[place].as_py()))

    def passage(self, place: int) -> CutText:
        """A document, cut at its tokens."""
        return self._read(place)

    def terms(self, place: int) -> list[str]:
        """The words that may be put into copies of a document."""
        return self._list or words(self.corpus.texts[place].as_py())

    def chosen(self) -> list[int]:
        """The documents that are copied, in order: all with a word in them, or a sample of these."""
        able = [place for place in range(len(self.corpus)) if len(self.passage(place))]
        if not able:
            raise InputError(f"{self.corpus.name} has no document with a word in it; there is nothing to copy")
        if not self.asked.documents or self.asked.documents >= len(able):
            return able
        return sorted(random.Random(self.asked.seed).sample(able, self.asked.documents))

    def copy(self, place: int, kind: str, number: int) -> LabelledCopy:
        """One copy of a document."""
        asked = self.asked
        name = f"{self.corpus.ids[place]}+{kind}{number}"
        spot = Spot(self, place, f"{asked.seed} {kind} {self.corpus.ids[place]} {number}")
        text = KINDS[kind].make(spot)
        used: dict[str, float | int | str] = {"alpha": asked.alpha, "seed": asked.seed, "number": number}
        if kind == "words":
            used |= {"every": asked.every, "added": asked.added}
        if kind == "split":
            used["version"] = spot.version
        return LabelledCopy(name, place, kind, KINDS[kind].same, text, used)


class Spot:
    """What an edit sees: one document and the collection around it (`recipe.Ground`)."""

    def __init__(self, maker: Maker, place: int, stream: str) -> None:
        self._maker, self._place, self._stream = maker, place, stream
        self.chance = random.Random(stream)
        self.passage: CutText = maker.passage(place)
        self.alpha, self.every, self.versions = maker.asked.alpha, maker.asked.every, maker.asked.versions
        self.aim = max(_LEAST_AIM, self.alpha / 10)
        self.version = 0

    def __len__(self) -> int:
        return len(self.passage)

    @property
    def terms(self) -> list[str]:
        """The words that may be put in."""
        return self._maker.terms(self._place)

    def again(self, stream: str) -> Spot:
        """The same document with a random stream that all its copies share."""
        own = self._maker.corpus.ids[self._place]
        return Spot(self._maker, self._place, f"{self._maker.asked.seed} {own} {stream}")

    def sentences(self) -> list[int]:
        """The tokens that begin a sentence or a line."""
        return self.passage.sentences

    def spelled(self, places: list[int]) -> list[str]:
        """The tokens at these places as they are written."""
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
        """Head and foot of a site drawn by chance."""
        site = self.chance.randrange(SITES)
        fixed = Spot(self._maker, self._place, f"{self._maker.asked.seed} site {site}")
        other = fixed._other(but_self=False)
        size = len(self._maker.passage(other))
        head = min(size, max(1, tokens * 2 // 3))
        return Foreign(other, 0, head), Foreign(other, max(0, size - max(1, tokens - head)), size)

    def made(self, recipe: Recipe) -> str:
        """The copy that a recipe says."""
        return self.passage.made(recipe, _Others(self._maker))

    def _other(self, but_self: bool = True) -> int:
        """Another document with a word in it; the same one only where there is hardly any other."""
        found = self._place
        for _ in range(_TRIES):
            found = self.chance.randrange(len(self._maker.corpus))
            if len(self._maker.passage(found)) and not (but_self and found == self._place):
                return found
        return found if len(self._maker.passage(found)) else self._place


class _Others(dict[object, CutText]):
    """Passages by number, read when asked for."""

    def __init__(self, maker: Maker) -> None:
        super().__init__()
        self._maker = maker

    def __missing__(self, place: object) -> CutText:
        assert isinstance(place, int)
        return self._maker.passage(place)


def perturb(corpus: Corpus, asked: PerturbRequest) -> Iterator[LabelledCopy]:
    """Copies of a corpus, by document, kind and number."""
    maker = Maker(corpus, asked)
    taken = set(corpus.ids)
    for place in maker.chosen():
        for kind in asked.kinds:
            for number in range(1, asked.copies + 1):
                copy = maker.copy(place, kind, number)
                if copy.doc_id in taken:
                    raise InputError(
                        f"{corpus.name} has a document {copy.doc_id!r}, as a copy would be called; rename it"
                    )
                yield copy
