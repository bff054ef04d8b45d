"""Spam queried among spam and legitimate mail, by randomised lexicons (Kołcz 2008, Tables 2 and 3, Figure 6).

The collection in the role `lexicon` supplies the lexicon; all others are mail, labelled `spam` and `ham`. Truth is the
cosine of unique terms (§6.4).
"""

from __future__ import annotations

import random
import time

import numpy as np

from roughly import lexicon as lexicons
from roughly.lexicon import Lexicon
from roughly.methods.imatch import IMatch
from roughly.papers.cosine_truth import cosine_neighbours
from roughly.papers.detectors import signatures
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.prepared import FEWEST_WORDS, matches, name_of, prepare
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, batch_of, lexicon_key, lexicon_of
from roughly.tools.corpus import Corpus
from roughly.tools.metrics.query_scores import score_queries

SPAM, LEGITIMATE = "spam", "ham"
LEXICON = "lexicon"


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Recall, its increase, precision, utility and legitimate mail flagged."""
    mails = {role: corpus for role, corpus in case.corpora.items() if role != LEXICON}
    given = case.corpora.get(LEXICON)
    lexicon = case.lexicon or (lexicon_of(given) if given else lexicons.default())
    rows: list[list[Cell]] = [[name_of(count)] for count in case.number("lexicons")]
    columns, notes, seconds = [TableColumn("Lexicon count")], [], {}
    for role, corpus in mails.items():
        start = time.process_time()
        suffix = f", {role}" if len(mails) > 1 else ""
        found, note = _scores(case, corpus, lexicon)
        for row, cells in zip(rows, found, strict=True):
            row += cells
        columns += [
            TableColumn(f"Recall{suffix}", "share"), TableColumn(f"Relative Increase{suffix}", "percent"),
            TableColumn(f"Precision{suffix}", "share"), TableColumn(f"Utility{suffix}", "number"),
            TableColumn(f"Legitimate flagged{suffix}", "count"),
        ]  # fmt: skip
        notes.append(note)
        seconds[role] = time.process_time() - start
    return ExperimentOutcome({"recall": PaperTable("Duplicate detection by lexicons", columns, rows, notes)}, seconds)


def _scores(case: ExperimentCase, given: Corpus, lexicon: Lexicon) -> tuple[list[list[Cell]], str]:
    corpus = prepare(given)
    spam = np.array([label == SPAM for label in corpus.labels])
    corpus.having(SPAM), corpus.having(LEGITIMATE)  # an error if there are none
    places = np.flatnonzero(spam).tolist()
    count = max(1, round(case.number("queries") * len(places)))
    queries = sorted(random.Random(case.number("seed")).sample(places, count))
    texts = batch_of(corpus)
    true = {
        query: set(near.tolist()) for query, near in cosine_neighbours(texts.tokens, queries, case.number("cosine"))
    }
    numbers, chosen = case.number("lexicons"), case.number("filter")
    key = lexicon_key(case.number("seed"))
    method = IMatch(
        lexicon=lexicon, filter=chosen, norm="imatch", lexicons=max(numbers), min_terms=FEWEST_WORDS, key=key
    )
    keys = signatures(method, texts)
    rows: list[list[Cell]] = []
    first = None
    for number in numbers:  # a lexicon's signature does not depend on the number of others
        found = matches(keys[:, : number + 1], queries)
        pairs = zip(found, (true[query] for query in queries), strict=True)
        scores = score_queries(pairs, spam, case.number("cost"))
        first = scores.recall if first is None else first
        rise = scores.recall / first - 1 if scores.recall is not None and first else None
        rows.append([scores.recall, rise, scores.precision, scores.utility, scores.legitimate])
    signed = int((keys[:, 0] != 0).sum())
    note = (
        f"{corpus.name}: {int(spam.sum()):,} spam and {int((~spam).sum()):,} legitimate messages after preparation "
        f"(§6.3); {count:,} queries, {scores.queries:,} of them with a message of cosine ≥ {case.number('cosine')} "
        f"among the others. Lexicon of {lexicon.documents:,} documents, {chosen}; {signed:,} messages are signed."
    )
    return rows, note


PROTOCOL = Protocol(
    "spam", "spam queried among spam and legitimate mail, by the number of randomised lexicons", run, ("recall",),
    {
        "seed": 0, "queries": 0.1, "lexicons": [0, 1, 2, 5, 10], "filter": "IDFR-I-20-30", "cost": 100.0,
        "cosine": 0.9,
    },
    labelled=True, takes_lexicon=True,
)  # fmt: skip
