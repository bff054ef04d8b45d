"""The page itself: a pure function from `RunData` to one self-contained HTML document.

Templates see only what the section modules built, with autoescape on and undefined names refused. The
page contains no script, and its content policy refuses scripts and anything loaded from elsewhere.
"""

from __future__ import annotations

from typing import Any

from roughly.report import collection_section, plots, run_section, samples
from roughly.report.data import RunData
from roughly.report.headline import build_overview
from roughly.report.page_templates import environment
from roughly.report.run_request import (
    JudgingMethod,
    RequestedQuality,
    judging_of,
    number,
    requested_quality,
    section,
)
from roughly.report.visible import label
from roughly.report.wording import count, plain, share

# id of the section, its name in the contents, the key of the context that must not be empty
SECTIONS = (
    ("kinds", "Kinds", "kinds"),
    ("sizes", "Cluster sizes", "sizes"),
    ("resemblance", "Resemblance", "resemblances"),
    ("sources", "Sources", "sources"),
    ("clusters", "Largest clusters", "clusters"),
    ("above", "Just above", "above"),
    ("below", "Just below", "below"),
    ("candidates", "Candidates", "curve"),
    ("candidates", "Which pairs are found", "finds"),
    ("stages", "Time and memory", "stages"),
    ("settings", "Settings", "settings"),
    ("guesses", "Guesses", "guesses"),
)


def render(data: RunData) -> str:
    """The page as text; the same data give the same page, byte for byte."""
    context = build(data.bounded())
    return environment().get_template("report.html").render(context) + "\n"


def build(data: RunData) -> dict[str, Any]:
    """Everything the templates show, from bounded data."""
    run, quality, judging = data.run, requested_quality(data.run), judging_of(data.run)
    edges, numbers = data.resemblance
    first, more = run_section.inputs(run)
    sized = [(size, n) for size, n in data.cluster_sizes if size > 0 and n > 0]
    context: dict[str, Any] = {
        "version": label(str(run["roughly"])) if "roughly" in run else "",
        "fingerprint": label(str(run["fingerprint"])) if "fingerprint" in run else "",
        "overview": build_overview(run),
        "compared": _compared(quality, judging),
        "unmeasured": judging.on == "keys",
        "threshold": plain(quality.threshold) if quality.threshold is not None else "",
        "recall": plain(quality.recall) if quality.recall is not None else "",
        "kinds": collection_section.kinds(data),
        "sizes": plots.plot_cluster_sizes(sized) if sized else None,
        "spread": _spread(sized),
        "resemblances": plots.plot_resemblances(edges, numbers, quality.resemblance) if any(numbers) else None,
        "sources": collection_section.sources(data),
        "clusters": collection_section.clusters(data),
        "above": samples.pairs(data.above, quality.measure, rising=True),
        "below": samples.pairs(data.below, quality.measure, rising=False),
        "curve": run_section.curve(run, quality),
        "finds": label(judging.finds, 600) if judging.finds else "",
        "stages": run_section.stages(run),
        "settings": run_section.settings(run),
        "inputs": first,
        "inputs_more": count(more) if more else "",
        "guesses": run_section.guesses(run),
    }
    context["rejected"] = _rejected(data)
    context["dates"] = run_section.dates(run)
    names = {"above": "Some pairs"} if judging.on == "keys" else {}
    context["contents"] = [(id_, names.get(id_, name)) for id_, name, key in SECTIONS if context[key]]
    return context


def _rejected(data: RunData) -> str:
    rejected = number(section(data.run, "counts"), "rejected")
    if not rejected:
        return ""
    return "1 record could not be used." if rejected == 1 else f"{count(rejected)} records could not be used."


def _compared(quality: RequestedQuality, judging: JudgingMethod) -> str:
    """How the resemblances of the removed documents were measured, in a sentence or two."""
    if judging.on == "keys":
        return "Pairs were judged by keys in common and not measured: only equal documents have a bar."
    exactly = "Every removed document was compared exactly with the document kept in its place"
    if judging.on == "sketch":
        exactly = f"Every removed document was judged {judging.how}"
    if quality.resemblance is not None:
        return f"{exactly}; no bar may lie wholly left of the threshold."
    if quality.threshold is not None:
        return f"{exactly}. The threshold was on containment, so a low resemblance is no error here."
    return f"{exactly}."


def _spread(sizes: list[tuple[int, int]]) -> str:
    """A sentence on the sizes of the clusters that the logarithmic plot does not show."""
    total = sum(n for _, n in sizes)
    twos = sum(n for size, n in sizes if size == 2)
    if not total:
        return ""
    largest = max(size for size, _ in sizes)
    return (
        f"{count(twos)} of {count(total)} clusters ({share(twos, total)}) are pairs; "
        f"the largest has {count(largest)} documents."
    )
