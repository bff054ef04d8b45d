"""Changes of n terms, and the number of randomised lexicons with which a signature survives them (Kołcz 2008, §4,
§7.4).

The arithmetic is in `methods.stability`; here it is tested on documents. From documents with enough terms of the
lexicon, n of these terms are removed, and the document is signed before and after by K randomised lexicons. With p the
fraction of terms that a lexicon drops:

    share of lexicons that keep the signature    pⁿ                     (eq. 1: all n terms are missing from it)
                                                (1 − p)ⁿ               (eq. 6: none is)
    documents that keep one of K signatures     1 − (1 − pⁿ)^K         (eq. 1)
    expected lexicons until one keeps it        1 / share
"""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import InputError
from roughly.lexicon import Lexicon
from roughly.methods.imatch import IMatch
from roughly.methods.stability import expected_lexicons, survival
from roughly.papers.detectors import signatures
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, lexicon_key, lexicon_of, words_of
from roughly.signing.text_batch import TextBatch
from roughly.tools.corpus import Corpus

PAPER_DROPPED = 0.33
"""M = 0.33·L, under Table 4."""


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Survival by lexicons and changes, as computed and as measured; expected lexicons three ways."""
    corpus = case.corpus
    lexicon = case.lexicon or lexicon_of(corpus)
    most = max(case.number("lexicons"))
    filter_, dropped = case.number("filter"), case.number("dropped")
    key = lexicon_key(case.number("seed"))
    method = IMatch(
        lexicon=lexicon, filter=filter_, norm="imatch", lexicons=most, dropped=dropped, min_terms=2, key=key
    )
    kept: dict[int, npt.NDArray[np.bool_]] = {}
    for changes in case.number("changes"):
        before, after = _changed(corpus, lexicon, filter_, changes, case.number("documents"), case.number("seed"))
        a, b = (signatures(method, TextBatch(texts))[:, 1:] for texts in (before, after))
        kept[changes] = (a == b) & (a != 0)
    notes = [
        f"{case.number('documents'):,} documents of {corpus.name}, lexicon of {lexicon.documents:,} documents, "
        f"{filter_}, share dropped {dropped:.3f}."
    ]
    return ExperimentOutcome({
        "survival": _survival(case, kept, dropped, notes),
        "shares": _shares(kept, dropped, notes),
        "expected": _expected(case, kept, dropped),
    })  # fmt: skip


def _survival(
    case: ExperimentCase, kept: dict[int, npt.NDArray[np.bool_]], dropped: float, notes: list[str]
) -> PaperTable:
    rows: list[list[Cell]] = []
    for count in case.number("lexicons"):
        cells: list[Cell] = [str(count)]
        for changes, same in kept.items():
            cells += [survival(changes, count, dropped), float(same[:, :count].any(axis=1).mean())]
        rows.append(cells)
    heads = [TableColumn(f"{n} changed, {what}", "share") for n in kept for what in ("eq. 1", "measured")]
    return PaperTable("Signatures that outlast n changes, by lexicons", [TableColumn("Lexicons"), *heads], rows, notes)


def _shares(kept: dict[int, npt.NDArray[np.bool_]], dropped: float, notes: list[str]) -> PaperTable:
    rows: list[list[Cell]] = [
        [str(n), float(same.mean()), dropped**n, (1 - dropped) ** n] for n, same in kept.items()
    ]  # fmt: skip
    columns = [
        TableColumn("Terms changed"), TableColumn("Measured", "share"), TableColumn("Eq. 1, pⁿ", "share"),
        TableColumn("Eq. 6, (1 − p)ⁿ", "share"),
    ]  # fmt: skip
    return PaperTable("Share of randomised lexicons that keep their signature", columns, rows, notes)


def _expected(case: ExperimentCase, kept: dict[int, npt.NDArray[np.bool_]], dropped: float) -> PaperTable:
    """Table 4's form: rows are sizes of lexicons, columns numbers of changes."""
    changes = case.number("table_changes")
    rows: list[list[Cell]] = []
    for terms in case.number("lexicon_sizes"):
        rows.append([f"L = {terms:,}, eq. 6 as printed", *(_printed(n, terms) for n in changes)])
    for terms in case.number("lexicon_sizes"):
        rows.append([f"L = {terms:,}, eq. 1", *(expected_lexicons(n, terms, PAPER_DROPPED) for n in changes)])
    measured: list[Cell] = []
    for n in changes:
        share = float(kept[n].mean()) if n in kept else 0.0
        measured.append(1 / share if share else None)
    rows.append([f"measured, p = {dropped:.3f}", *measured])
    note = (
        "Eq. 6 counts lexicons that still hold all n terms: C(L−n, M) / C(L, M), M = 0.33·L. Eq. 1 counts those that "
        "hold none of them: C(L−n, M−n) / C(L, M). Measured: signatures made of documents before and after, over all "
        "randomised lexicons; a cell is empty if none kept its signature."
    )
    heads = [TableColumn(f"n = {n}", "number") for n in changes]
    return PaperTable("Lexicons until one keeps its signature", [TableColumn("Lexicon"), *heads], rows, [note])


def _printed(changes: int, terms: int) -> float:
    """1 / (C(L−n, M) / C(L, M)): the inverse of eq. 6 as printed."""
    missing = round(PAPER_DROPPED * terms)
    share = 1.0
    for i in range(changes):
        share *= (terms - missing - i) / (terms - i)
    return 1 / share


def _changed(
    corpus: Corpus, lexicon: Lexicon, filter_: str, changes: int, wanted: int, seed: int
) -> tuple[pa.Array, pa.Array]:
    """Documents as sets of the terms that the filter keeps, whole and without n of them."""
    dice = random.Random(f"{seed} {changes}")
    order = list(range(len(corpus)))
    dice.shuffle(order)
    before, after = [], []
    known = words_of(corpus)
    for first in range(0, len(order), 4 * wanted):
        places = order[first : first + 4 * wanted]
        listed = [sorted(set(known.words(place))) for place in places]
        kept = _in_lexicon(lexicon, filter_, listed)
        for own in kept:
            if len(own) < 2 * changes + 4:
                continue
            removed = set(dice.sample(own, changes))
            before.append(" ".join(own))
            after.append(" ".join(term for term in own if term not in removed))
            if len(before) == wanted:
                return pa.array(before, pa.large_string()), pa.array(after, pa.large_string())
    raise InputError(
        f"{corpus.name} has {len(before)} documents of {2 * changes + 4} terms that {filter_} keeps; {wanted} are "
        "needed, or say fewer with --set documents=…"
    )


def _in_lexicon(lexicon: Lexicon, filter_: str, listed: list[list[str]]) -> list[list[str]]:
    """For each list, the terms that the filter keeps on their own: a document of that term alone has a signature."""
    terms = sorted({term for own in listed for term in own})
    method = IMatch(lexicon=lexicon, filter=filter_, norm="imatch")
    alone = signatures(method, TextBatch(pa.array(terms, pa.large_string())))
    good = {term for term, key in zip(terms, alone[:, 0].tolist(), strict=True) if key}
    return [[term for term in own if term in good] for own in listed]


PROTOCOL = Protocol(
    "perturbation", "documents without n of their terms: how many randomised lexicons do not notice", run,
    ("survival", "shares", "expected"),
    {
        "seed": 0, "documents": 400, "filter": "IDFR-I-20-80", "dropped": 1 / 3, "changes": [1, 2, 3, 5],
        "lexicons": [1, 2, 5, 10, 20, 50, 100], "table_changes": [2, 5, 10, 20, 50],
        "lexicon_sizes": [1000, 10000, 100000],
    },
    takes_lexicon=True,
)  # fmt: skip
