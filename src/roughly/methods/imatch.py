"""`imatch`: two documents are duplicates when a lexicon keeps the same terms of both.

I-Match 2002, §3–4: of a document's distinct terms U, a filter by idf keeps S, and a hash of S is the signature. Kołcz
2008, §4: K more lexicons are made from the first by dropping each term with probability p; each gives a signature of
its own, and one in common is enough. A change of n terms of the first lexicon leaves at least one of the K untouched
with probability

    survival(n) = 1 − (1 − pⁿ)^K                                     (Kołcz 2008, eq. 1)

Kołcz 2008, §3: a signature of few terms says little about a long document. It is rejected if |S| < `min_terms` or
|S|/|U| < `min_share`; a secondary lexicon, of the terms rarer than the range of the filter, supplies terms, the most
frequent first, until both limits are reached.

| symbol | parameter |
|---|---|
| L, the lexicon | `lexicon`, `filter`, `norm` |
| K | `lexicons` |
| p | `dropped` |
| thresholds of |S| and |S|/|U| | `min_terms`, `min_share` |
| B, the secondary lexicon | `secondary` |

Departures: whether lexicon k drops a term is a keyed hash of (term, k), so that lexicons need no storage and nobody
without the key knows which are dropped; p is rounded to 2^−16. A signature is an order-free hash of 64 bits (see
`kernels.imatch`) instead of SHA-1 over the sorted terms; both find the same documents, except for collisions. A term
that is not in the lexicon has no idf and is never kept. A document without a valid signature has no key, or, with
`unsigned="all-terms"`, one of all its terms, which only an equal set of terms shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.methods import lexicon_checks as checks
from roughly.methods import secret
from roughly.methods.method import NO_CHANCE, Judge, Keys, Method, Signature
from roughly.methods.option_values import open_lexicon, read_key_file
from roughly.options import FILTER, LEXICON, MIN_TERMS, NORM, MethodSpec, Option, register

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.kernels.imatch import Selection
    from roughly.lexicon.lexicon import Lexicon
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters

MOST_LEXICONS = 1000
UNSIGNED = ("keep", "all-terms")
_DIFFERENCES = (1, 2, 3, 5)
"""Numbers of different terms for which the survival is printed."""


@dataclass(frozen=True, kw_only=True)
class IMatch(Method):
    """Signatures of the terms that a lexicon, and K randomised ones, keep."""

    lexicon: Lexicon
    filter: str = "IDF-L-10"
    norm: str = "conrad"
    lexicons: int = 0
    dropped: float = 1 / 3
    min_terms: int = 1
    min_share: float = 0.0
    secondary: bool = False
    unsigned: str = "keep"
    filters: Filters | None = None
    key: bytes = field(default=secret.NO_KEY, repr=False)

    name: ClassVar[str] = "imatch"

    def __post_init__(self) -> None:
        checks.refuse(self._problems())
        from roughly.methods.term_filters import TermFilter

        object.__setattr__(self, "filter", str(TermFilter.parse(self.filter)))  # one spelling, one fingerprint

    def _problems(self) -> Iterator[str]:
        from roughly.methods.term_filters import TermFilter

        yield from checks.lexicon(self.lexicon, self.filters)
        yield from checks.norm(self.norm)
        yield from checks.whole("lexicons", self.lexicons, 0, MOST_LEXICONS)
        yield from checks.share("dropped", self.dropped)
        yield from checks.whole("min_terms", self.min_terms, 1, 1_000_000)
        yield from checks.share("min_share", self.min_share)
        yield from checks.one_of("unsigned", self.unsigned, UNSIGNED)
        yield from secret.problems(self.key)
        try:
            parsed = TermFilter.parse(self.filter)
        except SettingsError as problem:
            yield from problem.problems
            return
        if self.secondary and not parsed.has_secondary:
            yield (
                f"secondary needs a filter with an upper limit of idf, IDF-H or IDFR-I; {parsed} leaves no rarer terms"
            )

    @cached_property
    def _selection(self) -> Selection:
        from roughly.methods.term_filters import TermFilter

        return TermFilter.parse(self.filter).selection(self.lexicon, self.norm)

    @cached_property
    def _seeds(self) -> npt.NDArray[np.uint64]:
        from roughly.kernels.imatch import FIELDS, SEEDS

        return secret.seeds(self.key, self.name, SEEDS + -(-self.lexicons // FIELDS))

    def sign(self, tokens: Tokens) -> Signature:
        """1 + K signatures per document; 0 for a rejected one."""
        from roughly.kernels.imatch import Demands, imatch_signatures, set_signatures
        from roughly.kernels.terms import distinct_terms

        terms, _, offsets = distinct_terms(tokens.hashes, tokens.offsets)
        values = imatch_signatures(
            terms,
            offsets,
            self.lexicon.frequencies(terms),
            self._selection,
            Demands(self.min_terms, self.min_share, self.secondary),
            self._seeds,
            self.lexicons,
            self.dropped,
        )
        if self.unsigned == "all-terms":
            none = ~values.any(axis=1)
            values[none, 0] = set_signatures(terms, offsets, self._seeds)[none]
        return Signature(Keys(values))

    def judge(self) -> Judge:
        """One signature in common."""
        return Judge("keys", "common", 1)

    def survival(self, changes: int) -> float:
        """Probability that documents that differ in this number of terms of the lexicon share a signature (Kołcz 2008,
        eq. 1)."""
        from roughly.methods.stability import survival

        return survival(changes, self.lexicons, self.dropped)

    def candidate_probability(self, similarity: float) -> float:
        """1 for documents of equal terms, which are always candidates; below that it depends on which terms differ."""
        return 1.0 if similarity >= 1 else 0.0

    @property
    def finds(self) -> str:
        """Equal terms of the lexicon; with random lexicons, also the chance by the number of differences."""
        same = "equal documents, and every pair of signed ones with the same terms of the lexicon"
        if not self.lexicons:
            return f"{same}, and no other; {NO_CHANCE}"
        chances = ", ".join(f"{self.survival(n):.3f} if {n} differ" for n in _DIFFERENCES)
        most = "at most " if self.min_terms > 1 or self.min_share else ""  # some lexicons may leave too few terms
        return f"{same}; where terms differ, a pair is found with probability {most}{chances}, at every length"

    def describe(self) -> dict[str, Any]:
        """The lexicon's fingerprint, the filter, the key's digest, and the survival by number of changes."""
        return {
            "lexicon": self.lexicon.fingerprint,
            "filter": self.filter,
            "norm": self.norm,
            "lexicons": self.lexicons,
            "dropped": round(self.dropped * 65536) / 65536,
            "min_terms": self.min_terms,
            "min_share": self.min_share,
            "secondary": self.secondary,
            "unsigned": self.unsigned,
            "filters": str(self.filters or ""),
            "key": secret.key_digest(self.key),
            "survival": {str(n): self.survival(n) for n in _DIFFERENCES},
        }


def _make(settings: Settings, collection: Lexicon | None) -> Method:
    from roughly.methods.term_filters import split_filters

    given: dict[str, Any] = dict(settings.options)
    given.pop("key_file", None)
    filters, terms = split_filters(given.pop("filter", ""))
    if terms is not None:
        given["filter"] = terms
    lexicon = open_lexicon(given.pop("lexicon", None), collection)
    return IMatch(lexicon=lexicon, filters=filters, key=read_key_file(settings), **given)


register(
    MethodSpec(
        IMatch,
        options=(
            FILTER.by_default("IDF-L-10"),
            LEXICON,
            NORM,
            Option("lexicons", "whole", "number of randomised lexicons in addition to the first", 0),
            Option("dropped", "number", "fraction of the terms that each randomised lexicon drops", 1 / 3),
            MIN_TERMS,
            Option(
                "min_share", "number", "documents with a lower fraction of their terms in the signature have none", 0.0
            ),
            Option("secondary", "flag", "add rarer terms to signatures that have too few", False),
            Option(
                "unsigned",
                "text",
                "documents without a signature: keep, or all-terms to make one of all their terms",
                "keep",
            ),
            Option(
                "key_file", "file", "file of a secret key, without which nobody can compute the randomised lexicons"
            ),
        ),
        maker=_make,
        tuned={"filter": ("IDF-L-10", "IDF-L-30", "Doc-L-50", "Doc-L-90"), "lexicons": (0, 5)},
        place=9,
    )
)
