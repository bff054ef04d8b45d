"""Keys made of several samples of a document: tuples of words, and pairs of super shingles.

`word_keys` (Haveliwala 2000, as Kołcz 2008, §2 and §4 describe it): permutation p orders all words at random; the key
is a hash of the k words of the document that come first. Words are distinct tokens, ordered by a_p·x + b_p mod 2^32 of
the high word x of their hash.

`pair_keys` (Fetterly 2003): a hash of every two of a document's super shingles and of which two they are.

A document without words has no key, which is written 0; a key that happens to be 0 is written 1.
"""

from __future__ import annotations

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.hashing import SEED, absorb, mix
from roughly.kernels.minhash import check_permutations
from roughly.kernels.sorting import MOST_BITS, put_distinct, sort_hashes

_0, _1, _32 = (np.uint64(i) for i in (0, 1, 32))


def word_keys(tokens: Hashes, offsets: Offsets, words: int, multipliers: Words, increments: Words) -> Hashes:
    """A key a permutation, of the `words` first words of each document: (n, permutations) uint64."""
    tokens = frozen(tokens, np.uint64, "tokens")
    offsets = frozen_offsets(offsets, len(tokens))
    multipliers, increments = check_permutations(multipliers, increments)
    if words < 1:
        raise ValueError(f"a key is made of at least 1 word, not {words}")
    room = int(np.diff(offsets).max(initial=0)) + 1
    values, spare, x = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint32)
    counts = np.empty((1 << MOST_BITS) + 1, np.uint32)
    out = np.empty((len(offsets) - 1, len(multipliers)), np.uint64)
    first = np.empty(words, np.uint32)
    _word_keys(tokens, offsets, multipliers, increments, values, spare, x, counts, first, out)
    return out


def pair_keys(supers: Hashes) -> Hashes:
    """The key of every two columns of (n, s) super shingles: (n, s·(s − 1)/2) uint64."""
    if supers.dtype != np.uint64 or supers.ndim != 2 or supers.shape[1] < 2:
        raise TypeError("supers must be a table of uint64 with two columns or more")
    s = supers.shape[1]
    out = np.empty((len(supers), s * (s - 1) // 2), np.uint64)
    _pair_keys(np.ascontiguousarray(supers), out)
    return out


@jit_inner
def _word_keys(
    tokens: Hashes,
    offsets: Offsets,
    multipliers: Words,
    increments: Words,
    values: Hashes,
    spare: Hashes,
    x: Words,
    counts: Words,
    first: Words,
    out: Hashes,
) -> None:
    for d in range(offsets.shape[0] - 1):
        start = np.uint64(offsets[d])
        n = np.uint64(offsets[d + 1]) - start
        for i in range(n):
            values[i] = tokens[start + i]
        sort_hashes(values, n, spare, counts)
        n = put_distinct(spare, n, values, _0)
        for i in range(n):
            x[i] = np.uint32(values[i] >> _32)
        for p in range(multipliers.shape[0]):
            held = _0
            for i in range(n):
                image = np.uint32(multipliers[p] * x[i] + increments[p])
                held = _put_first(first, held, image)
            h = SEED + np.uint64(p)
            for i in range(held):
                h = absorb(h, np.uint64(first[i]))
            h = mix(h)
            out[d, p] = _0 if n == _0 else max(h, _1)


@jit_inner
def _put_first(first: Words, held: np.uint64, image: np.uint32) -> np.uint64:
    """Put an image among the least ones, which are in order; returns how many are held."""
    room = np.uint64(first.shape[0])
    if held == room:
        if image >= first[held - _1]:
            return held
        held -= _1
    place = held
    while place > _0 and first[place - _1] > image:
        first[place] = first[place - _1]
        place -= _1
    first[place] = image
    return held + _1


@jit_inner
def _pair_keys(supers: Hashes, out: Hashes) -> None:
    for d in range(supers.shape[0]):
        place = 0
        for a in range(supers.shape[1]):
            for b in range(a + 1, supers.shape[1]):
                h = mix(absorb(absorb(SEED + np.uint64(place), supers[d, a]), supers[d, b]))
                out[d, place] = max(h, _1)
                place += 1


def warm_up() -> None:
    """Compile this module's kernels."""
    ones = np.ones(2, np.uint32)
    word_keys(np.arange(3, dtype=np.uint64), np.array([0, 3], np.int64), 2, ones, ones)
    pair_keys(np.ones((1, 2), np.uint64))
