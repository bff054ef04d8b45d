"""Repeated runs of tokens: winnowing, classes of equal places, the walk that decides which place is kept.

The rules and their proofs are in `core/winnowing.hpp`, `core/repeats.hpp` and `core/units.hpp`. A collection is an
array of token hashes and the n + 1 offsets of its documents; a *place* is a run of tokens of it, given by its start,
and by its length where lengths differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words, frozen, frozen_offsets

Flags = npt.NDArray[np.uint8]
UNITS = ("line", "sentence", "paragraph")
NO_LENGTHS = np.empty(0, np.int64)
"""All places have one length."""


class PlaceArrays(NamedTuple):
    """Places in the order of their starts. Equal places form a class, known by the number of its first place."""

    starts: Offsets
    lengths: Offsets  # empty where all places have `least` tokens
    least: int
    firsts: Offsets  # of each place the first place of its class


class ClassArrays(NamedTuple):
    """What is known of each class, in the row of its first place."""

    places: Words
    documents: Words
    last: Words  # 1 + the document that was counted last
    breaks: Flags  # 1: some place is not followed, one token later, by a place of the class of the next row


class KeptArrays(NamedTuple):
    """What the walk has kept so far; all 0 at the start."""

    first: Offsets  # 1 + the first kept place of each class
    bits: Hashes  # a bit per place


def mark_fingerprints(
    tokens: Hashes, offsets: Offsets, k: int, w: int, once: Hashes, twice: Hashes, threads: int
) -> None:
    """Mark the fingerprints of every document in the filters, which have the same power of two of words."""
    _core.mark_fingerprints(*_rows(tokens, offsets), k, w, once, twice, threads)


def mark_starts(
    tokens: Hashes, offsets: Offsets, k: int, w: int, filter_words: Hashes, starts: Hashes, threads: int
) -> None:
    """Mark the starts of runs of k + w − 1 tokens that hold a fingerprint of the filter; one bit per token."""
    _core.mark_starts(*_rows(tokens, offsets), k, w, filter_words, starts, threads)


def mark_grams(
    tokens: Hashes, offsets: Offsets, least: int, starts: Hashes, once: Hashes, twice: Hashes, threads: int
) -> None:
    """Mark the runs of `least` tokens at the marked starts in the filters."""
    _core.mark_grams(*_rows(tokens, offsets), least, starts, once, twice, threads)


def clear_starts(tokens: Hashes, offsets: Offsets, least: int, starts: Hashes, twice: Hashes, threads: int) -> None:
    """Clear the marked starts of runs that occur once; a few of them remain by chance."""
    _core.clear_starts(*_rows(tokens, offsets), least, starts, twice, threads)


def list_bits(words: Hashes) -> Offsets:
    """The positions of all bits that are set."""
    return _core.list_bits(words)


def gram_keys(tokens: Hashes, starts: Offsets, least: int, threads: int) -> Hashes:
    """The key of the run of `least` tokens at each start."""
    return _core.gram_keys(frozen(tokens, np.uint64, "tokens"), frozen(starts, np.int64, "starts"), least, threads)


def sort_by_share(share: Words, left: Offsets, right: Offsets, shares: int, rows: Offsets, threads: int) -> Offsets:
    """Write rows (left, right) by share, in their order; returns where each share begins, and the number of rows."""
    return _core.sort_by_share(share, left, right, shares, rows, threads)


def first_places(rows: Offsets, threads: int) -> None:
    """Replace the key of each row (key, place) by the place of the first row with that key."""
    _core.first_places(rows, threads)


def put_firsts(rows: Offsets, begin: int, firsts: Offsets, threads: int) -> None:
    """Write rows (first place, place) to the places from `begin` on; a place without a row is its own first place."""
    _core.put_firsts(rows, begin, firsts, threads)


def check_classes(tokens: Hashes, places: PlaceArrays, begin: int, end: int, threads: int) -> Offsets:
    """Those of the places from `begin` to `end` whose tokens differ from those of the first place of their class."""
    return _core.check_classes(frozen(tokens, np.uint64, "tokens"), places, begin, end, threads)


def count_classes(offsets: Offsets, places: PlaceArrays, begin: int, end: int, classes: ClassArrays) -> None:
    """Count the places from `begin` to `end`; ranges are given in order."""
    _core.count_classes(offsets, places, begin, end, *classes)


def list_passages(places: PlaceArrays, used: Flags, classes: ClassArrays, begin: int, end: int) -> Offsets:
    """Rows (first token, tokens, places, documents): maximal runs of tokens with one list of places.

    Only those whose first place is in the range, which begins and ends between documents.
    """
    return _core.list_passages(places, used, classes.places, classes.documents, classes.breaks, begin, end)


def repeated_runs(offsets: Offsets, places: PlaceArrays, used: Flags, begin: int, end: int) -> Offsets:
    """Rows (start, length): the maximal runs of tokens in places of used classes; units are runs of their own.

    Only the places of the range, which begins and ends between documents.
    """
    return _core.repeated_runs(offsets, places, used, begin, end)


def walk_copies(
    offsets: Offsets,
    order: Offsets,
    reference: Flags,
    places: PlaceArrays,
    used: Flags,
    kept: KeptArrays,
    least_left: int,
    only_reference: bool,
) -> tuple[Offsets, Offsets]:
    """The removed runs, as rows (start, length, witness), and the documents that are removed whole.

    Documents are taken in `order`; those of the reference are kept as they are. `kept` has what earlier calls kept.
    """
    return _core.walk_copies(offsets, order, reference, places, used, kept, least_left, only_reference)


def unit_ends(data: Bytes, offsets: Offsets, unit: str) -> tuple[Offsets, Offsets]:
    """Where each line, sentence or paragraph ends, and the n + 1 offsets of the texts in that list."""
    data = frozen(data, np.uint8, "data")
    return _core.unit_ends(data, frozen_offsets(offsets, len(data)), UNITS.index(unit))


def _rows(tokens: Hashes, offsets: Offsets) -> tuple[Hashes, Offsets]:
    tokens = frozen(tokens, np.uint64, "tokens")
    return tokens, frozen_offsets(offsets, len(tokens))
