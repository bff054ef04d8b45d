"""`word-lsh`: documents that share one of many small tuples of words, chosen by random orderings of all words.

Haveliwala 2000, as Kołcz 2008, §2 and §4 describes it. Ordering l ranks all words at random; the signature is a hash of
the k words of the document that rank first:

    U(A) = the distinct words of A
    signature_l(A) = hash( l, the k first words of U(A) by ordering l )          l = 1 … L

The k first words of U(A) ∪ U(B) are in both with probability about J^k, with J the resemblance of the word sets, so

    candidate_probability(J) = 1 − (1 − J^k)^L

A few words say little about a long document. Haveliwala therefore filters pairs that share a signature by word overlap:
that is `threshold`, on the resemblance of the word sets; with None, one signature in common is enough. Very frequent
words are usually ignored: that is `filters` (`sw` drops the SMART stop words).

A document of fewer than k words is a signature of all of them.

| symbol | parameter |
|---|---|
| k | `words` |
| L | `signatures` (125 in Haveliwala 2000) |
| the orderings | `seed` |

Citation: T. H. Haveliwala, A. Gionis, P. Indyk: Scalable techniques for clustering the Web. WebDB, 2000. A. Kołcz,
A. Chowdhury: Lexicon randomization for near-duplicate detection with I-Match. J. Supercomputing, 2008, §2 and §4.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.methods import permutations
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.methods.option_values import every_shingle, read_filters, read_threshold
from roughly.methods.shingles import one_of
from roughly.options import FILTER, JUDGE, MethodSpec, Option, register

if TYPE_CHECKING:
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters


@dataclass(frozen=True)
class WordLSH(Method):
    """Tuples of words as keys; the word sets as sketch if there is a threshold."""

    words: int = 3
    signatures: int = 125
    threshold: float | None = 0.8
    filters: Filters | None = None
    seed: int = 0

    name: ClassVar[str] = "word-lsh"
    units: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        problems = [] if self.threshold is None else list(checks.threshold(self.threshold))
        if not 1 <= self.words <= 64:
            problems.append(f"a signature is made of 1 to 64 words, not {self.words!r}")
        if not 1 <= self.signatures <= 1024:
            problems.append(f"a document has 1 to 1024 signatures, not {self.signatures!r}")
        checks.refuse(problems)

    def sign(self, tokens: Tokens) -> Signature:
        """One key per ordering for every document that has words; the word sets, if there is a threshold."""
        from roughly.kernels.tuples import word_keys

        keys = word_keys(tokens.hashes, tokens.offsets, self.words, *self._permutations)
        return Signature(Keys(keys), None if self.threshold is None else every_shingle().apply(tokens, 1))

    @cached_property
    def _permutations(self) -> tuple[permutations.Words, permutations.Words]:
        return permutations.draw(self.signatures, self.seed)

    def judge(self) -> Judge:
        """The resemblance of the word sets, or one signature in common."""
        if self.threshold is None:
            return Judge("keys", "common", 1)
        return Judge("sketch", "resemblance", self.threshold)

    def candidate_probability(self, similarity: float) -> float:
        """1 − (1 − J^k)^L."""
        return one_of(similarity**self.words, self.signatures)

    def describe(self) -> dict[str, Any]:
        """Words per signature, and signatures per document."""
        return {"words": self.words, "signatures": self.signatures, "filters": str(self.filters or "")}


def _make(settings: Settings, _: object) -> Method:
    given: dict[str, Any] = dict(settings.options)
    filters, threshold = read_filters(given, settings.method), read_threshold(given, settings)
    words, signatures = given.pop("lsh_words", 3), given.pop("lsh_signatures", 125)
    return WordLSH(words, signatures, threshold, filters, settings.seed)


register(
    MethodSpec(
        WordLSH,
        settings=("threshold", "seed"),
        options=(
            Option("lsh_words", "whole", "number of words per signature", 3),
            Option("lsh_signatures", "whole", "number of signatures per document", 125),
            FILTER,
            JUDGE.by_default("sketch"),
        ),
        has_curve=True,
        maker=_make,
        tuned={"threshold": (0.7, 0.8, 0.9)},
        place=7,
    )
)
