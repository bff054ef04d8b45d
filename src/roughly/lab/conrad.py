"""Figures 1 to 4 of Conrad 2003: signatures of the same documents under a lexicon that grows."""

from __future__ import annotations

import random

from roughly.errors import InputError
from roughly.lab.setup import Setup, lexicon_of
from roughly.lab.table import Cell, Column, Table
from roughly.methods.growing import signature_stability
from roughly.signatures.dates import UNKNOWN, days_of
from roughly.text.canonical import tokenise

MONTHS = (("August", 0.849), ("September", 0.933), ("October", 1.0))
"""Shares of the collection: it grew by 9.95 % and 7.18 % (Conrad 2003, Table 3)."""
DOCUMENTS = 1000
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)


def figure_1(setup: Setup) -> list[Table]:
    """Figure 1: documents that keep their signature from one lexicon to the next, by the length of signatures."""
    corpus = setup.corpus
    days = days_of(corpus.dates)
    order = sorted(range(len(corpus)), key=lambda i: (int(days[i]), corpus.ids[i]))
    first = order[: int(MONTHS[0][1] * len(order))]
    if len(first) < DOCUMENTS:
        raise InputError(f"{corpus.name} has too few documents: {DOCUMENTS:,} are drawn from the oldest 85 %")
    chosen = sorted(random.Random(setup.options.seed).sample(first, DOCUMENTS))
    named = [(name, lexicon_of(corpus.take(order[: round(share * len(order))]))) for name, share in MONTHS]
    found = signature_stability(tokenise(corpus.texts.take(chosen)), named, longest=max(LENGTHS))
    pairs = list(dict.fromkeys((kept.before, kept.after) for kept in found))
    rows: list[list[Cell]] = []
    for length in LENGTHS:
        own = {(k.before, k.after): k for k in found if k.length == length}
        terms = [own[pair].same_terms / own[pair].documents if own[pair].documents else None for pair in pairs]
        listed = [own[pair].same_order / own[pair].documents if own[pair].documents else None for pair in pairs]
        rows.append([length, own[pairs[0]].documents, *terms, *listed])
    columns = [
        Column("Terms in signature", "count"), Column("Documents", "count"),
        *(Column(f"{a[:3]}–{b[:3]}, same terms", "percent") for a, b in pairs),
        *(Column(f"{a[:3]}–{b[:3]}, same order", "percent") for a, b in pairs),
    ]  # fmt: skip
    agree = [
        f"{a[0]}–{b[0]} {a[1].compare(b[1]).spearman:.4f}" for a, b in ((named[0], named[1]), (named[1], named[2]))
    ]
    undated = int((days == UNKNOWN).sum())
    sizes = ", ".join(f"{lexicon.documents:,}" for _, lexicon in named)
    notes = [
        f"Lexicons of the oldest {sizes} documents; {undated:,} of them have no date and come first. {DOCUMENTS:,} "
        f"documents of the first are signed, seed {setup.options.seed}; those of fewer terms are left out. "
        f"Spearman of idf: {', '.join(agree)}."
    ]
    return [Table(f"Figure 1. Signatures kept under a growing lexicon: {corpus.name}", columns, rows, notes)]
