"""docs/report.md names every section of the page."""

from __future__ import annotations

from pathlib import Path

from filled_report import Page

DOCS = Path(__file__).resolve().parents[2] / "docs" / "report.md"


def test_every_heading_of_the_page_is_explained(page: Page) -> None:
    explained = DOCS.read_text(encoding="utf-8").lower()
    headings = [heading.split(" threshold")[0].strip() for heading in page.elements["h2"]]
    assert len(headings) == 11
    for heading in headings:
        if heading.startswith("Pairs just"):
            heading = "Pairs just above and just below the threshold"
        if heading in ("Settings", "What was guessed"):
            assert heading.lower() in explained
        else:
            assert f"### {heading.lower()}" in explained
