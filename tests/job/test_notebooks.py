"""What a notebook shows: results, tables, comparisons and plots as HTML, and no markup of the documents."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import roughly
from roughly.errors import SettingsError

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."
EVIL = "<script>alert(1)</script>"


def well_formed(cell: str) -> ElementTree.Element:
    """The cell parsed: every element is closed."""
    return ElementTree.fromstring(f"<cell>{cell}</cell>")


def test_a_result_shows_counts_kinds_and_remarks() -> None:
    rows = [{"id": EVIL, "body": ROSE}, {"id": "b", "body": ROSE.upper()}, {"id": "c", "body": None}]
    with pytest.warns(roughly.RoughlyWarning):
        result = roughly.dedupe(rows)
    cell = result._repr_html_()
    well_formed(cell)
    assert "exact" in cell and "1 rejected" in cell and "guessed text column: body" in cell and "threshold 0.8" in cell
    for table in (result.documents, result.pairs, result.clusters, result.rejected):
        well_formed(table._repr_html_())
        assert EVIL not in table._repr_html_()
    assert "&lt;script&gt;" in result.documents._repr_html_()


def test_a_long_table_shows_its_first_rows() -> None:
    cell = roughly.dedupe([f"text number {n} of many" for n in range(30)]).documents._repr_html_()
    assert cell.count("<tr>") == 11 and "10 of 30 rows" in cell


def test_a_comparison_is_side_by_side() -> None:
    cell = roughly.compare(f"{EVIL} {ROSE} More.", f"{ROSE.upper()} Fewer words.")._repr_html_()
    root = well_formed(cell)
    assert EVIL not in cell and "resemblance" in cell
    left, right = root.findall(".//td")
    assert "".join(left.itertext()).strip().endswith("More.") and "".join(right.itertext()).startswith(
        ROSE.upper()[:30]
    )
    assert [mark.text for mark in right.iter("ins")] == ["Fewer words."] and len(list(left.iter("del"))) == 2
    long = " ".join(f"word{n}" for n in range(5000))
    cell = roughly.compare(long, long + " end")._repr_html_()
    assert "[… 4,970 words …]" in cell and len(cell) < 5_000
    well_formed(roughly.compare("", "")._repr_html_())
    well_formed(roughly.compare("one two", "three")._repr_html_())


def test_thresholds_are_plotted(policies: list[dict], tmp_path: Path) -> None:
    result = roughly.dedupe(policies, threshold=0.8)
    curve = result.plot.thresholds()
    assert curve.points[0] == (0.8, 168) and curve.points[-1][0] == 1.0 and not curve.exact
    kept = [number for _, number in curve.points]
    assert kept == sorted(kept) and kept[-1] == 416 == len(result.rethreshold(1.0).kept)
    exact = result.plot.thresholds([0.9], exact=True)
    assert exact.points == ((0.8, 168), (0.9, len(result.rethreshold(0.9).kept)))
    assert repr(exact) == "<ThresholdCurve: 168 kept at 0.8, 210 at 0.9; exact>"
    assert exact.to_list()[1] == {"threshold": 0.9, "kept": 210, "removed": 301}
    well_formed(curve._repr_html_())
    curve.save(tmp_path / "curve.svg")
    ElementTree.parse(tmp_path / "curve.svg")
    with pytest.raises(SettingsError, match="this run's, to 1"):
        result.plot.thresholds([0.5])


def test_a_clustering_shows_what_is_removed() -> None:
    found = roughly.cluster_features(["a", "b", EVIL], [[1, 2, 3, 4], [1, 2, 3, 5], ["x", "y"]], threshold=0.6)
    well_formed(found._repr_html_())
    assert found.removed.to_list()[0]["doc_id"] == "b" and EVIL not in found._repr_html_()
