"""How the memory that a run may take is shared out among its stages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from roughly.cluster.candidates import Candidates
from roughly.cluster.scoring import ResolveBudget
from roughly.cluster.star import overhead
from roughly.errors import MemoryTooSmall
from roughly.kernels.memory import keep_memory
from roughly.meter import give_back, limit_arenas, resident
from roughly.pipeline import DOCUMENT_MEMORY
from roughly.settings import Resources

BASE_MEMORY = 384 << 20
"""Memory of the process before the first document: the interpreter, its libraries, the kernels."""
LEAST_OF_STAGE = 64 << 20
"""Minimum memory of one stage."""
WRITING = 96 << 20
"""Minimum memory for row groups that are being written."""
_SLACK = 48 << 20
"""Memory for everything too small to be counted."""
_GROUP_MEMORY = 48 << 20
"""Memory per row group that is being written, if there are many."""
_QUERY_TIMES = 16
"""Memory of the queries of all outputs and their results, as a multiple of the (compressed) tables they read."""
_QUERY_PER_THREAD = 64 << 20
"""And per thread of the database."""
_PER_WRITER = 1 << 30
"""Memory per segment that is written while others fill."""
_PER_READER = 48 << 20
"""Memory per reading thread: a range of a file with its texts, tokens and keys."""
_PER_FETCHER = 80 << 20
"""Memory per thread that reads documents again: blocks or a row group, their texts and tokens."""
_ARENA = 32 << 20
"""Memory that the C library may hold unused for each thread."""
_KEPT_PER_THREAD = 32 << 20
"""Memory of kernels per thread that is kept from one batch to the next."""
_BYTES_PER_DOCUMENT = 24
"""Bytes in memory per document while keys are grouped, candidate or not: its rank, and its part of the key tables."""


def record_memory(resources: Resources) -> int:
    """Bytes of the largest record that a reading thread can hold and process."""
    budget = max(0, resources.memory - BASE_MEMORY)
    return budget // (DOCUMENT_MEMORY * _reading_threads(resources.threads, budget))


def rereading_threads(resources: Resources) -> int:
    """Threads that read some documents again, each a block or a row group at a time, when nothing else is held."""
    return max(1, min(resources.threads, (resources.memory - BASE_MEMORY) // _PER_FETCHER))


def _reading_threads(threads: int, budget: int) -> int:
    return max(1, min(threads, budget // _PER_READER))


class MemoryBudget:
    """The memory of one run: `working` is all that is not the process itself; `left` what is free at this moment."""

    def __init__(self, resources: Resources) -> None:
        self.memory, self.threads = resources.memory, resources.threads
        self.working = self.memory - BASE_MEMORY
        self.ample = self.memory // 8  # a smaller process holds on to freed memory
        self.free_more: Callable[[], bool] = lambda: False  # called where memory is short; whether it freed some
        self._before = resident()

    def limit_allocators(self) -> None:
        """Bound what kernels and the C library hold on to when it is freed."""
        keep_memory(min(self.threads * _KEPT_PER_THREAD, self.working // 8))
        if self.threads * _ARENA > self.working // 8:
            limit_arenas(max(2, self.working // 8 // _ARENA))

    @property
    def left(self) -> int:
        """The memory that is left: nothing else is at work between two stages.

        What the process used before the run counts only up to the amount set aside for it: a caller may have large
        tables.
        """
        full = self.memory - min(self._before, BASE_MEMORY) - _SLACK
        grown = self._grown()
        if 4 * grown > full and self.free_more():
            grown = self._grown()
        return full - grown

    def _grown(self) -> int:
        """Memory that the process uses beyond what it used before the run."""
        give_back(unless_below=self.ample)
        return max(0, resident() - self._before)

    @property
    def for_sql(self) -> int:
        """The memory of the database: the remaining one. It uses a little more than allowed.

        In steps, since it gives back all the memory that it holds when another amount is set.
        """
        least, step = self.working // 2, self.memory // 8
        return least + max(0, 3 * self.left // 4 - least) // step * step

    @property
    def for_row_groups(self) -> int:
        """The memory of row groups of the output that are being written, outside the database."""
        return min(max(WRITING, self.threads * _GROUP_MEMORY), self.working // 8)

    def for_queries(self, stored: int) -> int:
        """The memory of all queries of the outputs at once, which read this many bytes."""
        return _QUERY_TIMES * stored + self.threads * _QUERY_PER_THREAD

    @property
    def segment_writers(self) -> int:
        """Segments that are written at a time."""
        return max(1, min(self.threads // 2, self.working // _PER_WRITER))

    @property
    def reading_threads(self) -> int:
        """Threads that read and sign."""
        return _reading_threads(self.threads, self.working)

    @property
    def fetching_threads(self) -> int:
        """Threads that read documents again."""
        return max(1, min(self.threads, self.left // _PER_FETCHER))

    def check_capacity(self, documents: int) -> None:
        """Refuse a `--memory` that is too small for this number of documents, however similar they are."""
        least = self.memory - self.working + LEAST_OF_STAGE + _SLACK + _BYTES_PER_DOCUMENT * documents
        if self.memory < least:
            raise MemoryTooSmall(
                f"--memory {self.memory >> 20}MB is too little for about {documents / 1e6:.1f} million documents; "
                f"{-(-least >> 20)}MB is the minimum, and more is needed where many of them are similar"
            )

    def for_resolution(self, candidates: Candidates, scratch: Path) -> ResolveBudget:
        """The memory that the candidates themselves leave, and the threads that it is enough for."""
        free, threads = self.left, self.threads
        while threads > 1 and free - overhead(candidates, threads) < 2 * LEAST_OF_STAGE:  # each takes some memory
            threads -= 1
        left = free - overhead(candidates, threads)
        if left < LEAST_OF_STAGE:
            least = (self.memory - left + LEAST_OF_STAGE) >> 20
            raise MemoryTooSmall(
                f"{candidates.documents:,} documents share a key with another, and their data in memory leaves no "
                f"room to compare them; {least}MB is the minimum for --memory. With --resume and that memory "
                "nothing is read again"
            )
        return ResolveBudget(left, threads, scratch, ample=self.ample)
