"""The kind of a duplicate, after the six categories that Conrad, Guo and Schriber (2003, §3) distinguished by reading.

Left is the document that is removed, right the one that is kept. The rule looks at the alignment of their canonical
tokens (`kernels/align.py`): how many tokens are aligned, and how many are not, at the edges of each document and
inside. Call the document with fewer tokens the shorter; its unaligned tokens are *lost*, those of the longer are
*extra*. The first line that holds decides:

| kind | holds when |
|---|---|
| exact | nothing is lost and nothing is extra |
| rewrite | fewer than two thirds of the shorter are aligned |
| revision | lost is more than a twentieth of the shorter, or more than a quarter of extra |
| insertion | more of extra is inside than at the edges |
| revision | extra is less than a twentieth of the longer |
| excerpt | left is the shorter |
| elaboration | left is the longer |

Departures from the paper: its "focus" is called rewrite, as in our design; its categories are about news articles
and paragraphs, ours about token counts; excerpt and elaboration are one relation seen from its two ends, so the
side that is removed decides; and an excerpt may come from anywhere in the longer document, not from its beginning only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.kernels.align import outlines
from roughly.text.canonical import Tokens
from roughly.verify.tokenised import Hashes, Reading

Rows = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Kind:
    """A kind of duplicate: its name, and what it says of a document A that is removed because of B."""

    name: str
    meaning: str


TABLE = [
    Kind("exact", "A and B have the same words in the same order"),
    Kind("excerpt", "A is a part of B"),
    Kind("elaboration", "A is B with more before or after it"),
    Kind("insertion", "A and B differ in what one of them inserts"),
    Kind("rewrite", "much of it is worded or ordered differently"),
    Kind("revision", "the same text with edits here and there"),
]
KINDS: list[str] = [kind.name for kind in TABLE]
"""Their names; a kind's code is its position."""


@dataclass(frozen=True)
class Outline:
    """Tokens of each pair, counted as the table above does."""

    aligned: Rows
    lost: Rows
    extra: Rows
    inside: Rows  # of extra
    left_longer: Flags

    @property
    def shorter(self) -> Rows:
        """Tokens of the shorter document."""
        return self.aligned + self.lost

    @property
    def longer(self) -> Rows:
        """Tokens of the longer document."""
        return self.aligned + self.extra


RULES: list[tuple[str, Callable[[Outline], Flags]]] = [
    ("exact", lambda o: o.extra == 0),
    ("rewrite", lambda o: (o.aligned == 0) | (3 * o.aligned < 2 * o.shorter)),
    ("revision", lambda o: (20 * o.lost > o.shorter) | (4 * o.lost > o.extra)),
    ("insertion", lambda o: 2 * o.inside > o.extra),
    ("revision", lambda o: 20 * o.extra < o.longer),
    ("excerpt", lambda o: ~o.left_longer),
    ("elaboration", lambda o: o.left_longer),
]
"""The table above: the first rule that holds decides, and one always does."""


def register(kind: Kind, holds: Callable[[Outline], Flags]) -> None:
    """Add a kind whose rule precedes all others."""
    TABLE.append(kind)
    KINDS.append(kind.name)
    RULES.insert(0, (kind.name, holds))


def kind_of(left: str, right: str) -> str:
    """The kind of left, which is removed, relative to right, which is kept: one of `KINDS`."""
    return kinds_of_tokens(Reading(left, "left").hashes, Reading(right, "right").hashes)


def kinds_of_tokens(left_tokens: Hashes, right_tokens: Hashes) -> str:
    """The kind for two documents given as token hashes in reading order."""
    hashes = np.concatenate((left_tokens, right_tokens))
    offsets = np.array([0, len(left_tokens), len(hashes)], np.int64)
    return KINDS[int(kinds_of_outlines(outlines(hashes, offsets, np.array([0]), np.array([1])))[0])]


def kinds_of_pairs(tokens: Tokens, lefts: Rows, rights: Rows) -> Codes:
    """The kinds of many pairs of documents of one batch, as positions in `KINDS`."""
    return kinds_of_outlines(outlines(tokens.hashes, tokens.offsets, lefts, rights))


def kinds_of_outlines(rows: Rows) -> Codes:
    """The first rule that holds, from the counts that `outlines` gives; a kind is its position in `KINDS`."""
    aligned, left_edge, left_inside, right_edge, right_inside = rows.T
    left_extra, right_extra = left_edge + left_inside, right_edge + right_inside
    left_longer = left_extra > right_extra
    lost, extra = np.minimum(left_extra, right_extra), np.maximum(left_extra, right_extra)
    outline = Outline(aligned, lost, extra, np.where(left_longer, left_inside, right_inside), left_longer)
    codes = [KINDS.index(kind) for kind, _ in RULES]
    return np.select([holds(outline) for _, holds in RULES], codes).astype(np.uint8)
