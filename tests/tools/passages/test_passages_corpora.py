"""Corpora with known passages: the share of plagiarised characters that is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.passages import pan

ROOT = Path(__file__).resolve().parents[3]
CORPORA = ROOT.parent / "shared" / "corpora"


@pytest.mark.skipif(not CORPORA.exists(), reason="the corpora are not beside the checkout")
@pytest.mark.parametrize(("least", "gap"), [(25, 0), (25, 8), (50, 0), (50, 8)])
def test_plagiarised_characters_of_pan_2013(least: int, gap: int) -> None:
    """Both sides of every copied passage are repeated; `docs/passages.md` has the figures."""
    assert pan(CORPORA, least, gap) in json.loads((ROOT / "benchmarks/results/passages.json").read_text())["pan"]
