"""The input and output of a protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.lexicon import Lexicon, build
from roughly.methods import registry
from roughly.methods.imatch import IMatch
from roughly.methods.method import Method
from roughly.methods.secret import NO_KEY
from roughly.options import METHODS
from roughly.papers.paper_table import PaperTable
from roughly.settings import Settings
from roughly.signing.text_batch import TextBatch
from roughly.text.vocabulary import Vocabulary
from roughly.tools.corpus import Corpus


@dataclass(frozen=True)
class MethodRow:
    """A method with its settings, by the name it has in the table."""

    name: str
    settings: Mapping[str, Any]

    def checked(self) -> Settings:
        """The settings, checked."""
        return Settings.gather(self.settings)

    @property
    def random(self) -> bool:
        """Whether it depends on a seed: samples, permutations or randomised lexicons."""
        settings = self.checked()
        return "seed" in METHODS[settings.method].settings or bool(settings.options.get("lexicons"))

    def make(self, collection: Lexicon | None = None, seed: int = 0) -> Method:
        """The method; the lexicon `collection` is the one given here. Another seed gives other samples and lexicons."""
        settings = self.checked()
        if seed and "seed" in METHODS[settings.method].settings:
            settings = replace(settings, seed=seed)
        method = registry.make(settings, collection)
        return replace(method, key=lexicon_key(seed)) if isinstance(method, IMatch) else method


@dataclass(frozen=True)
class ExperimentCase:
    """Corpora by their roles, methods, and the numbers that the papers vary or leave open."""

    corpora: Mapping[str, Corpus]
    rows: Sequence[MethodRow] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: frozenset[str] = frozenset()  # the requested ones, if a protocol can compute some only
    lexicon: Lexicon | None = None  # of another collection, if given

    @property
    def corpus(self) -> Corpus:
        """The first of the corpora."""
        return next(iter(self.corpora.values()))

    def number(self, name: str) -> Any:
        """A parameter."""
        return self.parameters[name]

    def named(self) -> Iterator[tuple[str, Corpus, str]]:
        """Each role, its corpus, and the suffix of its column names: empty if there is only one role."""
        for role, corpus in self.corpora.items():
            yield role, corpus, f", {role}" if len(self.corpora) > 1 else ""


@dataclass(frozen=True)
class ExperimentOutcome:
    """Tables by name, and processor seconds by activity, which are never in a table."""

    tables: Mapping[str, PaperTable]
    seconds: Mapping[str, float] = field(default_factory=dict)

    def table(self, name: str, where: str) -> PaperTable:
        """The table of a name."""
        if name not in self.tables:
            raise SettingsError(f"{where}: no table {name!r}; there are {', '.join(self.tables)}")
        return self.tables[name]


def lexicon_key(seed: int) -> bytes:
    """The key that draws the randomised lexicons of a seed; none for the seed 0."""
    return f"randomised lexicons {seed}".encode() if seed else NO_KEY


@lru_cache(maxsize=2)
def batch_of(corpus: Corpus) -> TextBatch:
    """The texts of a corpus, tokenised once for all methods and draws."""
    return TextBatch(corpus.texts)


@lru_cache(maxsize=2)
def words_of(corpus: Corpus) -> WordSets:
    """The distinct words of each document."""
    vocabulary = Vocabulary()
    found = vocabulary.number(corpus.texts)
    return WordSets(vocabulary.words(), found.numbers.astype(np.int64), found.offsets)


@dataclass(frozen=True)
class WordSets:
    """Words by number, and the numbers of the words of each document, in the order of the text."""

    names: list[str]
    numbers: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]

    def words(self, place: int) -> list[str]:
        """The words of a document, in the order of the text."""
        return [self.names[n] for n in self.numbers[self.offsets[place] : self.offsets[place + 1]].tolist()]

    def rare(self, most: int) -> list[str]:
        """The words in at most this number of documents, in alphabetical order."""
        owners = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        once = np.unique(self.numbers * len(self.offsets) + owners) // len(self.offsets)
        frequencies = np.bincount(once, minlength=len(self.names))
        return sorted(self.names[i] for i in np.flatnonzero((frequencies > 0) & (frequencies <= most)))


@lru_cache(maxsize=4)
def lexicon_of(*corpora: Corpus) -> Lexicon:
    """The lexicon of the collection itself, or of several: the two-pass way of I-Match 2002, §3."""
    ids = [f"{place}/{own}" for place, corpus in enumerate(corpora) for own in corpus.ids]
    texts = pa.concat_arrays([corpus.texts for corpus in corpora])
    return build(pa.table({"id": ids, "text": texts}), threads=1)
