"""Syntactic filters: terms are dropped or changed by their form alone, whatever the collection (I-Match 2002, §4.2).

| name | what it does |
|---|---|
| `sw` | drops stop words, those of the SMART list |
| `tg5` | drops terms shorter than five characters |
| `tl25` | drops terms longer than 25 characters |
| `nosc` | drops terms with anything but letters (with their marks) and digits |
| `stem` | replaces a term by its stem (Porter 1980) |

They apply to canonical tokens in any combination. All dropping filters see the term as it is in the text; stemming
comes last, so the order in which filters are named does not matter. Characters are those of the composed form (NFC).

A term of more than 255 bytes is judged by its beginning and has no stem.

The input is texts, the output token hashes. The result for a term is computed once and then looked up by its number in
a vocabulary, so a filter costs little more than tokenising. `docs/filters.md` says where this departs from the paper.
"""

from __future__ import annotations

import threading
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.text.canonical import Tokens, tokenise, words
from roughly.text.vocabulary import CUT, Numbered, Vocabulary

NAMES = ("sw", "tg5", "tl25", "nosc", "stem")
SHORTEST = 5
LONGEST = 25

_REMEMBERED = 1 << 20
"""Distinct terms that a thread caches before it starts again; about 100 bytes each."""
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
        """Whether a canonical token, composed, is kept."""
        return not (
            ("sw" in self.names and word in stop_words())
            or ("tg5" in self.names and len(word) < SHORTEST)
            or ("tl25" in self.names and len(word) > LONGEST)
            or ("nosc" in self.names and not is_plain(word))
        )

    def word(self, word: str) -> str | None:
        """The result for a canonical token, composed: itself, its stem, or None."""
        if not self.keeps(word):
            return None
        return str(make_stemmer().stemWord(word)) if "stem" in self.names and has_stem(word) else word

    def apply(self, column: pa.Array) -> Tokens:
        """The filtered tokens of each text of an Arrow `string` or `large_string` array.

        Safe on any number of threads: each has a cache of terms.
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
    """A vocabulary with the filters' result for each of its terms. For one thread."""

    def __init__(self, filters: Filters) -> None:
        self.filters = filters
        self.vocabulary = Vocabulary()
        self._targets = np.empty(0, np.uint32)
        self._stemmer = make_stemmer() if "stem" in filters.names else None

    def clear(self) -> None:
        """Remove every term."""
        self.vocabulary.clear()
        self._targets = np.empty(0, np.uint32)

    @property
    def nbytes(self) -> int:
        """Memory of the terms in bytes."""
        return self.vocabulary.nbytes + self._targets.nbytes

    def number(self, column: pa.Array) -> Numbered:
        """The kept tokens, by the number in `vocabulary` of their result."""
        from roughly.kernels import frequency

        found = self.vocabulary.number(column)
        if not self.filters:
            return found
        self._decide()
        out, offsets = np.empty(len(found.numbers) + 1, np.uint32), np.zeros(len(found.offsets), np.int64)
        frequency.put_targets(found.numbers, found.offsets, self._targets, out, offsets)
        return Numbered(out[: offsets[-1]], offsets)

    def _decide(self) -> None:
        """Find the results of new terms. A new stem is a term itself, so this repeats until there is none."""
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
        """Map the terms at these positions to their stems, numbered like any other term."""
        stems = stemmer.stemWords([terms[place] for place in places])
        changed = [i for i, place in enumerate(places) if stems[i] != terms[place] and has_stem(terms[place])]
        found = self.vocabulary.number(pa.array([stems[i] for i in changed], pa.large_string()))
        single = np.diff(found.offsets) == 1  # always the case, or a term would become several terms
        targets[places[changed][single]] = found.numbers[found.offsets[:-1][single]]


@cache
def stop_words() -> frozenset[str]:
    """The SMART list as canonical tokens: of `isn't`, both `isn` and `t`."""
    listed = Path(__file__).with_name("smart.txt").read_text(encoding="utf-8")
    return frozenset(words(listed))


def is_plain(word: str) -> bool:
    """Whether a composed token has only letters, with their marks, and decimal digits."""
    return word.isascii() or all(unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" for c in word)


def is_letters(word: str) -> bool:
    """Whether a composed token has only letters, with their marks."""
    return word.isalpha() or all(unicodedata.category(c)[0] in "LM" for c in word)


def make_stemmer() -> Any:
    """Porter's stemmer of 1980, as the paper has it; must not be shared between threads."""
    import Stemmer  # type: ignore[import-not-found]

    return Stemmer.Stemmer("porter", 0)  # no cache of its own: every term is stemmed once


def has_stem(word: str) -> bool:
    """Whether a term is stemmed: not if it has one or two letters, as in Porter's own program, or is truncated."""
    return len(word) > 2 and not word.endswith(CUT)
