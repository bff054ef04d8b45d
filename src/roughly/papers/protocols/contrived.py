"""Contrived duplicates, added to a collection to be found again (I-Match 2002, §4.3, Tables III and IV)."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from roughly.papers.contrived_copies import Contrived, contrive
from roughly.papers.detectors import Detector, by_method
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, lexicon_of
from roughly.signing.text_batch import TextBatch
from roughly.tools.metrics.families import FamilyScore, score_family

NAMES = {"terms": "collection's distinct terms", "text": "collection's running text", "document": "document itself"}


def families(made: Contrived, named: Mapping[str, Detector]) -> dict[str, list[FamilyScore]]:
    """How each detector groups each original and its copies."""
    scored, texts = {}, TextBatch(made.corpus.texts)
    for name, detector in named.items():
        groups = detector(texts).group
        scored[name] = [score_family(groups, made.family(number)) for number in range(len(made.originals))]
    return scored


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Found and clusters by document and on average, and on average for every way of making copies."""
    variants = [(added, every, alpha) for added in case.number("sources") for every, alpha in case.number("edits")]
    own = (case.number("added"), case.number("every"), case.number("alpha"))
    heads = [TableColumn(row.name, "percent") for row in case.rows]
    numbers = [TableColumn(row.name, "number") for row in case.rows]
    found: list[list[Cell]] = []
    clusters: list[list[Cell]] = []
    seconds = {}
    tables: dict[str, PaperTable] = {}
    for added, every, alpha in dict.fromkeys([own, *variants]):
        made = contrive(
            case.corpus, seed=case.number("seed"), documents=case.number("documents"), copies=case.number("copies"),
            every=every, alpha=alpha, added=added,
        )  # fmt: skip
        lexicon = lexicon_of(made.corpus)
        start = time.process_time()
        scored = families(made, {row.name: by_method(row.make(lexicon, case.number("seed"))) for row in case.rows})
        seconds[f"{added}, {every}, {alpha}"] = time.process_time() - start
        if (added, every, alpha) in variants:
            name = f"{added}, every {every}th, alpha {alpha}"
            found.append([name, *(float(np.mean([x.found for x in s])) for s in scored.values())])
            clusters.append([name, *(float(np.mean([x.clusters for x in s])) for s in scored.values())])
        if (added, every, alpha) == own:
            tables = _own(case, made, scored)
    return ExperimentOutcome(
        {
            **tables,
            "found by variant": PaperTable("Found, by how copies are made", [TableColumn("Copies"), *heads], found),
            "clusters by variant": PaperTable(
                "Clusters, by how copies are made", [TableColumn("Copies"), *numbers], clusters
            ),
        },
        seconds,
    )


def _own(case: ExperimentCase, made: Contrived, scored: Mapping[str, list[FamilyScore]]) -> dict[str, PaperTable]:
    ids = [made.corpus.ids[place] for place in made.originals]
    averages: list[list[Cell]] = [
        [
            name, float(np.mean([x.found for x in s])), float(np.mean([x.clusters for x in s])),
            sum(x.false for x in s),
        ]
        for name, s in scored.items()
    ]  # fmt: skip
    notes = [
        f"{case.corpus.name}, {len(case.corpus):,} documents; {len(ids)} of average length, {len(made.copies[0])} "
        f"copies of each. Something happens at every {case.number('every')}th word if a draw from 1 to 10 is above "
        f"{case.number('alpha')}; words are added from the {NAMES[case.number('added')]}."
    ]
    heads = [TableColumn(name, "percent") for name in scored]
    counts = [TableColumn(name, "count") for name in scored]
    columns = [
        TableColumn("Method"),
        TableColumn("Found", "percent"),
        TableColumn("Clusters", "number"),
        TableColumn("False", "count"),
    ]
    return {
        "average": PaperTable("Contrived duplicates, on average", columns, averages, notes),
        "found": PaperTable(
            "Documents found ratio", [TableColumn("Document"), *heads],
            [[own, *(s[i].found for s in scored.values())] for i, own in enumerate(ids)], notes,
        ),
        "clusters": PaperTable(
            "Document clusters formed", [TableColumn("Document"), *counts],
            [[own, *(s[i].clusters for s in scored.values())] for i, own in enumerate(ids)], notes,
        ),
    }  # fmt: skip


PROTOCOL = Protocol(
    "contrived", "copies of some documents, edited at random, added to the collection to be found again", run,
    ("average", "found", "clusters", "found by variant", "clusters by variant"),
    {
        "seed": 0, "documents": 10, "copies": 10, "every": 10, "alpha": 9, "added": "terms", "sources": [],
        "edits": [],
    },
    takes_methods=True,
)  # fmt: skip
