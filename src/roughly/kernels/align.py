"""Alignment of two token sequences, and the runs of tokens that two sequences share.

`align` finds a long common subsequence of two sequences of token hashes, as blocks (left start, right start,
length) that rise on both sides. The longest one would cost the product of the lengths; here every step costs at most a
constant times their sum:

1. Take off what both begin with and what both end with.
2. `_tile` each gap, twice: of the runs of equal tokens that are too long for chance, keep the heaviest chain that
   rises on both sides. Too long for chance are 2 + ⌈1.5 · ln(N·M) / ln(1/p)⌉ tokens in a gap of N by M, where p is
   the chance that two tokens are equal; the longest chance run has about ln(N·M) / ln(1/p) (Erdős and Rényi 1970).
   So prose is tiled with runs of five to ten words, and a table of noughts and ones is left to step 3.
3. What is left goes to the greedy algorithm of Myers (Algorithmica 1, 1986, 251–266). After `EDITS` edits it settles
   for the path that got furthest and starts anew behind it.
4. `_slide` and `_drop_chance` tidy up: unrelated prose has a third of its words in common, in order.

`shared_runs` knows no order: it walks the left sequence and takes, wherever a shingle of it occurs in the right one,
the longest run of equal tokens. Of a shingle with many occurrences the `TRIED` nearest to where the last run would go
on are tried.

Token hashes are uint64 and only compared, or mixed with wrap-around; positions and lengths are int64. Hashes of grams
only propose: whatever becomes a block or a run has been compared token by token.

| symbol | meaning |
|---|---|
| a, b | the two sequences |
| i, j | a position in a, in b |
| n | blocks so far |
| d, k | edits made; diagonal i − j |
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from roughly.kernels import jit
from roughly.kernels.arrays import Hashes, Offsets, frozen, frozen_offsets

Places = npt.NDArray[np.int64]
Gap = tuple[int, int, int, int]  # i, end of i, j, end of j

SAMPLE = 512  # pairs of tokens looked at to guess the chance that two are equal
TRIED = 16
EDITS = 192
CHANCE = 3  # a block of so many tokens or fewer may be chance
EDGE = 10  # at the edge of the documents it is chance beside a change this many times as long
# A plain 0 is a type of its own to numba, and whatever it is passed to would be compiled once more for it.
ZERO: int = np.int64(0)  # type: ignore[assignment]
NOWHERE: int = np.int64(-1)  # type: ignore[assignment]
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_1, _29, _32 = np.uint64(1), np.uint64(29), np.uint64(32)


@jit
def _put(blocks: Places, n: int, i: int, j: int, length: int) -> None:
    blocks[n, 0] = i
    blocks[n, 1] = j
    blocks[n, 2] = length


@jit
def _add(blocks: Places, n: int, i: int, j: int, length: int) -> int:
    """Append a block, or lengthen the last one where it touches; returns the number of blocks."""
    if length <= 0:
        return n
    if n > 0 and blocks[n - 1, 0] + blocks[n - 1, 2] == i and blocks[n - 1, 1] + blocks[n - 1, 2] == j:
        blocks[n - 1, 2] += length
        return n
    _put(blocks, n, i, j, length)
    return n + 1


@jit
def _common_start(a: Hashes, b: Hashes, gap: Gap) -> int:
    """How many tokens both sides of a gap begin with."""
    i, i_end, j, j_end = gap
    length = ZERO
    while i + length < i_end and j + length < j_end and a[i + length] == b[j + length]:
        length += 1
    return length


@jit
def _hash_grams(tokens: Hashes, size: int, out: Hashes) -> None:
    """out[x] = hash of the `size` tokens from x on."""
    for x in range(len(out)):
        h = tokens[x]
        for y in range(1, size):
            h = (h ^ (h >> _29)) * MULTIPLIER + tokens[x + y]
        out[x] = h


@jit
def _slot(gram: np.uint64, mask: np.uint64) -> np.uint64:
    return ((gram * MULTIPLIER) >> _32) & mask


@jit
def _list_by_slot(grams: Hashes, mask: np.uint64, ends: Places, places: Places) -> None:
    """Counting sort of gram positions by slot: slot s has places[ends[s − 1] : ends[s]], rising."""
    for y in range(len(grams)):
        ends[_slot(grams[y], mask) + _1] += 1
    for s in range(len(ends) - 1):
        ends[s + 1] += ends[s]
    for y in range(len(grams)):
        slot = _slot(grams[y], mask)
        places[ends[slot]] = y
        ends[slot] += 1


@jit
def _longest_run(a: Hashes, b: Hashes, i: int, candidates: Places, expected: int) -> tuple[int, int]:
    """Where in b, and how long, the longest run from a[i] on is; of equals the nearest to `expected`."""
    low = ZERO
    high = len(candidates)
    if high > TRIED:
        while low < high:
            middle = (low + high) // 2
            if candidates[middle] < expected:
                low = middle + 1
            else:
                high = middle
        low = max(ZERO, min(low - TRIED // 2, len(candidates) - TRIED))
        high = low + TRIED
    longest = ZERO
    best = ZERO
    for c in range(low, high):
        j = candidates[c]
        length = _common_start(a, b, (i, len(a), j, len(b)))
        if length > longest or (length == longest and abs(j - expected) < abs(best - expected)):
            longest = length
            best = j
    return best, longest


@jit
def _shared_runs(a: Hashes, b: Hashes, size: int) -> Places:
    """See `shared_runs`."""
    runs = np.empty((len(a) // size + 1, 3), np.int64)
    if len(a) < size or len(b) < size:
        return runs[:0]
    grams_a = np.empty(len(a) - size + 1, np.uint64)
    grams_b = np.empty(len(b) - size + 1, np.uint64)
    _hash_grams(a, size, grams_a)
    _hash_grams(b, size, grams_b)
    slots = 4
    while slots < 2 * len(grams_b):
        slots *= 2
    mask = np.uint64(slots - 1)
    ends = np.zeros(slots + 1, np.int64)
    places = np.empty(len(grams_b), np.int64)
    _list_by_slot(grams_b, mask, ends, places)
    n = ZERO
    i = ZERO
    end_a = ZERO
    end_b = ZERO
    while i < len(grams_a):
        s = np.int64(_slot(grams_a[i], mask))
        start = ends[s - 1] if s > 0 else ZERO
        j, length = _longest_run(a, b, i, places[start : ends[s]], end_b + i - end_a)
        if length < size:
            i += 1
            continue
        while i > end_a and j > 0 and a[i - 1] == b[j - 1]:
            i -= 1
            j -= 1
            length += 1
        _put(runs, n, i, j, length)
        n += 1
        i += length
        end_a = i
        end_b = j + length
    return runs[:n]


@jit
def _heaviest_chain(runs: Places, size: int, size_b: int, before: Places) -> int:
    """The last run of the rising chain that holds most tokens, or −1; `before` leads back along the chain.

    The best chain that ends at or before each position of b stands in a Fenwick tree of maxima. A run may start up to
    size − 1 tokens before the end of the one it follows; the caller trims.
    """
    best = np.zeros(size_b + size + 2, np.int64)
    who = np.empty(size_b + size + 2, np.int64)
    heaviest = ZERO
    last = NOWHERE
    for c in range(len(runs)):
        weight = ZERO
        before[c] = -1
        at = runs[c, 1] + size
        while at > 0:
            if best[at] > weight:
                weight = best[at]
                before[c] = who[at]
            at -= at & -at
        weight += runs[c, 2]
        if weight > heaviest:
            heaviest = weight
            last = c
        at = runs[c, 1] + runs[c, 2] + 1
        while at < len(best):
            if weight > best[at]:
                best[at] = weight
                who[at] = c
            at += at & -at
    return last


@jit
def _equal_chance(a: Hashes, b: Hashes) -> float:
    """The chance that a token of a equals one of b, guessed from pairs spread over both."""
    hits = 0
    for s in range(SAMPLE):
        if a[(s * 7919) % len(a)] == b[(s * 104729 + s // 7) % len(b)]:
            hits += 1
    return (hits + 1) / (SAMPLE + 2)


@jit
def _tile(a: Hashes, b: Hashes, gap: Gap, p: float, blocks: Places, n: int) -> int:
    """Blocks of one gap: the heaviest rising chain of runs that are too long for chance."""
    i, i_end, j, j_end = gap
    size = 2 + math.ceil(1.5 * math.log(float(i_end - i) * (j_end - j)) / -math.log(p))
    if min(i_end - i, j_end - j) < size:
        return n
    runs = _shared_runs(a[i:i_end], b[j:j_end], size)
    before = np.empty(len(runs) + 1, np.int64)
    chain = np.empty(len(runs) + 1, np.int64)
    count = 0
    c = _heaviest_chain(runs, size, j_end - j, before)
    while c >= 0:
        chain[count] = c
        count += 1
        c = before[c]
    end = ZERO
    for q in range(count - 1, -1, -1):
        c = chain[q]
        passed = max(end - runs[c, 1], ZERO)
        n = _add(blocks, n, i + runs[c, 0] + passed, j + runs[c, 1] + passed, runs[c, 2] - passed)
        end = runs[c, 1] + runs[c, 2]
    return n


@jit
def _step(reached: Places, d: int, k: int, low: int, high: int) -> tuple[int, int]:
    """From where the best path comes to diagonal k with its d-th edit: its diagonal, and i after that edit."""
    if d == 0:
        return k, ZERO
    row = d * (d - 1) // 2 + (k + d) // 2
    down = reached[row] if k < min(d, high) else NOWHERE  # inserts a token of b
    right = reached[row - 1] if k > max(-d, low) else NOWHERE  # deletes a token of a
    if down > right:
        return k + 1, down
    return k - 1, right + 1


@jit
def _greedy(a: Hashes, b: Hashes, gap: Gap, reached: Places, snakes: Places) -> int:
    """A shortest edit script for the beginning of a gap, as far as `EDITS` edits lead: its runs of equal tokens.

    Row d of `reached` starts at d(d + 1)/2 and holds, for k = −d, −d + 2, …, d, the furthest i reached on diagonal k
    with d edits; diagonals outside the gap are never entered. Runs are written to `snakes` from last to first;
    the last one ends where the script does, and so may be empty. Returns their number.
    """
    i, i_end, j, j_end = gap
    low = j - j_end
    high = i_end - i
    best_d = ZERO
    best_k = ZERO
    furthest = NOWHERE
    d = ZERO
    while d <= EDITS and furthest < high - low:
        for k in range(max(-d, low + ((low + d) & 1)), min(d, high - ((high + d) & 1)) + 1, 2):
            x = _step(reached, d, k, low, high)[1]
            if x <= high and x - k <= -low:
                x += _common_start(a, b, (i + x, i_end, j + x - k, j_end))
                if 2 * x - k > furthest:
                    furthest = 2 * x - k
                    best_d = d
                    best_k = k
            reached[d * (d + 1) // 2 + (k + d) // 2] = x
        d += 1
    n = ZERO
    k = best_k
    for d in range(best_d, -1, -1):
        from_k, start = _step(reached, d, k, low, high)
        x = reached[d * (d + 1) // 2 + (k + d) // 2]
        if x > start or n == 0:
            _put(snakes, n, i + start, j + start - k, x - start)
            n += 1
        k = from_k
    return n


@jit
def _fill(a: Hashes, b: Hashes, gap: Gap, reached: Places, snakes: Places, blocks: Places, n: int) -> int:
    """Blocks of one gap along shortest edit scripts, one behind the other."""
    i, i_end, j, j_end = gap
    while i < i_end and j < j_end:
        for c in range(_greedy(a, b, (i, i_end, j, j_end), reached, snakes) - 1, -1, -1):
            n = _add(blocks, n, snakes[c, 0], snakes[c, 1], snakes[c, 2])
        i = snakes[0, 0] + snakes[0, 2]
        j = snakes[0, 1] + snakes[0, 2]
    return n


@jit
def _slide(a: Hashes, b: Hashes, blocks: Places, n: int) -> int:
    """Join a block to a longer neighbour where only one side has a gap between them and the text allows it.

    Of "the cat and the dog" and "the dog", the first "the" may be aligned or the second: the second,
    which stands with "dog", leaves one block instead of two.
    """
    kept = ZERO
    for c in range(n):
        i, j, length = blocks[c, 0], blocks[c, 1], blocks[c, 2]
        while kept > 0:
            p, q, size = blocks[kept - 1, 0], blocks[kept - 1, 1], blocks[kept - 1, 2]
            if p + size < i and q + size < j:
                break
            if size < length and _common_start(a, b, (i - size, i, j - size, j)) == size:
                kept -= 1
                i -= size
                j -= size
                length += size
                continue
            if (
                length <= size
                and _common_start(a, b, (p + size, p + size + length, q + size, q + size + length)) == length
            ):
                blocks[kept - 1, 2] += length
                length = ZERO
            break
        if length > 0:
            _put(blocks, kept, i, j, length)
            kept += 1
    return kept


@jit
def _is_chance(length: int, before: int, after: int, edges: bool) -> bool:
    """Whether an agreement of few tokens between longer changes should not count.

    With `edges` that holds for a block at the edge of both documents too, beside a change that is much longer:
    every story of a news agency ends with its name.
    """
    if length > CHANCE:
        return False
    if edges and min(before, after) == 0:
        return max(before, after) > EDGE * length
    return min(before, after) > length


@jit
def _drop_chance(blocks: Places, n: int, sizes: tuple[int, int], edges: bool) -> int:
    """Dissolve chance agreements, first going right, then going left, each time seeing what has gone."""
    kept = ZERO
    end_a = ZERO
    end_b = ZERO
    for c in range(n):
        i, j, length = blocks[c, 0], blocks[c, 1], blocks[c, 2]
        next_a = blocks[c + 1, 0] if c + 1 < n else sizes[0]
        next_b = blocks[c + 1, 1] if c + 1 < n else sizes[1]
        before = max(i - end_a, j - end_b)
        after = max(next_a - i - length, next_b - j - length)
        if not _is_chance(length, before, after, edges):
            _put(blocks, kept, i, j, length)
            kept += 1
            end_a = i + length
            end_b = j + length
    n = kept
    next_a = sizes[0]
    next_b = sizes[1]
    for c in range(n - 1, -1, -1):
        i, j, length = blocks[c, 0], blocks[c, 1], blocks[c, 2]
        end_a = blocks[c - 1, 0] + blocks[c - 1, 2] if c > 0 else ZERO
        end_b = blocks[c - 1, 1] + blocks[c - 1, 2] if c > 0 else ZERO
        before = max(i - end_a, j - end_b)
        after = max(next_a - i - length, next_b - j - length)
        if not _is_chance(length, before, after, edges):
            kept -= 1
            _put(blocks, kept, i, j, length)
            next_a = i
            next_b = j
    for c in range(kept, n):
        _put(blocks, c - kept, blocks[c, 0], blocks[c, 1], blocks[c, 2])
    return n - kept


@jit
def _align(a: Hashes, b: Hashes, edges: bool) -> Places:
    """See `align`; with `edges`, chance is looked for at the edges of the documents too."""
    least = min(len(a), len(b))
    blocks = np.empty((least + 2, 3), np.int64)
    start = _common_start(a, b, (ZERO, len(a), ZERO, len(b)))
    n = _add(blocks, ZERO, ZERO, ZERO, start)
    if start == least:
        return blocks[:n]
    tail = ZERO
    while tail < least - start and a[len(a) - tail - 1] == b[len(b) - tail - 1]:
        tail += 1
    n = _add(blocks, n, len(a) - tail, len(b) - tail, tail)
    p = _equal_chance(a, b)
    edits = min(EDITS, len(a) + len(b)) + 1
    reached = np.empty(edits * (edits + 1) // 2, np.int64)
    snakes = np.empty((edits, 3), np.int64)
    other = np.empty((least + 2, 3), np.int64)
    for turn in range(3):
        found = ZERO
        i = ZERO
        j = ZERO
        for c in range(n + 1):
            i_end = blocks[c, 0] if c < n else len(a)
            j_end = blocks[c, 1] if c < n else len(b)
            if i < i_end and j < j_end:
                if turn < 2:
                    found = _tile(a, b, (i, i_end, j, j_end), p, other, found)
                else:
                    found = _fill(a, b, (i, i_end, j, j_end), reached, snakes, other, found)
            if c < n:
                found = _add(other, found, i_end, j_end, blocks[c, 2])
                i = i_end + blocks[c, 2]
                j = j_end + blocks[c, 2]
        blocks, other = other, blocks
        n = found
    n = _slide(a, b, blocks, n)
    n = _drop_chance(blocks, n, (len(a), len(b)), edges)
    return blocks[:n]


@jit
def _outlines(hashes: Hashes, offsets: Offsets, lefts: Places, rights: Places, edges: bool, out: Places) -> None:
    for p in range(len(lefts)):
        a = hashes[offsets[lefts[p]] : offsets[lefts[p] + 1]]
        b = hashes[offsets[rights[p]] : offsets[rights[p] + 1]]
        blocks = _align(a, b, edges)
        n = len(blocks)
        aligned = ZERO
        for c in range(n):
            aligned += blocks[c, 2]
        out[p, 0] = aligned
        for side in range(2):
            size = len(a) if side == 0 else len(b)
            span = blocks[n - 1, side] + blocks[n - 1, 2] - blocks[0, side] if n > 0 else ZERO
            out[p, 1 + 2 * side] = size - span
            out[p, 2 + 2 * side] = span - aligned


def align(left: Hashes, right: Hashes) -> Places:
    """Rows (left start, right start, length) of equal tokens, rising and disjoint on both sides."""
    return _align(frozen(left, np.uint64, "left"), frozen(right, np.uint64, "right"), False)


def outlines(hashes: Hashes, offsets: Offsets, lefts: Places, rights: Places) -> Places:
    """What the alignment of each pair of documents comes to, five counts of tokens a row.

    Aligned; of the left document, unaligned at its edges (before the first block and behind the last) and inside;
    of the right document, the same two. Without any block everything is edge.
    """
    hashes = frozen(hashes, np.uint64, "hashes")
    offsets = frozen_offsets(offsets, len(hashes))
    lefts = frozen(lefts, np.int64, "lefts")
    rights = frozen(rights, np.int64, "rights")
    if len(lefts) != len(rights):
        raise ValueError(f"lefts and rights must be equally long, not {len(lefts)} and {len(rights)}")
    for side in (lefts, rights):
        if len(side) and not 0 <= side.min() <= side.max() < len(offsets) - 1:
            raise ValueError(f"documents must be numbered from 0 to {len(offsets) - 2}")
    out = np.empty((len(lefts), 5), np.int64)
    _outlines(hashes, offsets, lefts, rights, True, out)
    return out


def shared_runs(left: Hashes, right: Hashes, size: int) -> Places:
    """Rows (left start, right start, length) of `size` equal tokens or more, rising and disjoint on the left."""
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    return _shared_runs(frozen(left, np.uint64, "left"), frozen(right, np.uint64, "right"), size)


def warm_up() -> None:
    """Compile every kernel here."""
    left = np.arange(12, dtype=np.uint64)
    right = left[::-1].copy()
    align(left, right)
    outlines(np.concatenate((left, right)), np.array([0, 12, 24]), np.array([0]), np.array([1]))
    shared_runs(left, right, 2)
