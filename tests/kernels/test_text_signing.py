"""Signing in one pass gives what the kernels give one after the other, at every level of vector instructions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from roughly.kernels.arrays import Table
from roughly.kernels.hashing import hash_bytes, hash_sequences
from roughly.kernels.minhash import band_keys, orderings, signatures
from roughly.kernels.text_signing import BandSampling, sign_texts
from roughly.methods import permutations
from roughly.methods.minhash import MinHash
from roughly.signing.text_batch import TextBatch
from roughly.text import tables
from roughly.text.canonical import buffers, tokenise

TABLE = Table(tables.load().stage1, tables.load().stage2)
TEXTS = st.lists(st.text(max_size=300) | st.text("ab \n", max_size=600), max_size=12)
LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(autouse=True)
def best_level() -> Iterator[None]:
    yield
    _core.set_vector_level(len(LEVELS) - 1)


def sampling(bands: int, rows: int, size: int, every: bool = False) -> BandSampling:
    drawn = permutations.draw(bands * rows if every else orderings(bands, rows), 7)
    return BandSampling(size, *drawn, bands, rows)


@given(TEXTS, st.integers(1, 9), st.integers(1, 7), st.integers(1, 6), st.booleans(), st.integers(0, 2))
def test_one_pass_is_all_passes(texts: list[str], bands: int, rows: int, size: int, every: bool, level: int) -> None:
    _core.set_vector_level(level)
    column = pa.array(texts, pa.large_string())
    wanted = sampling(bands, rows, size, every)
    found = sign_texts(*buffers(column), TABLE, wanted)
    _core.set_vector_level(0)
    tokens = tokenise(column)
    assert (found.raw == hash_bytes(*buffers(column))).all()
    assert (found.lexical == hash_sequences(tokens.hashes, tokens.offsets)).all()
    assert (found.lengths == np.diff(tokens.offsets)).all()
    assert (found.keys == band_keys(tokens.hashes, tokens.offsets, *wanted)).all()


@pytest.mark.parametrize("tokens", [0, 1, 3, 4, 5, 15, 16, 17, 31, 33, 1000])
@pytest.mark.parametrize("orders", [1, 2, 3, 4, 5, 8, 9, 31])
def test_samples_do_not_depend_on_the_vectors(tokens: int, orders: int) -> None:
    rng = np.random.default_rng(tokens * 100 + orders)
    values = rng.integers(0, 1 << 64, tokens, np.uint64, endpoint=False)
    offsets = np.array([0, tokens // 2, tokens], np.int64)
    drawn = permutations.draw(orders, 3)
    found = []
    for level in range(len(LEVELS)):
        _core.set_vector_level(level)
        found.append([signatures(values, offsets, 2, *drawn, samples) for samples in (orders, 4 * orders)])
    for plain, four in found[1:]:
        assert (plain == found[0][0]).all() and (four == found[0][1]).all()


def test_the_level_is_one_that_the_processor_has() -> None:
    best = _core.set_vector_level(2)
    assert best in LEVELS and _core.vector_level() == best
    assert _core.set_vector_level(0) == "baseline" == _core.vector_level()


@pytest.mark.parametrize("long", [[], ["a b c d e f " * 120_000, "b c d " * 120_000]], ids=["short", "long"])
def test_a_batch_is_signed_in_one_pass_with_the_same_outcome(long: list[str]) -> None:
    """Also where long texts are equal, of which one is signed."""
    texts = pa.array(["one two three four five six", "", "…", "Été été"] * 5 + long * 2, pa.large_string())
    method = MinHash(0.8, 0.99, 3, 5, 4)
    quick, plain = TextBatch(texts), TextBatch(texts)
    one, other = quick.sign_in_one_pass(method), plain.sign(method)
    assert "tokens" not in vars(quick) and one.counts == other.counts
    assert one.keys is not None and other.keys is not None and (one.keys.values == other.keys.values).all()
    assert (quick.lengths == plain.lengths).all() and (quick.lexical_digests == plain.lexical_digests).all()
    assert (quick.raw_digests == plain.raw_digests).all()
    marked, again = (TextBatch(texts, pa.array([True] * len(texts))) for _ in range(2))
    assert (marked.sign_in_one_pass(method).keys.values == again.sign(method).keys.values).all()


def test_wrong_bands_are_refused() -> None:
    with pytest.raises(ValueError, match="need 2 to 4 orderings"):
        sign_texts(
            np.empty(0, np.uint8),
            np.zeros(1, np.int64),
            TABLE,
            sampling(2, 2, 3)._replace(multipliers=np.ones(1, np.uint32)),
        )
