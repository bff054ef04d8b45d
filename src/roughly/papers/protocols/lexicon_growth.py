"""A growing lexicon: how its ranks agree, and which signatures it changes (Conrad 2003, §6.2, Table 4, Figures 1–4).

Each collection is a domain, its documents in the order of their dates. Three lexicons are made from the oldest parts of
all domains together, as the collection was in three months; `shares` is the size of each domain in the first two.
Documents of the first month are signed by each lexicon.
"""

from __future__ import annotations

import random
import time
from functools import lru_cache

import numpy as np

from roughly.dates import NO_DAY, days_of
from roughly.errors import InputError, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.lexicon import Lexicon
from roughly.methods.growing_lexicon import KeptSignatures, signature_stability
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, lexicon_of
from roughly.signing.text_batch import TextBatch
from roughly.tools.corpus import Corpus

MONTHS = ("August", "September", "October")
PERIODS = ((0, 1), (1, 2), (0, 2))
TERM_SETS = {"Alpha-only": True, "Alpha-numeric": False}
MIN_DF, MIN_LENGTH = 5, 3


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Signatures kept, for all documents and for each domain, and the correlation of ranks."""
    start = time.process_time()
    shares = case.number("shares")
    if len(shares) not in (1, len(case.corpora)) or any(len(own) != 2 for own in shares):
        raise SettingsError(f"shares must be two numbers for each of {len(case.corpora)} collections, not {shares!r}")
    domains = [
        _domain(corpus, *shares[place if len(shares) > 1 else 0]) for place, corpus in enumerate(case.corpora.values())
    ]
    ordered = dict(zip(case.corpora, domains, strict=True))
    notes = [
        f"{role}: {own.corpus.name}, {', '.join(f'{n:,}' for n in own.parts)} documents in the three months"
        f"{_undated(own.undated)}."
        for role, own in ordered.items()
    ]
    lexicons = _lexicons(*domains)
    kept = {role: _kept(case, own, lexicons) for role, own in ordered.items()}
    longest = case.number("lengths")
    notes.append(
        f"{case.number('documents'):,} documents of the first month of each domain are signed; those of fewer terms "
        "than a signature has are left out."
    )
    whole = [_together(same) for same in zip(*kept.values(), strict=True)]
    tables = {"all": _stability("Signatures kept, all domains", whole, longest, notes)}
    for place, (role, own) in enumerate(kept.items(), 1):
        tables[f"domain {place}"] = _stability(f"Signatures kept, {role}", own, longest, notes)
    tables["correlations"] = _correlations(lexicons, notes[:-1])
    return ExperimentOutcome(tables, {"all": time.process_time() - start})


@dataclass(frozen=True, eq=False)
class Domain:
    """A collection in the order of its dates, and its size in each month."""

    corpus: Corpus
    order: list[int]
    parts: list[int]
    undated: int


@lru_cache(maxsize=8)
def _domain(corpus: Corpus, first: float, second: float) -> Domain:
    days = days_of(corpus.dates)
    order = sorted(range(len(corpus)), key=lambda i: (int(days[i]), corpus.ids[i]))
    parts = [round(share * len(order)) for share in (first, second, 1.0)]
    return Domain(corpus, order, parts, int((days == NO_DAY).sum()))


@lru_cache(maxsize=2)
def _lexicons(*domains: Domain) -> list[tuple[str, Lexicon]]:
    """The lexicons of the three months; no seed changes them."""
    return [
        (month, lexicon_of(*(own.corpus.take(own.order[: own.parts[at]]) for own in domains)))
        for at, month in enumerate(MONTHS)
    ]


def _kept(case: ExperimentCase, domain: Domain, lexicons: list[tuple[str, Lexicon]]) -> list[KeptSignatures]:
    corpus, order, parts = domain.corpus, domain.order, domain.parts
    wanted = case.number("documents")
    if parts[0] < wanted:
        raise InputError(
            f"{corpus.name} has {parts[0]:,} documents in the first month, and {wanted:,} are drawn of them; "
            "say fewer with --set documents=…"
        )
    chosen = sorted(random.Random(case.number("seed")).sample(order[: parts[0]], wanted))
    tokens = TextBatch(corpus.texts.take(chosen)).tokens
    return signature_stability(tokens, lexicons, longest=max(case.number("lengths")), min_df=MIN_DF)


def _together(same: tuple[KeptSignatures, ...]) -> KeptSignatures:
    first = same[0]
    return KeptSignatures(
        first.before, first.after, first.length, sum(k.documents for k in same), sum(k.same_terms for k in same),
        sum(k.same_order for k in same),
    )  # fmt: skip


def _stability(title: str, found: list[KeptSignatures], lengths: list[int], notes: list[str]) -> PaperTable:
    pairs = list(dict.fromkeys((kept.before, kept.after) for kept in found))
    rows: list[list[Cell]] = []
    for length in lengths:
        own = {(k.before, k.after): k for k in found if k.length == length}
        terms = [own[pair].same_terms / own[pair].documents if own[pair].documents else None for pair in pairs]
        listed = [own[pair].same_order / own[pair].documents if own[pair].documents else None for pair in pairs]
        rows.append([str(length), own[pairs[0]].documents, *terms, *listed])
    columns = [
        TableColumn("Terms in signature"), TableColumn("Documents", "count"),
        *(TableColumn(f"{a[:3]}–{b[:3]}, same terms", "percent") for a, b in pairs),
        *(TableColumn(f"{a[:3]}–{b[:3]}, same order", "percent") for a, b in pairs),
    ]  # fmt: skip
    return PaperTable(title, columns, rows, notes)


def _correlations(lexicons: list[tuple[str, Lexicon]], notes: list[str]) -> PaperTable:
    rows: list[list[Cell]] = []
    for name, letters in TERM_SETS.items():
        kept = [
            lexicon.with_thresholds(min_df=MIN_DF, letters_only=letters, min_length=MIN_LENGTH)
            for _, lexicon in lexicons
        ]
        cells: list[Cell] = []
        for before, after in PERIODS:
            both = kept[before].compare(kept[after])
            cells += [both.common, None if both.spearman is None else float(np.round(both.spearman, 6))]
        rows.append([name, *cells])
    heads = []
    for before, after in PERIODS:
        months = f"{MONTHS[before][:3]}–{MONTHS[after][:3]}"
        heads += [TableColumn(f"Terms, {months}", "count"), TableColumn(f"Spearman, {months}", "fine")]
    return PaperTable("Term rank correlations", [TableColumn("Term Set"), *heads], rows, notes)


def _undated(count: int) -> str:
    return f", {count:,} of them without a date and first" if count else ""


PROTOCOL = Protocol(
    "growing", "the same documents signed under a lexicon that grows", run,
    ("all", "domain 1", "domain 2", "domain 3", "correlations"),
    {
        "seed": 0, "documents": 1000, "lengths": [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30],
        "shares": [[0.849, 0.933]],
    },
)  # fmt: skip
