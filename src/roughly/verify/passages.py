"""The passages that two documents share, wherever they stand, as character offsets in both originals.

Unlike the diff, passages know no order: a paragraph moved from the end to the beginning is one shared passage. The
rule, in words:

1. A *run* is a stretch of equal canonical tokens holding at least one shared shingle. Going through the left document,
   each shingle that the right one also holds begins the longest run there is from it; the next run begins behind it.
   So runs never overlap on the left; on the right they may, when left repeats a passage that right has once.
   Of a shingle with many occurrences on the right, the 16 nearest to where the last run would go on are tried.
2. Two neighbouring runs are one passage when they come in the same order on both sides with at most `gap` words between
   them, on either side (by default as many as a shingle has: a few changed words do not break a passage).
3. A passage of fewer than `least` agreeing words is left out, unless it is the whole of a document.

A document shorter than a shingle is one shingle of all its tokens, and so is shared as a whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from roughly import checks
from roughly.kernels.align import shared_runs
from roughly.verify.tokenised import Reading, check_count

LEAST = 10


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage in both documents: half-open ranges of characters, and how many words agree."""

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    words: int


def shared_passages(
    left: str, right: str, shingle_size: int = 5, least: int = LEAST, gap: int | None = None
) -> list[Passage]:
    """The passages that left and right share, in the order of left."""
    return passages_of_readings(Reading(left, "left"), Reading(right, "right"), shingle_size, least, gap)


def passages_of_readings(
    left: Reading, right: Reading, shingle_size: int = 5, least: int = LEAST, gap: int | None = None
) -> list[Passage]:
    """The passages of two texts already read."""
    checks.refuse(checks.shingle_size(shingle_size))
    check_count("least", least)
    gap = shingle_size if gap is None else gap
    check_count("gap", gap)
    left_size, right_size = len(left.hashes), len(right.hashes)
    passages: list[Passage] = []
    for i, i_end, j, j_end, words in _merged(_runs(left, right, shingle_size), gap):
        whole = i_end - i == left_size or j_end - j == right_size
        if words >= least or whole:
            passages.append(
                Passage(left.starts[i], left.ends[i_end - 1], right.starts[j], right.ends[j_end - 1], words)
            )
    return passages


def _runs(left: Reading, right: Reading, shingle_size: int) -> list[list[int]]:
    left_size, right_size = len(left.hashes), len(right.hashes)
    if min(left_size, right_size) < shingle_size:
        equal = left_size == right_size and bool((left.hashes == right.hashes).all())
        return [[0, 0, left_size]] if equal and left_size else []
    runs: list[list[int]] = shared_runs(left.hashes, right.hashes, shingle_size).tolist()
    return runs


def _merged(runs: list[list[int]], gap: int) -> list[tuple[int, int, int, int, int]]:
    """Neighbouring runs joined over gaps: (left start, left end, right start, right end, agreeing words)."""
    merged: list[tuple[int, int, int, int, int]] = []
    for i, j, length in runs:
        if merged:
            start, end, other_start, other_end, words = merged[-1]
            if i - end <= gap and 0 <= j - other_end <= gap:
                merged[-1] = (start, i + length, other_start, j + length, words + length)
                continue
        merged.append((i, i + length, j, j + length, length))
    return merged
