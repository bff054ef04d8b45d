"""The request of `truth`, and the counts of the join."""

from __future__ import annotations

from typing import Any

from roughly import checks
from roughly.declarations import group, option
from roughly.fast_dataclass import dataclass
from roughly.measures import FOR_TRUTH
from roughly.settings import ReadOptions, Resources

WEIGHTS = ("tf", "binary")
PAIRS_LIMIT = 20_000_000


@dataclass(frozen=True, kw_only=True)
class TruthRequest:
    """The measure and the threshold of pairs."""

    measure: str = option("resemblance", f"{', '.join(FOR_TRUTH)}.")
    threshold: float = option(0.8, "Lowest score of a pair.")
    shingle_size: int = option(5, "Words per shingle, for resemblance and containment.", "--shingle-size", "--shingle")
    weights: str = option("tf", f"Weights of terms, for cosine: {' or '.join(WEIGHTS)} (binary: Kołcz 2008, eq. 2).")
    lexicon: Any = option(None, "For cosine: multiply weights by the idf of this lexicon.", read=str)
    main_text: bool = option(False, "Use only the main text of HTML: no navigation, header or footer.")
    empty: bool = option(True, "Count documents without a word as equal to each other.", "--empty/--no-empty")
    pairs_limit: int = option(PAIRS_LIMIT, "Refuse to find more pairs than this.")

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


@dataclass(frozen=True, kw_only=True)
class TruthRun:
    """A request with reading options and resources."""

    request: TruthRequest = group(TruthRequest)
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, "memory", "threads", "temp")


@dataclass
class JoinCounts:
    """Counts of the join."""

    documents: int = 0
    empty: int = 0  # documents without a word; equal to each other
    distinct: int = 0  # after equal documents were collapsed
    features: int = 0  # shingles or terms of those
    met: int = 0  # pairs that share a prefix value
    compared: int = 0  # of these, pairs that no filter ruled out
    pairs: int = 0
