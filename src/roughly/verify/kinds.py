"""The kind of a duplicate, after the six categories that Conrad, Guo and Schriber (2003, §3) told apart by eye.

Left is the document that goes, right the one that stays. The rule looks at the alignment of their canonical tokens
(`kernels/align.py`): how many tokens are aligned, and how many are not, at the edges of each document and
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
side that goes decides; and an excerpt may come from anywhere in the longer document, not from its beginning only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.kernels.align import outlines
from roughly.text.canonical import Tokens
from roughly.verify.tokenised import Hashes, Reading

KINDS = ("exact", "excerpt", "elaboration", "insertion", "rewrite", "revision")
EXACT, EXCERPT, ELABORATION, INSERTION, REWRITE, REVISION = range(6)

Rows = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]


def kind_of(left: str, right: str) -> str:
    """What left, which goes, is to right, which stays: one of `KINDS`."""
    return kinds_of_tokens(Reading(left, "left").hashes, Reading(right, "right").hashes)


def kinds_of_tokens(left_tokens: Hashes, right_tokens: Hashes) -> str:
    """The kind for two documents given as token hashes in reading order."""
    hashes = np.concatenate((left_tokens, right_tokens))
    offsets = np.array([0, len(left_tokens), len(hashes)], np.int64)
    return KINDS[_decide(outlines(hashes, offsets, np.array([0]), np.array([1])))[0]]


def kinds_of_pairs(tokens: Tokens, lefts: Rows, rights: Rows) -> Codes:
    """The kinds of many pairs of documents of one batch, as positions in `KINDS`."""
    return _decide(outlines(tokens.hashes, tokens.offsets, lefts, rights))


def _decide(rows: Rows) -> Codes:
    """The rule above, from the counts that `outlines` gives."""
    aligned, left_edge, left_inside, right_edge, right_inside = rows.T
    left_extra, right_extra = left_edge + left_inside, right_edge + right_inside
    left_longer = left_extra > right_extra
    lost = np.minimum(left_extra, right_extra)
    extra = np.maximum(left_extra, right_extra)
    inside = np.where(left_longer, left_inside, right_inside)
    shorter, longer = aligned + lost, aligned + extra
    code = np.select(
        [
            extra == 0,
            (aligned == 0) | (3 * aligned < 2 * shorter),
            (20 * lost > shorter) | (4 * lost > extra),
            2 * inside > extra,
            20 * extra < longer,
            ~left_longer,
        ],
        [EXACT, REWRITE, REVISION, INSERTION, REVISION, EXCERPT],
        ELABORATION,
    )
    return code.astype(np.uint8)
