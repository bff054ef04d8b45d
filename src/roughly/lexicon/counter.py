"""Counts the documents that contain each term, for one thread's share of the documents.

A counter has a vocabulary and a count per term. When it outgrows its memory it writes its counts as a partial lexicon
and starts again; at the end all of these are merged. The sums do not depend on which counter counted which document.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.lexicon.format import LexiconFacts
from roughly.lexicon.lexicon import Lexicon
from roughly.lexicon.lexicon_writer import write_lexicon
from roughly.lexicon.term_table import MOST_DOCUMENTS, TermTable, add_documents, counted, merged
from roughly.text.canonical import buffers
from roughly.text.filters import FilteredVocabulary, Filters

MOST_RUNS = 64
"""Partial lexicons on disk before they are merged into one, so that few files are open at a time."""

STEP = 1 << 20
"""Bytes of text after which a counter checks its memory; a document is never split."""


class Runs:
    """Partial lexicons on disk, and their folder. Shared by the counters."""

    def __init__(self, folder: Path, facts: LexiconFacts) -> None:
        self.folder, self.facts = folder, facts
        self.paths: list[Path] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def add(self, table: TermTable) -> None:
        """Spill a table."""
        with self._lock:
            self._write([table])
            if len(self.paths) >= MOST_RUNS:
                paths, self.paths = self.paths, []
                self._write(merged([Lexicon.open(path, verify=False).table for path in paths]))
                for path in paths:
                    path.unlink()

    def _write(self, tables: Iterable[TermTable]) -> None:
        path = self.folder / f"run-{next(self._numbers)}.lexicon"
        write_lexicon(path, self.facts, tables, self.folder)
        self.paths.append(path)

    def tables(self) -> list[TermTable]:
        """All that was spilled."""
        return [Lexicon.open(path, verify=False).table for path in self.paths]


class Counter:
    """Counts terms within a budget of memory. For one thread at a time."""

    def __init__(self, filters: Filters, runs: Runs, budget: int) -> None:
        self.documents = 0
        self._sieve = FilteredVocabulary(filters)
        self._runs, self._budget = runs, budget
        self._counts = np.zeros(1, np.uint64)
        self._since = 0  # documents since the last spill

    def add(self, column: pa.Array) -> None:
        """Count the terms of each text of an Arrow column."""
        _, offsets = buffers(column)
        first = 0
        while first < len(column):
            last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + STEP, "right")) - 1)
            self._add(column.slice(first, last - first))
            first = last

    def _add(self, column: pa.Array) -> None:
        from roughly.kernels import frequency

        self.documents = add_documents([self.documents, len(column)])
        if self._since + len(column) >= MOST_DOCUMENTS:
            self._spill()
        numbers, offsets = self._sieve.number(column)
        terms = len(self._sieve.vocabulary)
        if len(self._counts) < terms:
            counts = np.zeros(terms + terms // 2, np.uint64)
            counts[: len(self._counts)] = self._counts
            self._counts = counts
        frequency.count_documents(numbers, offsets, self._since + 1, self._counts)
        self._since += len(column)
        if self._sieve.nbytes + self._counts.nbytes > self._budget:
            self._spill()

    def drain(self) -> TermTable:
        """Return the counts since the last spill, and empty the counter."""
        low = self._counts[: len(self._sieve.vocabulary)] & np.uint64(0xFFFFFFFF)
        table = counted(self._sieve.vocabulary, low.astype(np.uint32))
        self._sieve.clear()
        self._counts, self._since = np.zeros(1, np.uint64), 0
        return table

    def _spill(self) -> None:
        self._runs.add(self.drain())
