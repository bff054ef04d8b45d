"""Documents that differ in one small portion (I-Match 2002, §4.3, Figure 3).

The paper's picture shows two documents that match but for a name and an address, and its text says which methods
would see through that. Here it is measured: of some documents, a run of k words from the middle is exchanged for k
others, and it is counted how many of these pairs a method brings together. `filling` says what is put there: terms
that stand in few documents of the collection (`rare`: names), or running text of another document (`text`).
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
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, lexicon_of
from roughly.text.canonical import words
from roughly.text.vocabulary import Vocabulary
from roughly.tools.corpus import Corpus

FILLINGS = ("rare", "text")
_RARE = 5
"""A name stands in at most so many documents."""


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Share of the pairs found, by the length of the portion and the method."""
    corpus, seed, wanted = case.corpus, case.number("seed"), case.number("documents")
    checks.refuse(checks.one_of("filling", case.number("filling"), FILLINGS))
    longest = max(case.number("lengths"))
    listed = {place: words(corpus.texts[place].as_py()) for place in range(len(corpus))}
    fit = [place for place, own in listed.items() if len(own) >= 4 * longest]
    if len(fit) < wanted:
        raise InputError(
            f"{corpus.name} has {len(fit)} documents of {4 * longest} words or more; {wanted} are needed, or say fewer "
            "with --set documents=…"
        )
    chosen = sorted(random.Random(seed).sample(fit, wanted))
    lexicon = case.lexicon or lexicon_of(corpus)
    stock = _rare(corpus) if case.number("filling") == "rare" else []
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
        column = pa.array(texts, pa.large_string())
        cells: list[Cell] = []
        for row in case.rows:
            group = by_method(row.make(lexicon))(column).group
            cells.append(float(np.mean(group[:wanted] == group[wanted:])))
        rows.append([str(length), *cells])
    name = {"rare": "terms of at most five documents", "text": "running text of another document"}
    notes = [
        f"{wanted:,} documents of {corpus.name} with {4 * longest} words or more; the portion is in the middle and is "
        f"exchanged for {name[case.number('filling')]}; seed {seed}."
    ]
    columns = [TableColumn("Words that differ"), *(TableColumn(row.name, "percent") for row in case.rows)]
    return ExperimentOutcome({"found": PaperTable("Pairs found, by the words that differ", columns, rows, notes)})


def _rare(corpus: Corpus) -> list[str]:
    vocabulary = Vocabulary()
    found = vocabulary.number(corpus.texts)
    owners = np.repeat(np.arange(len(corpus)), np.diff(found.offsets))
    once = np.unique(np.column_stack((found.numbers.astype(np.int64), owners)), axis=0)[:, 0]
    frequencies = np.bincount(once, minlength=len(vocabulary))
    named = vocabulary.words()
    rare = sorted(named[i] for i in np.flatnonzero((frequencies > 0) & (frequencies <= _RARE)))
    if not rare:
        raise InputError(f"{corpus.name} has no term in at most {_RARE} documents; take the filling `text`")
    return rare


PROTOCOL = Protocol(
    "passage", "pairs of documents that differ in one portion only: which methods bring them together", run, ("found",),
    {"seed": 0, "documents": 500, "lengths": [1, 2, 5, 10, 20], "filling": "rare"},
    takes_methods=True, takes_lexicon=True,
)  # fmt: skip
