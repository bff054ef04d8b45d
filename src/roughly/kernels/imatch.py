"""I-Match signatures: a document's terms, those that a lexicon keeps, and one hash of them a lexicon.

What a filter keeps is a range of rarity (see `terms`), fixed or by shares of the document's own terms, or all but
that range. From the terms kept, S, each of the 1 + K lexicons makes one signature, all in one pass:

    x(t)  = mix(h(t) ⊕ s₀)                                  a term, keyed
    m(t)  = mix(x(t) + s₁)                                  what it adds to a signature
    w_j(t) = mix(x(t) + s_{2+j})                            sixteen random bits for each of lexicons 4j + 1 … 4j + 4
    lexicon k drops t  ⇔  its sixteen bits of w_{(k−1)/4}(t) are below p·2^16
    signature_k = mix(Σ m(t) ⊕ mix(⊕ m(t) + |S_k|·A + k·B))  over the t in S_k

Sum and exclusive or do not depend on the order of the terms, so nothing has to be sorted. s₀, s₁, … come from the
secret key. All arithmetic is on uint64 and wraps around. A signature of fewer than `min_terms` terms, or of less than a
share `min_share` of the document's distinct terms, is rejected: it is 0, and no signature that counts is.

With `secondary`, terms rarer than the range are added, commonest first, while there are too few (Kołcz 2008, §3); each
lexicon adds those that it has not dropped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roughly.kernels import jit_inner
from roughly.kernels.arrays import Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.hashing import A, B, mix
from roughly.kernels.sorting import sort_in_place
from roughly.kernels.terms import rarity

FIELDS = 4
"""Lexicons that one word of random bits serves."""
SEEDS = 2
"""Seeds that come before those of the random bits."""
BY_IDF, BY_DOCUMENT = 0, 1
ALL_TERMS = np.uint64(1 << 20)
"""Stands for the lexicon's number in the signature of all terms, so that it is never equal to that of a lexicon."""

ROUNDING = 1e-9
"""0.07 of a hundred terms is seven of them, although 0.07 · 100 is more than 7 in floating point."""

_0, _1, _2, _3, _16, _100 = (np.uint64(i) for i in (0, 1, 2, 3, 16, 100))
_FIELD = np.uint64(0xFFFF)
_HIGHEST = np.uint64(0xFFFFFFFFFFFFFFFF)


class Selection(NamedTuple):
    """Which terms a filter keeps.

    By idf: `lowest` ≤ rarity < `highest`. By document: of its n known terms, commonest first, those from place
    lowest·n/100, rounded down, to before highest·n/100, rounded down or, with `round_up`, up. `outer`: all the others.
    """

    by: int
    lowest: int
    highest: int
    round_up: bool = False
    outer: bool = False


class Demands(NamedTuple):
    """What a signature needs so as not to be rejected."""

    min_terms: int = 1
    min_share: float = 0.0
    secondary: bool = False


class _Scratch(NamedTuple):
    ranks: Hashes
    kept: Hashes
    more: Hashes
    added: Hashes
    draws: Hashes


def imatch_signatures(
    terms: Hashes,
    offsets: Offsets,
    frequencies: Words,
    selection: Selection,
    demands: Demands,
    seeds: Hashes,
    lexicons: int,
    dropped: float,
) -> Hashes:
    """The 1 + `lexicons` signatures of each document, (n, 1 + lexicons) uint64; 0 where one is rejected."""
    terms, frequencies = frozen(terms, np.uint64, "terms"), frozen(frequencies, np.uint32, "frequencies")
    offsets, seeds = frozen_offsets(offsets, len(terms)), frozen(seeds, np.uint64, "seeds")
    words = -(-lexicons // FIELDS)
    if len(frequencies) != len(terms) or len(seeds) < SEEDS + words:
        raise ValueError(f"{len(terms)} terms need as many frequencies, and {lexicons} lexicons {SEEDS + words} seeds")
    room = int(np.diff(offsets).max(initial=0)) + 1
    spare = np.empty((4, room), np.uint64)
    scratch = _Scratch(spare[0], spare[1], spare[2], spare[3], np.empty((words + 1, room), np.uint64))
    out = np.zeros((len(offsets) - 1, lexicons + 1), np.uint64)
    _signatures(
        terms,
        offsets,
        frequencies,
        selection.by,
        np.uint64(selection.lowest),
        np.uint64(selection.highest),
        np.uint64(99 if selection.round_up else 0),
        selection.outer,
        np.int64(demands.min_terms),
        float(demands.min_share),
        demands.secondary,
        seeds,
        np.uint64(round(dropped * 65536)),
        scratch,
        out,
    )
    return out


@jit_inner
def _signatures(
    terms: Hashes,
    offsets: Offsets,
    frequencies: Words,
    by: int,
    lowest: np.uint64,
    highest: np.uint64,
    rounding: np.uint64,
    outer: bool,
    min_terms: np.int64,
    min_share: float,
    secondary: bool,
    seeds: Hashes,
    cut: np.uint64,
    scratch: _Scratch,
    out: Hashes,
) -> None:
    for d in range(offsets.shape[0] - 1):
        start = np.uint64(offsets[d])
        end = np.uint64(offsets[d + 1])
        if by == BY_IDF:
            low, high = lowest, highest
        else:
            low, high = _places(terms, start, end, frequencies, lowest, highest, rounding, scratch.ranks)
        count = _select(terms, start, end, frequencies, low, high, outer, scratch.kept)
        needed = max(min_terms, np.int64(np.ceil(min_share * np.float64(end - start) - ROUNDING)))
        extra = _0
        if secondary:
            extra = _select_rarer(terms, start, end, frequencies, high, scratch)
        if np.int64(count + extra) < needed:
            continue
        _draw(scratch.kept, count, extra, scratch.more, seeds, scratch.added, scratch.draws)
        for k in range(out.shape[1]):
            out[d, k] = _sign(scratch, count, extra, np.uint64(k), cut, needed)


@jit_inner
def _places(
    terms: Hashes,
    start: np.uint64,
    end: np.uint64,
    frequencies: Words,
    lowest: np.uint64,
    highest: np.uint64,
    rounding: np.uint64,
    ranks: Hashes,
) -> tuple[np.uint64, np.uint64]:
    """The range of rarity that holds a share of the document's terms."""
    n = _0
    for i in range(start, end):
        if frequencies[i] != 0:
            ranks[n] = rarity(terms[i], frequencies[i])
            n += _1
    if n == _0:
        return _0, _0
    sort_in_place(ranks, n)
    first = lowest * n // _100
    last = (highest * n + rounding) // _100
    return ranks[first], ranks[last] if last < n else _HIGHEST


@jit_inner
def _select(
    terms: Hashes,
    start: np.uint64,
    end: np.uint64,
    frequencies: Words,
    low: np.uint64,
    high: np.uint64,
    outer: bool,
    kept: Hashes,
) -> np.uint64:
    n = _0
    for i in range(start, end):
        r = rarity(terms[i], frequencies[i])
        inside = (r >= low) & (r < high)
        kept[n] = terms[i]
        n += np.uint64((inside != outer) & (frequencies[i] != 0))
    return n


@jit_inner
def _select_rarer(
    terms: Hashes, start: np.uint64, end: np.uint64, frequencies: Words, high: np.uint64, scratch: _Scratch
) -> np.uint64:
    """The document's terms rarer than the range into `more`, commonest first."""
    n = _0
    for i in range(start, end):
        r = rarity(terms[i], frequencies[i])
        if frequencies[i] != 0 and r >= high:
            scratch.ranks[n] = r
            n += _1
    sort_in_place(scratch.ranks, n)
    for k in range(n):
        scratch.more[k] = _0
    for i in range(start, end):
        r = rarity(terms[i], frequencies[i])
        if frequencies[i] != 0 and r >= high:
            _put_in_place(scratch.ranks, n, r, terms[i], scratch.more)
    return n


@jit_inner
def _put_in_place(ranks: Hashes, n: np.uint64, r: np.uint64, term: np.uint64, more: Hashes) -> None:
    """Put a term where its rarity stands in the sorted ranks[:n]; terms of one rarity in the order of their hashes."""
    low, high = _0, n
    while low < high:
        middle = (low + high) >> _1
        if ranks[middle] < r:
            low = middle + _1
        else:
            high = middle
    while more[low] != _0:
        if more[low] > term:
            more[low], term = term, more[low]
        low += _1
    more[low] = term


@jit_inner
def _draw(
    kept: Hashes, count: np.uint64, extra: np.uint64, more: Hashes, seeds: Hashes, added: Hashes, draws: Hashes
) -> None:
    """What each term adds to a signature, and its random bits; first the terms kept, then those held ready."""
    words = np.uint64(draws.shape[0] - 1)
    for i in range(count + extra):
        x = mix((kept[i] if i < count else more[i - count]) ^ seeds[0])
        added[i] = mix(x + seeds[1])
        for j in range(words):
            draws[j, i] = mix(x + seeds[_2 + j])


@jit_inner
def _sign(
    scratch: _Scratch, count: np.uint64, extra: np.uint64, lexicon: np.uint64, cut: np.uint64, needed: np.int64
) -> np.uint64:
    added = scratch.added
    total, parity, size = np.uint64(0), np.uint64(0), np.uint64(0)
    if lexicon == _0:
        for i in range(count):
            total += added[i]
            parity ^= added[i]
        size = count
    else:
        total, parity, size = _add_kept(added, scratch.draws[(lexicon - _1) >> _2], count, _shift(lexicon), cut)
    at = count
    while at < count + extra and np.int64(size) < needed:
        if lexicon == _0 or (scratch.draws[(lexicon - _1) >> _2, at] >> _shift(lexicon)) & _FIELD >= cut:
            total += added[at]
            parity ^= added[at]
            size += _1
        at += _1
    if size == _0 or np.int64(size) < needed:
        return _0
    return finish(total, parity, size, lexicon)


@jit_inner
def _shift(lexicon: np.uint64) -> np.uint64:
    return _16 * ((lexicon - _1) & _3)


@jit_inner
def _add_kept(
    added: Hashes, draws: Hashes, count: np.uint64, shift: np.uint64, cut: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64]:
    total, parity, size = _0, _0, _0
    for i in range(count):
        kept = np.uint64((draws[i] >> shift) & _FIELD >= cut)
        value = added[i] & (_0 - kept)
        total += value
        parity ^= value
        size += kept
    return total, parity, size


@jit_inner
def finish(total: np.uint64, parity: np.uint64, size: np.uint64, lexicon: np.uint64) -> np.uint64:
    """The signature of a sum and an exclusive or; never 0."""
    h = mix(total ^ mix(parity + size * A + lexicon * B))
    return h if h != _0 else _1


def set_signatures(terms: Hashes, offsets: Offsets, seeds: Hashes) -> Hashes:
    """The signature of all terms of each document, as if a lexicon of every term made it; 0 for no terms."""
    terms, seeds = frozen(terms, np.uint64, "terms"), frozen(seeds, np.uint64, "seeds")
    offsets = frozen_offsets(offsets, len(terms))
    out = np.zeros(len(offsets) - 1, np.uint64)
    _set_signatures(terms, offsets, seeds, out)
    return out


@jit_inner
def _set_signatures(terms: Hashes, offsets: Offsets, seeds: Hashes, out: Hashes) -> None:
    for d in range(offsets.shape[0] - 1):
        total, parity = _0, _0
        for i in range(np.uint64(offsets[d]), np.uint64(offsets[d + 1])):
            value = mix(mix(terms[i] ^ seeds[0]) + seeds[1])
            total += value
            parity ^= value
        size = np.uint64(offsets[d + 1] - offsets[d])
        if size != _0:
            out[d] = finish(total, parity, size, ALL_TERMS)


def warm_up() -> None:
    """Compile this module's kernels."""
    terms, offsets, seeds = np.arange(1, 4, dtype=np.uint64), np.array([0, 3], np.int64), np.arange(4, dtype=np.uint64)
    chosen = Selection(BY_IDF, 0, 1 << 63)
    imatch_signatures(terms, offsets, np.ones(3, np.uint32), chosen, Demands(), seeds, 1, 0.5)
    set_signatures(terms, offsets, seeds)
