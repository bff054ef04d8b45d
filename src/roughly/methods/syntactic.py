"""`syntactic`: two documents are duplicates when syntactic filters leave the same distinct tokens of both.

I-Match 2002, §4.2: white space is ignored, tokens are dropped or stemmed by their form (`sw`, `tg5`, `tl25`,
`nosc`, `stem` in any combination), and the set of the rest is hashed. Order and repetition do not count.

    key(A) = hash { f(t) : t ∈ A, f(t) ≠ dropped }

Departure from the paper: the hash of the set has 64 bits and does not depend on the order of its terms (see
`kernels.imatch`); the paper hashes them in order with SHA-1. A document without a remaining token has no key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.methods.method import NO_CHANCE, Judge, Keys, Method, Signature
from roughly.methods.option_values import read_filters
from roughly.methods.secret import NO_KEY, seeds
from roughly.options import FILTER, MethodSpec, register

if TYPE_CHECKING:
    from roughly.settings import Settings
    from roughly.text.canonical import Tokens
    from roughly.text.filters import Filters


@dataclass(frozen=True)
class Syntactic(Method):
    """Equal sets of filtered tokens."""

    filters: Filters | None = None

    name: ClassVar[str] = "syntactic"

    def __post_init__(self) -> None:
        checks.refuse(self._problems())

    def _problems(self) -> Iterator[str]:
        from roughly.text.filters import Filters

        if self.filters is not None and not isinstance(self.filters, Filters):
            yield f"filters must be Filters, not {type(self.filters).__name__}: Filters.parse('sw,stem')"

    def sign(self, tokens: Tokens) -> Signature:
        """One key per document with a remaining token."""
        from roughly.kernels.imatch import set_signatures
        from roughly.kernels.terms import distinct_terms

        terms, _, offsets = distinct_terms(tokens.hashes, tokens.offsets)
        return Signature(Keys(set_signatures(terms, offsets, seeds(NO_KEY, self.name, 2)).reshape(-1, 1)))

    def judge(self) -> Judge:
        """The key in common."""
        return Judge("keys", "common", 1)

    @property
    def finds(self) -> str:
        """Equal sets of tokens."""
        return f"every pair with the same distinct tokens after the filters, and no other; {NO_CHANCE}"

    def describe(self) -> dict[str, Any]:
        """The filters."""
        return {"filters": str(self.filters) if self.filters else "nothing"}


def _make(settings: Settings, _: object) -> Method:
    return Syntactic(read_filters(dict(settings.options), settings.method))


register(
    MethodSpec(
        Syntactic, options=(FILTER,), maker=_make, tuned={"filter": ("", "sw", "sw,nosc,stem")}, place=8
    )
)  # fmt: skip
