"""Pairs just below the threshold of a run, for an estimate of what a lower one would remove.

A run does not look for them. They are known if pairs were drawn for judging (`roughly judge`, the page Judge), as
numbers of pairs per range of scores; for a small run they are found here, among its kept documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from roughly.errors import RoughlyError
from roughly.service.collection.run_collection import RunCollection
from roughly.settings import Resources
from roughly.signing.text_batch import TextBatch
from roughly.tools.judge.api import open_verdicts
from roughly.tools.judge.near_misses import LOWEST, near_misses
from roughly.tools.judge.strata import SPAN

SMALL = 3_000  # kept documents
SMALL_BYTES = 32 << 20
Range = tuple[float, float, float]  # low, high, number of documents


def lowest_estimated(threshold: float) -> float:
    """The lowest threshold that near misses say something about."""
    return max(LOWEST, round(threshold - SPAN, 4))


def near_ranges(run: RunCollection) -> list[Range] | None:
    """Documents that lower thresholds would remove besides, by ranges of scores; None if that is not known."""
    try:
        if run.run.learned is None and run.run.verdicts.exists():
            strata = open_verdicts(run.run, run.run.verdicts).drawn.strata
            return [(one.low, one.high, one.pairs) for one in strata if not one.found and one.name != "unmeasured"]
        counts = run.run_json["counts"]
        if run.threshold is None or counts["kept"] > SMALL or counts["bytes"] - counts["removed_bytes"] > SMALL_BYTES:
            return None
        return _found(run, run.threshold)
    except (RoughlyError, OSError, KeyError):
        return None


def more_removed(ranges: Sequence[Range], threshold: float) -> float:
    """How many more documents a threshold would remove: scores are taken as spread evenly within a range."""
    total = 0.0
    for low, high, number in ranges:
        total += number * min(1.0, max(0.0, (high - threshold) / (high - low) if high > low else low >= threshold))
    return total


def _found(run: RunCollection, threshold: float) -> list[Range] | None:
    """Each kept document that resembles a longer one, at its best score."""
    ids = [row[0] for row in run.tables.tuples("SELECT doc_id FROM documents WHERE kept")]
    texts = run.texts(ids)
    names = [name for name in ids if texts[name].text]
    if len(names) < 2:
        return None
    tokens = TextBatch(pa.array([texts[name].text for name in names], pa.large_string())).tokens
    best: dict[str, float] = {}
    for pair in near_misses(
        names, tokens, measure=run.measure, threshold=threshold, shingle_size=run.shingle_size,
        resources=Resources(threads=2),
    ):  # fmt: skip
        best[pair.left_id] = max(best.get(pair.left_id, 0.0), pair.score or 0.0)
    return [(score, score, 1.0) for score in best.values()]
