"""Repeated runs of tokens: winnowing, classes of equal places, the walk that decides which place is kept.

The rules and their proofs are in `core/winnowing.hpp`, `core/repeats.hpp` and `core/units.hpp`. A collection is an
array of token hashes and the n + 1 offsets of its documents; a *place* is a run of tokens of it, given by its start,
and by its length where lengths differ.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Words, frozen, frozen_offsets

Flags = npt.NDArray[np.uint8]
NO_CLASS = 0xFFFFFFFF
UNITS = ("line", "sentence", "paragraph")
NO_LENGTHS = np.empty(0, np.int64)
"""All places have one length."""


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


def keep_repeated_starts(
    tokens: Hashes, offsets: Offsets, least: int, starts: Hashes, once: Hashes, twice: Hashes, threads: int
) -> None:
    """Clear the marked starts of runs of `least` tokens that occur once; a few of them remain by chance."""
    _core.keep_repeated_starts(*_rows(tokens, offsets), least, starts, once, twice, threads)


def list_bits(words: Hashes) -> Offsets:
    """The positions of all bits that are set."""
    return _core.list_bits(words)


def gram_keys(tokens: Hashes, starts: Offsets, least: int, threads: int) -> Hashes:
    """The key of the run of `least` tokens at each start."""
    return _core.gram_keys(frozen(tokens, np.uint64, "tokens"), frozen(starts, np.int64, "starts"), least, threads)


def key_classes(keys: Hashes, used: Flags, share: int, bits: int, threads: int) -> tuple[Offsets, Offsets]:
    """The places that share a key, class after class, and the number of places of each class.

    Only keys whose highest `bits` bits are `share`, and of these only used ones (all, if `used` is empty).
    """
    return _core.key_classes(keys, used, share, bits, threads)


def check_classes(
    tokens: Hashes, starts: Offsets, lengths: Offsets, least: int, classes: Words, firsts: Offsets, threads: int
) -> Offsets:
    """The places whose tokens differ from those of the first place of their class."""
    return _core.check_classes(frozen(tokens, np.uint64, "tokens"), starts, lengths, least, classes, firsts, threads)


def class_documents(
    offsets: Offsets, starts: Offsets, members: Offsets, class_offsets: Offsets, threads: int
) -> Offsets:
    """The number of documents with a place of each class; members ascend within a class."""
    return _core.class_documents(offsets, starts, members, class_offsets, threads)


def repeated_runs(
    offsets: Offsets, starts: Offsets, lengths: Offsets, least: int, classes: Words, used: Flags
) -> Offsets:
    """Rows (start, length): the maximal runs of tokens in places of used classes; units are runs of their own."""
    return _core.repeated_runs(offsets, starts, lengths, least, classes, used)


def walk_copies(
    offsets: Offsets,
    order: Offsets,
    reference: Flags,
    starts: Offsets,
    lengths: Offsets,
    least: int,
    classes: Words,
    used: Flags,
    least_left: int,
    only_reference: bool,
) -> tuple[Offsets, Offsets]:
    """The removed runs, as rows (start, length, witness), and the documents that are removed whole.

    Documents are taken in `order`; those of the reference are kept as they are.
    """
    return _core.walk_copies(
        offsets, order, reference, starts, lengths, least, classes, used, least_left, only_reference
    )


def unit_ends(data: Bytes, offsets: Offsets, unit: str) -> tuple[Offsets, Offsets]:
    """Where each line, sentence or paragraph ends, and the n + 1 offsets of the texts in that list."""
    data = frozen(data, np.uint8, "data")
    return _core.unit_ends(data, frozen_offsets(offsets, len(data)), UNITS.index(unit))


def _rows(tokens: Hashes, offsets: Offsets) -> tuple[Hashes, Offsets]:
    tokens = frozen(tokens, np.uint64, "tokens")
    return tokens, frozen_offsets(offsets, len(tokens))
