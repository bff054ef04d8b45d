"""The work of each method on a collection (I-Match 2002, §4.5, Tables VII and VIII).

The paper's tables are seconds of one machine. The work behind the seconds never differs between two runs, and the paper
explains the seconds in those terms: "the faster speed of the I-Match algorithm suite is due to the processing of fewer
tokens". Counted are

    tokens read     tokens of the canonical form, of all documents
    units hashed    what a method hashes one by one: distinct terms, or shingles (DSC, DSC-SS)
    keys            the keys of all documents
    key bytes       eight for each key and four for the number of its document
    pairs compared  pairs that share a key and are judged

and the time of signing and grouping is measured, once per draw, and kept separate.
"""

from __future__ import annotations

import time

import numpy as np

from roughly.methods.method import Keys, Method
from roughly.papers.detectors import judged
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, batch_of, lexicon_of
from roughly.settings import Resources
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import Tokens

_BYTES = 12


def units(method: Method, tokens: Tokens) -> int:
    """The number of terms or shingles the method hashes."""
    from roughly.kernels.terms import distinct_terms

    size = getattr(method, "shingle_size", None)
    if size is None:
        return len(distinct_terms(tokens.hashes, tokens.offsets)[0])
    lengths = np.diff(tokens.offsets)
    return int(np.where(lengths > 0, np.maximum(lengths - size + 1, 1), 0).sum())


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Work by method, and against that of the method named first."""
    corpus = case.corpus
    texts = batch_of(corpus)
    plain = texts.tokens
    lexicon = case.lexicon or lexicon_of(corpus)
    rows: list[list[Cell]] = []
    seconds: dict[str, float] = {}
    first: tuple[int, int] | None = None
    for row in case.rows:
        method = row.make(lexicon, case.number("seed"))
        texts.terms(method.filters)  # so that tokenising is measured for none of them
        start = time.process_time()
        keys, compared = _detect(method, texts)
        seconds[row.name] = time.process_time() - start
        count = int((keys.values != 0).sum()) if keys.offsets is None else len(keys.values)
        hashed = units(method, texts.terms(method.filters))
        first = first or (hashed, count)
        against = hashed / max(first[0], 1), count / max(first[1], 1)
        rows.append(
            [row.name, len(plain.hashes), hashed, against[0], count, against[1], _BYTES * count, compared]
        )  # fmt: skip
    head = case.rows[0].name
    columns = [
        TableColumn("Method"),
        TableColumn("Tokens read", "count"),
        TableColumn("Units hashed", "count"),
        TableColumn(f"Units against {head}", "number"),
        TableColumn("Keys", "count"),
        TableColumn(f"Keys against {head}", "number"),
        TableColumn("Key bytes", "count"),
        TableColumn("Pairs compared", "count"),
    ]
    terms, tokens = rows[0][2], len(plain.hashes)
    notes = [f"{corpus.name}, {len(corpus):,} documents; {terms:,} distinct terms in documents and {tokens:,} tokens."]
    return ExperimentOutcome({"work": PaperTable("Work", columns, rows, notes)}, seconds)


def _detect(method: Method, texts: TextBatch) -> tuple[Keys, int]:
    keys, found = judged(method, texts, Resources(threads=1))
    return keys, found.compared


PROTOCOL = Protocol(
    "work",
    "what each method reads, hashes, stores and compares; seconds are measured once per draw, and kept separate",
    run, ("work",), {"seed": 0}, takes_methods=True, takes_lexicon=True, seeds_methods=True,
)  # fmt: skip
