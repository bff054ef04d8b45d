"""Distinct tokens are numbered, counted and looked up, for lexicons and filters.

`number_tokens` reads text like the tokeniser, but instead of a hash each token becomes the number of its term, 0, 1,
2, … in the order of first occurrence (`core/vocabulary.hpp`). If an array is too small it returns what it needs, the
caller enlarges it, and the same piece of text is processed again: nothing is lost, because numbering a token twice
gives the same number.

A lexicon on disk is looked up by `look_up`: hashes in order, and a directory with the place of the first hash for
each value of their highest bits, so that a bucket has one or none. Hashes are uniform, so there is no bad case except
by malice. Hashes and slots are uint64, numbers uint32, positions int64; a count is last document << 32 | document
frequency (`core/frequency.hpp`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Table, Words, frozen, frozen_offsets
from roughly.kernels.classes import GROWTH

LONGEST_TERM = 255
"""Bytes of a term that are stored; a longer one is cut and gets an ellipsis, which is in no token."""
ROOM_FOR_A_TERM = LONGEST_TERM + 3

DONE, NEEDS_NUMBERS, NEEDS_TERMS, NEEDS_TEXT = range(4)
DROPPED = np.uint32(0xFFFFFFFF)
PLAIN_LETTERS, PLAIN, OTHER = np.uint8(0), np.uint8(1), np.uint8(2)

DOCUMENT, AT, TOKENS, TERMS, TEXT = range(5)  # positions in the state that a caller keeps between two calls


class Terms(NamedTuple):
    """The terms known so far, by number."""

    slots: Hashes  # open addressing, linear probing: (hash, number + 1) per slot, home slot = highest bits of the hash
    hashes: Hashes  # token hash of each term
    ends: Offsets  # where each term ends in `text`
    text: Bytes  # canonical UTF-8 of the terms, one after another


class Scratch(NamedTuple):
    """Scratch memory of numbering a piece of text."""

    hashes: Hashes


def make_scratch(data: Bytes, offsets: Offsets) -> Scratch:
    """Scratch memory for the largest piece of these texts."""
    data = frozen(data, np.uint8, "data")
    largest = _core.largest_piece(data, frozen_offsets(offsets, len(data)))
    return Scratch(np.empty((GROWTH * largest + 16) // 2 + 8, np.uint64))


def number_tokens(
    data: Bytes,
    offsets: Offsets,
    table: Table,
    scratch: Scratch,
    terms: Terms,
    numbers: Words,
    token_offsets: Offsets,
    state: Offsets,
) -> int:
    """Number the tokens of each document from `state` on; returns DONE or which array is too small.

    `state` holds document, position in `data`, tokens, terms and bytes of text so far, and is moved on.
    """
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    if len(token_offsets) != len(offsets) or len(state) != 5 or len(terms.slots) < 4 * len(terms.hashes):
        raise ValueError("token_offsets, state or slots do not fit the documents and terms")
    slots, hashes, ends, text = terms
    return _core.number_tokens(
        data,
        offsets,
        table.stage1,
        table.stage2,
        scratch.hashes,
        slots,
        hashes,
        ends,
        text,
        numbers,
        token_offsets,
        state,
    )


def fill_slots(slots: Hashes, hashes: Hashes, count: int) -> None:
    """Put the first `count` terms into empty slots."""
    _core.fill_slots(slots, hashes, count)


def count_documents(numbers: Words, offsets: Offsets, first_document: int, counts: Hashes) -> None:
    """counts[t] += 1 for each document that contains term t; documents are numbered from `first_document`, 1 or
    more."""
    _core.count_documents(numbers, offsets, first_document, counts)


def put_targets(numbers: Words, offsets: Offsets, targets: Words, out: Words, out_offsets: Offsets) -> None:
    """Replace each term by its target, and leave out those whose target is DROPPED; `out` has room for one more."""
    _core.put_targets(numbers, offsets, targets, out, out_offsets)


def gather_text(text: Bytes, starts: Offsets, ends: Offsets, out: Bytes) -> None:
    """text[starts[i]:ends[i]], one after another."""
    _core.gather_text(text, starts, ends, out)


def classify_terms(text: Bytes, ends: Offsets, out: Bytes) -> None:
    """For each term, whether it is a–z only, a–z and digits, or has other characters."""
    _core.classify_terms(text, ends, out)


def look_up(wanted: Hashes, hashes: Hashes, directory: Words, counts: Words) -> Words:
    """The count of each wanted hash among the ascending `hashes`, or 0; never reads outside, whatever a file says."""
    wanted, hashes = frozen(wanted, np.uint64, "wanted"), frozen(hashes, np.uint64, "hashes")
    directory, counts = frozen(directory, np.uint32, "directory"), frozen(counts, np.uint32, "counts")
    bits = (len(directory) - 1).bit_length() - 1
    if bits < 1 or len(directory) != (1 << bits) + 1 or len(counts) != len(hashes):
        raise ValueError("the directory must have 2, 4, 8, … entries and one more, and each hash a count")
    return _core.look_up(wanted, hashes, directory, counts, 64 - bits)
