"""The benchmark of grouped results measures what it says, on a few documents."""

from __future__ import annotations

import pytest

from benchmarks import results_grouping


def test_a_fifth_of_the_results_are_near_copies_and_every_way_has_its_row(texts: list[str]) -> None:
    results = results_grouping.results_of(texts, 30, 1500)
    assert results == results_grouping.results_of(texts, 30, 1500) and len(results) == 30
    assert sum("changed" in row["text"] for row in results) == 6
    rows = results_grouping.measure(results, repeats=1)
    assert len(rows) == len(results_grouping.FROM_TEXTS) + 3 * len(results_grouping.STORED) + 2
    assert all(row["median_ms"] >= row["best_ms"] > 0 and 0 < row["groups"] <= 30 for row in rows)
    exact = {row["groups"] for row in rows if row["method"] == "minhash, verified" and "sketch" not in row["from"]}
    assert len(exact) == 1, "the same verdicts from texts and from an index"
    assert results_grouping.table(rows).count("\n") == len(rows) + 1


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(SystemExit, match="only 1 pieces"):
        results_grouping.results_of(["x" * 100], 5, 90)
