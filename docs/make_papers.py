"""Makes `papers.md`: every part of the papers, where it is, what was measured and what was published.

    python docs/make_papers.py

The parts are in `papers.toml`; figures come from the tables of `reproduction.md`. A test fails while the page is not
what this makes, or a part names a command, a name of the package or a page that does not exist.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from roughly.papers.experiments import named
from roughly.papers.reproduction_page import PAPERS, anchor, section_of
from roughly.papers.runner import IN_PAPER

DOCS = Path(__file__).parent
PAGE = DOCS / "papers.md"
INTRO = """# The papers

Every part of the five [papers](methods/index.md#references): the command and the Python name that run it, its page,
what was measured here and what was published. Collections differ from the papers', so figures do too; ranges in
brackets are of ten draws. [Reproduction](reproduction.md) has all tables, and says where results differ and why.
"""


def parts() -> list[dict[str, Any]]:
    """The parts of all papers."""
    listed: list[dict[str, Any]] = tomllib.loads((DOCS / "papers.toml").read_text(encoding="utf-8"))["part"]
    return listed


def figure(page: str, experiment: str, row: str, column: str) -> tuple[str, str]:
    """Our figure and the paper's, from a table in the section of an experiment; the paper's may be missing."""
    for table in re.findall(r"(?:^\|.*\n)+", section_of(page, experiment), re.MULTILINE):
        head, _, *lines = (
            [cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in table.splitlines()
        )
        for cells in lines:
            if column in head and cells[0] == row:
                found = dict(zip(head, cells, strict=True))
                return found[column], found.get(column + IN_PAPER, "–")
    raise SystemExit(f"papers.toml: {experiment} has no row {row!r} with {column!r}")


def line(part: dict[str, Any], page: str) -> str:
    """One row of the table."""
    where = [f"`{part['command']}`"] if part.get("command") else []
    where += [f"[`roughly.{name}`](python.md)" for name in part.get("python", ())]
    where += [f"[{Path(name).stem}]({name})" for name in part["docs"]]
    found = [figure(page, *own) for own in part.get("figures", ())]
    ours = "; ".join(own for own, _ in found)
    published = part.get("published") or "; ".join(paper for _, paper in found) or "–"
    if found:
        name = part["figures"][0][0]
        ours = f"[{ours}](reproduction.md#{anchor(f'{name}: {named(name).about}')}) ({part['note']})"
    return f"| {part['part']} | {'<br>'.join(where)} | {ours or part['note']} | {published} |"


def make() -> str:
    """The whole page."""
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    lines = [INTRO]
    for paper in PAPERS:
        lines += [f"## {paper}\n", "| part | where | measured here | published |", "|---|---|---|---|"]
        lines += [line(part, page) for part in parts() if part["paper"] == paper]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(make(), encoding="utf-8")
