"""From runs of tokens to spans of texts, in bytes and in characters; the rules are in `core/run_spans.hpp`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Blocks, Bytes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.repeats import UNITS
from roughly.kernels.tokens import refuse_longer

Matrix = npt.NDArray[np.int64]


class MaskedTexts(NamedTuple):
    """Texts as read and with their markup overwritten; text d has the bytes offsets[d] : offsets[d + 1]."""

    data: Bytes
    masked: Bytes
    hidden: Bytes  # 1: a byte of a tag; empty if no text is markup
    markup: Bytes  # per text: 1 if its spans are divided at tags; empty if none is
    offsets: Offsets


def run_spans(
    texts: MaskedTexts, stages: tuple[Blocks, Words], unit: str, counts: Offsets, runs: Matrix, asked: Matrix
) -> tuple[Matrix, Matrix, int]:
    """The spans of runs of tokens, the starts of tokens, and the first text whose tokens are not `counts` (or −1).

    Runs are rows (text, first token, tokens), and asked tokens rows (text, token), both sorted by text. Spans are rows
    (run, start, end, start in characters, end in characters, first token, tokens); starts are rows (byte, character).
    """
    data = frozen(texts.data, np.uint8, "data")
    offsets = frozen_offsets(texts.offsets, len(data))
    refuse_longer(int(np.diff(offsets).max(initial=0)))
    kind = UNITS.index(unit) if unit in UNITS else -1
    given = (data, frozen(texts.masked, np.uint8, "masked"), texts.hidden, texts.markup, offsets)
    return _core.run_spans(given, stages, kind, counts, runs, asked)
