"""Min-hashes and bands: the twin's, and as likely to agree as theory says."""

from __future__ import annotations

import math

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels import minhash

TOKEN = st.integers(0, 2**64 - 1) | st.integers(0, 3)
DOCUMENTS = st.lists(st.lists(TOKEN, max_size=60), max_size=4)


def permutations(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    a = random.integers(0, 2**32, count, dtype=np.uint32) | np.uint32(1)
    return a, random.integers(0, 2**32, count, dtype=np.uint32)


@given(DOCUMENTS, st.integers(1, 8), st.sampled_from([4, 5, 12]), st.integers(0, 99))
def test_signatures_and_keys_are_those_of_the_twin(
    documents: list[list[int]], size: int, orderings: int, seed: int
) -> None:
    bands, rows = 3, 4
    a, b = permutations(orderings, seed)
    tokens, offsets = twins.flat(documents)
    expected = [twins.signature(document, size, a.tolist(), b.tolist(), bands * rows) for document in documents]
    assert minhash.signatures(tokens, offsets, size, a, b, bands * rows).tolist() == expected
    keys = minhash.band_keys(tokens, offsets, size, a, b, bands, rows)
    assert keys.shape == (len(documents), bands)
    assert keys.tolist() == [twins.band_keys(minima, bands, rows) for minima in expected]


def test_golden_keys() -> None:
    tokens, offsets = twins.flat([[1, 2, 3, 4, 5, 6], [9], []])
    a = np.array([1, 3, 0x9E3779B1, 0xFFFFFFFF], np.uint32)
    b = np.array([0, 7, 11, 0xFFFFFFFF], np.uint32)
    assert minhash.signatures(tokens, offsets, 3, a, b).tolist() == [
        [1014606921, 373436568, 750313078, 1251146532],
        [541527698, 1624583101, 610407677, 3753439597],
        [4294967295, 4294967295, 4294967295, 4294967295],
    ]
    assert [[f"{k:016x}" for k in row] for row in minhash.band_keys(tokens, offsets, 3, a, b, 2, 2).tolist()] == [
        ["f81d8ec8b5dcd308", "6a05b08ecb45dccd"],
        ["936b0d8584f9246a", "7d60ac6588e67129"],
        ["83fa491f357cff87", "0d77b0dfd2df8f3a"],
    ]


def test_equal_minima_in_two_bands_give_two_keys() -> None:
    a, b = np.full(6, 5, np.uint32), np.full(6, 9, np.uint32)
    keys = minhash.band_keys(*twins.flat([[1, 2, 3]]), 2, a, b, 3, 2)
    assert len(set(keys[0].tolist())) == 3


def test_repeated_shingles_do_not_matter() -> None:
    random = np.random.default_rng(1)
    once = random.integers(0, 2**64, 20_000, dtype=np.uint64)  # more than the memory of recent shingles holds
    a, b = permutations(50)
    documents = [once, np.concatenate([once, once, once[:500], once])]
    tokens = np.concatenate(documents)
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    first, second = minhash.signatures(tokens, offsets, 1, a, b)
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("shingles", [20, 200, 3000])
@pytest.mark.parametrize("resemblance", [0.2, 0.5, 0.8, 0.95])
def test_two_documents_agree_as_often_as_they_resemble(shingles: int, resemblance: float) -> None:
    """|Ĵ − J| ≤ 4·√(J(1 − J)/k) + 1/k, over k independent permutations; pairs are drawn anew, J is counted."""
    random = np.random.default_rng(shingles)
    k = 512
    for seed in range(3):
        union = random.integers(0, 2**64, shingles, dtype=np.uint64)
        shared = max(1, round(resemblance * shingles))
        rest = (shingles - shared) // 2
        left, right = (
            np.concatenate([union[:shared], union[shared : shared + rest]]),
            np.concatenate([union[:shared], union[shared + rest :]]),
        )
        truth = shared / shingles
        tokens, offsets = np.concatenate([left, right]), np.array([0, len(left), len(left) + len(right)], np.int64)
        first, second = minhash.signatures(tokens, offsets, 1, *permutations(k, seed))
        estimate = float((first == second).mean())
        assert abs(estimate - truth) <= 4 * math.sqrt(truth * (1 - truth) / k) + 1 / k


@pytest.mark.parametrize("four_ends", [False, True])
def test_bands_find_as_many_pairs_as_the_s_curve_says(four_ends: bool) -> None:
    """400 pairs of resemblance 0.7 through 10 bands of 5: 1 − (1 − 0.7⁵)^10 = 0.842, within four standard errors."""
    bands, rows, pairs, truth = 10, 5, 400, 0.7
    orderings = minhash.orderings(bands, rows) if four_ends else bands * rows
    found = share_found(permutations(orderings), bands, rows, pairs, shared=70, rest=30)
    expected = 1 - (1 - truth**rows) ** bands
    assert abs(found - expected) <= 4 * math.sqrt(expected * (1 - expected) / pairs)


@pytest.mark.parametrize(
    ("bands", "rows", "shared", "rest"), [(16, 6, 4, 1), (16, 6, 8, 2), (16, 6, 12, 3), (16, 6, 40, 10), (5, 2, 4, 2)]
)
def test_short_documents_are_found_as_often_as_promised(bands: int, rows: int, shared: int, rest: int) -> None:
    """Where four samples of one ordering may meet on the same shingle, the promise holds all the same."""
    pairs, truth = 4_000, shared / (shared + rest)
    expected = 1 - (1 - truth**rows) ** bands
    found = [
        share_found(permutations(minhash.orderings(bands, rows), seed), bands, rows, pairs // 8, shared, rest, seed)
        for seed in range(8)  # few orderings: a new draw of them now and then
    ]
    assert sum(found) / 8 >= expected - 4 * math.sqrt(expected * (1 - expected) / pairs)


def share_found(
    orderings: tuple[np.ndarray, np.ndarray], bands: int, rows: int, pairs: int, shared: int, rest: int, seed: int = 7
) -> float:
    """The share of random pairs of documents that agree in a band: `shared` shingles of `shared` + `rest` in common."""
    random = np.random.default_rng(seed)
    documents = []
    for _ in range(pairs):
        union = random.integers(0, 2**64, shared + rest, dtype=np.uint64)
        only = shared + rest // 2
        documents += [union[:only], np.concatenate([union[:shared], union[only:]])]
    tokens = np.concatenate(documents)
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    keys = minhash.band_keys(tokens, offsets, 1, *orderings, bands, rows)
    return float((keys[0::2] == keys[1::2]).any(axis=1).mean())


def test_wrong_permutations_are_refused() -> None:
    document = twins.flat([[1, 2, 3]])
    a, b = permutations(6)
    with pytest.raises(ValueError, match="2 bands of 2 rows need 2 to 4 orderings, not 6"):
        minhash.band_keys(*document, 2, a, b, 2, 2)
    with pytest.raises(ValueError, match="6 bands of 4 rows need 6 to 24 orderings, not 5"):
        minhash.band_keys(*document, 2, a[:5], b[:5], 6, 4)
    with pytest.raises(ValueError, match="6 orderings give 24 samples at most, not 25"):
        minhash.signatures(*document, 2, a, b, 25)
    with pytest.raises(ValueError, match="do not pair up"):
        minhash.signatures(*document, 2, a, b[:5])
    with pytest.raises(ValueError, match="must be odd"):
        minhash.signatures(*document, 2, a & np.uint32(0xFFFFFFFE), b)
    with pytest.raises(TypeError, match="multipliers"):
        minhash.signatures(*document, 2, a.astype(np.uint64), b)  # type: ignore[arg-type]
