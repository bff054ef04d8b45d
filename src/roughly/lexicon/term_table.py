"""The terms of a lexicon as arrays in the order of their hashes, and many such tables merged into one.

A table is the counts of one thread, a spilled part, or a whole lexicon: all are merged alike, by summing the counts of
equal hashes. The order of the hashes does not depend on the order of the input, so neither does the result.

Merging reads one range of hashes at a time from every table. Hashes are uniform, so the ranges are about equal, and
memory is that of one range however large the tables are.

A term *is* its hash. Two terms of more than eight bytes may share one (about one chance in 40 million among a million
terms); they are then counted as one term, here and everywhere in Roughly.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.errors import InputError
from roughly.text.vocabulary import Vocabulary

MOST_DOCUMENTS = 2**32 - 1
RANGE = 1 << 19
"""Approximate number of terms merged at a time."""

Ints = npt.NDArray[np.int64]


class TermTable(NamedTuple):
    """Terms in ascending order of their hashes; term i is text[offsets[i]:offsets[i + 1]], canonical UTF-8."""

    hashes: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.integer]
    text: npt.NDArray[np.uint8]

    def part(self, first: int, last: int) -> TermTable:
        """Terms first … last − 1; offsets still count from the start of the whole text."""
        return TermTable(self.hashes[first:last], self.counts[first:last], self.offsets[first : last + 1], self.text)


def counted(vocabulary: Vocabulary, frequencies: npt.NDArray[np.uint32]) -> TermTable:
    """The terms of a vocabulary whose frequency is not 0, as a table."""
    ends = vocabulary.ends
    starts = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    used = np.flatnonzero(frequencies)
    order = used[np.argsort(vocabulary.hashes[used])]
    return gather(vocabulary.hashes[order], frequencies[order], vocabulary.text, starts[order], ends[order])


def gather(
    hashes: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.uint32],
    text: npt.NDArray[np.uint8],
    starts: Ints,
    ends: Ints,
) -> TermTable:
    """A table of terms that are scattered in a text."""
    from roughly.kernels.arrays import frozen
    from roughly.kernels.frequency import gather_text

    refuse_disorder(starts, ends, len(text))
    offsets = np.zeros(len(hashes) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    gather_text(frozen(text, np.uint8, "text"), starts, ends, out)
    return TermTable(hashes, counts, offsets, out)


def refuse_disorder(starts: Ints, ends: Ints, length: int) -> None:
    """Refuse offsets outside the text: kernels trust them, and a file may contain anything."""
    if len(starts) and (starts.min() < 0 or ends.max() > length or (ends < starts).any()):
        raise InputError("the lexicon is damaged: its terms are outside its text; build it again")


def choose(table: TermTable, mask: npt.NDArray[np.bool_]) -> TermTable:
    """The terms where the mask is true."""
    offsets = table.offsets.astype(np.int64)
    starts, ends = np.ascontiguousarray(offsets[:-1][mask]), np.ascontiguousarray(offsets[1:][mask])
    return gather(table.hashes[mask], table.counts[mask], table.text, starts, ends)


def merged(tables: Sequence[TermTable], size: int = RANGE) -> Iterator[TermTable]:
    """One table of them all, in consecutive ranges; terms without a count are left out."""
    terms = sum(len(table.hashes) for table in tables)
    ranges = max(1, -(-terms // size))
    bounds = [np.uint64((i << 64) // ranges) for i in range(1, ranges)]
    cuts = [np.concatenate([[0], np.searchsorted(t.hashes, bounds), [len(t.hashes)]]).astype(int) for t in tables]
    for i in range(ranges):
        parts = [table.part(cut[i], cut[i + 1]) for table, cut in zip(tables, cuts, strict=True)]
        yield _merge(parts)
        for table in tables:
            forget(table.hashes)


def _merge(parts: Sequence[TermTable]) -> TermTable:
    texts = [part.text[int(part.offsets[0]) : int(part.offsets[-1])] for part in parts]
    shifts = np.cumsum([0, *map(len, texts)])
    lines = [part.offsets.astype(np.int64) - int(part.offsets[0]) for part in parts]
    starts = np.concatenate([line[:-1] + shift for line, shift in zip(lines, shifts, strict=False)])
    ends = np.concatenate([line[1:] + shift for line, shift in zip(lines, shifts, strict=False)])
    hashes = np.concatenate([part.hashes for part in parts])
    counts = np.concatenate([part.counts for part in parts]).astype(np.uint64)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    is_first = np.ones(len(hashes), np.bool_)
    is_first[1:] = hashes[1:] != hashes[:-1]
    firsts = np.flatnonzero(is_first)
    sums = np.add.reduceat(counts[order], firsts) if len(firsts) else np.empty(0, np.uint64)
    kept = sums > 0
    places = order[firsts[kept]]
    return gather(
        hashes[firsts[kept]], sums[kept].astype(np.uint32), np.concatenate(texts), starts[places], ends[places]
    )


def forget(array: npt.NDArray[Any]) -> None:
    """Free the memory of the pages read from a mapped file; they are read again if needed.

    The system would free it by itself, but only when memory is short, and would count it as used until then.
    """
    base: Any = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def add_documents(numbers: Sequence[int]) -> int:
    """The sum of document counts; checked, so that no count of a term can be too large for 32 bits."""
    total = sum(numbers)
    if total > MOST_DOCUMENTS:
        raise InputError(
            f"{total:,} documents are more than a lexicon can hold, {MOST_DOCUMENTS:,}: build it from a sample"
        )
    return total
