"""What the kernels of terms refuse, and tables of words at their limits; their twins are in tests/methods."""

from __future__ import annotations

import numpy as np
import pytest

from roughly.kernels import align, cosine, imatch, terms, tuples

TERMS, OFFSETS = np.arange(1, 4, dtype=np.uint64), np.array([0, 3], np.int64)
SEEDS = np.arange(4, dtype=np.uint64)


def test_a_filter_that_keeps_the_outside_has_no_secondary_terms() -> None:
    chosen = imatch.Selection(imatch.BY_DOCUMENT, 40, 60, outer=True)
    with pytest.raises(ValueError, match="choose one"):
        imatch.imatch_signatures(
            TERMS, OFFSETS, np.ones(3, np.uint32), chosen, imatch.Demands(secondary=True), SEEDS, 1, 0.5
        )


def test_a_signature_needs_two_seeds() -> None:
    with pytest.raises(ValueError, match="needs 2 seeds, not 1"):
        imatch.set_signatures(TERMS, OFFSETS, SEEDS[:1])


def test_counts_of_a_term_repeated_and_of_terms_that_want_one_slot() -> None:
    crowd = np.arange(3000, dtype=np.uint64) << np.uint64(50)
    tokens = np.concatenate([np.repeat(crowd[::-1], 2), np.full(9, 5, np.uint64)])
    found, counts, offsets = cosine.term_counts(tokens, np.array([0, 6000, 6000, 6009]))
    assert found.tolist() == [*crowd.tolist(), 5]
    assert counts.tolist() == [2] * 3000 + [9] and offsets.tolist() == [0, 3000, 3000, 3001]


def test_more_words_asked_for_than_a_document_has() -> None:
    ones = np.ones(2, np.uint32)
    few, many = (tuples.word_keys(TERMS, OFFSETS, words, ones, ones) for words in (3, 10**12))
    assert (few == many).all() and few.shape == (1, 2)
    assert tuples.word_keys(TERMS, OFFSETS, 3, ones[:0], ones[:0]).shape == (1, 0)


def test_more_terms_asked_for_than_a_document_has() -> None:
    found, places, counts = terms.rarest_terms(TERMS, OFFSETS, np.array([5, 0, 2], np.uint32), 0, 2**64 - 1, 4)
    assert (found.tolist(), places.tolist(), counts.tolist()) == ([[3, 1, 0, 0]], [[2, 0, -1, -1]], [2])


def test_postings_of_one_length_stand_in_the_order_of_documents() -> None:
    documents = 40
    numbers, weights = np.tile(np.array([70, 80], np.uint32), documents), np.ones(2 * documents)
    offsets = np.arange(documents + 1, dtype=np.int64) * 2
    norms = cosine.squares(weights, offsets)
    units = cosine.scale(weights, norms, numbers, offsets)
    starts = np.zeros(82, np.int64)
    np.cumsum(np.bincount(numbers, minlength=81), out=starts[1:])
    index = cosine.build_index(weights, norms, units, offsets[:-1].copy(), starts)
    assert index.docs.tolist() == [*range(documents), *range(documents)]


def test_a_gap_that_gives_nothing_is_not_tiled_again_and_changes_nothing() -> None:
    dice = np.random.default_rng(5)
    shared = dice.integers(0, 2**64, 60, dtype=np.uint64)
    one, other = (dice.integers(0, 2**64, 50, dtype=np.uint64) for _ in range(2))
    left, right = np.concatenate([one, shared, one[::-1]]), np.concatenate([other, shared, other[::-1]])
    assert align.align(left, right).tolist() == [[50, 50, 60]]
