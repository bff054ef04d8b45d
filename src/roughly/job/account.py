"""The record of a run: run.json, and the data of the report."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from roughly import machine
from roughly.engines.relational.summary import Summary
from roughly.job.document_texts import texts_of
from roughly.meter import Stage
from roughly.methods import METHODS, Method, contents, s_curve
from roughly.methods.judgement import judgement
from roughly.settings import Resources, Settings
from roughly.sources.part import Part, id_origin
from roughly.version import __version__

if TYPE_CHECKING:
    from roughly.report.data import RunData


_SHOWN = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Similarities at which the summary gives the chance to be found."""


def account(
    settings: Settings, resources: Resources, method: Method, parts: Sequence[Part], summary: Summary,
    stages: Sequence[Stage], more_counts: dict[str, int],
) -> dict[str, Any]:  # fmt: skip
    """The content of run.json."""
    digests = contents(settings, method)
    judged = judgement(method)
    if judged["threshold"] is not None and judged["measure"] != "common":
        judged["threshold"] = settings.threshold  # differs from the method's after `rethreshold`
    written = settings.to_dict()
    written["options"].pop("key_file", None)  # neither the key nor its path; its digest is below
    return {
        "roughly": __version__,
        "fingerprint": settings.fingerprint(digests),
        "settings": written,
        "contents": {"key" if name == "key_file" else name: digest for name, digest in digests.items()},
        "judged": judged,
        "resources": {
            "threads": resources.threads,
            "memory": resources.memory,
            "limits": dataclasses.asdict(machine.limits()),
        },
        "inputs": [part.name for part in parts],
        "ids": dataclasses.asdict(id_origin(parts)),
        "counts": summary.counts | more_counts,
        "dates": _dates(summary.dates, parts),
        "stages": [stage.to_dict() for stage in stages],
        "s_curve": promise(method, settings.threshold, summary.lengths),
        "seconds": sum(stage.seconds for stage in stages),
        "peak_memory": max((stage.peak_memory for stage in stages), default=0),
        "guesses": sorted({note for part in parts for note in part.notes}),
    }


def _dates(read: dict[str, Any], parts: Sequence[Part]) -> dict[str, Any]:
    """Numbers of dates read and unread, with examples of unread ones by file and record."""

    def example(row: dict[str, Any]) -> dict[str, Any]:
        part = parts[row["part"]]
        return {"date": row["date"], "doc_id": row["doc_id"], "file": part.name, "record": part.locate(row["row"])}

    return {n: [example(row) for row in value] if n.endswith("examples") else value for n, value in read.items()}


def promise(method: Method, threshold: float, lengths: Sequence[int] = ()) -> dict[str, Any] | None:
    """Parameters derived from the settings, and the S-curve: the recall of the keys at the threshold and at other
    similarities; and the chance that a pair at the threshold is found, by the lengths of documents.

    Methods whose recall depends on more than the similarity and the length have no points.
    """
    described = method.describe()
    if not described:
        return None
    if not METHODS[method.name].has_curve:
        return described
    recall = method.candidate_probability(threshold)
    curve = described | {"threshold": threshold, "recall": recall, "points": s_curve(method)}
    found = [method.found_probability(threshold, length) for length in lengths]
    if all(chance == recall for chance in found):  # it does not depend on the length
        return curve
    middle = sorted(lengths)[len(lengths) // 2]
    at = [(similarity, method.found_probability(similarity, middle)) for similarity in _SHOWN]
    return curve | {"lengths": list(lengths), "found": found, "found_at_median": at}


def import_report() -> None:
    """Import what the report needs, while the database writes the tables: a tenth of a small run's time."""
    import roughly.report
    import roughly.verify.scores  # noqa: F401


def report_data(summary: Summary, parts: Sequence[Part], settings: Settings, method: Method, threads: int) -> RunData:
    """The data of the report that is not in run.json, with the texts of its samples.

    Pairs that were judged by common keys have no scores; the few that are shown are measured here.
    """
    from roughly.report.data import PairSample, RunData
    from roughly.verify.scores import score_texts

    figures = summary.figures
    if figures is None:
        raise ValueError("a report needs the figures")
    unmeasured = method.judge().on == "keys"
    below = [] if unmeasured else figures.below
    places = [(row["part"], row["row"]) for row in figures.largest]
    for row in (*figures.above, *below):
        places += [(row["left_part"], row["left_row"]), (row["right_part"], row["right_row"])]
    texts = texts_of(parts, places, settings.page_text, threads)

    def sample(row: dict[str, Any]) -> PairSample:
        left, right = texts[row["left_part"], row["left_row"]], texts[row["right_part"], row["right_row"]]
        values = row["resemblance"], row["containment"], row["contained_in"]
        if unmeasured:
            found = score_texts(left, right, settings.shingle_size, settings.shingle_unit)
            values = found.resemblance, found.containment, found.contained_in
        return PairSample(row["left_id"], row["right_id"], left, right, *values)

    return RunData(
        run={},
        cluster_sizes=summary.cluster_sizes,
        resemblance=figures.resemblance,
        by_source=figures.by_source,
        kinds=figures.kinds,
        largest=[
            (row["cluster_id"], row["size"], row["low"], row["mean"], texts[row["part"], row["row"]])
            for row in figures.largest
        ],
        above=[sample(row) for row in figures.above],
        below=[sample(row) for row in below],
    ).bounded()
