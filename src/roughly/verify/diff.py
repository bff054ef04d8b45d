"""What changed between two documents, word by word, in their own words.

The alignment is made on canonical tokens, so a change of case, punctuation, spacing or markup is not a
change. What is shown is the original: text in common as the left document has it, deleted text from the left, inserted
text from the right. A token carries the text that follows it up to the next one (a space, a comma), and the first
also what stands before it, so that

    "".join(s.text for s in word_diff(left, right) if s.kind in ("equal", "delete")) == left

and the tokens of the equal and inserted segments, in order, are the tokens of the right document.

Time and memory grow with the sum of the lengths, whatever the documents hold (see `kernels/align.py`), at the price
that the diff of very different documents need not be the shortest possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from roughly.kernels.align import align
from roughly.verify.reading import Reading, check_count

Kind = Literal["equal", "insert", "delete", "gap"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text that both documents have, or only one; a gap says how many words it leaves out."""

    kind: Kind
    text: str


def word_diff(left: str, right: str, context: int | None = None) -> list[Segment]:
    """The segments that lead from left to right; with `context`, only so many words around each change."""
    return diff_readings(Reading(left, "left"), Reading(right, "right"), context)


def diff_readings(left: Reading, right: Reading, context: int | None = None) -> list[Segment]:
    """The diff of two texts already read."""
    if context is not None:
        check_count("context", context)
    segments: list[Segment] = []
    i = j = 0
    blocks = [*align(left.hashes, right.hashes).tolist(), [len(left.hashes), len(right.hashes), 0]]
    for number, (x, y, length) in enumerate(blocks):
        if x > i:
            segments.append(Segment("delete", _words(left, i, x)))
        if y > j:
            segments.append(Segment("insert", _words(right, j, y)))
        i, j = x + length, y + length
        if length:
            _add_equal(segments, left, x, i, context, last=number == len(blocks) - 2 and _at_end(left, right, i, j))
    if not len(left.hashes) and left.text:
        segments.insert(0, Segment("equal", left.text))  # punctuation and spaces only: nothing that could differ
    return segments


def _add_equal(
    segments: list[Segment], left: Reading, start: int, end: int, context: int | None, *, last: bool
) -> None:
    """Text in common, or its beginning, a gap and its end: what is near a change."""
    head = 0 if context is None or not segments else context
    tail = 0 if context is None or last else context
    hidden = 0 if context is None else end - start - head - tail
    if hidden <= 0:
        segments.append(Segment("equal", _words(left, start, end)))
        return
    if head:
        segments.append(Segment("equal", _words(left, start, start + head)))
    segments.append(Segment("gap", f"{hidden:,} word{'s' if hidden > 1 else ''}"))
    if tail:
        segments.append(Segment("equal", _words(left, end - tail, end)))


def _at_end(left: Reading, right: Reading, i: int, j: int) -> bool:
    return i == len(left.hashes) and j == len(right.hashes)


def _words(reading: Reading, start: int, end: int) -> str:
    """The original text of tokens start … end, each with what follows it."""
    return reading.text[0 if start == 0 else reading.starts[start] : reading.starts[end]]
