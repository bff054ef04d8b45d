"""Sketches say of pairs what theory promises: unbiased, with the standard error that they state; levels reduce."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from roughly.errors import SettingsError
from roughly.features.sampling import Sampling, limit_of
from roughly.features.sketch import Sketch, estimate, joined, limits_of, reduce
from roughly.features.sketch_store import SketchFacts
from roughly.methods.super_shingles import SuperShingles
from roughly.text.canonical import Tokens, tokenise

PAIRS = 10_000
SAMPLINGS = {
    "all": Sampling.parse("all"),
    "mod": Sampling.parse("mod:5"),
    "min": Sampling.parse("min:60"),
    "lengths": Sampling.parse("adaptive"),
    "groups": Sampling.parse("adaptive", [[200, 0.5], [300, 0.3], [400, 0.2]]),
}


def seeded_pairs() -> tuple[Tokens, np.ndarray, np.ndarray]:
    """20,000 documents without repeats in pairs, with the exact resemblance and containment of each pair (w = 1).

    Every pair has tokens of its own, so samples are independent; sizes and shares differ from pair to pair.
    """
    random = np.random.default_rng(1997)
    own_a, own_b = random.integers(20, 240, PAIRS), random.integers(20, 240, PAIRS)
    both = random.integers(10, 300, PAIRS)
    total = int((own_a + own_b + both).sum())
    tokens = random.permutation(total).astype(np.uint64)  # any distinct numbers: with w = 1 they are only mixed
    hashes, sizes, at = [], [], 0
    for a, b, shared in zip(own_a.tolist(), own_b.tolist(), both.tolist(), strict=True):
        common = tokens[at : at + shared]
        hashes += [tokens[at + shared : at + shared + a], common, tokens[at + shared + a : at + shared + a + b], common]
        sizes += [a + shared, b + shared]
        at += shared + a + b
    offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    return Tokens(np.concatenate(hashes), offsets), both / (own_a + own_b + both), both / (own_a + both)


@pytest.fixture(scope="module")
def pairs() -> tuple[Tokens, np.ndarray, np.ndarray]:
    return seeded_pairs()


@pytest.mark.parametrize("name", SAMPLINGS)
@pytest.mark.parametrize("measure", ["resemblance", "containment", "contained_in"])
def test_estimates_are_unbiased_and_err_as_stated(
    pairs: tuple[Tokens, np.ndarray, np.ndarray], name: str, measure: str
) -> None:
    tokens, resemblance, containment = pairs
    left = np.arange(0, 2 * PAIRS, 2)
    a, b = (left + 1, left) if measure == "contained_in" else (left, left + 1)
    found = estimate(SAMPLINGS[name].apply(tokens, 1), a, b)
    exact = resemblance if measure == "resemblance" else containment
    value = getattr(found, measure)
    shared, mine, theirs = found.counts.T
    n = {"resemblance": mine + theirs - shared, "containment": mine, "contained_in": theirs}[measure]
    known = n > 0
    assert known.mean() > 0.99
    off = (value - exact)[known]
    if name == "all":
        assert np.abs(off).max() == 0
        assert getattr(found, f"{measure}_error")[known].max() == 0
        return
    variance = (exact * (1 - exact))[known] / n[known]  # hypergeometric given n, so at most binomial
    assert abs(off.mean()) <= 4 * np.sqrt(variance.sum()) / known.sum()
    stated = getattr(found, f"{measure}_error")[known]
    enough = n[known] >= 30
    assert enough.mean() > 0.3
    assert np.mean(off[enough] ** 2) == pytest.approx(np.mean(stated[enough] ** 2), rel=0.1)


def test_levels_are_equal_after_reduction() -> None:
    """V_{i+1} from V_i, MOD_50 from MOD_25, MOD_m from everything: the same as sampling anew."""
    random = np.random.default_rng(4)
    sizes = np.array([50, 150, 333, 700, 1500, 3000, 6400])
    tokens = Tokens(
        random.integers(0, 2**64, sizes.sum(), dtype=np.uint64), np.r_[0, np.cumsum(sizes)].astype(np.int64)
    )
    every, lengths = Sampling.parse("all").apply(tokens, 5), Sampling.parse("adaptive").apply(tokens, 5)
    assert lengths.limits is not None
    assert [64 - int(limit).bit_length() for limit in lengths.limits] == [0, 0, 1, 2, 3, 4, 6]
    for level in range(8):
        coarse = reduce(lengths, 2 ** (64 - level) - 1)
        again = reduce(every, np.minimum(lengths.limits, np.uint64(2 ** (64 - level) - 1)))
        assert_same(coarse, again)
    assert_same(
        reduce(Sampling.parse("mod:25").apply(tokens, 5), 2**64 // 50 - 1), Sampling.parse("mod:50").apply(tokens, 5)
    )


def test_pairs_at_different_levels_are_compared_at_the_coarser() -> None:
    random = np.random.default_rng(5)
    long = random.integers(0, 2**64, 3200, dtype=np.uint64)
    tokens = Tokens(np.r_[long, long[:300]], np.array([0, 3200, 3500]))
    lengths, mod = Sampling.parse("adaptive").apply(tokens, 3), Sampling.parse("mod:32").apply(tokens, 3)
    zero, one = np.array([0]), np.array([1])
    assert estimate(lengths, zero, one).counts.tolist() == estimate(mod, zero, one).counts.tolist()


def assert_same(a: Sketch, b: Sketch) -> None:
    assert a.values.tolist() == b.values.tolist()
    assert a.offsets.tolist() == b.offsets.tolist()
    assert limits_of(a).tolist() == limits_of(b).tolist()


def test_joined_sketches_are_those_of_all_documents() -> None:
    random = np.random.default_rng(6)
    tokens = Tokens(random.integers(0, 2**64, 900, dtype=np.uint64), np.array([0, 300, 300, 900]))
    for sampling in SAMPLINGS.values():
        parts = [
            sampling.apply(Tokens(tokens.hashes, tokens.offsets[a:b]), 4) for a, b in ((0, 2), (1, 3), (2, 4))
        ]  # fmt: skip
        assert_same(joined(parts), sampling.apply(tokens, 4))
    assert len(joined([])) == 0


def test_nothing_sampled_is_no_number() -> None:
    sketch = Sketch(np.empty(0, np.uint64), np.zeros(3, np.int64), np.full(2, 9, np.uint64))
    found = estimate(sketch, np.array([0]), np.array([1]))
    assert np.isnan(found.resemblance[0]) and np.isnan(found.resemblance_error[0])


def test_how_samplings_are_written() -> None:
    assert [str(Sampling.parse(text)) for text in ("all", "mod:25", " min:400 ", "adaptive")] == [
        "all", "mod:25", "min:400", "adaptive",
    ]  # fmt: skip
    assert Sampling.parse("mod:25").ratio(1000) == pytest.approx(1 / 25)
    assert Sampling.parse("min:400").ratio(1000) == 0.4
    assert [Sampling.parse("adaptive").ratio(n) for n in (0, 199, 200, 399, 400, 6400)] == [
        1,
        1,
        0.5,
        0.5,
        0.25,
        1 / 64,
    ]
    groups = Sampling.parse("adaptive", [[100, 1], [400, 0.25]])
    assert [groups.ratio(n) for n in (1, 100, 101, 400, 99_999)] == [1, 1, 0.25, 0.25, 0.25]
    assert limit_of(1 / 16) == 2**60 - 1
    assert limit_of(1) == 2**64 - 1


@pytest.mark.parametrize(
    ("text", "groups", "words"),
    [
        ("mod", (), "for instance mod:25"),
        ("mod:0", (), "mod:0 makes no sense; the number is from 1"),
        ("sometimes", (), "sketch must be one of all, mod:M, min:S, adaptive, not 'sometimes'"),
        ("mod:25", [[100, 0.5]], "groups belong to the sketch adaptive"),
        ("adaptive", [[100, 0.5], [50, 0.5]], "50 comes after 100"),
        ("adaptive", [[100, 1.5]], "above 0 and at most 1, not 1.5"),
        ("adaptive", [[100]], "a group is"),
        ("adaptive", [["many", 0.5]], "a group is"),
        ("adaptive", [[99.5, 0.5]], "a whole number of tokens, not at 99.5"),
        ("adaptive", 100, "groups must be a list"),
        (25, (), "for instance mod:25"),
    ],
)
def test_samplings_that_make_no_sense_are_refused(text: str, groups: list[list[float]], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Sampling.parse(text, groups)


def test_a_seed_draws_another_sample_of_the_same_sets() -> None:
    texts = [" ".join(f"w{i}" for i in range(start, start + 400)) for start in (0, 100)]
    tokens = tokenise(pa.array(texts, pa.large_string()))
    one, other = (Sampling.parse("all", seed=seed).apply(tokens, 5) for seed in (0, 7))
    assert len(one.values) == len(other.values) == 2 * 396 and not set(one.values) & set(other.values)
    scores = [estimate(own, np.array([0]), np.array([1])).resemblance[0] for own in (one, other)]
    assert scores[0] == scores[1] == 296 / 496  # hashes change one to one: nothing else does
    sizes = [len(Sampling.parse("mod:4", seed=seed).apply(tokens, 5).values) for seed in range(20)]
    assert len(set(sizes)) > 5 and abs(np.mean(sizes) - 198) < 4 * math.sqrt(2 * 792 * 3 / 16 / 20)
    with pytest.raises(SettingsError, match="seed must be a whole number from 0"):
        Sampling("mod", 4, seed=-1)


def test_a_short_document_has_the_super_shingle_of_its_seed() -> None:
    tokens = tokenise(pa.array(["a b c d e f g"], pa.large_string()))
    keys = [SuperShingles(4, 3, Sampling("mod", 1000, seed=seed)).sign(tokens).keys for seed in (0, 1, 1)]
    values = [own.values.tolist() for own in keys if own is not None]
    assert len(values[0]) == 1 and values[0] != values[1] == values[2]


def test_facts_name_a_seed_only_if_there_is_one() -> None:
    plain, seeded = (SketchFacts(Sampling.parse("mod:25", seed=seed), 10) for seed in (0, 3))
    assert "seed" not in plain.to_dict()  # sketches of before keep their fingerprint
    assert seeded.fingerprint() != plain.fingerprint() and SketchFacts.from_dict(seeded.to_dict()) == seeded
