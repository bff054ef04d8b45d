"""Term vectors in Conrad's packed form, in files and in an index: 184 bytes per document (Conrad 2003, §7.3;
`methods.stored_vector`). A file has two columns:

| column | type | |
|---|---|---|
| `doc_id` | string | |
| `packed` | fixed_size_binary(184) | date, length and sixty terms |

Read back they are signatures like others: an entry of a vector is the number of its term and how often that has
occurred in the vector so far; the first entries, which are the rarest, are the keys. The packed form has no digest of
the text, so equal documents are found by their terms, and those without a signature by nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.dates import NO_DAY, days_of
from roughly.errors import IndexDamaged, InputError, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.features.sketch import Sketch
from roughly.methods.method import Keys, Method, Signature
from roughly.methods.stored_vector import (
    EMPTY,
    FIRST_DATE,
    FIRST_DAY,
    LAST_DATE,
    MOST_DAYS,
    SIZE,
    TERMS,
    Numbers,
    pack,
    store,
    vector_day,
)
from roughly.methods.term_vector import TermVector
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import Tokens

_DATES = f"{FIRST_DATE} to {LAST_DATE}"
COLUMN = "packed"
KIND = pa.binary(SIZE)
_REPEATS = 64  # more than an entry can occur in a vector of sixty


class VectorPacker:
    """Packs the term vectors of a method, with the numbers of its lexicon's terms."""

    def __init__(self, method: Method) -> None:
        if not isinstance(method, TermVector) or method.terms != TERMS:
            raise SettingsError(f"--packed is the form of term-vector with {TERMS} terms; leave it out, or use those")
        self._method, self._numbers = method, Numbers(method.eligible)

    def pack(self, texts: TextBatch, documents: pa.RecordBatch) -> pa.Array:
        """The column of a batch of documents."""
        days = days_of(documents.column("date").to_pylist())
        known = [None if day == NO_DAY else date.fromordinal(int(day)) for day in days]
        for place, when in enumerate(known):
            if when is not None and not FIRST_DATE <= when <= LAST_DATE:
                own = documents.column("doc_id")[place].as_py()
                raise InputError(
                    f"document {own}: {when} does not fit two bytes of --packed ({_DATES}); leave out its date"
                )
        tokens = texts.terms(self._method.filters)
        return pa.array(store(self._method, tokens, known, self._numbers), KIND)


def unpacked(packed: pa.Array, shared: int) -> dict[str, Any]:
    """The columns of signatures: tokens, date, keys and sketch; each document equals itself only."""
    rows = _rows(packed.to_pylist())
    heads = rows[:, :4].copy().view("<u2").astype(np.int64)
    entries = _vectors(rows)
    dates = [None if (day := vector_day(int(days))) is None else day.isoformat() for days in heads[:, 0]]
    order = np.arange(len(rows), dtype=np.uint64)
    prefix = TERMS - shared + 1
    return {
        "tokens": pa.array(heads[:, 1]), "date": pa.array(dates, pa.string()), "equal": pa.array(order),
        "equal_lo": pa.array(order), "keys": _lists([own[:prefix] for own in entries]), "sketch": _lists(entries),
    }  # fmt: skip


def _rows(packed: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(b"".join(packed), np.uint8).reshape(-1, SIZE)


def _vectors(rows: npt.NDArray[np.uint8]) -> list[npt.NDArray[np.uint64]]:
    """The entries of each packed vector."""
    numbers = rows[:, 4:].reshape(len(rows), TERMS, 3).astype(np.int64) @ np.array([1, 1 << 8, 1 << 16])
    counts = (numbers != EMPTY).sum(axis=1)
    return [_entries(own[:count]) for own, count in zip(numbers, counts.tolist(), strict=True)]


@dataclass(frozen=True, kw_only=True)
class NumberedTermVector(TermVector):
    """The same vectors as those of `term-vector`, with the entries of the packed form."""

    @classmethod
    def of(cls, method: Method) -> NumberedTermVector:
        """The method with other entries; refuses a method that has no packed form."""
        if not isinstance(method, TermVector) or method.terms != TERMS:
            raise SettingsError(f"packed is the form of term-vector with {TERMS} terms; use those, or another --store")
        return cls(**{field.name: getattr(method, field.name) for field in fields(method)})

    @cached_property
    def numbers(self) -> Numbers:
        """The numbers of the lexicon's terms."""
        return Numbers(self.eligible)

    def sign(self, tokens: Tokens) -> Signature:
        """Keys and sketch, as `TermVector.sign`."""
        found, _, counts = self.rarest(tokens)
        signed = np.where(counts >= self.min_terms, counts, 0).tolist()
        return self.signature([_entries(np.sort(self.numbers.of(found[d, :n]))) for d, n in enumerate(signed)])

    def signature(self, entries: Sequence[npt.NDArray[np.uint64]]) -> Signature:
        """Keys and sketch of vectors by their entries."""
        keys, sketch = (_flat(rows) for rows in ([own[: self.prefix] for own in entries], entries))
        return Signature(Keys(*keys), Sketch(*sketch))

    def pack(self, sketch: Sketch, lengths: Sequence[int], days: Sequence[int | None]) -> list[bytes]:
        """Vectors in 184 bytes. A day that two bytes do not hold is written as unknown."""
        ends = sketch.offsets.tolist()
        first = FIRST_DAY.toordinal()
        return [
            pack(
                None if day is None or abs(day - first) > MOST_DAYS else date.fromordinal(day), length,
                np.unique(sketch.values[a:b] // _REPEATS).tolist(),
            )
            for a, b, length, day in zip(ends, ends[1:], lengths, days, strict=False)
        ]  # fmt: skip

    def unpack(self, packed: Sequence[bytes]) -> Signature:
        """The keys and sketches of vectors that `pack` packed."""
        if any(len(body) != SIZE for body in packed):
            raise IndexDamaged(
                f"a stored signature has not {SIZE} bytes, so the index is damaged; restore it from a copy"
            )
        return self.signature(_vectors(_rows(packed)))


def _entries(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The sixty entries of a vector, ascending: short ones have their terms more than once, the rarest first."""
    count = len(numbers)
    if not count:
        return np.empty(0, np.uint64)
    times = TERMS // count + (np.arange(count) < TERMS % count)
    repeat = np.arange(TERMS) - np.repeat(np.cumsum(times) - times, times)
    entries: npt.NDArray[np.uint64] = (np.repeat(numbers, times) * _REPEATS + repeat).astype(np.uint64)
    return entries


def _flat(rows: Sequence[npt.NDArray[np.uint64]]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    offsets: npt.NDArray[np.int64] = np.r_[0, np.cumsum([len(row) for row in rows])].astype(np.int64)
    return np.concatenate([np.empty(0, np.uint64), *rows]), offsets


def _lists(rows: Sequence[npt.NDArray[np.uint64]]) -> pa.Array:
    values, offsets = _flat(rows)
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
