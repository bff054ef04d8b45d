"""Resolution against a plain-Python twin: the same documents stay, whatever the blocks and however hot the buckets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from roughly.cluster import hot_buckets, ranked_walk, star
from roughly.cluster.candidates import NO_PROBES, Candidates, PairConstraints
from roughly.cluster.components import components
from roughly.cluster.scoring import ResolveBudget
from roughly.dates import NO_DAY
from roughly.features.shingle_sets import Sets


class Memory:
    """Sets in memory, with an equal weight for every document."""

    complete = True

    def __init__(self, sets: list[set[int]]) -> None:
        self.sets = sets

    def weight(self) -> np.ndarray:
        return np.full(len(self.sets), 100, np.int64)

    def load(self, docs: np.ndarray) -> Sets:
        arrays = [np.sort(np.array(sorted(self.sets[d]), np.uint64) * np.uint64(0x9E3779B97F4A7C15)) for d in docs]
        offsets = np.cumsum([0, *map(len, arrays)]).astype(np.int64)
        return Sets(np.concatenate([np.empty(0, np.uint64), *arrays]), offsets)


def resemblance(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b)


def containment(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a)


def incidence(buckets: list[list[int]], documents: int) -> Candidates:
    sizes = np.array([len(members) for members in buckets], np.uint32)
    members = np.array([d for members in buckets for d in members], np.uint32)
    return Candidates.from_buckets(sizes, members, NO_PROBES, documents)


def collection(seed: int, documents: int = 120) -> tuple[list[set[int]], list[list[int]]]:
    """Families of similar sets, and random buckets over them."""
    rng = np.random.default_rng(seed)
    sets: list[set[int]] = []
    for _ in range(documents):
        if sets and rng.random() < 0.7:
            base = set(sets[rng.integers(len(sets))])
            for _ in range(rng.integers(0, 8)):
                base.discard(int(rng.choice(sorted(base)))) if len(base) > 5 else None
                base.add(int(rng.integers(1, 2**40)))
        else:
            base = {int(x) for x in rng.integers(1, 2**40, rng.integers(5, 40))}
        sets.append(base)
    buckets = [sorted({int(d) for d in rng.integers(0, documents, rng.integers(2, 25))}) for _ in range(documents * 2)]
    return sets, buckets


def twin(sets: list[set[int]], buckets: list[list[int]], measure: str, threshold: float) -> tuple[list[bool], set]:
    """Best rank first: a document goes if a kept one that shares a bucket reaches the threshold."""
    of = defaultdict(set)
    for members in buckets:
        for d in members:
            of[d] |= set(members)
    kept: list[bool] = []
    evidence = set()
    for d in range(len(sets)):
        passing = [
            k
            for k in of[d]
            if k < d
            and kept[k]
            and (resemblance if measure == "resemblance" else containment)(sets[d], sets[k]) >= threshold
        ]
        evidence |= {(d, k, len(sets[d] & sets[k]), len(sets[d]), len(sets[k])) for k in passing}
        kept.append(not passing)
    return kept, evidence


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("budget", [10**9, 8000, 1600])
def test_equals_the_plain_greedy_rule(measure: str, threshold: float, budget: int) -> None:
    for seed in range(5):
        sets, buckets = collection(seed)
        found = star.resolve(
            incidence(buckets, len(sets)),
            Memory(sets),
            measure=measure,
            threshold=threshold,
            work=ResolveBudget(budget, 2),
        )
        kept, evidence = twin(sets, buckets, measure, threshold)
        assert found.kept.tolist() == kept
        assert {tuple(row) for row in found.pairs.tolist()} == evidence


@pytest.mark.parametrize("budget", [10**9, 3000])
def test_every_pair_is_found_when_asked_for(budget: int) -> None:
    sets, buckets = collection(7)
    found = star.resolve(
        incidence(buckets, len(sets)),
        Memory(sets),
        measure="resemblance",
        threshold=0.5,
        work=ResolveBudget(budget, 2),
        every_pair=True,
    )
    pairs = {(max(a, b), min(a, b)) for members in buckets for a in members for b in members if a != b}
    true = {
        (a, b, len(sets[a] & sets[b]), len(sets[a]), len(sets[b]))
        for a, b in pairs
        if resemblance(sets[a], sets[b]) >= 0.5
    }
    assert {tuple(row) for row in found.pairs.tolist()} == true
    assert found.kept.tolist() == twin(sets, buckets, "resemblance", 0.5)[0]


def boilerplate(documents: int, shared: int, own: int, copies: int) -> list[set[int]]:
    """Documents that share a template and differ in their bodies, and near-copies of some of them."""
    template = set(range(1, shared + 1))
    sets = [template | {10**6 + d * own + i for i in range(own)} for d in range(documents)]
    return sets + [set(sorted(sets[d])[:-1]) | {10**9 + d} for d in range(copies)]


@pytest.mark.parametrize("budget", [10**9, 20_000])
def test_a_crowded_bucket_is_neither_quadratic_nor_lossy(budget: int) -> None:
    sets = boilerplate(3000, 20, 20, 400)
    everyone = [list(range(len(sets)))]
    found = star.resolve(
        incidence(everyone, len(sets)),
        Memory(sets),
        measure="resemblance",
        threshold=0.8,
        work=ResolveBudget(budget, 2),
    )
    assert found.hot == 1
    assert found.kept.tolist() == [True] * 3000 + [False] * 400
    assert found.pairs[:, :2].tolist() == [[3000 + d, d] for d in range(400)]
    assert found.compared < 3400 * (hot_buckets.HOT + 5)  # 5.8 million pairs share the bucket


@pytest.mark.parametrize("dense", [1, 10**9])
@pytest.mark.parametrize(("budget", "threads"), [(10**9, 2), (10**9, 6), (20_000, 2)])
def test_a_crowd_around_the_threshold_is_resolved_exactly(
    budget: int, threads: int, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents of one template whose resemblances lie on both sides of it: their rare shingles are common too."""
    monkeypatch.setattr(ranked_walk, "DENSE", dense)
    rng = np.random.default_rng(1)
    sets = []
    for d in range(700):
        changed = set(rng.choice(60, rng.integers(1, 9), replace=False).tolist())
        sets.append({i for i in range(60) if i not in changed} | {10**6 + 100 * d + i for i in changed})
    everyone = [list(range(len(sets)))]
    found = star.resolve(
        incidence(everyone, len(sets)),
        Memory(sets),
        measure="resemblance",
        threshold=0.8,
        work=ResolveBudget(budget, threads),
    )
    kept, evidence = twin(sets, everyone, "resemblance", 0.8)
    assert found.hot == 1 and hot_buckets.HOT < sum(kept) < len(sets)
    assert found.kept.tolist() == kept
    named = {tuple(row) for row in found.pairs.tolist()}
    assert named <= evidence
    per_document = np.bincount([d for d, *_ in named], minlength=len(sets))
    wanted = np.bincount([d for d, *_ in evidence], minlength=len(sets))
    assert per_document.tolist() == np.minimum(wanted, ranked_walk.EVIDENCE).tolist()


def test_blocks_of_a_large_component_keep_few_pairs_with_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five hundred near-copies in blocks of twenty: each resembles hundreds, and memory is for a few of them."""
    monkeypatch.setattr(ranked_walk, "EVIDENCE", 3)
    rng = np.random.default_rng(2)
    sets = []
    for d in range(500):
        changed = set(rng.choice(60, rng.integers(1, 10), replace=False).tolist())
        sets.append({i for i in range(60) if i not in changed} | {10**6 + 100 * d + i for i in changed})
    earlier = ranked_walk.RankedWalk._against_earlier
    rows: list[int] = []

    def counted(*args: object) -> Iterator[np.ndarray]:
        for pairs in earlier(*args):  # type: ignore[arg-type]
            rows.extend(np.bincount(pairs[:, 0]).tolist())
            yield pairs

    monkeypatch.setattr(ranked_walk.RankedWalk, "_against_earlier", counted)
    everyone = [list(range(len(sets)))]
    found = star.resolve(
        incidence(everyone, len(sets)),
        Memory(sets),
        measure="resemblance",
        threshold=0.75,
        work=ResolveBudget(6_000, 2),
    )
    kept, evidence = twin(sets, everyone, "resemblance", 0.75)
    assert found.kept.tolist() == kept and 20 < sum(kept) < 400
    assert {tuple(row) for row in found.pairs.tolist()} <= evidence
    assert max(rows) == 3 and max(np.bincount([d for d, *_ in evidence])) > 20


@pytest.mark.parametrize("late", [50, 10**6])
@pytest.mark.parametrize("measure", ["resemblance", "containment"])
def test_a_crowd_that_shows_late(late: int, measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred near-copies rank above two hundred different documents: the walk goes on, or begins again."""
    monkeypatch.setattr(star, "HOT", 10)
    monkeypatch.setattr(star, "_LOOKS", (20, 80))
    monkeypatch.setattr(ranked_walk, "LATE", late)
    monkeypatch.setattr(ranked_walk, "DENSE", 16)
    base = set(range(1, 101))
    sets = [base - {d % 100 + 1} | {1000 + d} for d in range(200)] + boilerplate(200, 40, 40, 100)
    everyone = [list(range(len(sets)))]
    found = star.resolve(
        incidence(everyone, len(sets)), Memory(sets), measure=measure, threshold=0.8, work=ResolveBudget(10**9, 2)
    )
    kept, evidence = twin(sets, everyone, measure, 0.8)
    assert found.hot == (late == 50)
    assert found.kept.tolist() == kept and sum(kept) == 201
    assert {tuple(row) for row in found.pairs.tolist()} == evidence


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("every_pair", [False, True])
def test_documents_side_by_side_are_compared_like_any(
    measure: str, every_pair: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    sets = []
    for d in range(400):
        changed = set(rng.choice(60, rng.integers(1, 12), replace=False).tolist())
        sets.append({i for i in range(60) if i not in changed} | {10**6 + 100 * d + i for i in changed})
    sets += [{10**9 + d} for d in range(4000)]  # pairs that have nothing in common but a bucket
    buckets = [list(range(400)), *([d, d + 1] for d in range(400, len(sets), 2))]
    threshold = {"resemblance": 0.8, "containment": 0.92}[measure]
    options = {"measure": measure, "threshold": threshold, "every_pair": every_pair}
    found = {}
    for dense in (8, 10**9):
        monkeypatch.setattr(ranked_walk, "DENSE", dense)
        # with half a megabyte the crowd has wide bitmaps and all documents narrow ones
        for budget, threads in ((10**9, 1), (500_000, 2), (20_000, 2)):
            work = ResolveBudget(budget, threads)
            one = star.resolve(incidence(buckets, len(sets)), Memory(sets), work=work, **options)
            assert one.hot == 1
            found[dense, budget] = (one.kept.tolist(), one.pairs.tolist(), one.near.tolist(), one.compared)
    first, *others = found.values()
    assert len(first[1]) > 100 and all(other == first for other in others)


@pytest.mark.parametrize("every_pair", [False, True])
def test_components_give_the_same_however_they_are_resolved(every_pair: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Side by side or run by run, on one thread or several, all at hand or block by block."""
    sets, buckets = [], []
    for seed in range(12):
        some, joined = collection(seed, 20 + 10 * seed)
        buckets += [[d + len(sets) for d in members] for members in joined]
        sets += some
    mixed = np.random.default_rng(1).permutation(len(sets))
    sets = [sets[d] for d in np.argsort(mixed)]
    buckets = [sorted(int(mixed[d]) for d in members) for members in buckets]
    found = []
    for large in (0, 2000, 10**9):
        monkeypatch.setattr(ranked_walk, "_LARGE", large)
        monkeypatch.setattr(ranked_walk, "_DOCUMENTS_AT_ONCE", 100)
        monkeypatch.setattr(ranked_walk, "RUN", 64)
        for threads, budget in ((1, 10**9), (5, 10**9), (3, 20_000)):
            one = star.resolve(
                incidence(buckets, len(sets)), Memory(sets), measure="resemblance", threshold=0.6,
                work=ResolveBudget(budget, threads), every_pair=every_pair,
            )  # fmt: skip
            found.append((one.kept.tolist(), one.pairs.tolist(), one.near.tolist(), one.compared))
    kept, evidence = twin(sets, buckets, "resemblance", 0.6)
    assert found[0][0] == kept and {tuple(row) for row in found[0][1]} >= evidence
    assert len(found[0][2]) == ranked_walk.NEAR and all(other == found[0] for other in found)


def test_a_bucket_of_near_copies_costs_one_comparison_each() -> None:
    base = set(range(1, 101))
    sets = [base] + [base - {d % 100 + 1} | {1000 + d} for d in range(5000)]
    found = star.resolve(
        incidence([list(range(5001))] * 3, 5001),
        Memory(sets),
        measure="resemblance",
        threshold=0.8,
        work=ResolveBudget(10**9),
    )
    assert found.kept.tolist() == [True] + [False] * 5000
    assert found.compared == 5000
    assert found.hot == 0


def test_containment_in_crowded_buckets_finds_every_contained_document() -> None:
    large = boilerplate(600, 20, 60, 0)
    small = [set(sorted(large[d])[20:60]) for d in range(300)]  # parts of bodies
    sets = large + small
    members = np.arange(len(sets), dtype=np.uint32)
    sizes = np.array([len(sets)], np.uint32)
    candidates = Candidates.from_buckets(sizes, members, np.ones(len(sets), np.bool_), len(sets))
    found = star.resolve(candidates, Memory(sets), measure="containment", threshold=0.9, work=ResolveBudget(10**9))
    assert found.hot == 1
    assert found.kept.tolist() == [True] * 600 + [False] * 300
    assert found.pairs[:, :2].tolist() == [[600 + d, d] for d in range(300)]


@pytest.mark.parametrize("budget", [10**9, 3000])
def test_components_are_those_of_all_pairs(budget: int) -> None:
    for seed in range(5):
        sets, buckets = collection(seed)
        candidates = incidence(buckets, len(sets))
        options = {"measure": "resemblance", "threshold": 0.6, "work": ResolveBudget(budget, 2)}
        found = star.resolve(candidates, Memory(sets), **options)
        roots, links, _ = components(found, Memory(sets), **options, constraints=PairConstraints())
        root = list(range(len(sets)))
        edges = {(a, b) for m in buckets for a in m for b in m if a < b and resemblance(sets[a], sets[b]) >= 0.6}
        for _ in range(len(sets)):
            for a, b in edges:
                root[a] = root[b] = min(root[a], root[b])
        assert roots.tolist() == root
        assert {(b, a) for a, b, *_ in links.tolist()} <= edges


class Samples:
    """Samples of sets: the values up to a limit of each document's own, or the smallest few."""

    complete = False

    def __init__(self, sets: list[list[int]], limits: list[int], most: int) -> None:
        self.sets, self.limits, self.most = sets, np.array(limits, np.uint64), most

    def weight(self) -> np.ndarray:
        return np.full(len(self.sets), 100, np.int64)

    def load(self, docs: np.ndarray) -> Sets:
        arrays = [np.array([v for v in self.sets[d] if v <= int(self.limits[d])], np.uint64) for d in docs]
        offsets = np.cumsum([0, *map(len, arrays)]).astype(np.int64)
        return Sets(np.concatenate([np.empty(0, np.uint64), *arrays]), offsets, self.limits[docs], self.most)


@pytest.mark.parametrize("most", [0, 8])
@pytest.mark.parametrize("budget", [10**9, 3000])
def test_samples_are_compared_where_both_are_complete(most: int, budget: int) -> None:
    rng = np.random.default_rng(3)
    sets, buckets = collection(11)
    hashed = [sorted(hash((v, 1)) % 2**64 for v in s) for s in sets]
    limits = [int(2**64 * rng.choice([0.4, 0.7, 0.9999])) for _ in sets]
    if most:  # the smallest few: complete up to the largest of them
        limits = [values[most - 1] if len(values) >= most else 2**64 - 1 for values in hashed]
    found = star.resolve(
        incidence(buckets, len(sets)),
        Samples(hashed, limits, most),
        measure="resemblance",
        threshold=0.5,
        work=ResolveBudget(budget, 2),
    )

    def counts(d: int, k: int) -> tuple[int, int, int]:
        cut = min(limits[d], limits[k])
        mine, theirs = ({v for v in hashed[x] if v <= cut} for x in (d, k))
        if most:
            union = set(sorted(mine | theirs)[:most])
            mine, theirs = mine & union, theirs & union
        return len(mine & theirs), len(mine), len(theirs)

    of = defaultdict(set)
    for members in buckets:
        for d in members:
            of[d] |= set(members)
    kept: list[bool] = []
    evidence = set()
    for d in range(len(sets)):
        rows = [(d, k, *counts(d, k)) for k in of[d] if k < d and kept[k]]
        passing = [row for row in rows if row[2] and row[2] / (row[3] + row[4] - row[2]) >= 0.5]
        evidence |= set(passing)
        kept.append(not passing)
    assert found.kept.tolist() == kept and not all(kept)
    assert {tuple(row) for row in found.pairs.tolist()} == evidence


def test_documents_that_share_a_key_are_duplicates_when_keys_decide() -> None:
    candidates = incidence([[0, 1], [1, 2], [3, 4], [3, 4]], 5)
    found = star.resolve(candidates, candidates.key_sets(), measure="common", threshold=1, work=ResolveBudget(10**9))
    assert found.kept.tolist() == [True, False, True, True, False]  # 2 shares a key with 1 only, which went
    assert found.pairs[:, :3].tolist() == [[1, 0, 1], [4, 3, 2]]
    twice = star.resolve(candidates, candidates.key_sets(), measure="common", threshold=2, work=ResolveBudget(10**9))
    assert twice.kept.tolist() == [True, True, True, True, False]


def test_dates_and_lengths_can_keep_documents_apart() -> None:
    sets = [{1, 2, 3, 4}] * 5
    candidates = incidence([[0, 1, 2, 3, 4]], 5)
    days = np.array([100, 110, 200, NO_DAY, 100], np.int32)
    constraints = PairConstraints(days, 42, np.array([100, 90, 100, 100, 70], np.int64), 0.8)
    found = star.resolve(
        candidates,
        Memory(sets),
        measure="resemblance",
        threshold=0.9,
        work=ResolveBudget(10**9),
        constraints=constraints,
    )
    assert found.kept.tolist() == [True, False, True, True, True]
    pairs = np.array([[1, 0], [2, 0], [3, 0], [4, 0]], np.int32)
    assert constraints.admit(pairs).tolist() == [True, False, False, False]
