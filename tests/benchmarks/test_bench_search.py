"""The benchmark of search measures what it says, on a few documents."""

from __future__ import annotations

from pathlib import Path

from benchmarks import search
from roughly import Index


def test_making_and_asking_are_told(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db") as index:
        index.add([{"doc_id": f"n{n}", "text": f"some words of text number {n}"} for n in range(20)])
    told = search.measure(str(tmp_path / "a.db"), ["words", "zyzzy"], repeats=1)
    assert told["made"]["texts"] == 20 and told["made"]["bytes_after"] > told["made"]["bytes_before"]
    words, nothing = told["queries"]
    assert words["found"] == 20 == words["grouped"] and words["cpu_ms"] > 0 and nothing["found"] == 0
