"""What is known of documents beside their texts, as a learned verdict compares it: title, host, source and day.

Only the columns that a verdict compares are read (`Verdict.fields`); all else is unknown, and comparisons with what is
unknown are 0. Documents are one if their texts and these fields are equal: `mixed` makes that part of their digests.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.cluster.scoring import slice_of
from roughly.dates import NO_DAY, Days
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.sources.collector import one_array
from roughly.text.canonical import buffers, tokenise
from roughly.urls import host_of

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
MONTH = 30
"""Days after which `days` has fallen to a half."""
_KNOWN = 3


@dataclass(frozen=True)
class Fields:
    """The fields of documents 0, 1, …"""

    known: Hashes  # (documents, 3): hash of the host, hash of the source, day; 0 where unknown
    titles: Sets  # their words; none where unknown

    def __len__(self) -> int:
        return len(self.known)

    @classmethod
    def of(cls, columns: Collection[str], rows: pa.RecordBatch | pa.Table, days: Days) -> Self:
        """The fields of documents, if these columns are compared; `rows` has `title`, `url` and `source`."""
        count = len(days)
        known = np.zeros((count, _KNOWN), np.uint64)
        if "url" in columns:
            hosts = [host_of(url.strip()) if url else "" for url in rows["url"].to_pylist()]
            known[:, 0] = _hashed(pa.array(hosts, pa.string()))
        if "source" in columns:
            known[:, 1] = _hashed(one_array(rows["source"]))
        if "date" in columns:
            known[:, 2] = np.where(days == NO_DAY, 0, days).astype(np.uint64)
        titles = one_array(rows["title"]).fill_null("") if "title" in columns else pa.array([""] * count, pa.string())
        return cls(known, shingle_sets(tokenise(titles), 1))

    def take(self, docs: Ints) -> Fields:
        """The fields of some of the documents."""
        return Fields(self.known[docs], slice_of(self.titles, docs))

    @classmethod
    def joined(cls, parts: Sequence[Fields]) -> Self:
        """The documents of the first part, then those of the next, and so on."""
        sizes = [np.diff(part.titles.offsets) for part in parts]
        offsets = np.r_[0, np.cumsum(np.concatenate([np.empty(0, np.int64), *sizes]))]
        values = np.concatenate([np.empty(0, np.uint64), *(part.titles.values for part in parts)])
        known = np.concatenate([np.empty((0, _KNOWN), np.uint64), *(part.known for part in parts)])
        return cls(known, Sets(values, offsets))

    def mixed(self, digests: Hashes) -> Hashes:
        """Digests (documents, 2) of texts, with the fields mixed into the first half."""
        from roughly.kernels.hashing import hash_sequences

        words = hash_sequences(self.titles.values, self.titles.offsets)[:, :1]
        rows = np.ascontiguousarray(np.concatenate((self.known, words), axis=1))
        own = hash_sequences(rows.ravel(), np.arange(len(self) + 1, dtype=np.int64) * (_KNOWN + 1))
        return np.column_stack((digests[:, 0] ^ own[:, 0], digests[:, 1]))

    def compared(self, left: Ints, right: Ints) -> dict[str, Floats]:
        """The comparisons of these pairs of documents."""
        from roughly.kernels.sets import intersections

        sizes = np.diff(self.titles.offsets)
        shared = intersections(self.titles.values, self.titles.offsets, left, right)
        one, other = self.known[left], self.known[right]
        both, same = (one != 0) & (other != 0), one == other
        apart = np.abs(one[:, 2].astype(np.int64) - other[:, 2].astype(np.int64))
        return {
            "title": shared / np.maximum(sizes[left] + sizes[right] - shared, 1),
            "same_host": (both & same)[:, 0].astype(np.float64),
            "other_host": (both & ~same)[:, 0].astype(np.float64),
            "same_source": (both & same)[:, 1].astype(np.float64),
            "other_source": (both & ~same)[:, 1].astype(np.float64),
            "days": np.where(both[:, 2], 1 / (1 + apart / MONTH), 0.0),
        }

    def packed(self) -> tuple[Hashes, Ints]:
        """The fields as one list of numbers, and where those of each document begin and end."""
        offsets = self.titles.offsets - self.titles.offsets[0] + _KNOWN * np.arange(len(self) + 1)
        values = np.empty(int(offsets[-1]), np.uint64)
        for place in range(_KNOWN):
            values[offsets[:-1] + place] = self.known[:, place]
        is_title = np.ones(len(values), np.bool_)
        is_title[(offsets[:-1, None] + np.arange(_KNOWN)).ravel()] = False
        values[is_title] = self.titles.values[self.titles.offsets[0] : self.titles.offsets[-1]]
        return values, offsets

    @classmethod
    def unpacked(cls, values: Hashes, offsets: Ints) -> Self:
        """What `packed` gave."""
        places = offsets[:-1, None] + np.arange(_KNOWN)
        is_title = np.ones(len(values), np.bool_)
        is_title[places.ravel()] = False
        return cls(values[places], Sets(values[is_title], offsets - _KNOWN * np.arange(len(offsets))))


def _hashed(texts: pa.Array) -> Hashes:
    """A hash of each text; 0 where it is null or blank."""
    from roughly.kernels.hashing import hash_bytes

    trimmed = pc.utf8_trim_whitespace(texts.fill_null(""))
    found: Hashes = hash_bytes(*buffers(trimmed))[:, 0]
    return np.where(pc.binary_length(trimmed).to_numpy(zero_copy_only=False) == 0, np.uint64(0), found)
