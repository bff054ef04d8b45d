"""The passages that two documents share, at any position, as character offsets in both originals.

Unlike the diff, passages do not depend on order: a paragraph moved from the end to the beginning is one shared passage.
The rule, in words:

1. A *run* is a sequence of equal canonical tokens with at least one shared shingle. In the order of the left document,
each shingle that the right one also has begins the longest possible run; the next run begins after it.
   So runs never overlap on the left; on the right they may, when left repeats a passage that right has once.
   If a shingle occurs often on the right, the 16 occurrences nearest to where the last run would continue are tried.
2. Two neighbouring runs are one passage when they come in the same order on both sides with at most `gap` words between
   them, on either side (by default as many as a shingle has: a few changed words do not break a passage).
3. A passage of fewer than `least` agreeing words is left out, unless it is the whole of a document.

A document shorter than a shingle is one shingle of all its tokens, and so is shared as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from roughly import checks
from roughly.fast_dataclass import dataclass
from roughly.kernels.align import shared_runs
from roughly.verify.tokenised import Reading, check_count

LEAST = 10


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage in both documents: half-open ranges of characters, and the number of agreeing words."""

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
    """The passages of two texts already tokenised."""
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


def agreeing_pieces(
    passages: Sequence[Passage], left: Reading, right: Reading, shingle_size: int = 5
) -> list[list[Passage]]:
    """The pieces of each passage in which both texts agree: without the words that were changed between them."""
    runs = passages_of_readings(left, right, shingle_size, least=0, gap=0)
    pieces: list[list[Passage]] = [[] for _ in passages]
    for run in runs:
        for own, one in zip(pieces, passages, strict=True):
            if (
                one.left_start <= run.left_start and run.left_end <= one.left_end
                and one.right_start <= run.right_start and run.right_end <= one.right_end
            ):  # fmt: skip
                own.append(run)
                break
    return pieces


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
