"""Files of term vectors in Conrad's packed form: 184 bytes per document (Conrad 2003, §7.3; `methods.stored_vector`).

| column | type | |
|---|---|---|
| `doc_id` | string | |
| `packed` | fixed_size_binary(184) | date, length and sixty terms |

Read back they are signatures like others: an entry of a vector is the number of its term and how often that has
occurred in the vector so far; the first entries, which are the rarest, are the keys. The packed form has no digest of
the text, so equal documents are found by their terms, and those without a signature by nothing.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.dates import NO_DAY, days_of
from roughly.errors import SettingsError
from roughly.methods.method import Method
from roughly.methods.stored_vector import EMPTY, SIZE, TERMS, Numbers, store, vector_day
from roughly.methods.term_vector import TermVector
from roughly.signing.text_batch import TextBatch

COLUMN = "packed"
KIND = pa.binary(SIZE)
_REPEATS = 64  # more than an entry can occur in a vector of sixty


class VectorPacker:
    """Packs the term vectors of a method, with the numbers of its lexicon's terms."""

    def __init__(self, method: Method) -> None:
        if not isinstance(method, TermVector) or method.terms != TERMS:
            raise SettingsError(f"--packed is the form of term-vector with {TERMS} terms; leave it out, or use those")
        self._method, self._numbers = method, Numbers(method.eligible)

    def pack(self, texts: TextBatch, dates: pa.Array) -> pa.Array:
        """The column of a batch of documents."""
        days = days_of(dates.to_pylist())
        known = [None if day == NO_DAY else date.fromordinal(int(day)) for day in days]
        tokens = texts.terms(self._method.filters)
        return pa.array(store(self._method, tokens, known, self._numbers), KIND)


def unpacked(packed: pa.Array, shared: int) -> dict[str, Any]:
    """The columns of signatures: tokens, date, keys and sketch; each document equals itself only."""
    rows = np.frombuffer(b"".join(packed.to_pylist()), np.uint8).reshape(-1, SIZE)
    heads = rows[:, :4].copy().view("<u2").astype(np.int64)
    parts = rows[:, 4:].reshape(len(rows), TERMS, 3).astype(np.int64)
    numbers = parts @ np.array([1, 1 << 8, 1 << 16])
    counts = (numbers != EMPTY).sum(axis=1)
    entries = [_entries(own[:count]) for own, count in zip(numbers, counts.tolist(), strict=True)]
    dates = [None if (day := vector_day(int(days))) is None else day.isoformat() for days in heads[:, 0]]
    order = np.arange(len(rows), dtype=np.uint64)
    prefix = TERMS - shared + 1
    return {
        "tokens": pa.array(heads[:, 1]), "date": pa.array(dates, pa.string()), "equal": pa.array(order),
        "equal_lo": pa.array(order), "keys": _lists([own[:prefix] for own in entries]), "sketch": _lists(entries),
    }  # fmt: skip


def _entries(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The sixty entries of a vector, ascending: short ones have their terms more than once, the rarest first."""
    count = len(numbers)
    if not count:
        return np.empty(0, np.uint64)
    times = TERMS // count + (np.arange(count) < TERMS % count)
    repeat = np.arange(TERMS) - np.repeat(np.cumsum(times) - times, times)
    entries: npt.NDArray[np.uint64] = (np.repeat(numbers, times) * _REPEATS + repeat).astype(np.uint64)
    return entries


def _lists(rows: list[npt.NDArray[np.uint64]]) -> pa.Array:
    offsets = np.r_[0, np.cumsum([len(row) for row in rows])].astype(np.int64)
    values = np.concatenate(rows) if rows else np.empty(0, np.uint64)
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
