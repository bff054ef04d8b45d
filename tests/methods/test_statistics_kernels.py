"""The kernels of the collection-statistics methods against their twins, bit for bit, and the properties that matter."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.kernel_twins import flat, split
from methods import statistics_twins as twin
from roughly.kernels import imatch, terms, vectors

SMALL = st.lists(st.lists(st.integers(0, 40), max_size=60), max_size=8)


def spread(documents: list[list[int]]) -> list[list[int]]:
    """Small numbers as uniform hashes; a third of them share their high words, so that rarities tie."""
    return [[twin.mix(t // 3) & ~0xFFFFFFFF | (t * 7919 + 1) for t in document] for document in documents]


def frequency_table(documents: list[list[int]], seed: int) -> dict[int, int]:
    dice = random.Random(seed)
    return {t: dice.choice([0, 1, 1, 2, 2, 3, 5, 9, 1000]) for t in sorted({t for doc in documents for t in doc})}


def counts_of(values: np.ndarray, df: dict[int, int]) -> np.ndarray:
    return np.array([df[t] for t in values.tolist()], np.uint32)


@given(SMALL)
def test_distinct_terms(documents: list[list[int]]) -> None:
    found, firsts, offsets = terms.distinct_terms(*flat(spread(documents)))
    pairs = [twin.distinct(document) for document in spread(documents)]
    assert split(found, offsets) == [[t for t, _ in document] for document in pairs]
    assert split(firsts, offsets) == [[place for _, place in document] for document in pairs]


def test_distinct_terms_of_a_slice_and_of_nothing() -> None:
    found, firsts, offsets = terms.distinct_terms(np.array([9, 5, 5, 7], np.uint64), np.array([1, 3, 3, 4], np.int64))
    assert (found.tolist(), firsts.tolist(), offsets.tolist()) == ([5, 7], [0, 0], [0, 1, 1, 2])
    assert terms.distinct_terms(np.empty(0, np.uint64), np.zeros(1, np.int64))[2].tolist() == [0]


def test_terms_that_all_want_one_slot() -> None:
    values = np.arange(3000, dtype=np.uint64) << np.uint64(50)
    found, _, _ = terms.distinct_terms(np.concatenate([values, values]), np.array([0, 6000], np.int64))
    assert found.tolist() == values.tolist()


@given(SMALL, st.integers(1, 9), st.integers(0, 3))
def test_rarest_terms(documents: list[list[int]], most: int, seed: int) -> None:
    df = frequency_table(spread(documents), seed)
    values, _, offsets = terms.distinct_terms(*flat(spread(documents)))
    low, high = ((2**32 - 6) << 32, (2**32 - 2) << 32) if seed else (0, 2**64 - 1)
    found, places, counts = terms.rarest_terms(values, offsets, counts_of(values, df), low, high, most)
    for d, document in enumerate(spread(documents)):
        expected = twin.rarest(document, df, low, high, most)
        assert found[d, : counts[d]].tolist() == expected
        assert values[places[d, : counts[d]]].tolist() == expected
        assert (found[d, counts[d] :] == 0).all() and (places[d, counts[d] :] == -1).all()


SELECTIONS = [
    (imatch.BY_IDF, 0, 2**64 - 1, False, False),
    (imatch.BY_IDF, (2**32 - 6) << 32, (2**32 - 2) << 32, False, False),
    (imatch.BY_IDF, (2**32 - 6) << 32, (2**32 - 2) << 32, False, True),
    (imatch.BY_DOCUMENT, 90, 100, False, False),
    (imatch.BY_DOCUMENT, 0, 30, True, False),
    (imatch.BY_DOCUMENT, 20, 80, False, False),
    (imatch.BY_DOCUMENT, 40, 60, False, True),
]


@settings(max_examples=40)
@given(SMALL, st.sampled_from(SELECTIONS), st.integers(0, 9), st.integers(1, 4), st.floats(0, 0.9), st.booleans())
def test_signatures(
    documents: list[list[int]],
    chosen: tuple[int, int, int, bool, bool],
    lexicons: int,
    min_terms: int,
    min_share: float,
    secondary: bool,
) -> None:
    df = frequency_table(spread(documents), lexicons)
    values, _, offsets = terms.distinct_terms(*flat(spread(documents)))
    seeds = np.array([twin.mix(i + 1) for i in range(5)], np.uint64)
    secondary = secondary and chosen[0] == imatch.BY_IDF and not chosen[4]
    found = imatch.imatch_signatures(
        values, offsets, counts_of(values, df), imatch.Selection(*chosen),
        imatch.Demands(min_terms, min_share, secondary), seeds, lexicons, 0.4,
    )  # fmt: skip
    for d, document in enumerate(spread(documents)):
        expected = twin.signatures(
            document, df, chosen, (min_terms, min_share, secondary), seeds.tolist(), lexicons, 0.4
        )
        assert found[d].tolist() == expected


@given(SMALL)
def test_signatures_of_all_terms(documents: list[list[int]]) -> None:
    values, _, offsets = terms.distinct_terms(*flat(spread(documents)))
    seeds = np.array([5, 6], np.uint64)
    found = imatch.set_signatures(values, offsets, seeds).tolist()
    sets = [set(document) for document in spread(documents)]
    assert found == [twin.finish(s, [5, 6], twin.ALL_TERMS) if s else 0 for s in sets]


@given(SMALL, st.integers(1, 12), st.integers(1, 5), st.data())
def test_term_vectors(documents: list[list[int]], size: int, least: int, data: st.DataObject) -> None:
    prefix = data.draw(st.integers(1, size))
    df = frequency_table(spread(documents), 7)
    values, _, offsets = terms.distinct_terms(*flat(spread(documents)))
    counts = counts_of(values, df)
    found, places, sizes = terms.rarest_terms(values, offsets, counts, 0, 2**64 - 1, size)
    ranks = np.where(places < 0, 0, counts[places]).astype(np.uint64) if len(counts) else places.astype(np.uint64)
    made, keys, which = vectors.term_vectors(found, ranks, sizes, least, prefix)
    rarest = [twin.rarest(document, df, 0, 2**64 - 1, size) for document in spread(documents)]
    assert which.tolist() == [d for d, own in enumerate(rarest) if len(own) >= least]
    for row, d in enumerate(which.tolist()):
        entries = twin.vector(rarest[d], size)
        assert made[row].tolist() == sorted(value for value, _ in entries)
        assert keys[row].tolist() == [v for v, t in sorted(entries, key=lambda e: (df[e[1]], e[0]))][:prefix]


def test_a_third_of_the_signatures_outlasts_an_added_term() -> None:
    """Equality with a twin does not replace this: a fault in both would show here."""
    dice = np.random.default_rng(1)
    documents, lexicons = 400, 60
    pool = dice.integers(1, 2**63, (documents, 81)).astype(np.uint64)
    seeds = dice.integers(1, 2**63, 2 + 15).astype(np.uint64)
    chosen = imatch.Selection(imatch.BY_IDF, 0, 2**64 - 1)

    def sign(size: int) -> np.ndarray:
        values = np.ascontiguousarray(pool[:, :size]).ravel()
        offsets = np.arange(documents + 1, dtype=np.int64) * size
        df = np.full(len(values), 3, np.uint32)
        return imatch.imatch_signatures(values, offsets, df, chosen, imatch.Demands(), seeds, lexicons, 1 / 3)

    same = sign(80) == sign(81)
    assert not same[:, 0].any()  # the whole lexicon always notices
    share = same[:, 1:].mean()
    assert abs(share - 1 / 3) < 4 * (2 / 9 / same[:, 1:].size) ** 0.5
    by_lexicon = same[:, 1:].mean(axis=0)
    assert by_lexicon.min() > 0.2 and by_lexicon.max() < 0.47  # no lexicon is empty, none is whole


def test_different_sets_have_different_signatures() -> None:
    """Sums and exclusive ors of few terms could cancel; of all 4,095 subsets of twelve neighbouring hashes none do."""
    subsets = [[1000 + i for i in range(12) if mask >> i & 1] for mask in range(1, 4096)]
    values, offsets = flat(subsets)
    seeds = np.array([twin.mix(i + 1) for i in range(4)], np.uint64)
    assert len(np.unique(imatch.set_signatures(values, offsets, seeds))) == 4095
    chosen = imatch.Selection(imatch.BY_IDF, 0, 2**64 - 1)
    found = imatch.imatch_signatures(
        values, offsets, np.ones(len(values), np.uint32), chosen, imatch.Demands(), seeds, 3, 1 / 3
    )
    assert len(np.unique(found[:, 0])) == 4095
    for lexicon in range(1, 4):
        kept = [tuple(t for t in own if not twin.drops(t, lexicon, seeds.tolist(), 1 / 3)) for own in subsets]
        assert len(np.unique(found[:, lexicon])) == len(set(kept))


def test_wrong_arrays_are_refused() -> None:
    two, offsets = np.ones(2, np.uint64), np.array([0, 2], np.int64)
    with pytest.raises(ValueError, match="as many frequencies"):
        terms.rarest_terms(two, offsets, np.ones(1, np.uint32), 0, 1, 1)
    with pytest.raises(ValueError, match="seeds"):
        imatch.imatch_signatures(
            two, offsets, np.ones(2, np.uint32), imatch.Selection(0, 0, 1), imatch.Demands(), two, 1, 0.5
        )
    with pytest.raises(ValueError, match="fit together"):
        vectors.term_vectors(two.reshape(1, 2), two.reshape(1, 2), np.ones(1, np.int64), 1, 3)
