"""`term-vector`: two documents are duplicates when their rarest terms are mostly the same.

Conrad 2003, §7, for documents that are not identical: a document is its date, its length and the set of its 60 terms of
highest idf (letters only, three or more, in at least five documents of the lexicon). Two documents are duplicates when
at least 48 of the 60 are common to both, lengths differ by at most 20 % and dates by at most six weeks.

    A ~ B  ⇔  |V(A) ∩ V(B)| ≥ k,   |len(A) − len(B)| ≤ 0.2·max(len),   |date(A) − date(B)| ≤ 42 days

Candidates are found exactly and without comparing all pairs: vectors have n entries each, so two that share k must
share one of the first n − k + 1 in a common order. In that order the rarest terms come first, so few documents share
one.

| in the paper | parameter |
|---|---|
| 60 terms | `terms` |
| a threshold "of less than 50/60"; 80 % similar | `shared` |
| six weeks | `dates` |
| ±20 % | `lengths` |
| fewer than 20 terms: not recommended | `min_terms` |
| in at least five documents | `min_df` |

Departures: the paper pads short vectors "with entries not found in the table (in a manner that facilitates
comparisons)" and does not say which; here the terms are repeated, each repeat an entry of its own, so that sharing a
part of the terms means sharing that part of the entries. Documents of fewer than `min_terms` such terms have no
vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from roughly.fast_dataclass import dataclass
from roughly.methods import lexicon_checks as checks
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.methods.option_values import read_rare_terms
from roughly.methods.rare_terms import MIN_LENGTH
from roughly.options import FILTER, LENGTHS, LEXICON, MIN_DF, MIN_TERMS, TERMS, MethodSpec, Option, register

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.lexicon.lexicon import Lexicon
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters

_HIGHEST = 2**64 - 1


@dataclass(frozen=True, kw_only=True)
class TermVector(Method):
    """The rarest terms as a set, the length and the date."""

    lexicon: Lexicon
    terms: int = 60
    shared: int = 48
    dates: int | None = 42
    lengths: float | None = 0.2
    min_terms: int = 20
    min_df: int = 5
    filters: Filters | None = None

    name: ClassVar[str] = "term-vector"

    def __post_init__(self) -> None:
        checks.refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        yield from checks.lexicon(self.lexicon, self.filters)
        problems = [*checks.whole("terms", self.terms, 1, 1000)]
        yield from problems or checks.whole("shared", self.shared, 1, self.terms)
        yield from problems or checks.whole("min_terms", self.min_terms, 1, self.terms)
        if self.dates is not None:
            yield from checks.whole("dates", self.dates, 0, 1_000_000)
        if self.lengths is not None:
            yield from checks.share("lengths", self.lengths)
        yield from checks.whole("min_df", self.min_df, 1, 2**32 - 1)

    @cached_property
    def eligible(self) -> Lexicon:
        """The terms that count: letters only, three or more, in enough documents (§5)."""
        return self.lexicon.with_thresholds(min_df=self.min_df, letters_only=True, min_length=MIN_LENGTH)

    @property
    def prefix(self) -> int:
        """The number of entries that are keys: n − k + 1."""
        return self.terms - self.shared + 1

    def rarest(self, tokens: Tokens) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """For each document: up to `terms` terms, rarest first, padded with 0; their frequencies; their number."""
        import numpy as np

        from roughly.kernels.terms import distinct_terms, rarest_terms

        terms, _, offsets = distinct_terms(tokens.hashes, tokens.offsets)
        frequencies = self.eligible.frequencies(terms)
        found, places, counts = rarest_terms(terms, offsets, frequencies, 0, _HIGHEST, self.terms)
        ranks = np.where(places < 0, 0, frequencies[places].astype(np.int64)) if len(frequencies) else places
        return found, ranks, counts

    def sign(self, tokens: Tokens) -> Signature:
        """The first entries of every vector are keys, all of them probes; the vectors are the sketch."""
        import numpy as np

        from roughly.features.sketch import Sketch
        from roughly.kernels.vectors import term_vectors

        found, ranks, counts = self.rarest(tokens)
        vectors, keys, documents = term_vectors(
            found, ranks.astype(np.uint64), counts, self.min_terms, self.prefix
        )  # fmt: skip
        first = _offsets(len(tokens), documents, self.prefix)
        sketch = Sketch(vectors.ravel(), _offsets(len(tokens), documents, self.terms))
        return Signature(Keys(keys.ravel(), first, np.ones(keys.size, np.bool_)), sketch)

    def judge(self) -> Judge:
        """Enough entries in common, within both windows."""
        return Judge("sketch", "common", self.shared, dates=self.dates, lengths=self.lengths)

    def candidate_probability(self, similarity: float) -> float:
        """By the share of common entries: 1 from k/n on; below that as if entries were shared at random."""
        return 1.0 if similarity * self.terms >= self.shared else 1 - (1 - similarity) ** self.prefix

    @property
    def finds(self) -> str:
        """Enough common terms: the prefixes leave out no pair."""
        return (
            f"equal documents, and every pair of signed ones that shares {self.shared} of {self.terms} rare terms, and "
            "no other: no candidate is missed, at any length"
        )

    def describe(self) -> dict[str, Any]:
        """The lexicon's fingerprint, and the parameters."""
        return {
            "lexicon": self.eligible.fingerprint,
            "terms": self.terms,
            "shared": self.shared,
            "prefix": self.prefix,
            "dates": self.dates,
            "lengths": self.lengths,
            "min_terms": self.min_terms,
            "filters": str(self.filters or ""),
        }


def _offsets(count: int, documents: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    import numpy as np

    sizes = np.zeros(count, np.int64)
    sizes[documents] = size
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _make(settings: Settings, collection: Lexicon | None) -> Method:
    return TermVector(**read_rare_terms(settings, collection))


register(
    MethodSpec(
        TermVector,
        options=(
            FILTER,
            LEXICON,
            TERMS.by_default(60),
            Option("shared", "whole", "least number of terms that duplicates share", 48),
            Option("dates", "whole?", "most days between duplicates, or none", 42),
            LENGTHS.by_default(0.2),
            MIN_TERMS.by_default(20),
            MIN_DF,
        ),
        maker=_make,
        tuned={"shared": (42, 48, 54)},
        place=11,
    )
)
