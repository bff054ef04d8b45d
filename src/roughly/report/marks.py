"""A sample pair as one text with its differences marked.

`roughly.verify.diff.word_diff` compares the two windows (`PairSample.bounded`) word by word; here its
segments are prepared for the page and shortened. Words that only the left document has become ``<del>``
in the template, words that only the right one has ``<ins>``.

Omissions are always visible: a gap is shown as a gap, differences that are not shown are counted, and
for a window of a long text the page says which part of the text it is.
"""

from __future__ import annotations

from roughly.fast_dataclass import dataclass
from roughly.report.data import PairSample
from roughly.report.visible import ELLIPSIS, flow
from roughly.report.wording import count
from roughly.verify.diff import Segment, word_diff

CONTEXT = 14  # words of common text shown around a difference
SHOWN = 1_400  # characters of marked text on the page
_LONGEST = 700  # characters of one segment

TAGS = {"equal": "span", "delete": "del", "insert": "ins", "gap": "gap"}


@dataclass(frozen=True, slots=True)
class Mark:
    """A piece of text in an element: ``span``, ``del``, ``ins``, or ``gap`` (its text says how much is omitted)."""

    tag: str
    text: str


@dataclass(frozen=True, slots=True)
class MarkedDifferences:
    """The marked text, and notes on what is not in it."""

    marks: tuple[Mark, ...]
    notes: tuple[str, ...]


def mark_differences(pair: PairSample) -> MarkedDifferences:
    """Mark where the two texts of a bounded pair differ."""
    segments = list(word_diff(pair.left_text, pair.right_text, CONTEXT))
    notes = _window_notes(pair)
    if pair.left_cut or pair.right_cut:
        segments = _without_loose_end(segments)
    if not any(segment.kind in ("delete", "insert") for segment in segments):
        if not pair.left_text.strip():
            return MarkedDifferences((), (*notes, "Neither text has words in the part compared."))
        notes.append("No word differs in the part compared; the beginning of it is shown.")
        segments = [Segment("equal", pair.left_text)]
    marks: list[Mark] = []
    left = SHOWN
    for at, segment in enumerate(segments):
        if left <= 0:
            rest = sum(later.kind in ("delete", "insert") for later in segments[at:])
            marks.append(Mark("gap", ""))
            if rest:
                notes.append(f"{count(rest)} more differing passages are not shown.")
            break
        marks.append(_mark(segment, min(left, _LONGEST)))
        left -= len(marks[-1].text)
    return MarkedDifferences(tuple(marks), tuple(notes))


def _mark(segment: Segment, limit: int) -> Mark:
    tag = TAGS[segment.kind]
    shown = flow(segment.text[: 4 * limit])
    if len(shown) > limit or len(segment.text) > 4 * limit:
        shown = shown[:limit] + ELLIPSIS
    return Mark(tag, shown)


def _without_loose_end(segments: list[Segment]) -> list[Segment]:
    """Without what follows the last common words: in cut texts it is the cut, not a difference."""
    last = max((at for at, segment in enumerate(segments) if segment.kind == "equal"), default=None)
    if last is None or last == len(segments) - 1:
        return segments
    return [*segments[: last + 1], Segment("gap", "")]


def _window_notes(pair: PairSample) -> list[str]:
    parts = []
    for side, start, text, length in (
        ("left", pair.left_start, pair.left_text, pair.left_length),
        ("right", pair.right_start, pair.right_text, pair.right_length),
    ):
        if length is not None and len(text) < length:
            end = start + len(text)
            parts.append(f"characters {count(start + 1)} to {count(end)} of {count(length)} of the {side} text")
    if not parts:
        return []
    return [f"Long texts; only these parts are compared: {' and '.join(parts)}."]
