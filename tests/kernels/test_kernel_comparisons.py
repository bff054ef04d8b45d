"""What a learned verdict compares: every loop against plain Python."""

from __future__ import annotations

import itertools

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roughly.kernels import comparisons as kernels
from roughly.kernels.shingles import shingle_sets

SETS = st.lists(st.lists(st.integers(0, 40), unique=True, max_size=30).map(sorted), min_size=2, max_size=6)


def every_pair(count: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array([(a, b) for a in range(count) for b in range(count) if a != b], np.int64)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def facts(values: np.ndarray) -> np.ndarray:
    return kernels.pack_facts(
        values * np.uint64(7919) % np.uint64(65536), values % np.uint64(2), values % np.uint64(3) == 0
    )


def check_shared(groups: list[list[int]]) -> None:
    values, offsets = twins.flat(groups)
    left, right = every_pair(len(groups))
    found = kernels.shared_facts(values, facts(values), offsets, left, right)
    for a, b, row in zip(left, right, found.tolist(), strict=True):
        both = set(groups[a]) & set(groups[b])
        weights = sum(one * 7919 % 2**64 % 65536 for one in both)
        assert row == [len(both), weights, sum(one % 2 for one in both), sum(one % 3 == 0 for one in both)]
    sums = kernels.sums_of_facts(facts(values), offsets)
    assert sums[:, 1].tolist() == [sum(one % 2 for one in group) for group in groups]


@given(SETS)
def test_shared_facts_are_those_of_python_sets(groups: list[list[int]]) -> None:
    check_shared(groups)


@pytest.mark.parametrize(("small", "large"), [(1, 40), (7, 200), (300, 320), (600, 5000), (400, 400)])
def test_shared_facts_of_larger_sets(small: int, large: int) -> None:
    random = np.random.default_rng(small)
    check_shared([sorted(set(random.integers(0, 2 * large, n).tolist())) for n in (small, large)])


@given(SETS)
def test_intersections_without_lone_values_are_the_same(groups: list[list[int]]) -> None:
    found, offsets = kernels.without_lone_values(*twins.flat(groups))
    kept = [set(found[a:b].tolist()) for a, b in itertools.pairwise(offsets.tolist())]
    for a, b in itertools.combinations(range(len(groups)), 2):
        assert kept[a] <= set(groups[a]) and kept[a] & kept[b] == set(groups[a]) & set(groups[b])


def test_most_lone_values_are_left_out() -> None:
    random = np.random.default_rng(1)
    groups = [sorted(set(random.integers(0, 2**64, 500, dtype=np.uint64).tolist())) for _ in range(4)]
    assert len(kernels.without_lone_values(*twins.flat(groups))[0]) < 300


@example([["a", "b"], ["b", "a"]], 1)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=25), min_size=2, max_size=5), st.integers(1, 4))
def test_the_longest_run_and_the_order(texts: list[list[str]], size: int) -> None:
    hashes = {"a": 0x9E3779B97F4A7C15, "b": 0xC2B2AE3D27D4EB4F, "c": 0x165667B19E3779F9}
    tokens, offsets = twins.flat([[hashes[one] for one in text] for text in texts])
    sets = shingle_sets(tokens, offsets, size)
    left, right = every_pair(len(texts))

    def shingles(text: list[str]) -> list[tuple[str, ...]]:
        return [tuple(text[at : at + size]) for at in range(max(1, len(text) - size + 1))] if text else []

    def run(here: list[str], there: list[str]) -> int:
        inside = [one in shingles(there) for one in shingles(here)]
        return max((len(list(own)) for is_in, own in itertools.groupby(inside) if is_in), default=0)

    def in_order(here: list[str], there: list[str]) -> int:
        first = {one: at for at, one in reversed(list(enumerate(shingles(there))))}
        places = [first[one] for one in dict.fromkeys(shingles(here)) if one in first]
        best: list[int] = []
        for at, place in enumerate(places):
            best.append(1 + max((best[before] for before in range(at) if places[before] < place), default=0))
        return max(best, default=0)

    for own in (sets, kernels.without_lone_values(*sets)):
        found = kernels.shared_runs((tokens, offsets), size, own, left, right).tolist()
        for a, b, row in zip(left, right, found, strict=True):
            shared = set(shingles(texts[a])) & set(shingles(texts[b]))
            longest = min(run(texts[a], texts[b]), run(texts[b], texts[a]))
            assert row == [len(shared), longest, in_order(texts[a], texts[b])]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_facts_are_found_by_their_key(count: int) -> None:
    random = np.random.default_rng(count)
    keys = np.unique(random.integers(0, 2**64, count, dtype=np.uint64))
    own = random.integers(0, 100, len(keys)).astype(np.uint64)
    values = np.r_[random.integers(0, 2**64, 50, dtype=np.uint64), np.uint64(0), np.uint64(2**64 - 1), keys]
    table = dict(zip(keys.tolist(), own.tolist(), strict=True))
    for some in (values, values[:60]):  # many are looked up in another way than few
        assert kernels.facts_of(some, keys, own, 123).tolist() == [table.get(one, 123) for one in some.tolist()]


def test_what_does_not_fit_is_refused() -> None:
    values, offsets = twins.flat([[1, 2], [2]])
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="its facts"):
        kernels.facts_of(values, values[:1], values, 0)
    with pytest.raises(ValueError, match="below 65,536"):
        kernels.shared_facts(values, values << np.uint64(20), offsets, none, none)
    with pytest.raises(ValueError, match="numbers of sets"):
        kernels.shared_facts(values, values, offsets, np.array([0]), np.array([2]))
    with pytest.raises(ValueError, match="needs its set"):
        kernels.shared_runs((values, offsets), 5, (values, offsets[:2]), none, none)
