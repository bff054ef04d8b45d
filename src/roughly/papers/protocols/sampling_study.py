"""Sampled against unsampled detection, by length, ratio and threshold (Ye 2008, Figures 1 to 4).

`tools.tune.adaptive` does the measuring, as for `roughly tune`. Exact duplicates are collapsed first; the result of
unsampled detection is the truth.
"""

from __future__ import annotations

import math
import time

import numpy as np

from roughly.features.sampling import reseeded
from roughly.features.shingle_sets import shingle_sets
from roughly.features.sketch import Sketch
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome
from roughly.text.canonical import tokenise
from roughly.tools.tune.adaptive import Study, StudySample, study

LEVELS = 4
"""The paper's ratios are 1/2 to 1/16."""
SHOWN = (2, 4)
PERCENTILES = (0, 1, 5, 10, 20, 30, 40, 50, 60, 68, 70, 80, 90, 95, 99, 100)


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Lengths, precision and recall at 1/4 and 1/16, and the fraction of shingles needed for a precision."""
    start = time.process_time()
    tokens = tokenise(case.corpus.texts)
    lengths = np.diff(tokens.offsets)
    full = shingle_sets(reseeded(tokens, case.number("seed")), case.number("shingle_size"))
    sample = StudySample.of(Sketch(full.values, full.offsets), lengths, case.number("common"))
    bounds = case.number("bounds")
    found = study(sample, bounds, tuple(sorted({*case.number("thresholds"), *case.number("share_thresholds")})), LEVELS)
    notes = [
        f"{case.corpus.name}: {len(case.corpus):,} documents, {found.collapsed:,} exact duplicates collapsed; shingles "
        f"of {case.number('shingle_size')}; {found.pairs:,} pairs share a shingle that no more than "
        f"{case.number('common'):,} documents have."
    ]
    tables = {"ranks": _ranks(sample, notes), "groups": _groups(case, sample, found, notes)}
    for level in SHOWN:
        for name, values in (("precision", found.precision), ("recall", found.recall)):
            tables[f"{name} 1/{2**level}"] = _curves(case, found, name, values[:, level], level, notes)
    tables["shares"] = _shares(case, found, notes)
    tables["overall"] = _overall(case, found, notes)
    return ExperimentOutcome(tables, {"all": time.process_time() - start})


def _ranks(sample: StudySample, notes: list[str]) -> PaperTable:
    """Figure 1: the length of the document at each rank."""
    ordered = np.sort(sample.tokens)
    places = [min(len(ordered) - 1, round(share / 100 * (len(ordered) - 1))) for share in PERCENTILES]
    rows: list[list[Cell]] = [
        [f"{share}%", share, int(ordered[place])] for share, place in zip(PERCENTILES, places, strict=True)
    ]
    columns = [TableColumn("Documents no longer"), TableColumn("Percentile", "count"), TableColumn("Words", "count")]
    return PaperTable("Documents by length", columns, rows, notes)


def _groups(case: ExperimentCase, sample: StudySample, found: Study, notes: list[str]) -> PaperTable:
    at = found.at(case.number("headline"))
    sharing = np.zeros(len(found.documents), np.int64)
    for pairs in sample.pairs():
        sharing += np.bincount(sample.group_of(pairs, found.bounds), minlength=len(sharing))
    documents, shingles = max(int(found.documents.sum()), 1), max(int(found.shingles.sum()), 1)
    rows: list[list[Cell]] = [
        [f"{name} words", int(n), n / documents, s / shingles, int(t[0]), int(t[at]), int(p)]
        for name, n, s, t, p in zip(found.names, found.documents, found.shingles, found.true, sharing, strict=True)
    ]
    columns = [
        TableColumn("Group"), TableColumn("Documents", "count"), TableColumn("Share of documents", "percent"),
        TableColumn("Share of shingles", "percent"), TableColumn("True pairs at the lowest threshold", "count"),
        TableColumn(f"True pairs at {case.number('headline'):g}", "count"),
        TableColumn("Pairs that share a shingle", "count"),
    ]  # fmt: skip
    return PaperTable("Groups of lengths", columns, rows, notes)


def _curves(case: ExperimentCase, found: Study, name: str, values: object, level: int, notes: list[str]) -> PaperTable:
    """Figures 2 and 3: by threshold, one column per group; empty if a group has too few true pairs."""
    least = case.number("least_pairs")
    rows: list[list[Cell]] = []
    array = np.asarray(values)
    for at, threshold in enumerate(found.thresholds):
        if threshold not in case.number("thresholds"):
            continue
        cells: list[Cell] = [
            None if math.isnan(array[g, at]) or found.true[g, at] < least else float(array[g, at])
            for g in range(len(found.true))
        ]
        rows.append([f"{threshold:g}", *cells])
    columns = [TableColumn("Threshold"), *(TableColumn(f"{own} words", "share") for own in found.names)]
    return PaperTable(f"{name.capitalize()} at the ratio 1/{2**level}", columns, rows, notes)


def _shares(case: ExperimentCase, found: Study, notes: list[str]) -> PaperTable:
    """Figure 4: the fraction of shingles needed for a precision, adaptive and with one ratio for all."""
    rows: list[list[Cell]] = []
    thresholds = case.number("share_thresholds")
    for precision in case.number("precisions"):
        cells: list[Cell] = []
        for t in thresholds:
            cells += [found.share(found.choose(t, precision)), found.ratios[found.uniform(t, precision)]]
        rows.append([f"{precision:g}", *cells])
    heads = [TableColumn(f"{how}, t = {t:g}", "percent") for t in thresholds for how in ("Adaptive", "Uniform")]
    return PaperTable("Shingles to process", [TableColumn("Precision required"), *heads], rows, notes)


def _overall(case: ExperimentCase, found: Study, notes: list[str]) -> PaperTable:
    """§1: precision and recall by ratio, of the shortest documents and of all, at one threshold."""
    at = found.at(case.number("headline"))
    rows: list[list[Cell]] = []
    for level in range(1, LEVELS + 1):
        whole = found.overall(level)
        values = (found.precision[0, level, at], whole[0][at], found.recall[0, level, at], whole[1][at])
        rows.append([f"1/{2**level}", *(None if math.isnan(value) else float(value) for value in values)])
    short = f"{found.names[0]} words"
    heads = [TableColumn(f"{what}, {who}", "share") for what in ("Precision", "Recall") for who in (short, "all")]
    title = f"Precision and recall by ratio, at the threshold {case.number('headline'):g}"
    return PaperTable(title, [TableColumn("Ratio"), *heads], rows, notes)


_NAMES = tuple(f"{name} 1/{2**level}" for level in SHOWN for name in ("precision", "recall"))
PROTOCOL = Protocol(
    "sampling", "sampled against unsampled detection, by length, ratio and threshold", run,
    ("ranks", "groups", *_NAMES, "shares", "overall"),
    {
        "seed": 0, "headline": 0.85, "shingle_size": 10, "common": 1000, "least_pairs": 5,
        "bounds": [500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 7500, 10000],
        "thresholds": [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95], "share_thresholds": [0.6, 0.8, 0.85],
        "precisions": [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99],
    },
)  # fmt: skip
