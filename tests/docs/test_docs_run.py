"""Every command and every piece of Python that README and docs show is run, and shows what it is said to show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_blocks import PAGES, ROOT, blocks_of, commands_of, masked, missing_line, name_of, run_page

RUNNABLE = [page for page in PAGES if blocks_of(page, "console", "python", "pycon")]


@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(page, tmp_path) > 0


def test_the_pages_that_must_show_something_do() -> None:
    shown = {name_of(page) for page in RUNNABLE}
    assert shown >= {"README.md", "docs/index.md", "docs/tour.md", "docs/python.md", "docs/errors.md"}


def test_commands_are_shown_in_blocks_that_are_run() -> None:
    """A command line in a plain block would never be tried: `sh` blocks are for installing and for make only."""
    allowed = re.compile(r"(make|pip install|git clone|cd|python -m (venv|roughly\.kernels))\b.*|\. .*|#.*|")
    for page in PAGES:
        for block in blocks_of(page, "sh", "bash", "shell"):
            for line in block.text.splitlines():
                assert allowed.fullmatch(line.strip()), f"{block.place}: show `{line}` in a console block, after `$ `"
        for block in blocks_of(page, "console"):
            assert commands_of(block), block.place


def test_every_make_target_shown_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
        assert named <= targets, f"{name_of(page)} names {sorted(named - targets)}"


def test_a_line_that_is_not_printed_is_noticed() -> None:
    """The comparison itself: it must be able to fail."""
    printed = "documents   3 in\ntook        1.8 s, 2.1 MB/s, peak memory 362 MB\nreport      out/report.html\n"
    took = "took        9.9 s, 1 KB/s, peak memory 1.0 GB"
    assert missing_line(["documents   3 in", took, "report …"], printed) is None
    assert missing_line(["documents   3 in", "…", "report      out/report.html"], printed) is None
    assert missing_line(["…", "report …"], printed) is None and missing_line(["documents   3 in", "…"], printed) is None
    assert missing_line([], printed) is None  # a command below which nothing is shown
    assert missing_line(["documents   4 in"], printed) == "documents   4 in"
    assert missing_line(["…", "report      out/report.html", "documents   3 in"], printed) == "documents   3 in"
    assert missing_line(["documents   3 in", "report …"], printed) == "report …"
    assert missing_line(["documents   3 in"], printed) == "(not shown) took        TIME, SPEED, peak memory SIZE"
    assert masked("text        3.9 MB in") != masked("text        4.0 MB in")
