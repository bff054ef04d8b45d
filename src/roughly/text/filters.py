"""Syntactic filters: terms dropped or changed by what they look like, whatever the collection (I-Match 2002, §4.2).

| name | what it does |
|---|---|
| `sw` | drops stop words, those of the SMART list |
| `tg5` | drops terms shorter than five characters |
| `tl25` | drops terms longer than 25 characters |
| `nosc` | drops terms that hold anything but letters (with their marks) and digits |
| `stem` | replaces a term by its stem (Porter 1980) |

They apply to canonical tokens in any combination. All that drop look at the term as it stands in the text; stemming
comes last, so the order in which filters are named does not matter. Characters are those of the composed form (NFC).

A term of more than 255 bytes is judged by its beginning and has no stem.

A text goes in, token hashes come out. What becomes of a term is decided once and then looked up by its number in a
vocabulary, so a filter costs little more than tokenising. `docs/filters.md` says where this departs from the paper.
"""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import SettingsError
from roughly.text.canonical import Tokens, tokenise, words
from roughly.text.vocabulary import CUT, Numbered, Vocabulary

NAMES = ("sw", "tg5", "tl25", "nosc", "stem")
SHORTEST = 5
LONGEST = 25

_REMEMBERED = 1 << 20
"""Distinct terms that a thread remembers before it starts anew; about 100 bytes each."""
_DROPPED = 0xFFFFFFFF
_kept = threading.local()


@dataclass(frozen=True)
class Filters:
    """A combination of syntactic filters, in the order of `NAMES` whatever order they are given in.

    >>> Filters.parse("stem, sw").word("running")
    'run'
    """

    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = sorted(set(self.names) - set(NAMES))
        if unknown:
            known = ", ".join(NAMES)
            raise SettingsError(*(f"unknown filter {name!r}; filters are {known}" for name in unknown))
        object.__setattr__(self, "names", tuple(name for name in NAMES if name in self.names))

    @classmethod
    def parse(cls, text: str) -> Self:
        """The filters in a list like `sw,stem`; nothing, or `nothing` as the paper calls it, is no filter."""
        names = tuple(name.strip().lower() for name in text.split(",") if name.strip())
        return cls(() if names == ("nothing",) else names)

    def __str__(self) -> str:
        return ",".join(self.names)

    def __bool__(self) -> bool:
        return bool(self.names)

    def keeps(self, word: str) -> bool:
        """Whether a canonical token, composed, stays."""
        return not (
            ("sw" in self.names and word in stop_words())
            or ("tg5" in self.names and len(word) < SHORTEST)
            or ("tl25" in self.names and len(word) > LONGEST)
            or ("nosc" in self.names and not is_plain(word))
        )

    def word(self, word: str) -> str | None:
        """What becomes of a canonical token, composed: itself, its stem, or None."""
        if not self.keeps(word):
            return None
        return str(make_stemmer().stemWord(word)) if "stem" in self.names and has_stem(word) else word

    def apply(self, column: pa.Array) -> Tokens:
        """The tokens of each text of an Arrow `string` or `large_string` array that stay, changed where they change.

        Safe on any number of threads: each remembers the terms it has met.
        """
        if not self.names:
            return tokenise(column)
        sieve: FilteredVocabulary | None = getattr(_kept, str(self), None)
        if sieve is None:
            sieve = FilteredVocabulary(self)
            setattr(_kept, str(self), sieve)
        numbers, offsets = sieve.number(column)
        hashes = sieve.vocabulary.hashes[numbers]
        if len(sieve.vocabulary) > _REMEMBERED:
            sieve.clear()
        return Tokens(hashes, offsets)


class FilteredVocabulary:
    """A vocabulary with what the filters make of each of its terms. For one thread."""

    def __init__(self, filters: Filters) -> None:
        self.filters = filters
        self.vocabulary = Vocabulary()
        self._targets = np.empty(0, np.uint32)
        self._stemmer = make_stemmer() if "stem" in filters.names else None

    def clear(self) -> None:
        """Forget every term."""
        self.vocabulary.clear()
        self._targets = np.empty(0, np.uint32)

    @property
    def nbytes(self) -> int:
        """Memory that the terms take."""
        return self.vocabulary.nbytes + self._targets.nbytes

    def number(self, column: pa.Array) -> Numbered:
        """The tokens that stay, by the number in `vocabulary` of what they become."""
        from roughly.kernels import frequency

        found = self.vocabulary.number(column)
        if not self.filters:
            return found
        self._decide()
        out, offsets = np.empty(len(found.numbers) + 1, np.uint32), np.zeros(len(found.offsets), np.int64)
        frequency.put_targets(found.numbers, found.offsets, self._targets, out, offsets)
        return Numbered(out[: offsets[-1]], offsets)

    def _decide(self) -> None:
        """Find the targets of new terms. A stem that is new is a term itself, so this goes on until none is."""
        while (known := len(self._targets)) < len(self.vocabulary):
            terms = self.vocabulary.words(known)
            targets = np.arange(known, len(self.vocabulary), dtype=np.uint32)
            kept = np.array([self.filters.keeps(word.removesuffix(CUT)) for word in terms], np.bool_)
            targets[~kept] = _DROPPED
            if self._stemmer is not None:
                self._put_stems(self._stemmer, terms, np.flatnonzero(kept), targets)
            self._targets = np.concatenate([self._targets, targets])

    def _put_stems(
        self, stemmer: Any, terms: list[str], places: npt.NDArray[np.intp], targets: npt.NDArray[np.uint32]
    ) -> None:
        """Point the terms at these places to their stems, numbered like any other term."""
        stems = stemmer.stemWords([terms[place] for place in places])
        changed = [i for i, place in enumerate(places) if stems[i] != terms[place] and has_stem(terms[place])]
        found = self.vocabulary.number(pa.array([stems[i] for i in changed], pa.large_string()))
        single = np.diff(found.offsets) == 1  # always so, or a term would become another number of terms
        targets[places[changed][single]] = found.numbers[found.offsets[:-1][single]]


@cache
def stop_words() -> frozenset[str]:
    """The SMART list as canonical tokens: of `isn't`, both `isn` and `t`."""
    listed = resources.files("roughly.text").joinpath("smart.txt").read_text(encoding="utf-8")
    return frozenset(words(listed))


def is_plain(word: str) -> bool:
    """Whether a composed token holds letters, with their marks, and decimal digits only."""
    return word.isascii() or all(unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" for c in word)


def is_letters(word: str) -> bool:
    """Whether a composed token holds letters, with their marks, only."""
    return word.isalpha() or all(unicodedata.category(c)[0] in "LM" for c in word)


def make_stemmer() -> Any:
    """Porter's stemmer of 1980, as the paper has it; not to be shared between threads."""
    import Stemmer  # type: ignore[import-not-found]

    return Stemmer.Stemmer("porter", 0)  # no cache of its own: every term is asked for once


def has_stem(word: str) -> bool:
    """Whether a term is stemmed: not where it has one or two letters, as in Porter's own program, or is cut short."""
    return len(word) > 2 and not word.endswith(CUT)
