"""Spans of runs of tokens, found by the compiled loop, against the plain-Python twin."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from passage_twins import TextPositions

from roughly.kernels.run_spans import run_spans
from roughly.text import tables
from roughly.tools.passages.span_finder import ReadTexts

_PIECES = (
    "one", "Zwei", "é", "naïve", "日本語。", "ไทยำ", "👍", " ", " ", " ", "\n", "\n\n", "\u2029", ". ", "! ", "x.",
    "<b>", "</b>", "<p class='a b'>", "<!-- not seen -->", "&amp;", "&eacute;", "<script>var x;</script>", "a\u200bb",
)  # fmt: skip


def _text(draw: random.Random) -> str:
    return "".join(draw.choice(_PIECES) + draw.choice(("", " ")) for _ in range(draw.randrange(1, 60)))


@pytest.mark.parametrize("unit", ["window", "line", "sentence", "paragraph"])
def test_as_the_twin(unit: str) -> None:
    draw = random.Random(unit)
    texts, markup = [_text(draw) for _ in range(120)], [draw.random() < 0.5 for _ in range(120)]
    twins = [
        TextPositions(text.encode(), is_markup, unit) for text, is_markup in zip(texts, markup, strict=True)
    ]  # fmt: skip
    runs, asked, expected, places = [], [], [], []
    for number, twin in enumerate(twins):
        count = len(twin.spans)
        for _ in range(min(4, count)):
            first = draw.randrange(count)
            last = draw.randrange(first, count) + 1
            for start, end, token, tokens in twin.pieces(first, last):
                characters = (twin.character(start), twin.character(end))
                expected.append([len(runs), start, end, *characters, token, tokens])
            runs.append([number, first, last - first])
            byte = twin.start_of(first)
            asked.append([number, first])
            places.append([byte, twin.character(byte)])
    table, read = (
        tables.load(),
        ReadTexts(np.arange(120), pa.array(["", *texts], pa.large_string())[1:], pa.array(markup)),
    )
    counts = np.array([len(twin.spans) for twin in twins], np.int64)
    given = (read.masked(True), (table.stage1, table.stage2), unit)
    found = run_spans(*given, counts, np.array(runs), np.array(asked))
    assert (found[0].tolist(), found[1].tolist(), found[2]) == (expected, places, -1)
    counts[7] += 1
    assert run_spans(*given, counts, np.array(runs), np.array(asked))[2] == 7


def test_mistakes_of_callers_are_refused() -> None:
    table, read = tables.load(), ReadTexts(np.arange(1), pa.array(["one two"], pa.large_string()), pa.array([False]))
    given = (read.masked(True), (table.stage1, table.stage2), "window", np.array([2]))
    none = np.empty((0, 2), np.int64)
    for run in ([0, 1, 2], [0, -1, 1], [0, 0, 0]):
        with pytest.raises(ValueError, match="runs must lie within their text"):
            run_spans(*given, np.array([run]), none)
    with pytest.raises(ValueError, match="sorted by text"):
        run_spans(*given, np.array([[1, 0, 1]]), none)
    with pytest.raises(ValueError, match="tokens must lie within their text"):
        run_spans(*given, np.empty((0, 3), np.int64), np.array([[0, 2]]))
