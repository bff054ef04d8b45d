"""Which contents of an index a query is to be compared with: those that share a key with it, each once.

`entries` lists, key by key, the contents that have a key that is queried; a row of the queries' keys names a range of
it. Where 20,000 pages with one boilerplate are stored, each new one finds all of them. So the loop (`core/meeting.hpp`)
is over entries, touches a content once per query, and at once drops those whose size and bitmap show that they are too
different.

| symbol | meaning |
|---|---|
| m, n | distinct values of the query's set and of the content's |
| h | bits in which their bitmaps differ; they differ in at least as many values (see `bitmaps`) |
| t | the threshold |

With c values in common they differ in m + n − 2c ≥ h, so c ≤ (m + n − h) / 2. A resemblance of t needs
h ≤ (m + n)(1 − t) / (1 + t); a containment of t, of whichever is the smaller, h ≤ m + n − 2·t·min(m, n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Offsets
from roughly.kernels.bitmaps import Maps

Flags = npt.NDArray[np.bool_]
Met = npt.NDArray[np.int64]

EVERYONE = np.int64(2**63 - 1)
NOBODY = np.int64(-1)


class KeyRanges(NamedTuple):
    """Keys of the queries, sorted by query: `owners[i]` has a key whose entries are lo[i] … hi[i] − 1."""

    owners: Offsets
    asked: Flags  # the query looks for it, and is not only found by it
    lo: Offsets
    hi: Offsets


class Entries(NamedTuple):
    """The contents that have the keys: `places` are rows of `Contents`."""

    places: Offsets
    probes: Flags


class Contents(NamedTuple):
    """Facts about the contents."""

    numbers: Offsets
    sizes: Offsets
    maps: Maps


class Queries(NamedTuple):
    """Facts about the queries."""

    before: Offsets  # only contents with smaller numbers count
    equal: Offsets  # this content does not count
    sizes: Offsets
    maps: Maps


class Sieve(NamedTuple):
    """What is left out."""

    measure: int
    threshold: float  # 0: sizes and bitmaps rule nothing out
    common: int  # a key of more texts makes no pairs; 0: no limit
    all_count: bool  # all texts with the key count, not only those before the query


def find_stored(
    ranges: KeyRanges, unlisted: Flags, entries: Entries, contents: Contents, queries: Queries, sieve: Sieve
) -> Met:
    """Rows (query, place of the content, keys they share, 1 if the query looks for one + 2 if the content does, h).

    Each pair occurs once, sorted by query; `unlisted` queries are in no entry themselves, and count in addition.
    """
    found: Met = _core.find_stored(ranges, unlisted, entries, contents, queries, sieve)
    return found
