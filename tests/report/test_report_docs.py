"""docs/report.md: its example runs, and it names every section of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from filled_report import Page

from roughly.report import read_report

DOCS = Path(__file__).resolve().parents[2] / "docs" / "report.md"


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code, str(DOCS), "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 0
    assert names["again"] == read_report(tmp_path / "report.json")


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
