"""Which contents of an index the texts asked about are to be compared with: those that share a key, each once.

`entries` lists, key by key, who has a key that is asked for; a row of the askers' keys names a range of it. An index
that 20,000 pages of one boilerplate stand in names all of them for every new one, so this loop is over entries, touches
a content once for each asker, and drops at once those whose size and bitmap say that they are too unlike.

| symbol | meaning |
|---|---|
| m, n | distinct values of the asker's set and of the content's |
| h | bits in which their bitmaps differ; they differ in at least as many values (see `bitmaps`) |
| t | the threshold |

With c values in common they differ in m + n − 2c ≥ h, so c ≤ (m + n − h) / 2. A resemblance of t needs
h ≤ (m + n)(1 − t) / (1 + t); a containment of t, of whichever is the smaller, h ≤ m + n − 2·t·min(m, n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit, jit_inner
from roughly.kernels.arrays import Offsets
from roughly.kernels.bitmaps import Maps, ones
from roughly.kernels.judging import RESEMBLANCE

Flags = npt.NDArray[np.bool_]
Met = npt.NDArray[np.int64]

EVERYONE = np.int64(2**63 - 1)
NOBODY = np.int64(-1)


class KeyRanges(NamedTuple):
    """Keys of the askers, sorted by asker: `owners[i]` has a key whose entries are lo[i] … hi[i] − 1."""

    owners: Offsets
    asked: Flags  # the owner asks for it, and does not only answer
    lo: Offsets
    hi: Offsets


class Entries(NamedTuple):
    """Who has the keys: `places` are rows of `Contents`."""

    places: Offsets
    asks: Flags


class Contents(NamedTuple):
    """What is known of the contents."""

    numbers: Offsets
    sizes: Offsets
    maps: Maps


class Askers(NamedTuple):
    """What is known of the texts asked about."""

    before: Offsets  # only contents with smaller numbers count
    equal: Offsets  # this content does not count
    sizes: Offsets
    maps: Maps


class Sieve(NamedTuple):
    """What is left out."""

    measure: int
    threshold: float  # 0: sizes and bitmaps rule nothing out
    common: int  # a key that more texts have forms no pairs; 0: any number may
    all_count: bool  # all who have the key count, and not those before the asker only


@jit_inner
def _differ(askers: Askers, owner: int, contents: Contents, place: int, allowed: float) -> np.int64:
    """h of the two, or as much of it as shows that it is more than `allowed`."""
    h: np.int64 = abs(askers.sizes[owner] - contents.sizes[place])
    if h > allowed:
        return h
    bits = np.uint64(0)
    for w in range(contents.maps.shape[1]):
        bits += ones(askers.maps[owner, w] ^ contents.maps[place, w])  # type: ignore[call-arg]
    return max(h, np.int64(bits))


@jit_inner
def _allowed(m: int, n: int, sieve: Sieve) -> float:
    t = sieve.threshold
    if sieve.measure == RESEMBLANCE:
        return (m + n) * (1.0 - t) / (1.0 + t) + 1.0  # one more, for the rounding
    return m + n - 2.0 * t * min(m, n) + 1.0


@jit_inner
def _counted(
    row: int, ranges: KeyRanges, entries: Entries, contents: Contents, askers: Askers, all_count: bool
) -> np.int64:
    """How many texts have the key of a row."""
    if all_count:
        all_of_them: np.int64 = ranges.hi[row] - ranges.lo[row]
        return all_of_them
    owner, count = ranges.owners[row], np.int64(1)
    for at in range(ranges.lo[row], ranges.hi[row]):
        number = contents.numbers[entries.places[at]]
        if (ranges.asked[row] or entries.asks[at]) and number < askers.before[owner] and number != askers.equal[owner]:
            count += np.int64(1)
    return count


@jit
def meet_stored(
    ranges: KeyRanges, unlisted: Flags, entries: Entries, contents: Contents, askers: Askers, sieve: Sieve
) -> Met:
    """Rows (asker, place of the content, keys they share, 1 if the asker asks + 2 if the content does, h).

    Each pair stands once, by asker; `unlisted` askers are in no entry themselves, and count beside them.
    """
    count = contents.numbers.shape[0]
    stamp = np.full(count, -1, np.int64)
    shared = np.zeros(count, np.int32)
    flags = np.zeros(count, np.uint8)
    differ = np.zeros(count, np.int64)
    touched = np.empty(count, np.int64)
    rows = np.empty((1024, 5), np.int64)
    used = row = 0
    while row < ranges.owners.shape[0]:
        owner, found = ranges.owners[row], 0
        while row < ranges.owners.shape[0] and ranges.owners[row] == owner:
            if sieve.common > 0:
                among = _counted(row, ranges, entries, contents, askers, sieve.all_count)
                if among + (1 if sieve.all_count and unlisted[owner] else 0) > sieve.common:
                    row += 1
                    continue
            for at in range(ranges.lo[row], ranges.hi[row]):
                asked, asks = ranges.asked[row], entries.asks[at]
                if not (asked or asks):
                    continue
                place = entries.places[at]
                if stamp[place] == owner:
                    shared[place] += np.int32(1)
                    flags[place] |= np.uint8(asked) | np.uint8(asks) << np.uint8(1)
                    continue
                number = contents.numbers[place]
                if number >= askers.before[owner] or number == askers.equal[owner]:
                    continue
                stamp[place] = owner
                h = np.int64(0)
                if sieve.threshold > 0.0:
                    allowed = _allowed(askers.sizes[owner], contents.sizes[place], sieve)
                    h = _differ(askers, owner, contents, place, allowed)
                    if h > allowed:
                        continue
                shared[place] = np.int32(1)
                flags[place] = np.uint8(asked) | np.uint8(asks) << np.uint8(1)
                differ[place] = h
                touched[found] = place
                found += 1
            row += 1
        if used + found > rows.shape[0]:
            bigger = np.empty((2 * rows.shape[0] + found, 5), np.int64)
            for i in range(used):
                for column in range(5):
                    bigger[i, column] = rows[i, column]
            rows = bigger
        for i in range(found):
            place = touched[i]
            rows[used, 0] = owner
            rows[used, 1] = place
            rows[used, 2] = shared[place]
            rows[used, 3] = flags[place]
            rows[used, 4] = differ[place]
            used += 1
    return rows[:used].copy()


def warm_up() -> None:
    """Compile for the types it is called with."""
    none, no, maps = np.empty(0, np.int64), np.empty(0, np.bool_), np.empty((0, 4), np.uint64)
    meet_stored(
        KeyRanges(none, no, none, none), no, Entries(none, no), Contents(none, none, maps),
        Askers(none, none, none, maps), Sieve(RESEMBLANCE, 0.5, 0, False),
    )  # fmt: skip
