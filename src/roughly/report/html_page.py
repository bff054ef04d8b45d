"""The page itself: a pure function from `RunData` to one self-contained HTML document.

Templates see only what the section modules built, with autoescape on and undefined names refused. The
page carries no script, and a content policy that would refuse one, along with every load from anywhere.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from roughly.report import collection_section as collection
from roughly.report import plots, samples
from roughly.report import run_section as running
from roughly.report.data import RunData
from roughly.report.headline import overview
from roughly.report.run_request import Judged, RequestedQuality, asked, judged, number, section
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
    ("stages", "Time and memory", "stages"),
    ("settings", "Settings", "settings"),
    ("guesses", "Guesses", "guesses"),
)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("roughly.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(data: RunData) -> str:
    """The page as text; the same data give the same page, byte for byte."""
    context = build(data.bounded())
    return _environment().get_template("report.html").render(context) + "\n"


def build(data: RunData) -> dict[str, Any]:
    """Everything the templates show, from bounded data."""
    run, limits, judge = data.run, asked(data.run), judged(data.run)
    edges, numbers = data.resemblance
    first, more = running.inputs(run)
    sized = [(size, n) for size, n in data.cluster_sizes if size > 0 and n > 0]
    context: dict[str, Any] = {
        "version": label(str(run["roughly"])) if "roughly" in run else "",
        "fingerprint": label(str(run["fingerprint"])) if "fingerprint" in run else "",
        "overview": overview(run),
        "limits": limits,
        "compared": _compared(limits, judge),
        "unmeasured": judge.on == "keys",
        "threshold": plain(limits.threshold) if limits.threshold is not None else "",
        "recall": plain(limits.recall) if limits.recall is not None else "",
        "kinds": collection.kinds(data),
        "sizes": plots.cluster_sizes(sized) if sized else None,
        "spread": _spread(sized),
        "resemblances": plots.resemblances(edges, numbers, limits.resemblance) if any(numbers) else None,
        "sources": collection.sources(data),
        "clusters": collection.clusters(data),
        "above": samples.pairs(data.above, limits.measure, rising=True),
        "below": samples.pairs(data.below, limits.measure, rising=False),
        "curve": running.curve(run, limits),
        "stages": running.stages(run),
        "settings": running.settings(run),
        "inputs": first,
        "inputs_more": count(more) if more else "",
        "guesses": running.guesses(run),
    }
    context["rejected"] = _rejected(data)
    context["dates"] = running.dates(run)
    names = {"above": "Some pairs"} if judge.on == "keys" else {}
    context["contents"] = [(id_, names.get(id_, name)) for id_, name, key in SECTIONS if context[key]]
    return context


def _rejected(data: RunData) -> str:
    rejected = number(section(data.run, "counts"), "rejected")
    if not rejected:
        return ""
    return "1 record could not be used." if rejected == 1 else f"{count(rejected)} records could not be used."


def _compared(limits: RequestedQuality, judge: Judged) -> str:
    """What the resemblances of the removed are, in a sentence or two."""
    if judge.on == "keys":
        return "Pairs were judged by keys in common and not measured: only documents that are equal have a bar."
    exactly = "Every removed document was compared exactly with the one that stays in its place"
    if judge.on == "sketch":
        exactly = f"Every removed document was judged {judge.how}"
    if limits.resemblance is not None:
        return f"{exactly}; no bar may lie wholly left of the threshold."
    if limits.threshold is not None:
        return f"{exactly}. The threshold was on containment, so a low resemblance is no fault here."
    return f"{exactly}."


def _spread(sizes: list[tuple[int, int]]) -> str:
    """A sentence on the sizes of the clusters that the logarithmic plot does not make plain."""
    total = sum(n for _, n in sizes)
    twos = sum(n for size, n in sizes if size == 2)
    if not total:
        return ""
    largest = max(size for size, _ in sizes)
    return (
        f"{count(twos)} of {count(total)} clusters ({share(twos, total)}) are pairs; "
        f"the largest holds {count(largest)} documents."
    )
