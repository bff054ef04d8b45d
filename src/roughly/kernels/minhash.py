"""Min-wise hashing of shingles, and the keys of bands of min-hashes (Broder 1997, §3; the banding is in `methods`).

Ordering o maps the high word x of a shingle's hash to y = a_o·x + b_o mod 2^32, a_o odd. The shingle that comes first
in a random order is a random sample of the document, and two documents agree on it with probability equal to their
resemblance. The same holds for the shingle that comes last, and for the first and the last when y is read as a signed
number, which is the order that starts half way round. So each multiplication gives up to four samples, for the price
of one and three more comparisons, which take half of the time of four orderings.

Four samples of one ordering are four *different* shingles (but where two documents have hardly more than that
together), and so are never more alike in whether they agree than samples drawn independently: drawing without
replacement is negatively associated (Joag-Dev & Proschan 1983). Bands that are built of them find at least as many
pairs as the formula for independent ones says, provided that no band has two samples of one ordering.

Sample p of k is taken from ordering p mod m, its end p div m: least, greatest, least signed, greatest signed. With
m = k orderings this is plain min-wise hashing. A band is `rows` consecutive samples, its key a 64-bit hash of them and
of the band's number, so a key never meets one of another band but by accident.

A document without tokens has no samples: its signature is 2^32 − 1 throughout, its keys are those of that signature,
the same for all empty documents. Callers leave them out.

| symbol | name |
|---|---|
| w | `size` |
| a, b | `multipliers`, `increments` |
| m | how many of these there are, the number of orderings |
| k | `samples`, bands · rows |
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.hashing import SEED, absorb, mix
from roughly.kernels.shingles import check_size, shingles
from roughly.kernels.sorting import bit_length

Word = np.uint32
NONE = np.uint32(0xFFFFFFFF)
MEMORY_BITS = 13
ENDS = 4
"""Samples that an ordering gives."""

_0, _1, _32 = (np.uint64(i) for i in (0, 1, 32))


def signatures(
    tokens: Hashes, offsets: Offsets, size: int, multipliers: Words, increments: Words, samples: int | None = None
) -> Words:
    """The samples of each document: (n, samples) uint32; one an ordering unless more are asked for."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    multipliers, increments = check_permutations(multipliers, increments)
    samples = len(multipliers) if samples is None else samples
    if samples > ENDS * len(multipliers):
        raise ValueError(f"{len(multipliers)} orderings give {ENDS * len(multipliers)} samples at most, not {samples}")
    out = np.empty((len(offsets) - 1, samples), np.uint32)
    room = int(np.diff(offsets).max(initial=0)) + 1
    values, x = np.empty(room, np.uint64), np.empty(room, np.uint32)
    memory = np.empty(1 << MEMORY_BITS, np.uint32)
    _signatures(tokens, offsets, size, multipliers, increments, values, x, memory, out)
    return out


def band_keys(
    tokens: Hashes, offsets: Offsets, size: int, multipliers: Words, increments: Words, bands: int, rows: int
) -> Hashes:
    """The key of each band of each document: (n, bands) uint64."""
    if bands < 1 or rows < 1 or not orderings(bands, rows) <= len(multipliers) <= bands * rows:
        raise ValueError(
            f"{bands} bands of {rows} rows need {orderings(bands, rows)} to {bands * rows} orderings, "
            f"not {len(multipliers)}"
        )
    samples = signatures(tokens, offsets, size, multipliers, increments, bands * rows)
    out = np.empty((len(samples), bands), np.uint64)
    _band_keys(samples, bands, rows, out)
    return out


def orderings(bands: int, rows: int) -> int:
    """The fewest orderings for so many bands: four samples of each, no two of them in one band."""
    return max(rows, -(-bands * rows // ENDS))


def check_permutations(multipliers: Words, increments: Words) -> tuple[Words, Words]:
    """Orderings x → a·x + b mod 2^32 as the kernels take them; refused where they are none."""
    multipliers = frozen(multipliers, np.uint32, "multipliers")
    increments = frozen(increments, np.uint32, "increments")
    if len(multipliers) != len(increments):
        raise ValueError(f"{len(multipliers)} multipliers and {len(increments)} increments do not pair up")
    if not bool((multipliers & np.uint32(1)).all()):
        raise ValueError("multipliers must be odd: x → a·x + b mod 2^32 is no permutation otherwise")
    return multipliers, increments


@jit_inner
def _minimum(x: Words, n: np.uint64, multiplier: np.uint32, increment: np.uint32) -> np.uint32:
    least = NONE
    for i in range(n):
        least = min(least, np.uint32(multiplier * x[i] + increment))
    return least


@jit_inner
def _ends(x: Words, n: np.uint64, multiplier: np.uint32, increment: np.uint32) -> tuple[Word, Word, Word, Word]:
    """The least and the greatest image, and the same of signed images."""
    least, greatest = NONE, np.uint32(0)
    low, high = np.int32(0x7FFFFFFF), np.int32(-0x80000000)
    for i in range(n):
        y = np.uint32(multiplier * x[i] + increment)
        signed = np.int32(y)
        least = min(least, y)
        greatest = max(greatest, y)
        low = min(low, signed)
        high = max(high, signed)
    return least, greatest, np.uint32(low), np.uint32(high)


@jit_inner
def _without_repeats(values: Hashes, n: np.uint64, memory: Words, x: Words) -> np.uint64:
    """The high words of values[:n] into `x`, most of the repeated ones left out; returns how many.

    Repeats do not change a minimum, and a fifth of the shingles of real pages are repeats. `memory` holds one recent
    word for each value of the low bits, which finds nearly all of them at a hundredth of the cost of the minima.
    """
    if n == _0:
        return _0
    size = _1 << min(bit_length(n), np.uint64(MEMORY_BITS))
    mask = np.uint32(size - _1)
    x[_0] = np.uint32(values[_0] >> _32)
    for i in range(size):
        memory[i] = x[_0]
    count = _1
    for i in range(_1, n):
        word = np.uint32(values[i] >> _32)
        x[count] = word
        count += np.uint64(memory[word & mask] != word)
        memory[word & mask] = word
    return count


@jit_inner
def _signatures(
    tokens: Hashes,
    offsets: Offsets,
    size: int,
    multipliers: Words,
    increments: Words,
    values: Hashes,
    x: Words,
    memory: Words,
    out: Words,
) -> None:
    orderings, samples = multipliers.shape[0], out.shape[1]
    for d in range(offsets.shape[0] - 1):
        n = shingles(tokens, np.uint64(offsets[d]), np.uint64(offsets[d + 1]), np.uint64(size), values)
        n = _without_repeats(values, n, memory, x)
        if n == _0:
            for p in range(samples):
                out[d, p] = NONE
        elif samples == orderings:
            for p in range(samples):
                out[d, p] = _minimum(x, n, multipliers[p], increments[p])
        else:
            for o in range(orderings):
                ends = _ends(x, n, multipliers[o], increments[o])
                for end in range(ENDS):
                    if end * orderings + o < samples:
                        out[d, end * orderings + o] = ends[end]


@jit_inner
def _band_keys(samples: Words, bands: int, rows: int, out: Hashes) -> None:
    for d in range(samples.shape[0]):
        for band in range(bands):
            h = SEED + np.uint64(band)
            for row in range(band * rows, (band + 1) * rows):
                h = absorb(h, np.uint64(samples[d, row]))
            out[d, band] = mix(h)


def warm_up() -> None:
    """Compile this module's kernels."""
    ones = np.ones(2, np.uint32)
    band_keys(np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64), 2, ones, ones, 2, 2)
