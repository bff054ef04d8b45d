"""The difference of two documents, word by word, as they are written.

The alignment is made on canonical tokens, so a change of case, punctuation, spacing or markup is not a
change. What is shown is the original: text in common as the left document has it, deleted text from the left, inserted
text from the right. A token carries the text that follows it up to the next one (a space, a comma), and the first also
what comes before it, so that

    "".join(s.text for s in word_diff(left, right) if s.kind in ("equal", "delete")) == left

and the tokens of the equal and inserted segments, in order, are the tokens of the right document.

Time and memory grow with the sum of the lengths, whatever the content (see `kernels/align.py`); in return, the diff of
very different documents need not be the shortest possible.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from roughly.fast_dataclass import dataclass
from roughly.kernels.align import align
from roughly.verify.tokenised import Reading, check_count

Kind = Literal["equal", "insert", "delete", "gap"]

_SHIFT = 32  # words that a change may be moved
_STOPS = ".!?…。！？؟।"


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text that both documents have, or only one; a gap says how many words it leaves out."""

    kind: Kind
    text: str


def word_diff(left: str, right: str, context: int | None = None) -> list[Segment]:
    """The segments that lead from left to right; with `context`, only this number of words around each change."""
    return diff_readings(Reading(left, "left"), Reading(right, "right"), context)


def diff_readings(left: Reading, right: Reading, context: int | None = None) -> list[Segment]:
    """The diff of two texts already tokenised."""
    if context is not None:
        check_count("context", context)
    segments: list[Segment] = []
    i = j = 0
    blocks = _at_sentence_ends(left, right, align(left.hashes, right.hashes).tolist())
    blocks.append([len(left.hashes), len(right.hashes), 0])
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


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of both texts, as half-open ranges of characters: common or different."""

    equal: bool
    left_start: int
    left_end: int
    right_start: int
    right_end: int


def stretches(left: Reading, right: Reading) -> list[Stretch]:
    """The diff as ranges in both texts, which together cover both."""
    found: list[Stretch] = []
    blocks = _at_sentence_ends(left, right, align(left.hashes, right.hashes).tolist())
    blocks.append([len(left.hashes), len(right.hashes), 0])
    i = j = 0
    for x, y, length in blocks:
        if x > i or y > j:
            found.append(Stretch(False, _place(left, i), _place(left, x), _place(right, j), _place(right, y)))
        i, j = x + length, y + length
        if length:
            found.append(Stretch(True, _place(left, x), _place(left, i), _place(right, y), _place(right, j)))
    if not len(left.hashes) and not len(right.hashes):
        found.append(Stretch(True, 0, len(left.text), 0, len(right.text)))
    return found


def _place(reading: Reading, token: int) -> int:
    return 0 if token == 0 else reading.starts[token]


def _add_equal(
    segments: list[Segment], left: Reading, start: int, end: int, context: int | None, *, last: bool
) -> None:
    """Common text, or only its beginning and end, near changes, with a gap between."""
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


def _at_sentence_ends(left: Reading, right: Reading, blocks: list[list[int]]) -> list[list[int]]:
    """Move pure insertions and deletions to where a line or a sentence begins, if the words allow it.

    "the cat sat. [+the dog lay. +]the end" may as well read "the cat sat. the [+dog lay. the +]end".
    """
    for before, after in pairwise(blocks):
        i, j = before[0] + before[2], before[1] + before[2]
        if (i == after[0]) == (j == after[1]):
            continue
        side, start, end = (right, j, after[1]) if i == after[0] else (left, i, after[0])
        best, chosen = _break(side, start), 0
        for step in (-1, 1):
            shift = step
            while -before[2] < shift < after[2] and abs(shift) <= _SHIFT:
                gone, come = (start + shift, end + shift) if step < 0 else (start + shift - 1, end + shift - 1)
                if side.hashes[gone] != side.hashes[come]:
                    break
                if _break(side, start + shift) > best:
                    best, chosen = _break(side, start + shift), shift
                shift += step
        before[2] += chosen
        after[0], after[1], after[2] = after[0] + chosen, after[1] + chosen, after[2] - chosen
    return blocks


def _break(reading: Reading, token: int) -> int:
    """How well a change may begin at a token: paragraph, line or sentence, clause, word."""
    between = reading.text[reading.ends[token - 1] : reading.starts[token]]
    if between.count("\n") > 1:
        return 3
    if "\n" in between or any(stop in between for stop in _STOPS):
        return 2
    return 1 if between.strip() else 0


def _at_end(left: Reading, right: Reading, i: int, j: int) -> bool:
    return i == len(left.hashes) and j == len(right.hashes)


def _words(reading: Reading, start: int, end: int) -> str:
    """The original text of tokens start … end, each with what follows it."""
    return reading.text[0 if start == 0 else reading.starts[start] : reading.starts[end]]
