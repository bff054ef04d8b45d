"""`rare-terms`: two documents are duplicates when their rarest terms are the same and at the same distances.

Conrad 2003, §6.1, for identical documents: of a document's terms (letters only, three or more, in at least five
documents of the lexicon) with a normalised idf of at most 0.8, since higher ones are mostly misspelt, the six of
highest idf, each with its first position relative to the first of the six; positions are rounded up to multiples of a
bin.

    key(A) = hash( t₁, ⌈(p₁ − p_min)/b⌉, …, t₆, ⌈(p₆ − p_min)/b⌉ )     idf(t₁) ≥ idf(t₂) ≥ …

The document's length is the other part of the signature: lengths of two documents may differ by a small fraction only.

| in the paper | parameter |
|---|---|
| six terms | `terms` |
| idf > 0.8 excluded | `most_idf` |
| bins of 10, 25, n; none | `bin`; 1 |
| length, "a designated (small) percentage" | `lengths` |
| in at least five documents | `min_df` |

Departures: the hash has 64 bits instead of SHA-1's 160. A document with fewer than `terms` such terms has no key;
equal ones are collapsed before. Terms of equal idf are ordered by their hashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from roughly.fast_dataclass import dataclass
from roughly.methods import lexicon_checks as checks
from roughly.methods.method import NO_CHANCE, Judge, Keys, Method, Signature
from roughly.methods.option_values import read_rare_terms
from roughly.options import FILTER, LENGTHS, LEXICON, MIN_DF, NORM, TERMS, MethodSpec, Option, register

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.lexicon.lexicon import Lexicon
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters

MIN_LENGTH = 3


@dataclass(frozen=True, kw_only=True)
class RareTerms(Method):
    """The rarest terms with their positions, and the length."""

    lexicon: Lexicon
    terms: int = 6
    most_idf: float = 0.8
    bin: int = 1
    lengths: float = 0.05
    min_df: int = 5
    norm: str = "conrad"
    filters: Filters | None = None

    name: ClassVar[str] = "rare-terms"

    def __post_init__(self) -> None:
        checks.refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        yield from checks.lexicon(self.lexicon, self.filters)
        yield from checks.whole("terms", self.terms, 1, 1000)
        yield from checks.share("most_idf", self.most_idf)
        yield from checks.whole("bin", self.bin, 1, 1_000_000)
        yield from checks.share("lengths", self.lengths)
        yield from checks.whole("min_df", self.min_df, 1, 2**32 - 1)
        yield from checks.norm(self.norm)

    @cached_property
    def eligible(self) -> Lexicon:
        """The terms that count: letters only, three or more, in enough documents (§5)."""
        return self.lexicon.with_thresholds(min_df=self.min_df, letters_only=True, min_length=MIN_LENGTH)

    @cached_property
    def _highest(self) -> int:
        from roughly.methods.term_filters import above

        return above(self.eligible, self.most_idf, self.norm)

    def rarest(self, tokens: Tokens) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """For each document: its rarest terms, rarest first, their first positions, and their number."""
        import numpy as np

        from roughly.kernels.terms import distinct_terms, rarest_terms

        terms, firsts, offsets = distinct_terms(tokens.hashes, tokens.offsets)
        frequencies = self.eligible.frequencies(terms)
        found, places, counts = rarest_terms(terms, offsets, frequencies, 0, self._highest, self.terms)
        at = np.where(places < 0, 0, firsts[places].astype(np.int64)) if len(firsts) else places
        return found, at, counts

    def sign(self, tokens: Tokens) -> Signature:
        """One key for every document that has enough terms."""
        import numpy as np

        from roughly.kernels.hashing import hash_sequences

        found, at, counts = self.rarest(tokens)
        enough = counts == self.terms
        bins = -(-(at[enough] - at[enough].min(axis=1, keepdims=True, initial=2**62)) // self.bin)
        pairs = np.stack([found[enough], bins.astype(np.uint64)], axis=2)
        offsets = np.arange(len(pairs) + 1, dtype=np.int64) * (2 * self.terms)
        values = np.zeros((len(tokens), 1), np.uint64)
        values[enough, 0] = np.maximum(hash_sequences(pairs.ravel(), offsets)[:, 0], np.uint64(1))
        return Signature(Keys(values))

    def judge(self) -> Judge:
        """One common key, and similar lengths."""
        return Judge("keys", "common", 1, lengths=self.lengths)

    @property
    def finds(self) -> str:
        """Equal terms at equal places."""
        return (
            f"equal documents, and every pair of signed ones with the same {self.terms} rarest terms at the same "
            f"distances (in bins of {self.bin}), and no other; {NO_CHANCE}"
        )

    def describe(self) -> dict[str, Any]:
        """The lexicon's fingerprint, and the parameters."""
        return {
            "lexicon": self.eligible.fingerprint,
            "terms": self.terms,
            "most_idf": self.most_idf,
            "bin": self.bin,
            "lengths": self.lengths,
            "norm": self.norm,
            "filters": str(self.filters or ""),
        }


def _make(settings: Settings, collection: Lexicon | None) -> Method:
    return RareTerms(**read_rare_terms(settings, collection))


register(
    MethodSpec(
        RareTerms,
        options=(
            FILTER,
            LEXICON,
            NORM,
            TERMS.by_default(6),
            Option("most_idf", "number", "terms with a higher idf are left out", 0.8),
            Option("bin", "whole", "positions of terms are rounded up to multiples of this", 1),
            LENGTHS.by_default(0.05),
            MIN_DF,
        ),
        maker=_make,
        tuned={"bin": (1, 10)},
        place=10,
    )
)
