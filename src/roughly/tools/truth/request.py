"""What is asked of a truth, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roughly import checks
from roughly.measures import FOR_TRUTH

if TYPE_CHECKING:
    from roughly.lexicon import Lexicon

WEIGHTS = ("tf", "binary")
PAIRS_LIMIT = 20_000_000


@dataclass(frozen=True, kw_only=True)
class TruthRequest:
    """The measure and from where on two documents count."""

    measure: str = "resemblance"
    threshold: float = 0.8
    shingle_size: int = 5  # resemblance and containment
    weights: str = "tf"  # cosine: how often a term occurs, or 1 (`binary`: Kołcz 2008, eq. 2)
    lexicon: Lexicon | None = None  # cosine: weights are multiplied by its idf
    main_text: bool = False
    empty: bool = True  # documents without a word are equal to each other; False: they make no pairs
    pairs_limit: int = PAIRS_LIMIT

    def __post_init__(self) -> None:
        checks.refuse(
            [
                *checks.one_of("measure", self.measure, FOR_TRUTH),
                *checks.threshold(self.threshold),
                *checks.shingle_size(self.shingle_size),
                *checks.one_of("weights", self.weights, WEIGHTS),
                *checks.whole("pairs_limit", self.pairs_limit, 1, 2**62),
                *(
                    ["a lexicon weighs the terms of --measure cosine; leave it out"]
                    if self.lexicon is not None and self.measure != "cosine"
                    else []
                ),
            ]
        )


@dataclass
class CountedRequest:
    """What the join did."""

    documents: int = 0
    empty: int = 0  # documents without a word; equal to each other
    distinct: int = 0  # after equal documents were put together
    features: int = 0  # shingles or terms of those
    met: int = 0  # pairs that share a prefix value
    compared: int = 0  # of these, pairs that no filter ruled out
    pairs: int = 0
