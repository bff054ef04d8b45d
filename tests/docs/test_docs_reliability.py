"""The page on reliability shows kills, hostile files and fuzzers as they were counted."""

from __future__ import annotations

import importlib.util
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_tables_are_those_of_the_results() -> None:
    spec = importlib.util.spec_from_file_location("make_reliability", DOCS / "make_reliability.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    text = made.PAGE.read_text(encoding="utf-8")
    assert len(made.BLOCK.findall(text)) == len(made.BLOCKS)
    assert made.page(text) == text, "python docs/make_reliability.py"
    for row in made.measured("kills")["commands"].values():
        assert row["identical"] == row["rounds"] and not row["lost_acknowledged"], row
    for name in ("hostile", "damaged"):
        row = made.measured("hostile")[name]
        assert not (row["over_memory"] or row["tracebacks"] or row["unaccounted"]), row["problems"]
