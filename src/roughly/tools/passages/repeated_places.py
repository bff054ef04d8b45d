"""Which places of the collection hold the same tokens: of each place the first that is equal, exactly, at any size.

Windows: fingerprints by winnowing mark the starts of runs that may occur twice (two passes over the token file and one
bit per token); the runs of `least` tokens at these starts are filtered once more. A run of `least` tokens that occurs
in two places is never missed.

Lines, sentences and paragraphs are places themselves.

Places are keyed by their tokens and sorted by key, a share of the keys at a time, so that a share fits the memory. The
tokens of every place are compared with those of the first place of its class.

Against a reference, the filter has the fingerprints of the reference alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.kernels.hashing import hash_numbers
from roughly.kernels.repeats import (
    NO_LENGTHS,
    PlaceArrays,
    check_classes,
    clear_starts,
    first_places,
    gram_keys,
    list_bits,
    mark_fingerprints,
    mark_grams,
    mark_starts,
    number_classes,
    put_firsts,
)
from roughly.meter import Stage
from roughly.threads import map_in_order
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays, Words
from roughly.tools.passages.spilled_rows import SpilledRows
from roughly.tools.passages.token_file import TokenFile

R = TypeVar("R")
_SLOTS = 16
"""Slots of a filter per fingerprint or run, at most."""
_WORDS = 1 << 16
"""Words of the bitmap of starts that are listed together."""

_PASS, _GROUPS = 20, 20
"""Parts of the time that one of four passes over the tokens takes, and the grouping of the places after them."""

_SEARCHED = 16
"""Edges of blocks that are searched for before memory is given back: each step of a search may be anywhere."""
_CHECKED = 1 << 16
"""Places that are compared together, at most: their first places may be anywhere."""


class PlaceBlock(NamedTuple):
    """The places begin … end − 1 of some documents, which have the tokens from `first` to `last`."""

    begin: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class RepeatedPlaces:
    """Places by start, and blocks of them that begin and end between documents."""

    arrays: PlaceArrays
    classes: int  # of two places or more
    blocks: list[PlaceBlock]
    threads: int

    def __len__(self) -> int:
        return len(self.arrays.starts)

    def map_blocks(self, function: Callable[[PlaceBlock], R]) -> Iterator[R]:
        """What a function, called on several threads, makes of every block, in their order."""
        return map_in_order(function, self.blocks, self.threads)


@dataclass(frozen=True)
class PlaceSearch:
    """Finds the places of one collection."""

    file: TokenFile
    maps: MappedArrays
    least: int
    reference: int  # documents at the end that the others are compared with
    threads: int

    def find(self, stage: Stage) -> RepeatedPlaces:
        """All places that occur twice; a resumed run uses what an earlier one has stored."""
        work, lengths = self.maps.workspace, self.file.unit_lengths
        stage.reused = work.found("places") is not None
        if not stage.reused:
            stage.total = _GROUPS + (4 * _PASS if lengths is None else 0)
            starts = self._windows(stage) if lengths is None else self._units(lengths)
            self._group(starts, stage)
            work.commit("places", [self.maps.path("starts"), self.maps.path("firsts")], {})
        self.file.forget_tokens(self.maps)
        starts, firsts = (self.maps.open(name, np.int64) for name in ("starts", "firsts"))
        arrays = PlaceArrays(starts, NO_LENGTHS if lengths is None else lengths, self.least, firsts)
        tokens = self.file.offsets[self.file.blocks(self.maps.memory)]
        some = (tokens[at : at + _SEARCHED] for at in range(0, len(tokens), _SEARCHED))
        found = self.maps.releasing(np.searchsorted(starts, part).tolist() for part in some)
        edges = [*chain.from_iterable(found)]
        edges[-1] = len(starts)
        self.maps.release()
        words = len(starts) // 64 + 1
        bits, ranks = self.maps.new("repeated", np.uint64, words), self.maps.new("ranks", np.uint32, words)
        arrays, classes = number_classes(arrays, self.maps.releasing(pairwise(edges)), self.threads, (bits, ranks))
        blocks = zip(edges[:-1], edges[1:], tokens[:-1].tolist(), tokens[1:].tolist(), strict=True)
        return RepeatedPlaces(arrays, classes, [PlaceBlock(*block) for block in blocks], self.threads)

    def _offsets(self, first: int, last: int) -> list[Ints]:
        """The offsets of documents first … last − 1, block after block."""
        edges = np.unique(np.clip(self.file.blocks(self.maps.memory), first, last))
        return [self.file.offsets[begin : end + 1] for begin, end in pairwise(edges.tolist())]

    def _windows(self, stage: Stage) -> Ints:
        """The starts of all runs of `least` tokens that may occur twice."""
        tokens, threads, least = self.file.tokens, self.threads, self.least
        k = -(-least // 2)
        w = least - k + 1
        every, own = len(self.file), len(self.file) - self.reference
        marked = self.maps.new("marked", np.uint64, len(tokens) // 64 + 1)
        once, twice = _filters(2 * len(tokens) // (w + 1), self.maps.memory)
        for offsets in stage.over(self._offsets(own if self.reference else 0, every), _PASS):
            mark_fingerprints(tokens, offsets, k, w, once, twice, threads)
            self.maps.release()
        for offsets in stage.over(self._offsets(0, own), _PASS):
            mark_starts(tokens, offsets, k, w, once if self.reference else twice, marked, threads)
            self.maps.release()
        for offsets in self._offsets(own, every):
            _mark_all(marked, offsets, least)
        del once, twice
        blocks = range(0, len(marked), _WORDS)
        once, twice = _filters(
            sum(int(np.bitwise_count(marked[at : at + _WORDS]).sum()) for at in blocks), self.maps.memory
        )
        for offsets in stage.over(self._offsets(0, every), _PASS):
            mark_grams(tokens, offsets, least, marked, once, twice, threads)
            self.maps.release()
        for offsets in stage.over(self._offsets(0, every), _PASS):
            clear_starts(tokens, offsets, least, marked, twice, threads)
            self.maps.release()
        del once, twice
        starts = self.maps.new(
            "starts", np.int64, sum(int(np.bitwise_count(marked[at : at + _WORDS]).sum()) for at in blocks)
        )
        done = 0
        for at in blocks:
            some = list_bits(marked[at : at + _WORDS])
            starts[done : done + len(some)] = some + 64 * at
            done += len(some)
            self.maps.release()
        del marked
        self.maps.delete("marked")
        return starts

    def _units(self, lengths: Ints) -> Ints:
        """The starts of all units."""
        starts = self.maps.new("starts", np.int64, len(lengths))
        done = 0
        for begin, end in self._ranges(len(lengths)):
            ends = done + np.cumsum(lengths[begin:end])
            starts[begin:end] = ends - lengths[begin:end]
            done = int(ends[-1])
            self.maps.release()
        return starts

    def _ranges(self, count: int, most: int = 1 << 22) -> list[tuple[int, int]]:
        step = max(1 << 10, min(most, self.maps.memory // 256))
        return [(begin, min(count, begin + step)) for begin in range(0, count, step)]

    def _keys(self, starts: Ints, begin: int, end: int) -> tuple[npt.NDArray[np.uint64], Words]:
        """The keys and the numbers, from 0, of those places of a range that can be repeated."""
        numbers, lengths = np.arange(end - begin, dtype=np.uint32), self.file.unit_lengths
        if lengths is None:
            return gram_keys(self.file.tokens, starts[begin:end], self.least, self.threads), numbers
        edges = np.append(starts[begin:end], starts[end - 1] + lengths[end - 1])
        is_used = lengths[begin:end] >= self.least
        return hash_numbers(self.file.tokens, edges)[is_used, 0], numbers[is_used]

    def _group(self, starts: Ints, stage: Stage) -> None:
        """Write the first place of the class of each place."""
        count, ranges = len(starts), self._ranges(len(starts))
        rows = SpilledRows(self.maps, "keys", count, self.threads)
        for begin, end in stage.over(ranges, _GROUPS // 4):
            keys, numbers = self._keys(starts, begin, end)
            share = (keys >> np.uint64(32)) >> np.uint64(32 - rows.bits)
            rows.append(share.astype(np.uint32), keys.view(np.int64), numbers, begin)
        for number in stage.over(range(rows.shares), _GROUPS // 4):
            rows.replace(number, FirstPlaces(self.threads).of)
        firsts = rows.left  # they take the room of the keys
        for number, (begin, end) in enumerate(stage.over(ranges, _GROUPS // 4)):
            put_firsts(*rows.block(number), begin, firsts[begin:end], self.threads)
            self.maps.release()
        rows.keep_left("firsts")
        self._verify(starts, firsts, ranges, stage)

    def _verify(self, starts: Ints, firsts: Ints, ranges: list[tuple[int, int]], stage: Stage) -> None:
        """Compare all places with their first places, token by token; divide classes of keys equal by chance."""
        lengths = self.file.unit_lengths
        places = PlaceArrays(starts, NO_LENGTHS if lengths is None else lengths, self.least, firsts)
        wrong = []
        for begin, end in stage.over(self._ranges(len(starts), self.maps.at_once(_CHECKED)), _GROUPS // 4):
            wrong.append(firsts[check_classes(self.file.tokens, places, begin, end, self.threads)])
            self.maps.release()
        mixed = np.unique(np.concatenate([np.empty(0, np.int64), *wrong]))
        by_tokens: dict[bytes, int] = {}
        for begin, end in ranges if len(mixed) else ():
            for place in (begin + np.flatnonzero(np.isin(firsts[begin:end], mixed))).tolist():
                length = self.least if lengths is None else int(lengths[place])
                own = self.file.tokens[starts[place] : starts[place] + length].tobytes()
                firsts[place] = by_tokens.setdefault(own, place)


class FirstPlaces:
    """The first place of every key of a share, of which rows (key, place) come in order, some at a time."""

    def __init__(self, threads: int) -> None:
        self._threads, self._known = threads, np.empty((0, 2), np.int64)

    def of(self, rows: Ints, is_last: bool) -> Ints:
        """Rows (first place, place)."""
        before = len(self._known)
        if before:
            rows = np.concatenate([self._known, rows])
        keys = rows[:0, 0] if is_last else rows[:, 0].copy()
        first_places(rows, self._threads)
        if not is_last:
            is_first = rows[:, 0] == rows[:, 1]
            self._known = np.column_stack([keys[is_first], rows[is_first, 1]])
        return rows[before:]


def _filters(count: int, memory: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Two filters for this number of hashes, with as many slots as a quarter of the memory is enough for."""
    most = max(64, memory // 64)  # words of one of them
    words = 1 << max(4, (_SLOTS * count // 64).bit_length())
    while words > most:
        words //= 2
    return np.zeros(words, np.uint64), np.zeros(words, np.uint64)


def _mark_all(marked: npt.NDArray[np.uint64], offsets: Ints, least: int) -> None:
    """Mark every start of a run of `least` tokens within the documents."""
    first, last = int(offsets[0]), int(offsets[-1])
    is_start = np.zeros(last - first, np.bool_)
    for begin, end in pairwise(offsets.tolist()):
        is_start[begin - first : max(begin, end - least + 1) - first] = True
    at = np.flatnonzero(is_start) + first
    np.bitwise_or.at(marked, at >> 6, np.uint64(1) << (at & 63).astype(np.uint64))
