"""Two texts for a page that shows them side by side, with differences and shared passages marked.

A text may have many megabytes. So each side shows a window of at most `WINDOW` characters; the first window begins
shortly before the first difference, and the next one where the last common words of this one end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Literal

from roughly.fast_dataclass import dataclass
from roughly.report.window import cut_pair
from roughly.verify.diff import Stretch, stretches
from roughly.verify.passages import Passage, agreeing_pieces, passages_of_readings
from roughly.verify.tokenised import Reading

WINDOW = 24_000
Tag = Literal["equal", "only", "moved", "passage", "plain"]


@dataclass(frozen=True, slots=True)
class TextMark:
    """A piece of text. `at` is the same number on both sides if they have the piece in common."""

    tag: Tag
    text: str
    at: int | None = None


@dataclass(frozen=True, slots=True)
class MarkedText:
    """One of the two texts, marked."""

    marks: tuple[TextMark, ...]
    start: int
    end: int
    length: int


@dataclass(frozen=True, slots=True)
class MarkedPair:
    """Both texts, marked, and where the next windows begin."""

    left: MarkedText
    right: MarkedText
    differences: int
    passages: tuple[Passage, ...]  # in characters of the whole texts
    cut: bool  # this is not all of both texts
    next: tuple[int, int] | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def mark_pair(
    left: str, right: str, view: str = "differences", starts: tuple[int, int] | None = None, shingle_size: int = 5
) -> MarkedPair:
    """Mark both texts from these positions on, or from the first difference."""
    window = cut_pair(left, right, WINDOW)
    at = (window.left_start, window.right_start) if starts is None else starts
    at = min(at[0], len(left)), min(at[1], len(right))
    one = Reading(left[at[0] : at[0] + WINDOW], "left")
    other = Reading(right[at[1] : at[1] + WINDOW], "right")
    found = stretches(one, other)
    passages = passages_of_readings(one, other, shingle_size)
    left_more, right_more = at[0] + WINDOW < len(left), at[1] + WINDOW < len(right)
    if left_more or right_more:
        found = _without_loose_end(found)
    if view == "passages":
        pieces = enumerate(agreeing_pieces(passages, one, other, shingle_size), 1)
        numbered = [(number, piece) for number, some in pieces for piece in some]
        sides = (
            _passages(one.text, [(p.left_start, p.left_end, n) for n, p in numbered]),
            _passages(other.text, [(p.right_start, p.right_end, n) for n, p in numbered]),
        )
    else:
        moved = _moved(passages, found)
        sides = _differences(one.text, other.text, found, moved)
    end = found[-1] if found else Stretch(True, 0, 0, 0, 0)
    shown = (at[0] + end.left_end, at[1] + end.right_end)
    return MarkedPair(
        MarkedText(tuple(sides[0]), at[0], at[0] + len(one.text), len(left)),
        MarkedText(tuple(sides[1]), at[1], at[1] + len(other.text), len(right)),
        sum(not stretch.equal for stretch in found),
        tuple(
            Passage(
                p.left_start + at[0], p.left_end + at[0], p.right_start + at[1], p.right_end + at[1], p.words
            )
            for p in passages
        ),
        at != (0, 0) or left_more or right_more,
        _next(at, shown, left_more, right_more, (len(left), len(right))),
    )  # fmt: skip


def _next(
    at: tuple[int, int], shown: tuple[int, int], left_more: bool, right_more: bool, lengths: tuple[int, int]
) -> tuple[int, int] | None:
    """Where the next windows begin: after the last common words, or a window further if there are none."""
    if not left_more and not right_more:
        return None
    if min(shown[0] - at[0], shown[1] - at[1]) > WINDOW // 8:
        return shown
    return min(at[0] + WINDOW, lengths[0]), min(at[1] + WINDOW, lengths[1])


def _without_loose_end(found: list[Stretch]) -> list[Stretch]:
    """Without what follows the last common words, if texts are cut: it is the cut, not a difference."""
    last = max((n for n, stretch in enumerate(found) if stretch.equal), default=None)
    return found if last is None else found[: last + 1]


Moved = list[tuple[int, int, int]]  # start, end, number


def _moved(passages: Iterable[Passage], found: list[Stretch]) -> tuple[Moved, Moved]:
    """Passages that both texts contain at positions which the diff does not align."""
    left: Moved = []
    right: Moved = []
    for number, passage in enumerate(passages, 1):
        aligned = any(
            stretch.equal
            and stretch.left_start < passage.left_end
            and passage.left_start < stretch.left_end
            and stretch.right_start < passage.right_end
            and passage.right_start < stretch.right_end
            for stretch in found
        )
        if not aligned:
            left.append((passage.left_start, passage.left_end, number))
            right.append((passage.right_start, passage.right_end, number))
    return sorted(left), sorted(right)


def _differences(
    left: str, right: str, found: list[Stretch], moved: tuple[Moved, Moved]
) -> tuple[list[TextMark], list[TextMark]]:
    sides: tuple[list[TextMark], list[TextMark]] = ([], [])
    for number, stretch in enumerate(found):
        for marks, text, start, end, elsewhere in (
            (sides[0], left, stretch.left_start, stretch.left_end, moved[0]),
            (sides[1], right, stretch.right_start, stretch.right_end, moved[1]),
        ):
            if stretch.equal:
                marks.append(TextMark("equal", text[start:end], number))
            elif end > start:
                marks += _split(text, start, end, elsewhere)
    for marks, text, end in (
        (sides[0], left, found[-1].left_end if found else 0),
        (sides[1], right, found[-1].right_end if found else 0),
    ):
        if end < len(text):
            marks.append(TextMark("plain", text[end:]))
    return sides


def _split(text: str, start: int, end: int, elsewhere: Moved) -> list[TextMark]:
    """A stretch of one side only, with the parts that are elsewhere in the other."""
    marks = []
    for first, last, number in elsewhere:
        first, last = max(first, start), min(last, end)
        if first >= last:
            continue
        if first > start:
            marks.append(TextMark("only", text[start:first]))
        marks.append(TextMark("moved", text[first:last], number))
        start = last
    if start < end:
        marks.append(TextMark("only", text[start:end]))
    return marks


def _passages(text: str, ranges: list[tuple[int, int, int]]) -> list[TextMark]:
    """A text with its shared passages; if two overlap, the first has the words. The first piece has the number."""
    marks: list[TextMark] = []
    numbered: set[int] = set()
    at = 0
    for start, end, number in sorted(ranges):
        start = max(start, at)
        if end <= start:
            continue
        if start > at:
            marks.append(TextMark("plain", text[at:start]))
        marks.append(TextMark("passage", text[start:end], None if number in numbered else number))
        numbered.add(number)
        at = end
    if at < len(text):
        marks.append(TextMark("plain", text[at:]))
    return marks
