"""Sample pairs from both sides of the threshold, as cards with the differences marked.

They are the quickest way to judge a threshold: if pairs just above it are not the same document, raise
it; if pairs just below it are, lower it.
"""

from __future__ import annotations

from collections.abc import Sequence

from roughly.fast_dataclass import dataclass
from roughly.measures import MEASURES
from roughly.report.data import PairSample
from roughly.report.marks import Mark, mark_differences
from roughly.report.visible import label
from roughly.report.wording import score, share

PAIRS = 20


@dataclass(frozen=True, slots=True)
class PairCard:
    """A sample pair as a card."""

    left_id: str
    right_id: str
    score: str
    measure: str  # of the score and the threshold
    contained: str
    contains: str
    resemblance: str  # only if the score is not the resemblance
    marks: tuple[Mark, ...]
    notes: tuple[str, ...]


def pairs(samples: Sequence[PairSample], measure: str, rising: bool) -> list[PairCard]:
    """Sample pairs, those nearest to the threshold first: rising above it, falling below it."""
    sign = 1 if rising else -1

    def order(pair: PairSample) -> tuple[float, str, str]:
        return sign * _measured(pair, measure), pair.left_id, pair.right_id

    return [card(pair, measure) for pair in sorted(samples, key=order)[:PAIRS]]


def _measured(pair: PairSample, measure: str) -> float:
    return float(getattr(pair, MEASURES[measure].score))


def card(pair: PairSample, measure: str) -> PairCard:
    """One bounded pair."""
    marked = mark_differences(pair)
    return PairCard(
        label(pair.left_id),
        label(pair.right_id),
        score(_measured(pair, measure)),
        measure,
        share(pair.containment, 1.0),
        share(pair.contained_in, 1.0),
        "" if measure == "resemblance" else score(pair.resemblance),
        marked.marks,
        marked.notes,
    )
