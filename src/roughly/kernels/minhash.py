"""Min-wise hashing of shingles, and the keys of bands of min-hashes (Broder 1997, §3; the banding is in `methods`).

Ordering o maps the high word x of a shingle's hash to y = a_o·x + b_o mod 2^32, a_o odd. The shingle that comes first
in a random order is a random sample of the document, and two documents agree on it with probability equal to their
resemblance. The same holds for the shingle that comes last, and for the first and the last when y is read as a signed
number, which is the order that starts half way round. So each multiplication gives up to four samples, at the cost of
one and three more comparisons: half the time of four orderings.

Four samples of one ordering are four *different* shingles (unless two documents have hardly more than that together),
and so are never more alike in whether they agree than samples drawn independently: drawing without replacement is
negatively associated (Joag-Dev & Proschan 1983). Bands of such samples find at least as many pairs as the formula for
independent ones says, provided that no band has two samples of one ordering.

Sample p of k is taken from ordering p mod m, its end p div m: least, greatest, least signed, greatest signed. With
m = k orderings this is plain min-wise hashing. A band is `rows` consecutive samples, its key a 64-bit hash of them and
of the band's number, so keys of different bands are equal only by accident.

A document without tokens has no samples: its signature is 2^32 − 1 throughout, its keys are those of that signature,
the same for all empty documents. Callers leave them out.

| symbol | name |
|---|---|
| w | `size` |
| a, b | `multipliers`, `increments` |
| m | the number of orderings |
| k | `samples`, bands · rows |
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.shingles import check_size

ENDS = 4
"""Samples per ordering."""


def signatures(
    tokens: Hashes, offsets: Offsets, size: int, multipliers: Words, increments: Words, samples: int | None = None
) -> Words:
    """The samples of each document: (n, samples) uint32; one per ordering by default."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    check_size(size)
    multipliers, increments = check_permutations(multipliers, increments)
    samples = len(multipliers) if samples is None else samples
    if samples > ENDS * len(multipliers):
        raise ValueError(f"{len(multipliers)} orderings give {ENDS * len(multipliers)} samples at most, not {samples}")
    return _core.signatures(tokens, offsets, size, multipliers, increments, samples)


def band_keys(
    tokens: Hashes, offsets: Offsets, size: int, multipliers: Words, increments: Words, bands: int, rows: int
) -> Hashes:
    """The key of each band of each document: (n, bands) uint64."""
    check_bands(size, multipliers, increments, bands, rows)
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    return _core.band_keys(tokens, offsets, size, multipliers, increments, bands, rows)


def check_bands(size: int, multipliers: Words, increments: Words, bands: int, rows: int) -> None:
    """Refuse bands that there are not enough orderings for, or too many."""
    if bands < 1 or rows < 1 or not orderings(bands, rows) <= len(multipliers) <= bands * rows:
        raise ValueError(
            f"{bands} bands of {rows} rows need {orderings(bands, rows)} to {bands * rows} orderings, "
            f"not {len(multipliers)}"
        )
    check_size(size)
    check_permutations(multipliers, increments)


def orderings(bands: int, rows: int) -> int:
    """The fewest orderings for these bands: four samples of each, no two of them in one band."""
    return max(rows, -(-bands * rows // ENDS))


def check_permutations(multipliers: Words, increments: Words) -> tuple[Words, Words]:
    """Orderings x → a·x + b mod 2^32 as arrays for the kernels, checked."""
    multipliers = frozen(multipliers, np.uint32, "multipliers")
    increments = frozen(increments, np.uint32, "increments")
    if len(multipliers) != len(increments):
        raise ValueError(f"{len(multipliers)} multipliers and {len(increments)} increments do not pair up")
    if not bool((multipliers & np.uint32(1)).all()):
        raise ValueError("multipliers must be odd: x → a·x + b mod 2^32 is no permutation otherwise")
    return multipliers, increments
