"""The pages of the lab are in step with its files, protocols and shapes."""

from __future__ import annotations

import re

from docs_blocks import DOCS
from test_docs_reference import rows, section

from roughly.papers.expected_shapes import KINDS
from roughly.papers.experiment import parse_experiment
from roughly.papers.experiments import every, names
from roughly.papers.protocols import PROTOCOLS
from roughly.papers.reproduction_page import anchor, digest, page

LAB = (DOCS / "lab.md").read_text(encoding="utf-8")
PAGE = (DOCS / "reproduction.md").read_text(encoding="utf-8")


def test_every_experiment_has_its_section_made_from_its_file() -> None:
    """The digest is that of the file: whoever changes a file runs python docs/make_reproduction.py."""
    found = dict(re.findall(r"^<!-- (\S+) ([0-9a-f]{16}) -->$", PAGE, re.MULTILINE))
    assert list(found) == list(names())
    stale = [name for name in names() if found[name] != digest(name)]
    assert stale == [], "run python docs/make_reproduction.py: these files have changed since"


def test_parts_that_are_not_run_again_stay_as_they_are() -> None:
    assert page([], "images/reproduction", PAGE) == PAGE


def test_every_section_has_its_tables_pictures_and_verdicts() -> None:
    for experiment in every():
        heading = f"### {experiment.name}: {experiment.about}"
        text = section(PAGE, heading)
        assert f"](#{anchor(heading.removeprefix('### '))})" in PAGE
        assert len(re.findall(r"^- (?:holds|\*\*does not hold\*\*): ", text, re.MULTILINE)) == len(experiment.expected)
        for shape in experiment.expected:
            assert f": {shape.says} (" in text
        assert text.count("![") == sum(shown.figure is not None for shown in experiment.tables)
        assert all(part.stands_for in text for part in experiment.parts)
        if "**does not hold**" in text:
            assert "**Differs" in text or "Differs" in text or "why" in text, f"{experiment.name} does not say why"
    assert "cannot be told" not in PAGE


def test_the_shares_of_shapes_add_up() -> None:
    held, missed = PAGE.count("\n- holds: "), PAGE.count("\n- **does not hold**: ")
    count = sum(len(experiment.expected) for experiment in every())
    assert held + missed == count
    assert f"Of {count} shapes expected in {len(names())} experiments, **{held} hold**." in PAGE


def test_protocols_and_shapes_are_explained() -> None:
    shown = {row[0].strip("`"): row[1] for row in rows(section(LAB, "### Protocols"))}
    assert shown == {name: protocol.what for name, protocol in PROTOCOLS.items()}
    kinds = [row[0].split(" ")[0].strip("`") for row in rows(section(LAB, "### Expected shapes"))]
    assert kinds == list(KINDS)


def test_the_file_shown_can_be_read() -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```$", LAB, re.MULTILINE | re.DOTALL)
    assert parse_experiment("shown", block).tables[0].paper[0]["Found"] == 0.164
