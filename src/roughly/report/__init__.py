"""The report of a run: one self-contained HTML page, and a JSON twin of it.

The job fills a `RunData`; `write_report` writes ``report.html`` and ``report.json``. The page needs no
network, no script and no other file, reads well on a laptop, a phone and paper, and treats every text
of a document as hostile. ``docs/report.md`` explains each number.

The order: `data` (what is shown) → `headline`, `collection_section`, `samples`, `run_section` (each builds its
sections, with `plots`, `marks`, `wording` and `visible`) → `html_page` (templates) → `write`.
"""

from __future__ import annotations

from roughly.report.data import PairSample, RunData
from roughly.report.html_page import render
from roughly.report.write import read_report, twin_path, write_report

__all__ = ["PairSample", "RunData", "read_report", "render", "twin_path", "write_report"]
