"""Counts with their noun, and percentages, as every command and page writes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roughly.amounts import counted, records_were, share

SOURCES = sorted((Path(__file__).resolve().parents[1] / "src" / "roughly").rglob("*.py"))


def test_one_and_many() -> None:
    assert [counted(n, "candidate pair") for n in (0, 1, 2000)] == [
        "0 candidate pairs", "1 candidate pair", "2,000 candidate pairs",
    ]  # fmt: skip
    assert [records_were(n) for n in (1, 5)] == ["1 record was", "5 records were"]


@pytest.mark.parametrize(
    ("part", "whole", "digits", "text"),
    [
        (343, 511, 1, "67.1 %"), (0, 5, 1, "0 %"), (5, 5, 1, "100 %"), (0.88, 1, 0, "88 %"), (3, 0, 1, "–"),
        (1, 10_000, 1, "< 0.1 %"), (9_999, 10_000, 1, "> 99.9 %"), (0.001, 1, 0, "< 1 %"),
    ],
)  # fmt: skip
def test_a_share_is_honest(part: float, whole: float, digits: int, text: str) -> None:
    assert share(part, whole, digits) == text


def test_percentages_are_written_by_this_alone() -> None:
    """`{x:.1%}` writes `67.1%`; the papers' tables alone are written like that."""
    own = [path for path in SOURCES if "papers" not in path.parts]
    assert [path.name for path in own if re.search(r":\.\d%\}", path.read_text(encoding="utf-8"))] == []
