"""The shingling family: keys as their formulas say, chances as they promise, and what makes no sense refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from roughly.errors import SettingsError
from roughly.features.sampling import Sampling
from roughly.features.shingle_sets import shingle_sets
from roughly.features.sketch import Sketch, estimate
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.method import Judge, Keys
from roughly.methods.shingles import TYPICAL, Shingles
from roughly.methods.super_shingles import SuperShingles, chance_of_run
from roughly.methods.word_lsh import WordLSH
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters

METHODS = [Shingles(), SuperShingles(), MegaShingles(), WordLSH()]


def documents(*sizes: int, seed: int = 0) -> Tokens:
    random = np.random.default_rng(seed)
    hashes = random.integers(0, 2**64, sum(sizes), dtype=np.uint64)
    return Tokens(hashes, np.r_[0, np.cumsum(sizes)].astype(np.int64))


def pairs_at(resemblance: float, pairs: int, size: int, seed: int) -> Tokens:
    """Pairs of documents of `size` distinct words each whose word sets have this resemblance (rounded)."""
    shared = round(2 * size * resemblance / (1 + resemblance))
    random = np.random.default_rng(seed)
    hashes = []
    for _ in range(pairs):
        words = random.integers(0, 2**64, 2 * size - shared, dtype=np.uint64)
        hashes += [words[:size], words[size - shared :]]
    return Tokens(np.concatenate(hashes), np.arange(0, 2 * pairs * size + 1, size))


def found(keys: Keys, pairs: int) -> float:
    """The share of the pairs (0, 1), (2, 3), … that share a key."""
    hits = 0
    for p in range(pairs):
        if keys.offsets is None:
            left, right = keys.values[2 * p], keys.values[2 * p + 1]
            hits += bool(((left == right) & (left != 0)).any())
        else:
            a, b, c = keys.offsets[2 * p : 2 * p + 3]
            hits += len(np.intersect1d(keys.values[a:b], keys.values[b:c])) > 0
    return hits / pairs


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_methods_have_the_shape_of_a_method(method: Any) -> None:
    tokens = documents(300, 0, 4, 800)
    signature, judge = method.sign(tokens), method.judge()
    keys, sketch = signature.keys, signature.sketch
    assert isinstance(keys, Keys) and isinstance(judge, Judge)
    assert (sketch is not None) == (judge.on == "sketch")
    assert isinstance(sketch, Sketch | None)
    assert (method.collapse, method.equality) == ("lexical", False)
    chances = [method.candidate_probability(i / 50) for i in range(51)]
    assert chances[0] == 0 and chances[-1] == pytest.approx(1)
    assert all(0 <= a <= b + 1e-12 <= 1 + 1e-9 for a, b in itertools.pairwise(chances))
    assert method.describe() and hash(method) is not None


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_keys_of_a_document_do_not_depend_on_its_neighbours(method: Any) -> None:
    tokens = documents(300, 0, 4, 800)
    keys = method.sign(tokens).keys
    for d in range(len(tokens)):
        alone = method.sign(Tokens(tokens.hashes, tokens.offsets[d : d + 2])).keys
        if keys.offsets is None:
            assert alone.values.tolist() == keys.values[d : d + 1].tolist()
        else:
            assert alone.values.tolist() == keys.values[keys.offsets[d] : keys.offsets[d + 1]].tolist()


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_document_without_tokens_has_no_key(method: Any) -> None:
    keys = method.sign(documents(0)).keys
    assert not keys.values.any() if keys.offsets is None else len(keys.values) == 0


def test_keys_of_shingles_are_the_sampled_ones() -> None:
    tokens = documents(400, 90, 3)
    whole = shingle_sets(tokens, 10)
    keys = Shingles(sampling=Sampling.parse("mod:8")).sign(tokens).keys
    assert keys.values.tolist() == [v for v in whole.values.tolist() if v < 2**61]
    assert np.diff(keys.offsets).tolist()[2] <= 1
    every = Shingles(sampling=Sampling.parse("all")).sign(tokens).keys
    assert every.values.tolist() == whole.values.tolist()


def test_super_shingles_are_shingles_of_the_sorted_sample() -> None:
    tokens = documents(600)
    method = SuperShingles(size=4, sampling=Sampling.parse("mod:10"))
    sample = method.sampling.apply(tokens, 10)
    keys = method.sign(tokens).keys
    assert len(keys.values) == len(sample.values) - 3
    wanted = shingle_sets(Tokens(sample.values, sample.offsets), 4)
    assert keys.values.tolist() == wanted.values.tolist()
    halved = SuperShingles(size=4, sampling=method.sampling, meta=Sampling.parse("mod:2")).sign(tokens).keys
    assert halved.values.tolist() == [v for v in wanted.values.tolist() if v < 2**63]


def test_short_documents_are_counted_and_never_ignored() -> None:
    tokens = documents(600, 30, 11, 2, 0, seed=2)
    sampling = Sampling.parse("mod:10")
    sizes = np.diff(sampling.apply(tokens, 10).offsets)
    assert sizes[0] >= 4 and (sizes[1:] < 4).all() and 0 in sizes[1:4].tolist()
    method = SuperShingles(size=4, sampling=sampling)
    assert method.sign(tokens).counts == {"short_documents": 3}  # the empty one has nothing to be ignored
    assert method.sign(tokens).keys.offsets is not None
    assert np.diff(method.sign(tokens).keys.offsets).tolist() == [sizes[0] - 3, 1, 1, 1, 0]
    kept = SuperShingles(size=4, sampling=sampling, short="keep")
    assert np.diff(kept.sign(tokens).keys.offsets).tolist() == [sizes[0] - 3, 0, 0, 0, 0]
    assert kept.sign(tokens).keys.values.tolist() == method.sign(tokens).keys.values[: sizes[0] - 3].tolist()


def test_short_documents_are_judged_by_their_smallest_shingles() -> None:
    """Where nothing is sampled of two documents, an estimate from nothing would be no estimate."""
    words = documents(30, seed=4).hashes
    method = SuperShingles(size=4, shingle_size=1, sampling=Sampling.parse("mod:2000000000"), threshold=0.5)
    tokens = Tokens(np.r_[words, words[:29], documents(30, seed=5).hashes], np.array([0, 30, 59, 89]))
    sketch = method.sign(tokens).sketch
    assert sketch is not None and np.diff(sketch.offsets).tolist() == [4, 4, 4]
    found = estimate(sketch, np.array([0, 0]), np.array([1, 2]))
    assert found.resemblance[0] >= 0.6 and found.resemblance[1] == 0


def test_mega_shingles_are_every_two_of_six() -> None:
    keys = MegaShingles().sign(documents(100, 100, seed=1)).keys
    assert keys.values.shape == (2, 15)
    assert len(set(keys.values.ravel().tolist())) == 30


@pytest.mark.parametrize("resemblance", [0.6, 0.8, 0.9, 0.96])
@pytest.mark.parametrize(
    "method",
    [MegaShingles(shingle_size=1), MegaShingles(groups=4, samples=5, shingle_size=1), WordLSH(words=2, signatures=6),
     WordLSH(words=4, signatures=10), Shingles(shingle_size=1, sampling=Sampling.parse("min:3"))],
    ids=["mega 6 of 14", "mega 4 of 5", "words 2 by 6", "words 4 by 10", "min 3"],
)  # fmt: skip
def test_pairs_become_candidates_as_often_as_promised(method: Any, resemblance: float) -> None:
    """500 pairs; words of 200 so that samples without replacement are close to those with it."""
    pairs = 500
    chance = method.candidate_probability(resemblance)
    tolerance = 4 * np.sqrt(chance * (1 - chance) / pairs) + 0.02
    assert found(method.sign(pairs_at(resemblance, pairs, 200, 7)).keys, pairs) == pytest.approx(chance, abs=tolerance)


@pytest.mark.parametrize("resemblance", [0.001, 0.01, 0.05])
def test_sampled_shingles_meet_as_often_as_promised(resemblance: float) -> None:
    pairs = 400
    method = Shingles(shingle_size=1, sampling=Sampling.parse("mod:50"))
    tokens = pairs_at(resemblance, pairs, TYPICAL, 8)
    exact = round(2 * TYPICAL * resemblance / (1 + resemblance)) / TYPICAL / 2
    chance = method.candidate_probability(exact / (1 - exact))
    assert found(method.sign(tokens).keys, pairs) == pytest.approx(
        chance, abs=4 * np.sqrt(chance * (1 - chance) / pairs)
    )


@pytest.mark.parametrize("resemblance", [0.3, 0.5, 0.7, 0.8])
@pytest.mark.parametrize("size", [2, 4, 10])
def test_super_shingles_meet_as_often_as_promised(resemblance: float, size: int) -> None:
    pairs = 500
    method = SuperShingles(size=size, shingle_size=1, sampling=Sampling.parse("min:40"))
    chance = chance_of_run(40, size, resemblance)
    tolerance = 4 * np.sqrt(chance * (1 - chance) / pairs) + 0.04  # MIN_s may end within a run of the other sample
    assert found(method.sign(pairs_at(resemblance, pairs, TYPICAL, 10)).keys, pairs) == pytest.approx(
        chance, abs=tolerance
    )


def test_words_that_are_filtered_out() -> None:
    method = WordLSH(filters=Filters.parse("sw"))
    assert method.filters == Filters(("sw",))
    assert WordLSH().filters is None and Shingles().filters is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Shingles(threshold=0), "threshold must be above 0"),
        (lambda: Shingles(common=1), "common must be a whole number from 2"),
        (lambda: Shingles(shingle_size=65), "shingle_size must be"),
        (lambda: Shingles(measure="common"), "measure must be one of"),  # type: ignore[arg-type]
        (lambda: SuperShingles(size=1), "2 to 128 shingles, not 1"),
        (lambda: SuperShingles(short="drop"), "short must be one of sample, keep"),  # type: ignore[arg-type]
        (lambda: SuperShingles(threshold=2), "threshold must be"),
        (lambda: MegaShingles(groups=1), "2 to 64 groups"),
        (lambda: MegaShingles(samples=0), "1 to 256 samples"),
        (lambda: WordLSH(words=0), "1 to 64 words"),
        (lambda: WordLSH(signatures=0), "1 to 1024 signatures"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        make()
