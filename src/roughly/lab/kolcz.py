"""The mail experiments of Kołcz 2008: Tables 2 and 3, recall and utility by the number of randomised lexicons."""

from __future__ import annotations

import random
import re
import time

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import lexicon as lexicons
from roughly.lab.corpus import Corpus
from roughly.lab.cosine import cosine_neighbours
from roughly.lab.scores import score_queries
from roughly.lab.setup import Setup
from roughly.lab.table import Cell, Column, Table
from roughly.methods.imatch import IMatch
from roughly.text.canonical import tokenise

NUMBERS = (0, 1, 2, 5, 10)
SPAM, LEGITIMATE = "spam", "ham"
FEWEST_WORDS = 5
_WORD = re.compile(r"[^\W_]+")


def prepare(corpus: Corpus) -> Corpus:
    """§6.3: words of four characters or more with at most one digit; messages of five such words; no exact copies."""
    kept, texts, seen = [], [], set()
    for place in range(len(corpus)):
        subject = f"{corpus.titles[place] or ''} {corpus.texts[place].as_py()}"
        words = [w for w in _WORD.findall(subject.lower()) if len(w) >= 4 and sum(c.isdigit() for c in w) <= 1]
        text = " ".join(words)
        if len(set(words)) >= FEWEST_WORDS and text not in seen:
            seen.add(text)
            kept.append(place)
            texts.append(text)
    chosen = corpus.take(kept)
    return Corpus(
        chosen.name, chosen.ids, pa.array(texts, pa.large_string()), chosen.titles, chosen.dates, chosen.labels
    )


def matches(keys: npt.NDArray[np.uint64], queries: list[int]) -> list[set[int]]:
    """Of each query, the other documents that share one of its signatures."""
    found: list[set[int]] = [set() for _ in queries]
    for band in range(keys.shape[1]):
        owners: dict[int, list[int]] = {}
        for document, value in enumerate(keys[:, band].tolist()):
            if value:
                owners.setdefault(value, []).append(document)
        for number, query in enumerate(queries):
            found[number].update(owners.get(int(keys[query, band]), ()))
    for number, query in enumerate(queries):
        found[number].discard(query)
    return found


def tables_2_3(setup: Setup) -> list[Table]:
    """Tables 2 and 3: spam asked for among spam and legitimate mail, by the number of randomised lexicons."""
    options = setup.options
    corpus = prepare(setup.corpus)
    spam = np.array([label == SPAM for label in corpus.labels])
    corpus.having(SPAM), corpus.having(LEGITIMATE)  # says so if there are none
    places = np.flatnonzero(spam).tolist()
    count = max(1, round(options.queries * len(places)))
    queries = sorted(random.Random(options.seed).sample(places, count))
    tokens = tokenise(corpus.texts)
    true = {query: set(near.tolist()) for query, near in cosine_neighbours(tokens, queries)}
    lexicon = setup.lexicon or lexicons.default()
    method = IMatch(
        lexicon=lexicon, filter=options.filter, norm="imatch", lexicons=max(NUMBERS), min_terms=FEWEST_WORDS
    )
    keys = method.keys(tokens).values
    rows: list[list[Cell]] = []
    seconds = []
    first = None
    for number in NUMBERS:  # a lexicon's signature does not depend on how many others there are
        start = time.process_time()
        found = matches(keys[:, : number + 1], queries)
        scores = score_queries(zip(found, (true[query] for query in queries), strict=True), spam)
        first = scores.recall if first is None else first
        rise = scores.recall / first - 1 if scores.recall is not None and first else None
        name = "1" if number == 0 else f"1 + {number}-bag"
        rows.append([name, scores.recall, rise, scores.precision, scores.utility, scores.legitimate])
        seconds.append(time.process_time() - start)
    signed = int((keys[:, 0] != 0).sum())
    columns = [
        Column("Lexicon count"), Column("Recall", "share"), Column("Relative Increase", "percent"),
        Column("Precision", "share"), Column("Utility", "number"), Column("Legitimate flagged", "count"),
    ]  # fmt: skip
    notes = [
        f"{int(spam.sum()):,} spam and {int((~spam).sum()):,} legitimate messages after preparation (§6.3); {count:,} "
        f"queries, {scores.queries:,} of them with a message of cosine ≥ 0.9 among the others. Lexicon of "
        f"{lexicon.documents:,} documents, {options.filter}; {signed:,} messages are signed; seed {options.seed}.",
    ]
    return [Table(f"Tables 2 and 3. Duplicate detection by lexicons: {corpus.name}", columns, rows, notes, seconds)]
