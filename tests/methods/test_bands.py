"""The arithmetic of the promise: derived recall is at least what was asked, and no cheaper setting keeps it."""

from __future__ import annotations

import math
import random
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import methods
from roughly.errors import SettingsError
from roughly.methods import bands as banding
from roughly.methods.contained import fewest_probes
from roughly.methods.permutations import draw, philox
from roughly.settings import Settings


@given(st.floats(0.2, 1.0), st.floats(0.5, 0.999))
def test_the_recall_is_kept_at_the_threshold(threshold: float, recall: float) -> None:
    bands, rows = banding.choose(threshold, recall)
    assert banding.candidate_probability(threshold, bands, rows) >= recall
    assert bands == 1 or banding.candidate_probability(threshold, bands - 1, rows) < recall


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
def test_no_setting_that_keeps_the_recall_is_cheaper(threshold: float) -> None:
    chosen = banding.cost(threshold, *banding.choose(threshold, 0.99))
    for rows in range(1, 20):
        for bands in range(1, 200):
            if bands * rows <= banding.MOST_HASHES and banding.candidate_probability(threshold, bands, rows) >= 0.99:
                assert banding.cost(threshold, bands, rows) >= chosen


def test_the_probability_is_that_of_the_formula() -> None:
    assert banding.candidate_probability(0.8, 14, 8) == pytest.approx(1 - (1 - 0.8**8) ** 14)
    assert banding.candidate_probability(0.0, 14, 8) == 0
    assert banding.candidate_probability(1.0, 1, 8) == 1


def test_impossible_promises_are_refused() -> None:
    with pytest.raises(SettingsError, match="raise the threshold or lower the recall"):
        banding.choose(0.001, 0.999)


@given(st.floats(0.05, 1.0), st.floats(0.5, 0.999))
def test_probes_keep_the_recall_and_are_the_fewest(threshold: float, recall: float) -> None:
    probes = fewest_probes(threshold, recall)
    assert 1 - (1 - threshold) ** probes >= recall - 1e-12
    assert probes == 1 or 1 - (1 - threshold) ** (probes - 1) < recall + 1e-12


def test_measured_collisions_follow_the_s_curve() -> None:
    """Pairs of known resemblance become candidates as often as the formula says, within four standard errors."""
    import pyarrow as pa

    from roughly.text.canonical import tokenise

    method = methods.make(Settings(threshold=0.8, recall=0.9))
    rng = random.Random(3)
    trials = 400
    for shared, own in ((160, 40), (180, 20)):
        texts = []
        for _ in range(trials):
            common = [f"c{rng.getrandbits(40)}" for _ in range(shared)]
            left = common + [f"l{rng.getrandbits(40)}" for _ in range(own // 2)]
            right = common + [f"r{rng.getrandbits(40)}" for _ in range(own - own // 2)]
            texts += [" ".join(left), " ".join(right)]
        keys = methods.make(Settings(threshold=0.8, recall=0.9, shingle_size=1)).sign(tokenise(pa.array(texts))).keys
        assert keys is not None
        hits = sum(bool((keys.values[2 * i] == keys.values[2 * i + 1]).any()) for i in range(trials))
        expected = method.candidate_probability(shared / (shared + own))
        assert abs(hits / trials - expected) <= 4 * math.sqrt(expected * (1 - expected) / trials) + 1 / trials


def test_methods_follow_from_settings() -> None:
    assert methods.make(Settings(method="identical")).candidate_probability(0.99) == 0
    assert methods.make(Settings(method="lexical")).candidate_probability(1) == 1
    given_bands = methods.make(Settings(bands=5, rows=3))
    assert given_bands.describe()["bands"] == 5
    assert methods.make(Settings(measure="containment", threshold=0.8)).describe()["probes"] == 3


@given(st.integers(0, 2**63 - 1), st.integers(1, 40))
def test_orderings_are_drawn_by_philox(seed: int, count: int) -> None:
    """numpy has the same generator: it is our twin."""
    words = np.random.Philox(key=seed).random_raw(2 * count)
    assert list(islice(philox(seed), 2 * count)) == words.tolist()
    multipliers, increments = draw(count, seed)
    assert multipliers.dtype == increments.dtype == np.uint32
    assert multipliers.tolist() == [word >> 32 | 1 for word in words[:count].tolist()]
    assert increments.tolist() == [word >> 32 for word in words[count:].tolist()]
