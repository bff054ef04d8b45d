"""kept/ on one machine: several parts are copied at a time, and each by several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.cluster.candidates import Ints
from roughly.errors import InputError, Interrupted
from roughly.sources.part import CopyBudget, Part, copy_rows
from roughly.threads import map_in_order

_MEMORY = {"table": 512 << 20}
"""For copying one part, by format, where it does not say itself how much it needs."""
_RECORDS_MEMORY = 32 << 20
"""For copying a file of any other format: some blocks of it."""
_NO_ROWS = np.empty(0, np.int64)


def copy_parts(
    parts: Sequence[Part],
    kept: Iterable[pa.RecordBatch],
    folder: Path,
    *,
    threads: int,
    memory: int,
    advance: Callable[[int], None] = lambda done: None,
) -> Iterator[int]:
    """Copy what is kept of every part into a new folder; yields the number of records of each part.

    `advance` is called with the bytes of input that are done.

    `kept` has the part and the row of every document that is kept, in order. Half of the memory is for copying, since
    the database that gives them may need the rest.
    """
    folder.mkdir()
    stop = threading.Event()
    at_once, budget = _budget(parts, threads, memory // 2, stop)
    budget = replace(budget, check=_counting(budget.check, advance))
    return map_in_order(lambda item: copy_rows(*item, folder, budget), _rows_by_part(parts, kept), at_once, stop=stop)


def _counting(check: Callable[[int], None], advance: Callable[[int], None]) -> Callable[[int], None]:
    """The check, which also adds up the bytes of all threads."""
    lock, done = threading.Lock(), 0

    def checked(nbytes: int) -> None:
        nonlocal done
        check(nbytes)
        with lock:
            done += nbytes
            advance(done)

    return checked


def _budget(parts: Sequence[Part], threads: int, memory: int, stop: threading.Event) -> tuple[int, CopyBudget]:
    """How many parts are copied at once, and what each may use.

    Together they have more threads than there are, so that all of these are busy until the last parts are done.
    """

    def check(nbytes: int) -> None:
        if stop.is_set():
            raise Interrupted("stopped")

    each = max(map(_memory_of, parts), default=1)
    memory = max(each, memory)
    at_once = max(1, min(threads, len(parts), memory // each))
    return at_once, CopyBudget(min(threads, -(-4 * threads // at_once)), memory // at_once, check)


def _memory_of(part: Part) -> int:
    return int(getattr(part, "copy_memory", 0)) or _MEMORY.get(part.format, _RECORDS_MEMORY)


def _rows_by_part(parts: Sequence[Part], kept: Iterable[pa.RecordBatch]) -> Iterator[tuple[Part, Ints]]:
    """Every part with the rows of it that are kept, ascending."""
    found = _runs(kept)
    number, rows = next(found, (-1, _NO_ROWS))
    for at, part in enumerate(parts):
        if at == number:
            yield part, rows
            number, rows = next(found, (-1, _NO_ROWS))
        else:
            yield part, _NO_ROWS


def _runs(kept: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Ints]]:
    """(part, rows that are kept) for every part of which something is kept."""
    number, held = -1, [_NO_ROWS]
    for batch in kept:
        if batch["part"].null_count or batch["row"].null_count:
            raise InputError("the run does not say where its documents are: known.parquet is damaged; run dedupe again")
        part, row = batch["part"].to_numpy(), batch["row"].to_numpy()
        cuts = np.r_[np.flatnonzero(np.diff(part, prepend=-1)), len(part)].tolist()
        for start, stop in pairwise(cuts):
            if int(part[start]) != number:
                if number >= 0:
                    yield number, np.concatenate(held)
                number, held = int(part[start]), []
            held.append(row[start:stop].copy())
    if number >= 0:
        yield number, np.concatenate(held)
