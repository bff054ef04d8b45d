"""A learned verdict: from comparisons of two documents to the probability that they are the same.

    log-odds = prior + Σ over comparisons of  a·x + b·g(x)          g(x) = log((x + ε)/ε) / log((1 + ε)/ε),  ε = 0.05

x is a comparison, from 0 (nothing alike) to 1. No weight is below 0, so texts that are more alike in any comparison are
never less likely the same. Other hosts and sources are comparisons of their own, since in some collections copies are
on other hosts; what is unknown of a document is 0 in all. `roughly tune --learn` fits the weights. A pair is the same
if its probability reaches that of the verdict, and its resemblance the threshold of the settings, on shingles of their
size. Both are parts of the verdict: candidates are sought for the threshold, so every pair that is the same is found
with the stated recall.

`Verdict.implied` is the resemblance that follows from the weights alone. It is mostly 0: texts with the same words in
another order share no shingle, and many verdicts would accept them.

In settings a verdict is one line of text, so that settings files, fingerprints and engines need nothing else:

    probability=0.4 prior=-7.5 words=2.1/0.3 shingles=4/0
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

COMPARISONS = {
    "words": "resemblance of the sets of words",
    "word_pairs": "resemblance of the shingles of two words",
    "shingles": "resemblance of the shingles of five words",
    "words_held": "containment of the words of the document that has fewer",
    "shingles_held": "containment of the shingles of five words of the document that has fewer",
    "rare_words": "resemblance of the sets of words that are rare in English",
    "rare_words_held": "containment of the rare words of the document that has fewer",
    "numbers": "resemblance of the sets of numbers of up to five digits; 1 if neither has any",
    "length": "distinct words of the document that has fewer, by those of the other",
    "weighted_words": "resemblance of the sets of words, each weighted by the logarithm of its rarity in English",
    "weighted_words_held": "containment of the weighted words of the document that has less of them",
    "longest_run": "longest run of words whose shingles of five the other document has, by the words of the shorter",
    "in_order": "shingles of five words that both have in the same order, by those of the document that has fewer",
    "title": "resemblance of the sets of words of the titles; 0 if one has none",
    "same_host": "1 if the addresses have the same host; 0 if one is unknown",
    "other_host": "1 if the addresses have different hosts; 0 if one is unknown",
    "same_source": "1 if the sources are the same; 0 if one is unknown",
    "other_source": "1 if the sources are different; 0 if one is unknown",
    "days": "1 / (1 + days between the dates / 30); 0 if one is unknown",
}
"""Every comparison of a pair; all are computed exactly, from the words of both documents, and what is known of them."""
FIELDS = {
    "title": "title", "same_host": "url", "other_host": "url", "same_source": "source", "other_source": "source",
    "days": "date",
}  # fmt: skip
"""The column of the input that a comparison needs; the others need the texts only."""
_EPSILON = 0.05
_MOST = 1_000_000  # log-odds: what is stored of a pair has 32 bits


@dataclass(frozen=True)
class Verdict:
    """Weights, and the probability from which pairs are the same."""

    probability: float
    prior: float
    weights: tuple[tuple[str, float, float], ...]  # (comparison, a, b), those that are not 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the form of settings; all mistakes together."""
        given: dict[str, str] = {}
        problems = []
        for part in text.split():
            name, equals, value = part.partition("=")
            if not equals or name in given:
                problems.append(f"verdict: {part!r} is not a name with its value, given once, as in words=2.1/0.3")
            given[name] = value
        for name in given:
            if name not in ("probability", "prior", *COMPARISONS):
                problems.append(
                    f"verdict: unknown comparison {name!r}, perhaps of another version: use that, or run tune --learn "
                    f"again; known are {', '.join(COMPARISONS)}"
                )
        known = {name: value for name, value in given.items() if name in ("probability", "prior", *COMPARISONS)}
        numbers = {name: _numbers(value, 2 if name in COMPARISONS else 1) for name, value in known.items()}
        problems += [f"verdict: {name}={given[name]} is no number" for name, own in numbers.items() if own is None]
        missing = [name for name in ("probability", "prior") if name not in given]
        problems += [f"verdict: {name} is missing" for name in missing]
        if problems:
            raise SettingsError(*problems)
        found = {name: own for name, own in numbers.items() if own is not None}
        (probability,), (prior,) = found.pop("probability"), found.pop("prior")
        if not 0 < probability < 1:
            problems.append(f"verdict: probability must be between 0 and 1, both excluded, not {probability:g}")
        if abs(prior) > _MOST:
            problems.append(f"verdict: prior must be between {-_MOST} and {_MOST}, not {prior:g}")
        problems += [
            f"verdict: the weights of {name} must be 0 or more and at most {_MOST}"
            for name, own in found.items()
            if min(own) < 0 or max(own) > _MOST
        ]
        if problems:
            raise SettingsError(*problems)
        return cls(probability, prior, tuple((name, own[0], own[1]) for name, own in found.items()))

    def __str__(self) -> str:
        weights = " ".join(f"{name}={a:.5g}/{b:.5g}" for name, a, b in self.weights)
        return f"probability={self.probability:g} prior={self.prior:.5g} {weights}".strip()

    @property
    def names(self) -> list[str]:
        """The comparisons that have a weight, in the order of `parts`."""
        return [name for name, _, _ in self.weights]

    @property
    def fields(self) -> frozenset[str]:
        """The columns of the input that it compares beside the texts."""
        return frozenset(FIELDS[name] for name in self.names if name in FIELDS)

    def coefficients(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """(prior, a of each of these comparisons, b of each), 0 where there is none."""
        import numpy as np

        given = {name: (a, b) for name, a, b in self.weights}
        both = zip(*(given.get(name, (0.0, 0.0)) for name in names), strict=True)
        return np.array([self.prior, *itertools.chain(*both)])

    def parts(self, comparisons: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What each weighted comparison adds to the log-odds of pairs (n, COMPARISONS)."""
        import numpy as np

        names = list(COMPARISONS)
        own = np.ascontiguousarray(comparisons[:, [names.index(name) for name in self.names]])
        spread = spread_of(own)
        columns = [a * own[:, at] + b * spread[:, at] for at, (_, a, b) in enumerate(self.weights)]
        return np.column_stack(columns) if columns else np.empty((len(comparisons), 0))

    def probabilities(self, comparisons: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The probability that each pair is the same."""
        return self.probability_of(self.parts(comparisons))

    def probability_of(self, parts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The same from what comparisons add."""
        import numpy as np

        found: npt.NDArray[np.float64] = 1 / (1 + np.exp(-(self.prior + parts.sum(axis=1))))
        return found

    def accepts(self, comparisons: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which pairs are the same."""
        accepted: npt.NDArray[np.bool_] = self.probabilities(comparisons) >= self.probability
        return accepted

    def implied(self, size: int) -> float:
        """The resemblance, on shingles of `size` words, that every pair of this probability has; 0 if none follows.

        All comparisons but those that this resemblance r bounds are taken as 1. On shingles of two or five words, r is
        one comparison itself. On single words, let h be their containment and l the ratio of lengths:
        r = h·l / (1 + l - h·l), hence l = r / (h·(1 + r) - r), with 2·r / (1 + r) ≤ h ≤ 1. The most that both add is
        bounded over small ranges of h, by the highest h and the highest l of each.
        """
        import numpy as np

        weights = {name: (a, b) for name, a, b in self.weights}
        own = {1: ("words", "words_held", "length"), 2: ("word_pairs",), 5: ("shingles",)}.get(size, ())
        needed = math.log(self.probability / (1 - self.probability)) - self.prior
        needed -= sum(a + b for name, (a, b) in weights.items() if name not in own)

        def adds(name: str, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
            a, b = weights.get(name, (0.0, 0.0))
            found: npt.NDArray[np.float64] = a * x + b * spread_of(x)
            return found

        r = np.arange(1001) / 1000
        highest = adds(own[0], r) if own else np.zeros(1001)
        if size == 1:
            h = np.linspace(2 * r / (1 + r), 1, 101)
            bottom = np.maximum(h[:-1] * (1 + r) - r, 1e-12)
            highest += (adds("words_held", h[1:]) + adds("length", np.minimum(r / bottom, 1))).max(axis=0)
        enough = np.flatnonzero(highest >= needed - 1e-9)
        return float(r[max(enough[0] - 1, 0)]) if len(enough) else 1.0


def spread_of(comparisons: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """g(x), which tells small values apart."""
    import numpy as np

    found: npt.NDArray[np.float64] = np.log1p(comparisons / _EPSILON) / math.log1p(1 / _EPSILON)
    return found


def _numbers(text: str, most: int) -> tuple[Any, ...] | None:
    try:
        values = tuple(float(part) for part in text.split("/"))
    except ValueError:
        return None
    if len(values) != most or not all(math.isfinite(value) for value in values):
        return None
    return values
