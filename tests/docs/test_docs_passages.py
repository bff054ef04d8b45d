"""The page on repeated passages shows what was measured."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import passage_peers, passages

ROOT = Path(__file__).resolve().parents[2]


def test_the_tables_are_those_of_the_measurements() -> None:
    page = (ROOT / "docs" / "passages.md").read_text(encoding="utf-8")
    results = ROOT / "benchmarks" / "results"
    found = json.loads((results / "passages.json").read_text())
    peers = json.loads((results / "passage_peers.json").read_text())
    for table in (*passages.tables(found), passage_peers.table(peers)[0]):
        assert table in page, "python -m benchmarks.passages --show benchmarks/results/passages.json"
    assert passages.pan_table(found) in page
    assert f"to the power {found['exponent']:.2f}" in page
