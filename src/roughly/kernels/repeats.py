"""Repeated runs of tokens: winnowing, classes of equal places, the walk that decides which place is kept.

The rules and their proofs are in `core/winnowing.hpp`, `core/repeats.hpp` and `core/units.hpp`. A collection is an
array of tokens by number and the n + 1 offsets of its documents; a *place* is a run of tokens of it, given by its
start, and by its length where lengths differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words, frozen, frozen_offsets

Flags = npt.NDArray[np.uint8]
UNITS = ("line", "sentence", "paragraph")
NO_LENGTHS = np.empty(0, np.int64)
"""All places have one length."""
_WORDS = 1 << 20
"""Words of a bitmap that are counted together."""
NO_BITS, NO_RANKS = np.empty(0, np.uint64), np.empty(0, np.uint32)
"""Classes are not numbered yet."""


class PlaceArrays(NamedTuple):
    """Places in the order of their starts; equal places form a class.

    The classes of two places or more are numbered in the order of their first places, by `repeated` and `ranks`.
    """

    starts: Offsets
    lengths: Offsets  # empty where all places have `least` tokens
    least: int
    firsts: Offsets  # of each place the first place of its class
    repeated: Hashes = NO_BITS  # a bit per place: the first place of a class of two or more
    ranks: Words = NO_RANKS  # the bits before each word of `repeated`


class ClassArrays(NamedTuple):
    """What is known of each class."""

    places: Words
    documents: Words
    breaks: Flags  # 1: some place is not followed, one token later, by a place of the class of the next row


class KeptArrays(NamedTuple):
    """What the walk has kept so far; all 0 at the start."""

    first: Offsets  # 1 + the first kept place, per class
    bits: Hashes  # a bit per place


class WalkRules(NamedTuple):
    """What the walk removes."""

    least_left: int  # a document of which fewer tokens are left is removed whole; 0: none is
    only_reference: bool  # only what is in a reference document is a copy


def mark_fingerprints(
    tokens: Words, offsets: Offsets, k: int, w: int, once: Hashes, twice: Hashes, threads: int
) -> None:
    """Mark the fingerprints of every document in the filters, which have the same power of two of words."""
    _core.mark_fingerprints(*_rows(tokens, offsets), k, w, once, twice, threads)


def mark_starts(
    tokens: Words, offsets: Offsets, k: int, w: int, filter_words: Hashes, starts: Hashes, threads: int
) -> None:
    """Mark the starts of runs of k + w − 1 tokens that hold a fingerprint of the filter; one bit per token."""
    _core.mark_starts(*_rows(tokens, offsets), k, w, filter_words, starts, threads)


def mark_grams(
    tokens: Words, offsets: Offsets, least: int, starts: Hashes, once: Hashes, twice: Hashes, threads: int
) -> None:
    """Mark the runs of `least` tokens at the marked starts in the filters."""
    _core.mark_grams(*_rows(tokens, offsets), least, starts, once, twice, threads)


def clear_starts(tokens: Words, offsets: Offsets, least: int, starts: Hashes, twice: Hashes, threads: int) -> None:
    """Clear the marked starts of runs that occur once; a few of them remain by chance."""
    _core.clear_starts(*_rows(tokens, offsets), least, starts, twice, threads)


def append_in_pieces(file: int, data: Bytes, piece: int) -> None:
    """Write to the end of a file, given by its descriptor, `piece` bytes at a time."""
    _core.append_in_pieces(file, data, piece)


def list_bits(words: Hashes) -> Offsets:
    """The positions of all bits that are set."""
    return _core.list_bits(words)


def gram_keys(tokens: Words, starts: Offsets, least: int, threads: int) -> Hashes:
    """The key of the run of `least` tokens at each start."""
    return _core.gram_keys(frozen(tokens, np.uint32, "tokens"), frozen(starts, np.int64, "starts"), least, threads)


def sort_by_share(
    share: Words, left: Offsets, right: Words, shares: int, rows: tuple[Offsets, Words], threads: int
) -> Offsets:
    """Write rows (left, right) by share, in their order; returns where each share begins, and the number of rows."""
    return _core.sort_by_share(share, left, right, shares, rows, threads)


def first_places(rows: Offsets, threads: int) -> None:
    """Replace the key of each row (key, place) by the place of the first row with that key."""
    _core.first_places(rows, threads)


def put_firsts(found: Offsets, places: Words, begin: int, firsts: Offsets, threads: int) -> None:
    """Write first places of some places, counted from `begin`; any other place is its own first place."""
    _core.put_firsts(found, places, begin, firsts, threads)


def check_classes(tokens: Words, places: PlaceArrays, begin: int, end: int, threads: int) -> Offsets:
    """Those of the places from `begin` to `end` whose tokens differ from those of the first place of their class."""
    return _core.check_classes(frozen(tokens, np.uint32, "tokens"), places, begin, end, threads)


def number_classes(
    places: PlaceArrays, blocks: Iterable[tuple[int, int]], threads: int, room: tuple[Hashes, Words]
) -> tuple[PlaceArrays, int]:
    """The places with numbered classes, and the number of classes; `blocks` are ranges of places that cover all.

    `room` becomes `repeated` and `ranks`; it is 0 at first, with a word each per 64 places.
    """
    repeated, ranks = room
    for begin, end in blocks:
        _core.mark_repeated(places.firsts, begin, end, repeated, threads)
    classes = 0
    for at in range(0, len(repeated), _WORDS):
        counts = np.bitwise_count(repeated[at : at + _WORDS])
        ranks[at : at + _WORDS] = classes + np.cumsum(counts, dtype=np.uint32) - counts
        classes += int(counts.sum())
    return places._replace(repeated=repeated, ranks=ranks), classes


def class_numbers(places: PlaceArrays, begin: int, end: int) -> Offsets:
    """The numbers of the classes of the places from `begin` to `end`; −1 for a place that occurs once."""
    return _core.class_numbers(places, begin, end)


def count_classes(
    offsets: Offsets, places: PlaceArrays, begin: int, end: int, classes: ClassArrays, threads: int
) -> None:
    """Count the places from `begin` to `end`, which begin and end between documents.

    `classes` has one row more than there are classes. Its counts are the sums of what is written up to their row.
    """
    _core.count_classes(offsets, places, begin, end, *classes, threads)


def list_passages(places: PlaceArrays, used: Flags, classes: ClassArrays, begin: int, end: int) -> Offsets:
    """Rows (first token, tokens, places, documents): maximal runs of tokens with one list of places.

    Only those whose first place is in the range, which begins and ends between documents.
    """
    return _core.list_passages(places, used, classes.places, classes.documents, classes.breaks, begin, end)


def repeated_runs(
    offsets: Offsets, places: PlaceArrays, used: Flags, removed: Offsets, begin: int, end: int
) -> Offsets:
    """Rows (start, length, witness): the removed runs, and what else is in places of used classes, with witness −1.

    What is kept are maximal runs; units are runs of their own. Only the places and the removed runs of the range, which
    begins and ends between documents.
    """
    return _core.repeated_runs(offsets, places, used, removed, begin, end)


def walk_copies(
    offsets: Offsets,
    order: Offsets,
    reference: Flags,
    places: PlaceArrays,
    used: Flags,
    kept: KeptArrays,
    rules: WalkRules,
    threads: int,
) -> tuple[Offsets, Offsets]:
    """The removed runs, as rows (start, length, witness), and the documents that are removed whole.

    Documents are taken in `order`; those of the reference are kept as they are. `kept` has what earlier calls kept.
    """
    return _core.walk_copies(offsets, order, reference, places, used, kept, rules, threads)


def find_numbers(tables: list[Hashes], hashes: Hashes) -> Words:
    """The number of each token in the tables of `core/token_numbers.hpp`; 2^32 − 1 where it has none."""
    return _core.find_numbers(tables, frozen(hashes, np.uint64, "hashes"))


def add_numbers(tables: list[Hashes], hashes: Hashes, numbers: Words, used: int) -> tuple[int, int]:
    """Number the tokens without a number until half of the last table, with `used` slots in use, is full.

    Returns how many tokens are done, and how many slots are now in use.
    """
    return _core.add_numbers(tables, frozen(hashes, np.uint64, "hashes"), numbers, used)


def unit_ends(data: Bytes, offsets: Offsets, unit: str) -> tuple[Offsets, Offsets]:
    """Where each line, sentence or paragraph ends, and the n + 1 offsets of the texts in that list."""
    data = frozen(data, np.uint8, "data")
    return _core.unit_ends(data, frozen_offsets(offsets, len(data)), UNITS.index(unit))


def _rows(tokens: Words, offsets: Offsets) -> tuple[Words, Offsets]:
    tokens = frozen(tokens, np.uint32, "tokens")
    return tokens, frozen_offsets(offsets, len(tokens))
