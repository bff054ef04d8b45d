"""The pages of the lab are in step with its files, protocols and shapes."""

from __future__ import annotations

import re
from pathlib import Path

from docs_blocks import DOCS
from test_docs_reference import rows, section

from roughly.papers.answer_digests import answers_digest
from roughly.papers.expected_shapes import KINDS
from roughly.papers.experiment import read_experiment
from roughly.papers.experiments import every, names
from roughly.papers.protocols import PROTOCOLS
from roughly.papers.reproduction_page import (
    TIMED,
    anchor,
    digests_on,
    file_digest,
    page,
    section_digest,
    section_of,
)

LAB = (DOCS / "lab.md").read_text(encoding="utf-8")
PAGE = (DOCS / "reproduction.md").read_text(encoding="utf-8")


def test_every_experiment_has_its_section_made_from_its_file_by_this_code() -> None:
    """Whoever changes a file, or what the kernels answer, runs python docs/make_reproduction.py.

    What an experiment gives on a small collection is compared where it is run (`tests/papers/test_experiments.py`).
    """
    found = digests_on(PAGE)
    assert list(found) == list(names())
    stale = [name for name in names() if found[name]["file"] != file_digest(name)]
    assert stale == [], "run python docs/make_reproduction.py: these files have changed since docs/reproduction.md"
    older = [name for name in names() if found[name]["answers"] != answers_digest()]
    assert older == [], "run python docs/make_reproduction.py: the answers have changed since docs/reproduction.md"
    assert all(set(own) == {"file", "inputs", "answers", "trial", "section"} for own in found.values())


def test_no_figure_and_no_digest_was_changed_without_a_run() -> None:
    """Digests of a new form of figures once stood beside figures in the old one: 62.2% where a run prints 62.3%."""
    found = digests_on(PAGE)
    other = [name for name in names() if section_digest(section_of(PAGE, name)) != found[name]["section"]]
    assert other == [], (
        "run python docs/make_reproduction.py: these sections of docs/reproduction.md were not made by it"
    )
    section, digests = section_of(PAGE, "imatch-table11"), found["imatch-table11"]
    trial = digests["trial"]
    for old, new in (("| 83.2 (77–88) |", "| 83 (77–88) |"), (trial, trial[::-1])):
        assert section_digest(section.replace(old, new, 1)) != digests["section"]


def test_the_prose_was_written_for_these_verdicts() -> None:
    """A remark says why a shape holds or not; whoever gets another verdict reads the remarks again."""
    for experiment in every():
        text = section_of(PAGE, experiment.name)
        verdicts = re.findall(r"^- (?:\*\*)?([a-z ]+?)(?:\*\*)?: ", text.split("Expected:")[1], re.MULTILINE)
        for shape, verdict in zip(experiment.expected, verdicts, strict=True):
            assert verdict == shape.found, (
                f"{experiment.name}.toml: “{shape.says}” {verdict}; correct the remarks, then its entry `found`"
            )


def test_what_the_prose_says_of_seconds_is_in_the_table_above_it() -> None:
    def seconds(name: str) -> dict[str, float]:
        table = section_of(PAGE, name).split("**Processor seconds**")[1].split("<!--")[0]
        return {row[0]: float(row[1]) for row in re.findall(r"^\| ([^|]+) \| ([\d.]+) \|", table, re.MULTILINE)}

    phases, small, large = (seconds(name) for name in ("broder-phases", "imatch-table7", "imatch-table8"))
    assert max(phases, key=phases.__getitem__) == "ID-ID merging" and phases["Sketching"] < phases["ID-ID merging"]
    assert max(small["DSC"], small["DSC-SS"]) < small["I-Match"] < 20 * small["Syntactic"]
    assert large["DSC"] > 3 * large["I-Match"] and 0.5 < large["DSC-SS"] / large["I-Match"] < 2


def test_pictures_are_of_the_same_answers() -> None:
    for name in re.findall(r"\]\((images/reproduction/\S+\.png)\)", PAGE):
        assert f"answers {answers_digest()}".encode() in (DOCS / name).read_bytes(), f"docs/{name} is stale"


def test_parts_that_are_not_run_again_stay_as_they_are() -> None:
    assert page([], {}, PAGE) == PAGE


def test_every_section_has_its_tables_pictures_and_verdicts() -> None:
    for experiment in every():
        heading = f"### {experiment.name}: {experiment.about}"
        text = section(PAGE, heading)
        assert f"](#{anchor(heading.removeprefix('### '))})" in PAGE
        verdicts = r"^- (?:holds|\*\*does not hold\*\*|\*\*depends on the draw\*\*): "
        assert len(re.findall(verdicts, text, re.MULTILINE)) == len(experiment.expected)
        for shape in experiment.expected:
            assert f": {shape.says}" in text
        assert "(seeds 0 to 9)" in text or not experiment.random or experiment.name == "conrad-table4"  # ranks: no draw
        assert ("**Processor seconds**" in text) == (experiment.protocol.name in TIMED)
        assert text.count("![") == sum(shown.figure is not None for shown in experiment.tables)
        assert all(part.stands_for in text for part in experiment.parts)
        if "**does not hold**" in text:
            assert "**Differs" in text or "Differs" in text or "why" in text, f"{experiment.name} does not say why"
    assert "\n- is unknown: " not in PAGE


def test_the_shares_of_shapes_add_up() -> None:
    held, missed = PAGE.count("\n- holds: "), PAGE.count("\n- **does not hold**: ")
    mixed = PAGE.count("\n- **depends on the draw**: ")
    count = sum(len(experiment.expected) for experiment in every())
    assert held + missed + mixed == count
    said = f"**{held} hold**, {mixed} depend on the draw and {missed} do not hold."
    assert f"Of {count} shapes expected in {len(names())} experiments, {said}" in PAGE


def test_protocols_and_shapes_are_explained() -> None:
    shown = {row[0].strip("`"): row[1] for row in rows(section(LAB, "### Protocols"))}
    assert shown == {name: protocol.what for name, protocol in PROTOCOLS.items()}
    kinds = [row[0].split(" ")[0].strip("`") for row in rows(section(LAB, "### Expected shapes"))]
    assert kinds == list(KINDS)


def test_the_file_shown_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```$", LAB, re.MULTILINE | re.DOTALL)
    (tmp_path / "shown.toml").write_text(block, encoding="utf-8")
    assert read_experiment(tmp_path / "shown.toml").tables[0].paper[0]["Found"] == 0.164
