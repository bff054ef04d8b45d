"""Copies of a corpus.

Every copy has its own random stream, seeded by seed, kind, source and number; so a copy does not depend on which others
are made, nor on the order of the input.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.text.canonical import words
from roughly.tools.corpus import Corpus
from roughly.tools.perturb.copy_kinds import KINDS
from roughly.tools.perturb.cut_text import CutText
from roughly.tools.perturb.inserted_terms import term_list
from roughly.tools.perturb.request import PerturbRequest
from roughly.tools.perturb.spot import Spot


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
    def parameters_json(self) -> str:
        """The parameters as JSON."""
        return json.dumps(self.parameters, sort_keys=True)


class Maker:
    """A corpus to copy from."""

    def __init__(self, corpus: Corpus, wanted: PerturbRequest) -> None:
        self.corpus, self.request = corpus, wanted
        self._list = term_list(corpus, wanted.added, wanted.seed) if "words" in wanted.kinds else []
        self._read = lru_cache(maxsize=256)(lambda place: CutText(corpus.texts[place].as_py()))

    def passage(self, place: int) -> CutText:
        """A document, cut at its tokens."""
        return self._read(place)

    def terms(self, place: int) -> list[str]:
        """The words that may be inserted into copies of a document."""
        return self._list or words(self.corpus.texts[place].as_py())

    def chosen(self) -> list[int]:
        """The documents that are copied, in order: all with a word in them, or a sample of these."""
        able = [place for place in range(len(self.corpus)) if len(self.passage(place))]
        if not able:
            raise InputError(f"{self.corpus.name} has no document with a word in it; there is nothing to copy")
        if not self.request.documents or self.request.documents >= len(able):
            return able
        return sorted(random.Random(self.request.seed).sample(able, self.request.documents))

    def copy(self, place: int, kind: str, number: int) -> LabelledCopy:
        """One copy of a document."""
        wanted = self.request
        name = f"{self.corpus.ids[place]}+{kind}{number}"
        spot = Spot(self, place, f"{wanted.seed} {kind} {self.corpus.ids[place]} {number}")
        text = KINDS[kind].make(spot)
        used: dict[str, float | int | str] = {"alpha": wanted.alpha, "seed": wanted.seed, "number": number}
        if kind == "words":
            used |= {"every": wanted.every, "added": wanted.added}
        if kind == "split":
            used["version"] = spot.version
        return LabelledCopy(name, place, kind, KINDS[kind].same, text, used)


def perturb(corpus: Corpus, wanted: PerturbRequest) -> Iterator[LabelledCopy]:
    """Copies of a corpus, by document, kind and number."""
    maker = Maker(corpus, wanted)
    taken = set(corpus.ids)
    for place in maker.chosen():
        for kind in wanted.kinds:
            for number in range(1, wanted.copies + 1):
                copy = maker.copy(place, kind, number)
                if copy.doc_id in taken:
                    raise InputError(
                        f"{corpus.name} has a document {copy.doc_id!r}, which is the id of a copy; rename it"
                    )
                yield copy
