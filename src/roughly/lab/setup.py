"""What an experiment is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from roughly.lab.corpus import Corpus
from roughly.lexicon import Lexicon, build
from roughly.methods import checks


@dataclass(frozen=True, kw_only=True)
class Options:
    """Numbers that the papers vary or leave open."""

    seed: int = 0
    every: int = 10  # contrived duplicates: at every i-th word …
    alpha: int = 9  # … something happens if a draw from 1 to 10 is above this
    added: str = "terms"  # words that are put in: of the collection's terms, of its text, or of the document
    queries: float = 0.1  # share of the spam that is asked for
    filter: str | None = None  # of I-Match; None: that of the paper

    def __post_init__(self) -> None:
        checks.refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        yield from checks.whole("seed", self.seed, 0, 2**63 - 1)
        yield from checks.whole("every", self.every, 1, 10**6)
        yield from checks.whole("alpha", self.alpha, 0, 10)
        yield from checks.share("queries", self.queries)


@dataclass(frozen=True)
class Setup:
    """A corpus, the lexicon of another collection where one is given, and the numbers."""

    corpus: Corpus
    options: Options = Options()
    lexicon: Lexicon | None = None


def lexicon_of(corpus: Corpus) -> Lexicon:
    """The lexicon of the collection itself: the two-pass way of I-Match 2002, §3."""
    return build(pa.table({"id": corpus.ids, "text": corpus.texts}), threads=1)
