"""`docs/reproduction.md`: every experiment run on its default collections, on one page, made by one command.

Each section has digests of what it was made from: the experiment's file, the documents, what the kernels give
(`answers_digest`) and what the experiment prints for a small collection (`trial_digest`). Tests find out that any of
them has changed and the page has not; `differences` compares the page with a new run. A last digest is of the section
as printed together with the others (`section_digest`), so that neither can be replaced without a run: once, digests of
a new form of figures were put beside figures in the old one. The remarks are in the files as `remarks`; their figures
are filled in from the run.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from roughly.errors import SettingsError
from roughly.papers.answer_digests import answers_digest
from roughly.papers.experiment import Experiment
from roughly.papers.experiments import every, text_of
from roughly.papers.paper_table import rounded
from roughly.papers.result_files import expected, pictures, seconds_table
from roughly.papers.runner import ExperimentResult, SharedInputs

PAPERS = {
    "Broder 1997": "A. Z. Broder, S. C. Glassman, M. S. Manasse, G. Zweig: Syntactic clustering of the Web. WWW6, "
    "1997.",
    "I-Match 2002": "A. Chowdhury, O. Frieder, D. Grossman, M. C. McCabe: Collection statistics for fast duplicate "
    "document detection. ACM TOIS 20(2), 2002.",
    "Conrad 2003": "J. G. Conrad, X. S. Guo, C. P. Schriber: Online duplicate document detection: signature "
    "reliability in a dynamic retrieval environment. CIKM 2003.",
    "Ye 2008": "S. Ye, J.-R. Wen, W.-Y. Ma: A systematic study on parameter correlations in large-scale duplicate "
    "document detection. Knowledge and Information Systems, 2008.",
    "Kołcz 2008": "A. Kołcz, A. Chowdhury: Lexicon randomization for near-duplicate detection with I-Match. J. "
    "Supercomputing, 2008.",
}
_INTRO = """# Reproduction

Every table and figure of five papers, run on collections of today. Written by `python docs/make_reproduction.py`,
which runs all experiments of [`roughly lab`](lab.md) on their default collections; `roughly lab check` runs them again
and compares. The papers' own collections are not available (to us); each section says what stands in for what. So
figures are not expected to be equal. What is expected is the *shape*: who is ahead of whom, what rises and what falls.
Each shape is stated in the experiment's file, and checked. Columns marked *in the paper* hold what it prints, or what
follows from that by division (shares of its collection, ratios of its times and lengths). *Guess* marks a reason that
was not tested.

Where samples, queries or edits are drawn at random, an experiment is run with ten seeds, which also draw the sampled
shingles and the randomised lexicons. Cells are means, with the least and the most of the ten in brackets. A shape
*holds* only if it does in all ten draws; one that holds in some of them *depends on the draw*.

How many shapes hold is a description and no score. Directions come from the papers; but where a paper says "slightly"
or "roughly", the bands were set with first results in view, and some collections and settings were chosen because
they come nearer to the paper's than others that were tried: web-like pages for Table IX instead of newsgroups,
stories of a hundred words or more in Conrad's Tables 7 and 8 (all stories are beside them), the way of making
copies in Tables III and IV (the other five are below). A few shapes were also reworded or dropped once results
were seen.
"""
TIMED = ("work", "phases")
"""Protocols whose seconds are on the page."""
SECONDS_BEGIN, SECONDS_END = "<!-- seconds: another run gives others -->", "<!-- end of seconds -->"
NO_TRIAL = "0" * 16
IMAGES = "images/reproduction"
"""The folder of the pictures, beside the page."""
_SECTION = re.compile(r"^(### ([a-z0-9-]+): .*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_DIGESTS = re.compile(r"^<!-- ([a-z0-9-]+): ((?:[a-z]+ [0-9a-f]{16}(?:, )?)+) -->$", re.MULTILINE)
_SECONDS = re.compile(re.escape(SECONDS_BEGIN) + ".*?" + re.escape(SECONDS_END), re.DOTALL)


def file_digest(name: str) -> str:
    """The digest of an experiment's file."""
    return hashlib.sha256(text_of(name).encode()).hexdigest()[:16]


def digests_on(text: str) -> dict[str, dict[str, str]]:
    """The digests of each section of a page: of its `file`, `inputs`, `answers`, `trial` and `section`."""
    return {name: dict(part.split(" ") for part in written.split(", ")) for name, written in _DIGESTS.findall(text)}


def section_digest(section: str) -> str:
    """Sixteen hex digits of what a section prints, seconds left out, and of the digests of what it was made from."""
    ((_, digests),) = digests_on(section).items()
    made_from = [f"{name} {value}" for name, value in digests.items() if name != "section"]
    return hashlib.sha256("\n".join([*made_from, *_compared(section)]).encode()).hexdigest()[:16]


def section_of(text: str, name: str) -> str:
    """The section of an experiment; empty if the page has none."""
    sections: dict[str, str] = {found: section for section, found in _SECTION.findall(text)}
    return sections.get(name, "")


def differences(result: ExperimentResult, text: str) -> list[str]:
    """The lines of a result that are not on the page, and those of the page that are not in the result."""
    old = _compared(section_of(text, result.experiment.name))
    changed = difflib.unified_diff(old, _compared(_section(result)), lineterm="", n=0)
    return [line for line in changed if not line.startswith(("@@", "---", "+++"))]


def _compared(section: str) -> list[str]:
    """The lines of a section that another run must print again: all but seconds and digests."""
    return [line for line in _DIGESTS.sub("", _SECONDS.sub("", section)).splitlines() if line]


def trial_digest(result: ExperimentResult) -> str:
    """Sixteen hex digits of a trial: its figures to nine digits, and its section as it is printed."""
    tables = json.dumps(rounded([table.ours.to_dict() for table in result.tables]), sort_keys=True)
    printed = "\n".join(_compared(_section(result)))
    return hashlib.sha256(f"{tables}\n{printed}".encode()).hexdigest()[:16]


def anchor(title: str) -> str:
    """The anchor that the site gives a heading."""
    plain = re.sub(r"[^\w\s-]", "", title.lower()).strip()
    return re.sub(r"[-\s]+", "-", plain)


def page(results: Sequence[ExperimentResult], trials: Mapping[str, str], old: str = "") -> str:
    """The whole page, with the digests of trials. Experiments that were not run keep their part of `old`."""
    untold = [
        f"{r.experiment.name}: {own.says}: {own.seen}"
        for r in results for own in r.held if own.held is None and not own.draws
    ]  # fmt: skip
    if untold:
        raise SettingsError(*untold)
    sections = {name: text for text, name in _SECTION.findall(old)} | {
        r.experiment.name: _section(r, trials.get(r.experiment.name, NO_TRIAL)) for r in results
    }
    shown = [experiment for experiment in every() if experiment.name in sections]
    parts = [_INTRO, _summary(shown, sections)]
    for paper, citation in PAPERS.items():
        own = [experiment for experiment in shown if experiment.paper.startswith(paper)]
        if own:
            parts.append(f"## {paper}\n\n{citation}\n")
            parts += [sections[experiment.name].rstrip("\n") + "\n" for experiment in own]
    return "\n".join(parts)


def picture_names(result: ExperimentResult) -> dict[str, SharedInputs]:
    """The figures of a result by the names that their files have on the page."""
    name = result.experiment.name
    return {file.replace("figure", name, 1): shared for file, shared in pictures(result).items()}


def _heading(experiment: Experiment) -> str:
    return f"{experiment.name}: {experiment.about}"


def _summary(shown: Sequence[Experiment], sections: Mapping[str, str]) -> str:
    held = {name: text.count("\n- holds: ") for name, text in sections.items()}
    mixed = {name: text.count("\n- **depends on the draw**: ") for name, text in sections.items()}
    count = sum(len(experiment.expected) for experiment in shown)
    total, some = (sum(own[experiment.name] for experiment in shown) for own in (held, mixed))
    lines = [
        f"Of {count} shapes expected in {len(shown)} experiments, **{total} hold**, {some} depend on the draw and "
        f"{count - total - some} do not hold. Those that do not are marked, each with what was measured or guessed "
        "about the reason.\n",
        "| experiment | what | shapes | hold | depend on the draw |", "|---|---|---:|---:|---:|",
    ]  # fmt: skip
    for experiment in shown:
        name = experiment.name
        lines.append(
            f"| [`{name}`](#{anchor(_heading(experiment))}) | {experiment.paper}: {experiment.about} "
            f"| {len(experiment.expected)} | {held[name]} | {mixed[name]} |"
        )
    return "\n".join(lines) + "\n"


def _section(result: ExperimentResult, trial: str = NO_TRIAL) -> str:
    experiment = result.experiment
    digests = {
        "file": file_digest(experiment.name), "inputs": result.inputs, "answers": answers_digest(), "trial": trial
    }  # fmt: skip
    written = f"<!-- {experiment.name}: " + ", ".join(f"{name} {value}" for name, value in digests.items())
    lines = [f"### {_heading(experiment)}", "", f"{written} -->", ""]
    parts = []
    for part in experiment.parts:
        name, count = result.corpora[part.role]
        parts.append(f"`{name}` ({count:,} documents) in place of {part.stands_for}")
    lines += [f"*{experiment.paper}.* {'; '.join(parts)}.", ""]
    for shared in result.tables:
        if shared.only:
            continue
        table = shared.beside
        text = table.markdown().replace("## ", "**", 1).replace("\n", "**\n", 1)
        lines += [text]
    if experiment.protocol.name in TIMED:
        lines += [SECONDS_BEGIN, "", seconds_table(result), SECONDS_END, ""]
    for file in picture_names(result):
        lines += [f"![{experiment.title}]({IMAGES}/{file})", ""]
    lines += ["Expected:", "", expected(result)]
    remarks = result.remarks()
    if remarks:
        lines += [line for remark in remarks for line in (remark, "")]
    section = "\n".join(lines)
    return section.replace(written, f"{written}, section {section_digest(section)}", 1)


def write_page(results: Sequence[ExperimentResult], trials: Mapping[str, str], file: Path) -> Mapping[str, Path]:
    """The page and its pictures; the pictures by name."""
    from roughly.papers.figures import draw

    folder = file.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for result in results:
        for name, shared in picture_names(result).items():
            draw(shared, folder / name, answers_digest())
            drawn[name] = folder / name
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(page(results, trials, old), encoding="utf-8")
    return drawn
