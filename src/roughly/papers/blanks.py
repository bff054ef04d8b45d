"""Syntactic filters on tokens that are cut at spaces only, as in I-Match 2002, Table II.

Canonical tokens have no special characters, so a filter that drops terms with such characters finds none. The paper cut
at spaces: `end.`, `/usr/bin` and `2002-04` are terms there, and are most of its lexicon. This counts the same 32 rows
on such tokens, to separate the effect of the tokens from that of the filters. For experiments only: the product has one
canonical form.
"""

from __future__ import annotations

import unicodedata
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.fast_dataclass import dataclass
from roughly.text.filters import LONGEST, SHORTEST, Filters, make_stemmer, stop_words

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Blanks:
    """Documents as sets of tokens cut at spaces."""

    texts: pa.Array

    @cached_property
    def _numbered(self) -> tuple[list[str], Ints, Ints]:
        """Terms; and for every document, each of its terms once: (documents, terms)."""
        numbers: dict[str, int] = {}
        owners, terms = [], []
        for place in range(len(self.texts)):
            own = {numbers.setdefault(word, len(numbers)) for word in self.texts[place].as_py().lower().split()}
            owners.append(np.full(len(own), place, np.int64))
            terms.append(np.fromiter(own, np.int64, len(own)))
        return list(numbers), np.concatenate(owners), np.concatenate(terms)

    def left(self, filters: Filters) -> float:
        """Fraction of the distinct terms that the filters keep."""
        terms = self._numbered[0]
        return len({t for t in self._targets(filters) if t >= 0}) / max(len(terms), 1)

    def duplicates(self, filters: Filters) -> float:
        """Fraction of documents whose filtered set of terms equals that of an earlier one; the empty set equals
        none."""
        _, owners, terms = self._numbered
        targets = np.array(self._targets(filters), np.int64)[terms]
        kept = targets >= 0
        pairs = np.unique(np.column_stack((owners[kept], targets[kept])), axis=0)
        bounds = np.searchsorted(pairs[:, 0], np.arange(len(self.texts) + 1))
        seen: set[bytes] = set()
        count = 0
        for place in range(len(self.texts)):
            own = pairs[bounds[place] : bounds[place + 1], 1].tobytes()
            count += bool(own) and own in seen
            seen.add(own)
        return count / max(len(self.texts), 1)

    def _targets(self, filters: Filters) -> list[int]:
        """The result for each term: the number of the term it becomes, or −1."""
        names, stemmer = filters.names, make_stemmer()
        numbers: dict[str, int] = {}
        found = []
        for term in self._numbered[0]:
            dropped = (
                ("sw" in names and term in stop_words())
                or ("tg5" in names and len(term) < SHORTEST)
                or ("tl25" in names and len(term) > LONGEST)
                or ("nosc" in names and not _plain(term))
            )
            turned = str(stemmer.stemWord(term)) if "stem" in names else term
            found.append(-1 if dropped else numbers.setdefault(turned, len(numbers)))
        return found


def _plain(term: str) -> bool:
    return term.isalnum() or all(unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" for c in term)
