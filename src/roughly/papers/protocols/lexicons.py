"""Recall, precision and pure clusters by lexicons, own and another's (Kołcz 2008, Figures 3 and 4)."""

from __future__ import annotations

import random
import time

import numpy as np

from roughly import lexicon as lexicons
from roughly.methods.imatch import IMatch
from roughly.papers.cosine_truth import cosine_neighbours
from roughly.papers.detectors import signatures
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.prepared import FEWEST_WORDS, matches, name_of, prepare
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, batch_of, lexicon_key, lexicon_of
from roughly.tools.metrics.query_scores import score_queries

LEXICON = "lexicon"


def run(case: ExperimentCase) -> ExperimentOutcome:
    """By number of lexicons: recall, precision, and the fraction of queries with only true duplicates."""
    start = time.process_time()
    corpus = prepare(case.corpus, copies=True)
    texts = batch_of(corpus)
    count = max(1, round(case.number("queries") * len(corpus)))
    queried = sorted(random.Random(case.number("seed")).sample(range(len(corpus)), count))
    true = {
        query: set(near.tolist())
        for query, near in cosine_neighbours(texts.tokens, queried, case.number("cosine"))
        if len(near)
    }
    queries = list(true)
    given = case.corpora.get(LEXICON)
    other = case.lexicon or (lexicon_of(given) if given else lexicons.default())
    named = {"own": lexicon_of(corpus), "other": other}
    numbers, chosen = case.number("lexicons"), case.number("filter")
    keys, key = {}, lexicon_key(case.number("seed"))
    for name, lexicon in named.items():
        method = IMatch(
            lexicon=lexicon, filter=chosen, norm="imatch", lexicons=max(numbers), min_terms=FEWEST_WORDS, key=key
        )
        keys[name] = signatures(method, texts)
    all_spam = np.ones(len(corpus), np.bool_)  # there is no legitimate mail here: every document may be found
    rows: list[list[Cell]] = []
    for number in numbers:
        row: list[Cell] = [name_of(number), number]
        for values in keys.values():
            found = matches(values[:, : number + 1], queries)
            scores = score_queries(zip(found, true.values(), strict=True), all_spam)
            some = [own <= true[query] for query, own in zip(queries, found, strict=True) if own]
            row += [scores.recall, scores.precision, sum(some) / len(some) if some else None]
        rows.append(row)
    heads = [
        TableColumn(f"{what}, {name} lexicon", "share") for name in named for what in ("Recall", "Precision", "Pure")
    ]
    notes = [
        f"{corpus.name}: {len(corpus):,} documents after preparation (§6.3), {count:,} of them queried, "
        f"{len(queries):,} with another of cosine ≥ {case.number('cosine')}. {chosen}, {FEWEST_WORDS} terms or more; "
        f"the other lexicon is of {other.documents:,} documents. Pure: share of the queries with a result that had "
        f"true duplicates only."
    ]
    columns = [TableColumn("Lexicon count"), TableColumn("Randomised lexicons", "count"), *heads]
    table = PaperTable("Recall by lexicons", columns, rows, notes)
    return ExperimentOutcome({"recall": table}, {"all": time.process_time() - start})


PROTOCOL = Protocol(
    "lexicons", "documents queried, by the number of randomised lexicons and by whose lexicon it is", run,
    ("recall",),
    {"seed": 0, "queries": 0.5, "lexicons": [0, 1, 2, 3, 5, 7, 10], "filter": "IDFR-I-20-80", "cosine": 0.9},
    takes_lexicon=True,
)  # fmt: skip
