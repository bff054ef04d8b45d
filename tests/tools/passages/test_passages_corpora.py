"""Corpora with known passages: the share of plagiarised characters that is found."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import roughly

CORPORA = Path(__file__).resolve().parents[4] / "shared" / "corpora"
PAN = CORPORA / "pan13_no_obfuscation.parquet"


@pytest.mark.skipif(not PAN.exists(), reason="the corpora are not beside the checkout")
@pytest.mark.parametrize(
    ("least", "gap", "shares"),
    [(25, 0, (0.902, 0.947)), (25, 8, (0.908, 0.952)), (50, 0, (0.821, 0.862)), (50, 8, (0.883, 0.933))],
)
def test_plagiarised_characters_of_pan_2013(least: int, gap: int, shares: tuple[float, float]) -> None:
    """Both sides of every copied passage are repeated; `docs/passages.md` has the figures."""
    found: dict[str, list[tuple[int, int]]] = {}
    for row in roughly.passages(PAN, least=least, gap=gap).spans.to_pylist():
        found.setdefault(row["doc_id"], []).append((row["char_start"], row["char_end"]))
    with (CORPORA / "pan13_no_obfuscation_passages.csv").open(encoding="utf-8") as rows:
        passages = list(csv.DictReader(rows))
    for side, name, share in zip(("susp", "source"), ("suspicious_id", "source_id"), shares, strict=True):
        total = seen = 0
        for row in passages:
            start, length = int(row[f"{side}_offset"]), int(row[f"{side}_length"])
            total += length
            seen += sum(max(0, min(e, start + length) - max(s, start)) for s, e in found.get(row[name], []))
        assert seen / total >= share
