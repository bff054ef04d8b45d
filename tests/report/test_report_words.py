"""Figures in words: honest at the edges, where rounding would lie."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.report import wording as words


def say(text: str) -> str:
    return text.replace(words.NBSP, " ")


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (5_871, 37_071, "15.8 %"),
        (0, 7, "0 %"),
        (7, 7, "100 %"),
        (1, 100_000, "< 0.1 %"),
        (99_999, 100_000, "> 99.9 %"),
        (0, 0, "–"),
    ],
)
def test_share(part: int, whole: int, said: str) -> None:
    assert say(words.share(part, whole)) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_024, "1 KB"),
        (4 << 30, "4 GB"),
        (1_500_000, "1.4 MB"),
        (999 << 20, "999 MB"),
        (1_023 << 20, "1 GB"),
        (3 << 60, "3,072 PB"),
    ],
)
def test_size(number: int, said: str) -> None:
    assert say(words.size(number)) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.0002, "< 1 ms"),
        (0.62, "620 ms"),
        (0.9996, "1.0 s"),
        (12.34, "12.3 s"),
        (59.96, "1 min 0 s"),
        (185, "3 min 5 s"),
        (8_040, "2 h 14 min"),
        (200_000, "2 d 8 h"),
    ],
)
def test_duration(seconds: float, said: str) -> None:
    assert say(words.duration(seconds)) == said


def test_score_never_reaches_what_it_is_below() -> None:
    assert words.score(0.79999999) == "0.7999"
    assert words.score(0.8) == "0.8000"
    assert words.score(0.99999) == "0.9999"
    assert words.score(1.0) == "1.0000"


@settings(deadline=None)
@given(st.floats(0, 1), st.integers(1, 9_999))
def test_score_is_at_most_its_value_and_keeps_its_side_of_a_threshold(value: float, ten_thousandths: int) -> None:
    threshold = ten_thousandths / 10_000
    shown = float(words.score(value))
    assert shown <= value and value - shown < 1e-4 + 1e-12
    assert (shown >= threshold) == (value >= threshold)


@settings(deadline=None)
@given(st.integers(0, 10**17))
def test_size_has_few_digits(number: int) -> None:
    digits = words.size(number).split(words.NBSP)[0]
    assert len(digits) <= 4
