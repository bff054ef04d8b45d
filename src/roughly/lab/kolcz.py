"""The experiments of Kołcz 2008: Tables 2 and 3 on mail, figures 3 and 4 on any documents, by number of lexicons."""

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
from roughly.lab.metrics import score_queries
from roughly.lab.setup import Setup, lexicon_of
from roughly.lab.table import Cell, Column, Table
from roughly.methods.imatch import IMatch
from roughly.text.canonical import tokenise

NUMBERS = (0, 1, 2, 5, 10)
MAIL_FILTER, PAGE_FILTER = "IDFR-I-20-30", "IDFR-I-20-80"
"""Ranges of idf for mail and for pages (§6.5)."""
SPAM, LEGITIMATE = "spam", "ham"
FEWEST_WORDS = 5
_WORD = re.compile(r"[^\W_]+")


def prepare(corpus: Corpus, copies: bool = False) -> Corpus:
    """§6.3: words of four characters or more, at most one digit in each; documents of five such words or more.

    Of mail, exact copies are left out too, unless `copies` are asked for.
    """
    kept, texts, seen = [], [], set()
    for place in range(len(corpus)):
        subject = f"{corpus.titles[place] or ''} {corpus.texts[place].as_py()}"
        words = [w for w in _WORD.findall(subject.lower()) if len(w) >= 4 and sum(c.isdigit() for c in w) <= 1]
        text = " ".join(words)
        if len(set(words)) >= FEWEST_WORDS and (copies or text not in seen):
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
    chosen = options.filter or MAIL_FILTER
    method = IMatch(lexicon=lexicon, filter=chosen, norm="imatch", lexicons=max(NUMBERS), min_terms=FEWEST_WORDS)
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
        f"{lexicon.documents:,} documents, {chosen}; {signed:,} messages are signed; seed {options.seed}.",
    ]
    return [Table(f"Tables 2 and 3. Duplicate detection by lexicons: {corpus.name}", columns, rows, notes, seconds)]


def figures_3_4(setup: Setup) -> list[Table]:
    """Figures 3 and 4: recall, precision and pure results by lexicons, with the collection's own and another."""
    options = setup.options
    corpus = prepare(setup.corpus, copies=True)
    tokens = tokenise(corpus.texts)
    count = max(1, round(options.queries * len(corpus)))
    asked = sorted(random.Random(options.seed).sample(range(len(corpus)), count))
    true = {query: set(near.tolist()) for query, near in cosine_neighbours(tokens, asked) if len(near)}
    queries = list(true)
    named = {"own": lexicon_of(corpus), "other": setup.lexicon or lexicons.default()}
    chosen = options.filter or PAGE_FILTER
    keys = {}
    for name, lexicon in named.items():
        method = IMatch(lexicon=lexicon, filter=chosen, norm="imatch", lexicons=max(NUMBERS), min_terms=FEWEST_WORDS)
        keys[name] = method.keys(tokens).values
    all_spam = np.ones(len(corpus), np.bool_)  # nothing is legitimate here: every document may be found
    rows: list[list[Cell]] = []
    for number in NUMBERS:
        row: list[Cell] = ["1" if number == 0 else f"1 + {number}-bag"]
        for values in keys.values():
            found = matches(values[:, : number + 1], queries)
            scores = score_queries(zip(found, true.values(), strict=True), all_spam)
            some = [own <= true[query] for query, own in zip(queries, found, strict=True) if own]
            row += [scores.recall, scores.precision, sum(some) / len(some) if some else None]
        rows.append(row)
    heads = [Column(f"{what}, {name} lexicon", "share") for name in named for what in ("Recall", "Precision", "Pure")]
    size = named["other"].documents
    notes = [
        f"{len(corpus):,} documents after preparation (§6.3), {count:,} of them asked for, {len(queries):,} with "
        f"another of cosine ≥ 0.9. {chosen}, at least {FEWEST_WORDS} terms; the other lexicon is of {size:,} "
        f"documents. Pure: share of the queries with a result that had true duplicates only. Seed {options.seed}."
    ]
    return [
        Table(f"Figures 3 and 4. Recall by lexicons: {corpus.name}", [Column("Lexicon count"), *heads], rows, notes)
    ]
