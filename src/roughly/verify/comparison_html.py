"""A comparison as HTML for a notebook cell: scores above, the two texts side by side, what differs marked.

Texts are escaped, so that no markup of theirs is ever shown as markup. Long common stretches are left out, with the
number of their words; very long texts are cut.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from roughly.verify.diff import Stretch
from roughly.verify.scores import Scores

CONTEXT = 30  # words shown before and after a difference
MOST = 40_000  # characters shown of either text
_BOX = "vertical-align:top;width:50%;text-align:left;white-space:pre-wrap;padding:.4em .8em"
_MARKS = {"del": "background:#fbd5cf;color:#7a1f0c", "ins": "background:#cdeed8;color:#0b4a26"}


def comparison_html(
    left: str, right: str, stretches: Sequence[Stretch], scores: Scores, kind: str | None
) -> str:  # fmt: skip
    """The whole cell."""
    ranges = [
        [(s.equal, s.left_start, s.left_end) for s in stretches],
        [(s.equal, s.right_start, s.right_end) for s in stretches],
    ]
    sides = zip((left, right), ranges, ("del", "ins"), strict=True)
    cells = "".join(f'<td style="{_BOX}">{_marked(text, found, tag)}</td>' for text, found, tag in sides)
    line = (
        f"resemblance {scores.resemblance:.4f}, containment {scores.containment:.4f}, "
        f"contained in {scores.contained_in:.4f}{f', kind {kind}' if kind else ''}"
    )
    return (
        f"<p>{html.escape(line)}</p>"
        f'<div style="max-height:32em;overflow:auto"><table style="width:100%;table-layout:fixed">'
        f"<thead><tr><th>left</th><th>right</th></tr></thead><tbody><tr>{cells}</tr></tbody></table></div>"
    )


def _marked(text: str, ranges: Sequence[tuple[bool, int, int]], tag: str) -> str:
    """One text; what the other does not have is in `tag`."""
    parts = []
    for number, (equal, start, end) in enumerate(ranges):
        if start >= MOST:
            parts.append(f"<em>[… {len(text) - start:,} characters …]</em>")
            break
        if not equal and end > start:
            parts.append(f'<{tag} style="{_MARKS[tag]};text-decoration:none">{html.escape(text[start:end])}</{tag}>')
        elif equal:
            parts.append(_shortened(text[start:end], first=number == 0, last=number == len(ranges) - 1))
    return "".join(parts)


def _shortened(text: str, *, first: bool, last: bool) -> str:
    """Common text: the words next to differences, and how many there are between."""
    words = text.split()
    head, tail = 0 if first else CONTEXT, 0 if last else CONTEXT
    hidden = len(words) - head - tail
    if hidden <= CONTEXT or (first and last and len(text) <= MOST):
        return html.escape(text)
    before, after = " ".join(words[:head]), " ".join(words[len(words) - tail :])
    return f"{html.escape(before)} <em>[… {hidden:,} words …]</em> {html.escape(after)}"
