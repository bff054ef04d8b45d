"""Which places of the collection hold the same tokens: classes of equal places, exactly, within the memory.

Windows: fingerprints by winnowing mark the starts of runs that may occur twice (two passes over the token file and one
bit per token); the runs of `least` tokens at these starts are filtered once more, keyed, sorted and verified. A run of
`least` tokens that stands in two places is never missed, and the tokens of every class have been compared.

Lines, sentences and paragraphs are places themselves, keyed by the digest of their tokens.

Against a reference, the filter has the fingerprints of the reference alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roughly.engines.workspace import Workspace
from roughly.errors import MemoryTooSmall
from roughly.kernels.repeats import (
    NO_CLASS,
    NO_LENGTHS,
    check_classes,
    gram_keys,
    keep_repeated_starts,
    key_classes,
    list_bits,
    mark_fingerprints,
    mark_starts,
)
from roughly.tools.passages.token_file import Ints, TokenFile

Classes = npt.NDArray[np.uint32]
_NO_FLAGS = np.empty(0, np.uint8)
_SLOTS = 16
"""Slots of a filter per fingerprint or run, at most."""
_ROW_BYTES = 24
"""Memory per place of a share: its row to be sorted, and its number among the members."""
_PLACE_BYTES = 40
"""Memory per place: its start, its key, its class, and its number among the members, twice while these are joined."""


@dataclass(frozen=True)
class RepeatedPlaces:
    """Places in the order of their starts; those of one class hold the same tokens."""

    starts: Ints
    lengths: Ints  # empty where all places have `least` tokens
    least: int
    classes: Classes  # NO_CLASS: it occurs once
    members: Ints  # the places of class 0, then those of class 1, …; ascending within a class
    class_offsets: Ints

    @property
    def class_sizes(self) -> Ints:
        """The number of places of each class."""
        return np.diff(self.class_offsets)

    def length_of(self, places: Ints) -> Ints:
        """The number of tokens of some places."""
        return self.lengths[places] if len(self.lengths) else np.full(len(places), self.least, np.int64)


def blocks_of(counts: Ints, most: int = 1 << 22) -> list[tuple[int, int]]:
    """Ranges of classes with about this number of places together."""
    totals = np.cumsum(counts)
    edges, begin = [], 0
    while begin < len(counts):
        before = int(totals[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(totals, before + most, "right")))
        edges.append((begin, end))
        begin = end
    return edges


def find_places(
    file: TokenFile, workspace: Workspace, *, least: int, reference: int, threads: int, memory: int
) -> RepeatedPlaces:
    """All places that occur twice; `reference` documents at the end are what the others are compared with."""
    if workspace.found("places") is None:
        if file.unit_lengths is None:
            found = _windows(file, least, reference, threads, memory)
        else:
            found = _units(file, least, threads, memory)
        names = ("starts", "lengths", "classes", "members", "class_offsets")
        workspace.save("places", {name: getattr(found, name) for name in names}, {"least": found.least})
        return found
    names = ("starts", "lengths", "classes", "members", "class_offsets")
    starts, lengths, classes, members, offsets = (workspace.array("places", name) for name in names)
    return RepeatedPlaces(starts, lengths, least, classes, members, offsets)


def _windows(file: TokenFile, least: int, reference: int, threads: int, memory: int) -> RepeatedPlaces:
    tokens, offsets = file.tokens, file.offsets
    k = -(-least // 2)
    w = least - k + 1
    starts = np.zeros(len(tokens) // 64 + 1, np.uint64)
    once, twice = _filters(2 * len(tokens) // (w + 1), memory)
    if reference:
        own, others = offsets[-reference - 1 :], offsets[: len(offsets) - reference]
        mark_fingerprints(tokens, own, k, w, once, twice, threads)
        mark_starts(tokens, others, k, w, once, starts, threads)
        _mark_all(starts, own, least)
    else:
        mark_fingerprints(tokens, offsets, k, w, once, twice, threads)
        mark_starts(tokens, offsets, k, w, twice, starts, threads)
    del once, twice
    marked = int(np.bitwise_count(starts).sum())
    once, twice = _filters(marked, memory)
    keep_repeated_starts(tokens, offsets, least, starts, once, twice, threads)
    del once, twice
    _check_memory(int(np.bitwise_count(starts).sum()), memory)
    places = list_bits(starts)
    del starts
    return _grouped(
        tokens, places, NO_LENGTHS, least, gram_keys(tokens, places, least, threads), _NO_FLAGS, threads, memory
    )


def _units(file: TokenFile, least: int, threads: int, memory: int) -> RepeatedPlaces:
    from roughly.kernels.hashing import hash_sequences

    assert file.unit_lengths is not None
    _check_memory(len(file.unit_lengths), memory)
    edges = np.concatenate([[0], np.cumsum(file.unit_lengths)]).astype(np.int64)
    keys = np.ascontiguousarray(hash_sequences(file.tokens, edges)[:, 0])
    used = (file.unit_lengths >= least).astype(np.uint8)
    starts = np.ascontiguousarray(edges[:-1])
    return _grouped(file.tokens, starts, file.unit_lengths, least, keys, used, threads, memory)


def _grouped(
    tokens: npt.NDArray[np.uint64],
    starts: Ints,
    lengths: Ints,
    least: int,
    keys: npt.NDArray[np.uint64],
    used: npt.NDArray[np.uint8],
    threads: int,
    memory: int,
) -> RepeatedPlaces:
    """The classes of places with equal keys, a share of the keys at a time, verified on their tokens."""
    bits = max(0, (-(-len(keys) * _ROW_BYTES // max(1, memory // 4)) - 1).bit_length())
    found = [key_classes(keys, used, share, bits, threads) for share in range(1 << bits)]
    members, sizes = found[0] if len(found) == 1 else (np.concatenate(column) for column in zip(*found, strict=True))
    del found, keys
    places = _places(starts, lengths, least, members, sizes)
    firsts = np.ascontiguousarray(members[places.class_offsets[:-1]])
    wrong = check_classes(tokens, starts, lengths, least, places.classes, firsts, threads)
    return places if not len(wrong) else _split(tokens, places, wrong)


def _places(starts: Ints, lengths: Ints, least: int, members: Ints, sizes: Ints) -> RepeatedPlaces:
    classes = np.full(len(starts), NO_CLASS, np.uint32)
    classes[members] = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return RepeatedPlaces(starts, lengths, least, classes, members, offsets)


def _split(tokens: npt.NDArray[np.uint64], places: RepeatedPlaces, wrong: Ints) -> RepeatedPlaces:
    """Classes whose keys are equal by chance are divided by their tokens."""
    bad = np.zeros(len(places.class_sizes), np.bool_)
    bad[places.classes[wrong]] = True
    by_tokens: dict[bytes, list[int]] = {}
    mixed = places.members[np.repeat(bad, places.class_sizes)]
    for place, length in zip(mixed.tolist(), places.length_of(mixed).tolist(), strict=True):
        start = places.starts[place]
        by_tokens.setdefault(tokens[start : start + length].tobytes(), []).append(place)
    groups = [group for group in by_tokens.values() if len(group) > 1]
    members = places.members[~np.repeat(bad, places.class_sizes)]
    members = np.concatenate([members, *(np.array(sorted(group), np.int64) for group in groups)])
    sizes = np.concatenate([places.class_sizes[~bad], np.array([len(group) for group in groups], np.int64)])
    return _places(places.starts, places.lengths, places.least, members, sizes)


def _filters(count: int, memory: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Two filters for this number of hashes, with as many slots as a quarter of the memory is enough for."""
    most = max(64, memory // 64)  # words of one of them
    words = 1 << max(4, (_SLOTS * count // 64).bit_length())
    while words > most:
        words //= 2
    return np.zeros(words, np.uint64), np.zeros(words, np.uint64)


def _mark_all(starts: npt.NDArray[np.uint64], offsets: Ints, least: int) -> None:
    """Mark every start of a run of `least` tokens within the documents."""
    first, last = int(offsets[0]), int(offsets[-1])
    is_start = np.zeros(last - first, np.bool_)
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        is_start[begin - first : max(begin, end - least + 1) - first] = True
    at = np.flatnonzero(is_start) + first
    np.bitwise_or.at(starts, at >> 6, np.uint64(1) << (at & 63).astype(np.uint64))


def _check_memory(places: int, memory: int) -> None:
    if places * _PLACE_BYTES > memory:
        raise MemoryTooSmall(
            f"{places:,} places may be repeated and need {places * _PLACE_BYTES >> 20} MB, more than the "
            f"{memory >> 20} MB available for them; raise --memory, or --least"
        )
