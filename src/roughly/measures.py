"""Similarity of two documents: every measure, and where it may be used.

Code that needs to know the measures reads this table. The formulas are in `verify.scores` and in the kernels.
"""

from __future__ import annotations

from roughly.fast_dataclass import dataclass


@dataclass(frozen=True)
class Measure:
    """One measure of a pair of documents."""

    name: str
    score: str  # the score of a pair that a threshold on the measure is about
    threshold: bool = False  # a run may have its threshold on it
    query: bool = False  # answers of an index may be ordered by it
    truth: bool = False  # all pairs by it can be found exactly
    longer_first: bool = False  # the longer document of a pair ranks above the shorter, whatever the keep rules say


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("resemblance", "resemblance", threshold=True, query=True, truth=True),
        # only the longer of two documents can contain the shorter
        Measure("containment", "containment", threshold=True, query=True, truth=True, longer_first=True),
        Measure("contained_in", "contained_in", query=True),
        Measure("cosine", "resemblance", truth=True),
        Measure("common", "resemblance"),  # how many keys or terms are equal: a method's own
    )
}
FOR_THRESHOLD = tuple(measure.name for measure in MEASURES.values() if measure.threshold)
FOR_QUERY = tuple(measure.name for measure in MEASURES.values() if measure.query)
FOR_TRUTH = tuple(measure.name for measure in MEASURES.values() if measure.truth)


def listed(names: tuple[str, ...]) -> str:
    """Names as help texts list them: `a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
