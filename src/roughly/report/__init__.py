"""The report of a run: one self-contained HTML page, and a JSON twin of it.

The job fills a `RunData`; `write_report` writes ``report.html`` and ``report.json``. The page needs no
network, no script and no other file, reads well on a laptop, a phone and paper, and treats every text
that came from a document as hostile. ``docs/report.md`` explains each figure.

The road within: `data` (what is shown) → `overview`, `collection`, `samples`, `running` (each builds its
sections, with `plots`, `marks`, `words` and `visible`) → `page` (templates) → `write`.
"""

from __future__ import annotations

from roughly.report.data import PairSample, RunData
from roughly.report.html_page import render
from roughly.report.write import read_report, twin_path, write_report

__all__ = ["PairSample", "RunData", "read_report", "render", "twin_path", "write_report"]
