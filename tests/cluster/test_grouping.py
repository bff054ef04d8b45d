"""Grouping against plain dictionaries: the same buckets, however small the memory and however many the threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from roughly.cluster.common_keys import CommonLimit
from roughly.cluster.grouping import Buckets, group
from roughly.cluster.row_spool import RowSpool
from roughly.errors import MemoryTooSmall
from roughly.kernels.grouping import NO_MEMBER, transpose


class Listed:
    """Rows in memory, in pieces."""

    def __init__(self, rows: list[tuple[int, int]], piece: int = 100) -> None:
        self.count, self._piece = len(rows), piece
        self._keys = np.array([key for key, _ in rows], np.uint64)
        self._members = np.array([member for _, member in rows], np.uint32)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, self.count, self._piece):
            yield self._keys[start : start + self._piece], self._members[start : start + self._piece]


def buckets_of(found: Buckets) -> list[list[int]]:
    sizes, members, _ = found.rows()
    ends = np.cumsum(sizes)
    return [members[end - size : end].tolist() for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]


def twin(streams: list[list[tuple[int, int]]], most: int = 0) -> set[tuple[int, ...]]:
    found = set()
    for rows in streams:
        by_key = defaultdict(list)
        for key, member in rows:
            if key and member != NO_MEMBER:
                by_key[key].append(member)
        found |= {tuple(sorted(m)) for m in by_key.values() if len(m) > 1 and (not most or len(m) <= most)}
    return found


def some_rows(seed: int, count: int = 3000) -> list[tuple[int, int]]:
    """Keys that occur once, a few times and very often; keys that are none; members that take no part."""
    rng = np.random.default_rng(seed)
    keys = rng.choice(rng.integers(1, 2**63, count, dtype=np.uint64), count).tolist()
    hot = int(rng.integers(1, 2**63))
    rows = [(hot if rng.random() < 0.05 else int(key), member) for member, key in enumerate(keys)]
    rows = [(0 if rng.random() < 0.02 else key, int(NO_MEMBER) if rng.random() < 0.02 else m) for key, m in rows]
    return [rows[i] for i in rng.permutation(count)]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("budget", [1 << 30, 100_000, 20_000])
def test_equals_dictionaries(threads: int, budget: int) -> None:
    streams = [some_rows(seed) for seed in range(3)]
    found = group([Listed(rows) for rows in streams], budget=budget, threads=threads)
    buckets = buckets_of(found)
    assert {tuple(bucket) for bucket in buckets} == twin(streams)
    assert len(buckets) == len(twin(streams))  # equal buckets are kept once


def test_samples_of_small_hashes_are_grouped_like_any_other() -> None:
    rng = np.random.default_rng(5)
    rows = [(int(key) % 2**56, member) for member, key in enumerate(rng.integers(1, 2**63, 4000, dtype=np.uint64))]
    rows += [(key, member + 4000) for key, member in rows[:500]]
    found = group([Listed(rows)], budget=50_000, threads=2)
    assert {tuple(bucket) for bucket in buckets_of(found)} == twin([rows])


def test_common_keys_are_left_out_and_counted() -> None:
    rows = [(7, member) for member in range(50)] + [(9, member) for member in range(10)]
    found = group([Listed(rows)], budget=1 << 30, threads=1, common=CommonLimit(20))
    assert found.common == 1
    assert buckets_of(found) == [list(range(10))]


def test_equal_buckets_stay_apart_where_keys_in_common_count() -> None:
    rows = [(7, 1), (7, 2), (9, 1), (9, 2)]
    assert len(buckets_of(group([Listed(rows)], budget=1 << 30, threads=1, once=False))) == 2


def test_a_bucket_needs_someone_who_asks() -> None:
    probes = 1
    rows = [(5, 2 * 10), (5, 2 * 11), (6, 2 * 10), (6, 2 * 12 + probes)]
    sizes, members, has_probes = group([Listed(rows)], budget=1 << 30, threads=1, has_probes=True).rows()
    assert (sizes.tolist(), members.tolist(), has_probes.tolist()) == ([2], [10, 12], [False, True])


def test_candidates_are_numbered_by_member() -> None:
    rows = [(5, 30), (5, 10), (6, 20), (6, 30), (8, 40)]
    chosen, candidates = group([Listed(rows)], budget=1 << 30, threads=1).candidates(50)
    assert chosen.tolist() == [10, 20, 30]
    starts, docs, _ = candidates.by_bucket()
    assert sorted(docs[a:b].tolist() for a, b in pairwise(starts.tolist())) == [[0, 2], [1, 2]]
    assert candidates.pair_bound() == 2


@pytest.mark.parametrize("threads", [1, 3, 4, 16])
@pytest.mark.parametrize("documents", [1, 7, 300])
def test_buckets_and_members_are_turned_alike_on_any_number_of_threads(threads: int, documents: int) -> None:
    rng = np.random.default_rng(documents)
    buckets = [np.sort(rng.choice(documents, rng.integers(0, documents + 1), replace=False)) for _ in range(50)]
    members = np.concatenate(buckets).astype(np.uint32)
    probes = rng.random(len(members)) < 0.5
    starts = np.cumsum([0, *map(len, buckets)])
    offsets, columns, flags = transpose(starts, members, probes, documents, threads)
    at = dict(zip(((b, int(d)) for b, bucket in enumerate(buckets) for d in bucket), probes.tolist(), strict=True))
    found = [
        [(int(b), d, bool(flag)) for b, flag in zip(columns[i:j], flags[i:j], strict=True)]
        for d, (i, j) in enumerate(pairwise(offsets.tolist()))
    ]
    assert found == [[(b, d, at[b, d]) for b in range(len(buckets)) if (b, d) in at] for d in range(documents)]
    assert len(transpose(starts, members, np.empty(0, np.bool_), documents, threads)[2]) == 0


@pytest.mark.parametrize("threads", [1, 4])
def test_members_without_a_row_are_refused(threads: int) -> None:
    with pytest.raises(ValueError, match="every member needs a row"):
        transpose(np.array([0, 2]), np.array([1, 3], np.uint32), np.empty(0, np.bool_), 3, threads)
    with pytest.raises(ValueError, match="offsets must stay within the values"):
        transpose(np.array([0, 3]), np.array([1, 2], np.uint32), np.empty(0, np.bool_), 3, threads)


def test_too_many_candidates_are_refused() -> None:
    found = Buckets(budget=1)
    members = np.zeros(3_000_000, np.uint32)
    with pytest.raises(MemoryTooSmall, match="raise --memory"):
        found.add((np.full(1, len(members), np.uint32), members, np.ones(1, np.uint64), 0))


def test_spooled_rows_come_back() -> None:
    with RowSpool(None) as spool:
        spool.add(np.array([1, 2], np.uint64), np.array([3, 4], np.uint32))
        spool.add(np.array([2**64 - 1], np.uint64), np.array([2**32 - 1], np.uint32))
        assert spool.count == 3
        for _ in range(2):
            pieces = list(spool)
            assert np.concatenate([keys for keys, _ in pieces]).tolist() == [1, 2, 2**64 - 1]
            assert np.concatenate([members for _, members in pieces]).tolist() == [3, 4, 2**32 - 1]


PEAK = """
import resource
import numpy as np
from roughly.cluster.grouping import group
from roughly.kernels.memory import keep_memory

class Keys:
    count = 2_000_000
    def __iter__(self):
        for piece in range(10):
            drawn = np.random.default_rng(piece).integers(1, 3 << 20, 200_000, dtype=np.uint64)
            yield drawn, np.arange(piece * 200_000, (piece + 1) * 200_000, dtype=np.uint32)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

keep_memory(64 << 20)  # blocks are used again, so all of their pages are there
before = peak()
group([Keys()], budget=64 << 20, threads=16)
print(peak() - before)
"""


@pytest.mark.skipif("ROUGHLY_SANITIZED" in os.environ, reason="sanitizers hold on to freed memory")
def test_selected_rows_hold_no_more_memory_than_they_need() -> None:
    """A share has few rows of every file: with many threads, blocks as large as the files would be many times more."""
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 160
