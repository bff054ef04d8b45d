"""Each method run over a collection: what it leaves out, and what it finds (I-Match 2002, Tables II, V, VI, IX, XI).

Rows are methods, columns are measures; only the requested measures are computed. A lexicon `collection` is
that of the collection itself (the two passes of §3), unless another is given. With several collections every measure
has a column for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import shingle_sets
from roughly.methods.method import Method
from roughly.options import COLLECTION
from roughly.papers.blanks import Blanks
from roughly.papers.detectors import Groups, by_method
from roughly.papers.paper_table import Cell, Kind, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, batch_of, lexicon_of
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters
from roughly.tools.corpus import Corpus

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CountedCollection:
    """A corpus with data that all rows share."""

    corpus: Corpus

    @cached_property
    def tokens(self) -> Tokens:
        """Its canonical tokens."""
        return batch_of(self.corpus).tokens

    @cached_property
    def blanks(self) -> Blanks:
        """Its texts as sets of tokens that are cut at spaces."""
        return Blanks(self.corpus.texts)

    @cached_property
    def sizes(self) -> Ints:
        """Tokens of each document."""
        return np.diff(self.tokens.offsets)

    @cached_property
    def terms(self) -> Ints:
        """Distinct terms of each document."""
        from roughly.kernels.terms import distinct_terms

        return np.diff(distinct_terms(self.tokens.hashes, self.tokens.offsets)[2])

    @cached_property
    def shingles(self) -> Ints:
        """Distinct shingles of ten tokens of each document."""
        return np.diff(shingle_sets(self.tokens, 10).offsets)

    @cached_property
    def lexicon(self) -> int:
        """Distinct terms of all documents."""
        return len(np.unique(self.tokens.hashes))


@dataclass(frozen=True)
class MethodRun:
    """A method over a collection."""

    collection: CountedCollection
    method: Method

    @cached_property
    def found(self) -> Groups:
        """Its groups."""
        return by_method(self.method)(batch_of(self.collection.corpus))

    @cached_property
    def left(self) -> npt.NDArray[np.bool_]:
        """Documents with a key."""
        return ~self.found.ignored

    @cached_property
    def same_title(self) -> int:
        """Documents, not the first of their cluster, whose title occurs earlier in the cluster."""
        seen: set[tuple[int, str]] = set()
        count = 0
        for group, title in zip(self.found.group.tolist(), self.collection.corpus.titles, strict=True):
            if title:
                count += (group, title) in seen
                seen.add((group, title))
        return count

    @property
    def duplicates(self) -> int:
        """Documents that are not the first of their cluster."""
        return self.found.duplicates - self.found.clusters

    @property
    def documents(self) -> int:
        """All documents."""
        return len(self.collection.corpus)

    def lexicon_left(self) -> float:
        """Fraction of the distinct terms that the method's filters keep."""
        if not self.method.filters:
            return 1.0
        left = np.unique(batch_of(self.collection.corpus).terms(self.method.filters).hashes)
        return len(left) / max(self.collection.lexicon, 1)


def _average(values: Ints) -> int:
    return round(float(values.mean())) if len(values) else 0


MEASURES: dict[str, tuple[Kind, Callable[[MethodRun], Any]]] = {
    "Percentage of Original Lexicon": ("percent", MethodRun.lexicon_left),
    "Lexicon, cut at blanks": ("percent", lambda run: run.collection.blanks.left(run.method.filters or Filters())),
    "Found, cut at blanks": ("percent", lambda run: run.collection.blanks.duplicates(run.method.filters or Filters())),
    "Percent Found as Duplicates": ("percent", lambda run: run.duplicates / run.documents),
    "Unique Documents Found in Collection": ("count", lambda run: run.documents - run.duplicates),
    "Post Doc Num": ("count", lambda run: int(run.left.sum())),
    "Filtered": ("count", lambda run: int(run.found.ignored.sum())),
    "Percentage Filtered": ("percent", lambda run: float(run.found.ignored.mean())),
    "Pre Avg Dist Terms": ("count", lambda run: _average(run.collection.terms)),
    "Post Avg Dist Terms": ("count", lambda run: _average(run.collection.terms[run.left])),
    "Pre Dist Shingles": ("count", lambda run: _average(run.collection.shingles)),
    "Post Dist Shingles": ("count", lambda run: _average(run.collection.shingles[run.left])),
    "Pre Doc Size": ("count", lambda run: _average(run.collection.sizes)),
    "Post Doc Size": ("count", lambda run: _average(run.collection.sizes[run.left])),
    "Post Doc Size against Pre": (
        "number",
        lambda run: (
            float(run.collection.sizes[run.left].mean() / run.collection.sizes.mean()) if run.left.any() else None
        ),
    ),
    "Dup Hash": ("count", lambda run: run.duplicates - run.same_title),
    "Dup Title": ("count", lambda run: run.same_title),
    "Dup Total": ("count", lambda run: run.duplicates),
    "Dup Clusters": ("count", lambda run: run.found.clusters),
    "Clusters per 100 documents": ("number", lambda run: 100 * run.found.clusters / run.documents),
    "Max Cluster": ("count", lambda run: run.found.largest),
}
"""Measures by their names in the tables, and how they are written."""


def run(case: ExperimentCase) -> ExperimentOutcome:
    """The table."""
    ends = [suffix for _, _, suffix in case.named()]
    wanted = [name for name in MEASURES if not case.columns or {name + suffix for suffix in ends} & case.columns]
    columns, cells, seconds = [TableColumn("Method")], {row.name: [] for row in case.rows}, {}  # type: ignore[var-annotated]
    notes = []
    for role, corpus, suffix in case.named():
        collection = CountedCollection(corpus)
        columns += [TableColumn(name + suffix, MEASURES[name][0]) for name in wanted]
        needs = any(row.settings.get("lexicon") == COLLECTION for row in case.rows)
        lexicon = (case.lexicon or lexicon_of(corpus)) if needs else None
        for row in case.rows:
            start = time.process_time()
            own = MethodRun(collection, row.make(lexicon, case.number("seed")))
            cells[row.name] += [MEASURES[name][1](own) for name in wanted]
            seconds[row.name + suffix] = time.process_time() - start
        about = f"{role}: " if suffix else ""
        notes.append(
            f"{about}{corpus.name}, {len(corpus):,} documents of {_average(collection.sizes):,} tokens on average."
        )
    rows: list[list[Cell]] = [[name, *values] for name, values in cells.items()]
    return ExperimentOutcome({"counts": PaperTable("Counts", columns, rows, notes)}, seconds)


PROTOCOL = Protocol(
    "count", "each method run over a collection: what it leaves out and what it finds", run, ("counts",),
    {"seed": 0}, takes_methods=True, columns=tuple(MEASURES), takes_lexicon=True, seeds_methods=True,
)  # fmt: skip
