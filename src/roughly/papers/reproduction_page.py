"""`docs/reproduction.md`: every experiment run on its default collections, on one page, made by one command.

The page carries a digest of each experiment's file, so a test can tell when a file has changed and the page has not.
What is said under "where we differ, and why" stands in the files as `remarks`; its figures are filled in from the
run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from roughly.errors import SettingsError
from roughly.papers.experiment import Experiment
from roughly.papers.experiments import every, text_of
from roughly.papers.result_files import expected, pictures
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
which runs all experiments of [`roughly lab`](lab.md) on their default collections; what stands here comes from that
run, and the tables are the same whenever it is run again. The papers' own collections cannot be had (or not by us);
each section says what stands in for what. So figures are not expected to be equal. What is expected is the *shape*:
who is ahead of whom, what rises and what falls. Each shape is stated in the experiment's file, and checked. Columns
marked *in the paper* hold what it prints, or what follows from that by division (shares of its collection, ratios of
its times and lengths). *Conjecture* marks what was not measured.

How many shapes hold is a description and no score. Directions come from the papers; but where a paper says "slightly"
or "roughly", the bands were set with first results in view, and some collections and settings were chosen because
they come nearer to the paper's than others that were tried: web-like pages for Table IX instead of newsgroups,
stories of a hundred words or more in Conrad's Tables 7 and 8 (all stories stand beside them), the way of making
copies in Tables III and IV (the other five stand below). A few shapes were also reworded or dropped once results
were seen.
"""
_TIMES = """## Seconds, measured once

Processor seconds of the run that made each part of this page, on one machine, others busy beside it. They differ from
run to run, and stand in no table above.

| experiment | what | s |
|---|---|---:|
"""
_TIMED = ("work", "phases")
_SECTION = re.compile(r"^(### ([a-z0-9-]+): .*?)(?=^##)", re.MULTILINE | re.DOTALL)
_SECONDS = re.compile(r"^(\| `([a-z0-9-]+)` \| .* \| [0-9.]+ \|\n)", re.MULTILINE)


def digest(name: str) -> str:
    """Of an experiment's file, as the page carries it."""
    return hashlib.sha256(text_of(name).encode()).hexdigest()[:16]


def anchor(title: str) -> str:
    """The anchor that the site gives a heading."""
    plain = re.sub(r"[^\w\s-]", "", title.lower()).strip()
    return re.sub(r"[-\s]+", "-", plain)


def page(results: Sequence[ExperimentResult], images: str, old: str = "") -> str:
    """The whole page; pictures are in the folder `images`. Experiments that were not run keep their part of `old`."""
    untold = [f"{r.experiment.name}: {own.says}: {own.seen}" for r in results for own in r.held if own.held is None]
    if untold:
        raise SettingsError(*untold)
    sections = {name: text for text, name in _SECTION.findall(old)} | {
        r.experiment.name: _section(r, images) for r in results
    }
    seconds: dict[str, str] = {}
    for line, name in _SECONDS.findall(old):
        seconds[name] = seconds.get(name, "") + line
    seconds |= {r.experiment.name: _seconds(r) for r in results if r.experiment.protocol.name in _TIMED}
    shown = [experiment for experiment in every() if experiment.name in sections]
    parts = [_INTRO, _summary(shown, sections)]
    for paper, citation in PAPERS.items():
        own = [experiment for experiment in shown if experiment.paper.startswith(paper)]
        if own:
            parts.append(f"## {paper}\n\n{citation}\n")
            parts += [sections[experiment.name].rstrip("\n") + "\n" for experiment in own]
    timed = [seconds[experiment.name] for experiment in shown if experiment.name in seconds]
    return "\n".join(parts) + "\n" + _TIMES + "".join(timed)


def picture_names(result: ExperimentResult) -> dict[str, SharedInputs]:
    """The figures of a result by the names that their files have on the page."""
    name = result.experiment.name
    return {file.replace("figure", name, 1): shared for file, shared in pictures(result).items()}


def _heading(experiment: Experiment) -> str:
    return f"{experiment.name}: {experiment.about}"


def _summary(shown: Sequence[Experiment], sections: Mapping[str, str]) -> str:
    held = {name: text.count("\n- holds: ") for name, text in sections.items()}
    count = sum(len(experiment.expected) for experiment in shown)
    total = sum(held[experiment.name] for experiment in shown)
    lines = [
        f"Of {count} shapes expected in {len(shown)} experiments, **{total} hold**. Those that do not are marked, each "
        "with what was measured or supposed about the reason.\n",
        "| experiment | what | shapes that hold |", "|---|---|---:|",
    ]  # fmt: skip
    for experiment in shown:
        lines.append(
            f"| [`{experiment.name}`](#{anchor(_heading(experiment))}) | {experiment.paper}: {experiment.about} "
            f"| {held[experiment.name]} of {len(experiment.expected)} |"
        )
    return "\n".join(lines) + "\n"


def _section(result: ExperimentResult, images: str) -> str:
    experiment = result.experiment
    lines = [f"### {_heading(experiment)}", "", f"<!-- {experiment.name} {digest(experiment.name)} -->", ""]
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
    for file in picture_names(result):
        lines += [f"![{experiment.title}]({images}/{file})", ""]
    lines += ["Expected:", "", expected(result)]
    remarks = result.remarks()
    if remarks:
        lines += [line for remark in remarks for line in (remark, "")]
    return "\n".join(lines)


def _seconds(result: ExperimentResult) -> str:
    """Measured once, on one machine: the one part of the page that another run would not repeat."""
    name = result.experiment.name
    return "".join(f"| `{name}` | {what} | {value:.3f} |\n" for what, value in result.seconds.items())


def write_page(results: Sequence[ExperimentResult], file: Path, images: Path) -> Mapping[str, Path]:
    """The page and its pictures; the pictures by name."""
    from roughly.papers.figures import draw

    images.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for result in results:
        for name, shared in picture_names(result).items():
            draw(shared, images / name)
            drawn[name] = images / name
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(page(results, images.relative_to(file.parent).as_posix(), old), encoding="utf-8")
    return drawn
