"""Min-wise hashing of shingles, and the keys of bands of min-hashes (Broder 1997, §3; the banding is in `methods`).

Permutation p maps the high word x of a shingle's hash to a_p·x + b_p mod 2^32, a_p odd. A document's signature is, for
each p, the least image of any of its shingles; two documents agree on it with probability equal to their resemblance.
A band is `rows` consecutive permutations, its key a 64-bit hash of their minima and of the band's number, so a key
never meets one of another band but by accident.

A document without tokens has no minima: its signature is 2^32 − 1 throughout, its keys are those of that signature,
the same for all empty documents. Callers leave them out.

| symbol | name |
|---|---|
| w | `size` |
| a, b | `multipliers`, `increments` |
| k | bands · rows, the number of permutations |
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.hashing import SEED, absorb, mix
from roughly.kernels.shingles import check_size, shingles
from roughly.kernels.sorting import bit_length

NONE = np.uint32(0xFFFFFFFF)
MEMORY_BITS = 13

_0, _1, _32 = (np.uint64(i) for i in (0, 1, 32))


def signatures(tokens: Hashes, offsets: Offsets, size: int, multipliers: Words, increments: Words) -> Words:
    """The min-hashes of each document: (n, k) uint32."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    multipliers, increments = check_permutations(multipliers, increments)
    out = np.empty((len(offsets) - 1, len(multipliers)), np.uint32)
    room = int(np.diff(offsets).max(initial=0)) + 1
    values, x = np.empty(room, np.uint64), np.empty(room, np.uint32)
    memory = np.empty(1 << MEMORY_BITS, np.uint32)
    _signatures(tokens, offsets, size, multipliers, increments, values, x, memory, out)
    return out


def band_keys(
    tokens: Hashes, offsets: Offsets, size: int, multipliers: Words, increments: Words, bands: int, rows: int
) -> Hashes:
    """The key of each band of each document: (n, bands) uint64."""
    if bands < 1 or rows < 1 or bands * rows != len(multipliers):
        raise ValueError(f"{bands} bands of {rows} rows need {bands * rows} permutations, not {len(multipliers)}")
    minima = signatures(tokens, offsets, size, multipliers, increments)
    out = np.empty((len(minima), bands), np.uint64)
    _band_keys(minima, bands, rows, out)
    return out


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
    for d in range(offsets.shape[0] - 1):
        n = shingles(tokens, np.uint64(offsets[d]), np.uint64(offsets[d + 1]), np.uint64(size), values)
        n = _without_repeats(values, n, memory, x)
        for p in range(multipliers.shape[0]):
            out[d, p] = _minimum(x, n, multipliers[p], increments[p])


@jit_inner
def _band_keys(minima: Words, bands: int, rows: int, out: Hashes) -> None:
    for d in range(minima.shape[0]):
        for band in range(bands):
            h = SEED + np.uint64(band)
            for row in range(band * rows, (band + 1) * rows):
                h = absorb(h, np.uint64(minima[d, row]))
            out[d, band] = mix(h)


def warm_up() -> None:
    """Compile this module's kernels."""
    ones = np.ones(2, np.uint32)
    band_keys(np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64), 2, ones, ones, 1, 2)
