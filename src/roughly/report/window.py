"""Two long texts cut to windows that can be compared.

The page shows where two documents differ, and a word-level comparison of two books is neither fast nor
readable. So each side is cut to a window of at most ``limit`` characters, and the two windows are placed
where the comparison is informative:

1. a common beginning is skipped, so that the first difference is in the window, if there is one;
2. if one text is deep inside the other (an excerpt), some probes from one are looked up in the other, so
   that the windows begin at the same passage.

Cutting makes the *ends* of the windows unreliable: words at the end of one window may be just after the
end of the other. `Window.cut` says so, and the marking omits such an end.
"""

from __future__ import annotations

from roughly.fast_dataclass import dataclass

CONTEXT = 160  # characters of common text kept before the first difference
_PROBE = 40  # characters looked up in the other text
_PROBES = 12


@dataclass(frozen=True, slots=True)
class Window:
    """The text of both windows, and where each begins."""

    left: str
    right: str
    left_start: int
    right_start: int
    left_cut: bool  # text of the left side was dropped after its window
    right_cut: bool

    @property
    def cut(self) -> bool:
        """Whether cutting makes the end of the comparison unreliable."""
        return self.left_cut or self.right_cut


def cut_pair(left: str, right: str, limit: int) -> Window:
    """Cut both texts to windows of at most ``limit`` characters that begin at the same passage."""
    if len(left) <= limit and len(right) <= limit:
        return Window(left, right, 0, 0, False, False)
    prefix = common_prefix(left, right)
    start = 0 if left == right else _word_start(left, max(0, prefix - CONTEXT))
    left_start, right_start = start, start
    if prefix < min(len(left), len(right)) and prefix < CONTEXT:
        # They differ from the beginning: one may be somewhere inside the other.
        left_start, right_start = _align(left, right, limit)
    left_end, right_end = left_start + limit, right_start + limit
    return Window(
        left[left_start:left_end],
        right[right_start:right_end],
        left_start,
        right_start,
        left_end < len(left),
        right_end < len(right),
    )


def common_prefix(left: str, right: str) -> int:
    """The length of the common prefix; compares slices, so that 10 MB take milliseconds."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _align(left: str, right: str, limit: int) -> tuple[int, int]:
    """Where the windows begin so that both contain the first common passage that is found."""
    if len(left) > len(right):
        right_start, left_start = _align(right, left, limit)
        return left_start, right_start
    step = max(_PROBE, min(len(left), limit) // _PROBES)
    for offset in range(0, min(len(left), limit) - _PROBE + 1, step):
        found = right.find(left[offset : offset + _PROBE])
        if found >= 0:
            if abs(found - offset) <= limit // 2:
                return 0, 0  # close enough: both windows contain it from the beginning
            # Include the shorter text before the probe, if the longer has as much before it.
            back = min(offset, found)
            return offset - back, found - back
    return 0, 0


def _word_start(text: str, position: int) -> int:
    """The last beginning of a word at or before the position, or the position in a long word."""
    space = text.rfind(" ", max(0, position - 40), position)
    return position if space < 0 else space + 1
