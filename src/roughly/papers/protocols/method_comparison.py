"""Methods side by side on one truth: I-Match with K lexicons, word LSH, mega shingles (Kołcz 2008, footnote 4).

Queries are documents; the truth of a query is the documents whose cosine of unique terms reaches a threshold (§6.4).
Found is what shares a signature with it. The lexicon is that of another collection.
"""

from __future__ import annotations

import random

import numpy as np

from roughly import lexicon as lexicons
from roughly.papers.cosine_truth import cosine_neighbours
from roughly.papers.detectors import signatures
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.prepared import matches, prepare
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, batch_of, lexicon_of
from roughly.tools.metrics.query_scores import score_queries

LEXICON = "lexicon"


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Signatures per document, recall, precision, and the fraction of queries with only true duplicates."""
    corpus = prepare(case.corpus, copies=True)
    texts = batch_of(corpus)
    count = max(1, round(case.number("queries") * len(corpus)))
    queried = sorted(random.Random(case.number("seed")).sample(range(len(corpus)), count))
    near = cosine_neighbours(texts.tokens, queried, case.number("cosine"))
    true = {query: set(found.tolist()) for query, found in near if len(found)}
    queries = list(true)
    given = case.corpora.get(LEXICON)
    lexicon = case.lexicon or (lexicon_of(given) if given else lexicons.default())
    everything = np.ones(len(corpus), np.bool_)
    rows: list[list[Cell]] = []
    for row in case.rows:
        keys = signatures(row.make(lexicon, case.number("seed")), texts)
        found = matches(keys, queries)
        scores = score_queries(zip(found, true.values(), strict=True), everything)
        some = [own <= true[query] for query, own in zip(queries, found, strict=True) if own]
        pure = sum(some) / len(some) if some else None
        rows.append([row.name, keys.shape[1], scores.recall, scores.precision, pure])
    columns = [
        TableColumn("Method"), TableColumn("Signatures per document", "count"), TableColumn("Recall", "share"),
        TableColumn("Precision", "share"), TableColumn("Pure", "share"),
    ]  # fmt: skip
    notes = [
        f"{corpus.name}: {len(corpus):,} documents after preparation (§6.3), {count:,} of them queried, "
        f"{len(queries):,} with another of cosine ≥ {case.number('cosine')}. The lexicon is of {lexicon.documents:,} "
        "documents. Pure: share of the queries with a result that had true duplicates only."
    ]
    return ExperimentOutcome({"scores": PaperTable("Methods on one truth", columns, rows, notes)})


PROTOCOL = Protocol(
    "comparison", "methods side by side: documents that share a signature with a query, against the cosine of terms",
    run, ("scores",), {"seed": 0, "queries": 0.5, "cosine": 0.9}, takes_methods=True, takes_lexicon=True,
)  # fmt: skip
