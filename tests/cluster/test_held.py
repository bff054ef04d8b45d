"""Keys and sets in memory: who stays and who stands together, as plain definitions have it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.cluster.in_memory import (
    ClusterRules,
    DocumentFacts,
    candidates_of,
    equivalent,
    first_of,
    longest_first,
    resolve_in_memory,
)
from roughly.cluster.scoring import ResolveBudget
from roughly.dates import NO_DAY
from roughly.errors import InputError
from roughly.features.sketch import Sketch
from roughly.methods import Judge, Keys

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

WORK = ResolveBudget(1 << 30, 2)
MASK = 2**64 - 1
SMALL = st.lists(st.integers(1, 13), max_size=10).map(lambda v: sorted(set(v)))


def flat(groups: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array([value for own in groups for value in own], np.uint64)
    return values, np.cumsum([0, *map(len, groups)]).astype(np.int64)


def counts(a: list[int], limit_a: int, b: list[int], limit_b: int, most: int) -> tuple[int, int, int]:
    """Values that both have, and that each has, where both are complete; with `most`, of the least of the union."""
    cut = min(limit_a, limit_b)
    left, right = {v for v in a if v <= cut}, {v for v in b if v <= cut}
    if most:
        least = set(sorted(left | right)[:most])
        left, right = left & least, right & least
    return len(left & right), len(left), len(right)


def greedy(
    held: list[list[int]], limits: list[int], most: int, measure: str, threshold: float
) -> tuple[list[bool], set[tuple[int, ...]], list[tuple[int, int]]]:
    """(who stays, the star's pairs, every pair that reaches the threshold), best rank first."""
    kept: list[bool] = []
    star, every = set(), []
    for d, mine in enumerate(held):
        stays = True
        for k in range(d):
            if not set(mine) & set(held[k]):
                continue
            c, m, n = counts(mine, limits[d], held[k], limits[k], most)
            whole = m if measure == "containment" else m + n - c
            if c and c / whole >= threshold:
                every.append((d, k))
                if kept[k]:
                    star.add((d, k, c, m, n))
                    stays = False
        kept.append(stays)
    return kept, star, every


def connected(count: int, links: list[tuple[int, int]]) -> list[int]:
    root = list(range(count))
    for _ in range(count):
        for a, b in links:
            root[a] = root[b] = min(root[a], root[b])
    return root


@given(
    st.lists(SMALL, min_size=1, max_size=8),
    st.integers(0, 6),
    st.sampled_from(["resemblance", "containment"]),
    st.sampled_from([0.2, 0.5, 0.75, 1.0]),
    st.booleans(),
    st.data(),
)
def test_stars_and_components_are_those_of_the_twin(
    groups: list[list[int]], most: int, measure: str, threshold: float, linked: bool, data: st.DataObject
) -> None:
    limits = [data.draw(st.sampled_from([MASK, 13, 9, 6])) for _ in groups]
    held = [[v for v in group if v <= limit] for group, limit in zip(groups, limits, strict=True)]
    values, offsets = flat(held)
    sketch = Sketch(values, offsets, np.array(limits, np.uint64), most)
    found = resolve_in_memory(
        Keys(values, offsets), Judge("sketch", measure, threshold), DocumentFacts(sketch),  # type: ignore[arg-type]
        rank=np.arange(len(held)), work=WORK, rules=ClusterRules(linked=linked),
    )  # fmt: skip
    kept, star, every = greedy(held, limits, most, measure, threshold)
    assert found.kept.tolist() == kept
    rows = {tuple(row) for row in found.pairs.tolist()}
    assert rows >= star if linked else rows == star
    found_all = resolve_in_memory(
        Keys(values, offsets), Judge("sketch", measure, threshold), DocumentFacts(sketch),  # type: ignore[arg-type]
        rank=np.arange(len(held)), work=WORK, rules=ClusterRules(every_pair=True),
    )  # fmt: skip
    assert sorted(map(tuple, found_all.pairs[:, :2].tolist())) == sorted(every)
    assert found_all.kept.tolist() == kept
    assert {row[:2] for row in rows} <= set(every)
    for d, witness in enumerate(found.witness.tolist()):
        assert witness == d if kept[d] else kept[witness] and (d, witness) in {row[:2] for row in star}
    if linked:
        assert found.root.tolist() == connected(len(held), every)
    else:
        assert (found.root == found.witness).all()


@given(
    st.lists(st.lists(st.integers(1, 6), max_size=4), min_size=1, max_size=8),
    st.integers(1, 3),
    st.lists(st.integers(1, 20), min_size=8, max_size=8),
    st.booleans(),
)
def test_groups_by_keys_in_common(keys: list[list[int]], needed: int, lengths: list[int], window: bool) -> None:
    keys = [sorted(set(own)) for own in keys]
    judge = Judge("keys", "common", needed, lengths=0.3 if window else None)
    facts = DocumentFacts(lengths=np.array(lengths[: len(keys)], np.int64))
    found = resolve_in_memory(
        Keys(*flat(keys)), judge, facts, rank=np.arange(len(keys)), work=WORK, rules=ClusterRules(linked=True)
    )
    links = [
        (j, i)
        for i, j in itertools.combinations(range(len(keys)), 2)
        if len(set(keys[i]) & set(keys[j])) >= needed
        and (not window or abs(lengths[i] - lengths[j]) <= 0.3 * max(lengths[i], lengths[j]))
    ]
    assert found.root.tolist() == connected(len(keys), links)


def test_a_key_counts_within_its_band_and_0_is_none() -> None:
    keys = Keys(np.array([[5, 0], [0, 5], [5, 7], [0, 0], [0, 0]], np.uint64))
    found = resolve_in_memory(keys, Judge("keys", "common", 1), DocumentFacts(), rank=np.arange(5), work=WORK)
    assert found.kept.tolist() == [True, True, False, True, True] and found.witness[2] == 0


def test_a_pair_needs_someone_who_asks() -> None:
    judge, rank = Judge("keys", "common", 1), np.arange(3)
    asks = np.array([True, False, False])
    keys = Keys(np.array([5, 5, 5], np.uint64), np.arange(4), asks)
    assert resolve_in_memory(keys, judge, DocumentFacts(), rank=rank[::-1], work=WORK).kept.tolist() == [
        False,
        True,
        True,
    ]
    silent = Keys(keys.values, keys.offsets, np.zeros(3, np.bool_))
    assert resolve_in_memory(silent, judge, DocumentFacts(), rank=rank, work=WORK).kept.all()


def test_common_keys_form_no_pairs_and_equal_documents_count_once() -> None:
    keys, rank = Keys(np.full(4, 5, np.uint64), np.arange(5)), np.arange(4)
    judge = Judge("keys", "common", 1)
    found = resolve_in_memory(keys, judge, DocumentFacts(), rank=rank, work=WORK, rules=ClusterRules(common=3))
    assert found.kept.all() and found.common == 1
    first = np.array([0, 1, 0, 1])
    once = resolve_in_memory(
        keys, judge, DocumentFacts(), rank=rank, work=WORK, rules=ClusterRules(common=3), first=first
    )
    assert once.kept.tolist() == [True, False, False, False] and once.witness.tolist() == [0, 0, 0, 0]


def test_sketches_are_scored_below_their_limits() -> None:
    values, offsets = np.array([1, 2, 3, 9, 1, 2, 4, 2, 3], np.uint64), np.array([0, 4, 7, 9], np.int64)

    def rows(sketch: Sketch, measure: str) -> list[list[int]]:
        judge = Judge("sketch", measure, 0.01)  # type: ignore[arg-type]
        found = resolve_in_memory(
            Keys(values, offsets), judge, DocumentFacts(sketch), rank=np.arange(3), work=WORK
        )  # fmt: skip
        return found.pairs.tolist()

    assert rows(Sketch(values, offsets), "resemblance") == [[1, 0, 2, 3, 4], [2, 0, 2, 2, 4]]
    cut = Sketch(values, offsets, np.array([9, 3, 4], np.uint64))
    assert rows(cut, "resemblance") == [[1, 0, 2, 2, 3], [2, 0, 2, 2, 3]]
    least = Sketch(values, offsets, None, 2)
    assert rows(least, "resemblance") == [[1, 0, 2, 2, 2], [2, 0, 1, 1, 2]]
    assert rows(Sketch(values, offsets), "common") == [[1, 0, 2, 3, 4], [2, 0, 2, 2, 4]]


def test_dates_and_lengths_keep_documents_apart() -> None:
    keys, rank = Keys(np.full(4, 5, np.uint64), np.arange(5)), np.arange(4)
    judge = Judge("keys", "common", 1, dates=10)
    days = np.array([100, 105, 200, NO_DAY], np.int32)
    assert resolve_in_memory(keys, judge, DocumentFacts(days=days), rank=rank, work=WORK).kept.tolist() == [
        True,
        False,
        True,
        True,
    ]
    undated = DocumentFacts(days=np.full(4, NO_DAY, np.int32))
    assert resolve_in_memory(keys, judge, undated, rank=rank, work=WORK).kept.tolist() == [True, False, False, False]
    with pytest.raises(InputError, match="dates of the documents are not known"):
        resolve_in_memory(keys, judge, DocumentFacts(), rank=rank, work=WORK)
    with pytest.raises(InputError, match="lengths of the documents are not known"):
        resolve_in_memory(keys, Judge("keys", "common", 1, lengths=0.1), DocumentFacts(), rank=rank, work=WORK)
    with pytest.raises(InputError, match="hold no sketch"):
        resolve_in_memory(keys, Judge("sketch", "common", 1), DocumentFacts(), rank=rank, work=WORK)


def test_a_key_of_everyone_costs_a_comparison_a_document() -> None:
    """Forming the pairs of this key would be 200 million."""
    count = 20_000
    keys = Keys(np.full(count, 7, np.uint64), np.arange(count + 1))
    found = resolve_in_memory(
        keys,
        Judge("keys", "common", 1),
        DocumentFacts(),
        rank=np.arange(count),
        work=WORK,
        rules=ClusterRules(linked=True),
    )
    assert found.compared == count - 1 and set(found.root.tolist()) == {0}


def test_nothing_is_grouped_to_nothing() -> None:
    none = np.empty(0, np.int64)
    for keys in (Keys(np.empty((0, 2), np.uint64)), Keys(np.empty(0, np.uint64), np.zeros(1, np.int64))):
        found = resolve_in_memory(
            keys, Judge("keys", "common", 1), DocumentFacts(), rank=none, work=WORK, rules=ClusterRules(linked=True)
        )
        assert len(found.kept) == len(found.pairs) == found.compared == 0


def test_ranks_and_equal_documents() -> None:
    rank = longest_first(np.array([3, 9, 3, 9]))
    assert rank.tolist() == [1, 3, 0, 2]
    assert longest_first(np.array([3, 9, 3, 9]), np.array([3, 2, 1, 0])).tolist() == [3, 1, 2, 0]
    assert first_of(np.array([7, 8, 8, 7]), rank).tolist() == [3, 1, 1, 3]
    values, offsets = flat([[1, 2], [1, 2], [], [], [1, 2]])
    sketch = Sketch(values, offsets, np.array([9, 9, 9, 9, 5], np.uint64))
    assert equivalent(sketch, np.arange(5)).tolist() == [0, 0, 2, 3, 4]


def test_candidates_are_named_by_their_documents() -> None:
    keys = Keys(*flat([[1], [2], [3, 1], [], [2, 3]]))
    docs, candidates, _ = candidates_of(keys, np.array([4, 2, 1]), work=WORK)
    assert docs.tolist() == [4, 2, 1]
    named = np.sort(docs[np.concatenate(list(candidates.pairs()))], axis=1)
    assert sorted(map(tuple, named.tolist())) == [(1, 4), (2, 4)]
