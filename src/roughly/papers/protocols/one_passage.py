"""Documents that differ in one small portion (I-Match 2002, §4.3, Figure 3).

The paper's picture shows two documents that match except for a name and an address, and its text says which methods
would still find them. Here it is measured: in some documents, a run of k words from the middle is replaced by k others,
and the pairs that a method finds are counted. `filling` says what is inserted: terms of few documents of the collection
(`rare`: names), or running text of another document (`text`).
"""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

from roughly.errors import InputError
from roughly.methods import lexicon_checks as checks
from roughly.papers.detectors import by_method
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, lexicon_of, words_of
from roughly.signing.text_batch import TextBatch

FILLINGS = ("rare", "text")
_RARE = 5
"""A name occurs in at most this number of documents."""


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Fraction of the pairs found, by the length of the portion and the method."""
    corpus, seed, wanted = case.corpus, case.number("seed"), case.number("documents")
    checks.refuse(checks.one_of("filling", case.number("filling"), FILLINGS))
    longest = max(case.number("lengths"))
    known = words_of(corpus)
    fit = np.flatnonzero(np.diff(known.offsets) >= 4 * longest).tolist()
    if len(fit) < wanted:
        raise InputError(
            f"{corpus.name} has {len(fit)} documents of {4 * longest} words or more; {wanted} are needed, or say fewer "
            "with --set documents=…"
        )
    chosen = sorted(random.Random(seed).sample(fit, wanted))
    listed = {place: known.words(place) for place in chosen}
    lexicon = case.lexicon or lexicon_of(corpus)
    stock = known.rare(_RARE) if case.number("filling") == "rare" else []
    if case.number("filling") == "rare" and not stock:
        raise InputError(f"{corpus.name} has no term in at most {_RARE} documents; use the filling `text`")
    rows: list[list[Cell]] = []
    for length in case.number("lengths"):
        texts = [" ".join(listed[place]) for place in chosen]
        for number, place in enumerate(chosen):
            dice = random.Random(f"{seed} {corpus.ids[place]} {length}")
            own, middle = listed[place], (len(listed[place]) - length) // 2
            if stock:
                put = [dice.choice(stock) for _ in range(length)]
            else:
                other = listed[chosen[number - 1]]
                start = dice.randrange(len(other) - length + 1)
                put = other[start : start + length]
            texts.append(" ".join([*own[:middle], *put, *own[middle + length :]]))
        column = TextBatch(pa.array(texts, pa.large_string()))
        cells: list[Cell] = []
        for row in case.rows:
            group = by_method(row.make(lexicon, seed))(column).group
            cells.append(float(np.mean(group[:wanted] == group[wanted:])))
        rows.append([str(length), *cells])
    name = {"rare": "terms of at most five documents", "text": "running text of another document"}
    notes = [
        f"{wanted:,} documents of {corpus.name} with {4 * longest} words or more; the portion is in the middle and is "
        f"exchanged for {name[case.number('filling')]}."
    ]
    columns = [TableColumn("Words that differ"), *(TableColumn(row.name, "percent") for row in case.rows)]
    return ExperimentOutcome({"found": PaperTable("Pairs found, by the words that differ", columns, rows, notes)})


PROTOCOL = Protocol(
    "passage", "pairs of documents that differ in one portion only: which methods find them", run, ("found",),
    {"seed": 0, "documents": 500, "lengths": [1, 2, 5, 10, 20], "filling": "rare"},
    takes_methods=True, takes_lexicon=True,
)  # fmt: skip
