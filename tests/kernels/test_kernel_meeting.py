"""Who shares a key, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.kernels import meeting
from roughly.kernels.bitmaps import draw
from roughly.kernels.judging import MEASURES

VALUES = st.frozensets(st.integers(0, 2**64 - 1).filter(lambda value: value % 7 < 3), max_size=12)
KEYS = st.dictionaries(st.integers(0, 3), st.booleans(), max_size=4)
TEXTS = st.lists(st.tuples(VALUES, KEYS), min_size=1, max_size=6)


def met_in_python(queries: list[Any], contents: list[Any], sieve: meeting.Sieve, own: bool) -> set[tuple[int, ...]]:
    """(asker, content, keys shared, flags) of all pairs that share a key and are not ruled out for certain."""
    found = set()
    for a, (mine, keys) in enumerate(queries):
        for c, (theirs, others) in enumerate(contents):
            if own and c >= a:
                continue
            shared = flags = 0
            for key in keys.keys() & others.keys():
                if not (keys[key] or others[key]):
                    continue
                has = [n for n, (_, some) in enumerate(contents) if key in some]
                if sieve.all_count:
                    count = len(has) + (not own)
                else:
                    count = 1 + sum((keys[key] or contents[n][1][key]) and (not own or n < a) for n in has)
                if sieve.common and count > sieve.common:
                    continue
                shared += 1
                flags |= keys[key] | others[key] << 1
            if shared and (not sieve.threshold or may_be(mine, theirs, sieve)):
                found.add((a, c, shared, flags))
    return found


def may_be(mine: frozenset[int], theirs: frozenset[int], sieve: meeting.Sieve) -> bool:
    """As the bitmaps of 256 bits have it."""
    bits = sum(sum(v % 256 == b for v in mine) % 2 != sum(v % 256 == b for v in theirs) % 2 for b in range(256))
    m, n, t = len(mine), len(theirs), sieve.threshold
    most = (m + n) * (1 - t) / (1 + t) if sieve.measure == 0 else m + n - 2 * t * min(m, n)
    return max(bits, abs(m - n)) <= most + 1


def sets_of(texts: list[Any]) -> tuple[Any, Any]:
    offsets = np.cumsum([0, *(len(values) for values, _ in texts)])
    values = np.array([value for some, _ in texts for value in sorted(some)], np.uint64)
    maps = np.zeros((len(texts), 4), np.uint64)
    draw(values, offsets, maps, 0)
    return np.diff(offsets), maps


@settings(max_examples=150, deadline=None)
@given(
    queries=TEXTS, contents=TEXTS, measure=st.sampled_from(["resemblance", "containment"]),
    threshold=st.sampled_from([0.0, 0.3, 0.8]), common=st.sampled_from([0, 2]), all_count=st.booleans(),
    own=st.booleans(),
)  # fmt: skip
def test_it_meets_what_plain_python_meets(
    queries: list[Any], contents: list[Any], measure: str, threshold: float, common: int, all_count: bool, own: bool
) -> None:
    """Each pair once, with its keys in common; nothing that may be alike is left out."""
    if own:  # the askers are in the index, and meet only those before them
        contents = queries
    rows = sorted((key, n, probes) for n, (_, keys) in enumerate(contents) for key, probes in keys.items())
    stored = np.array([row[0] for row in rows], np.int64)
    keys = [(a, key, probes) for a, (_, some) in enumerate(queries) for key, probes in sorted(some.items())]
    wanted = np.array([row[1] for row in keys], np.int64)
    ranges = meeting.KeyRanges(
        np.array([row[0] for row in keys], np.int64), np.array([row[2] for row in keys], np.bool_),
        np.searchsorted(stored, wanted, "left"), np.searchsorted(stored, wanted, "right"),
    )  # fmt: skip
    everyone = np.full(len(queries), meeting.EVERYONE)
    numbers = 10 * np.arange(len(contents)) + 3
    sieve = meeting.Sieve(MEASURES[measure], threshold, common, all_count)
    sizes, maps = sets_of(queries)
    found = meeting.find_stored(
        ranges,
        np.full(len(queries), not own),
        meeting.Entries(np.array([row[1] for row in rows], np.int64), np.array([row[2] for row in rows], np.bool_)),
        meeting.Contents(numbers, *sets_of(contents)),
        meeting.Queries(numbers if own else everyone, np.full(len(queries), meeting.NOBODY), sizes, maps),
        sieve,
    )
    told = [tuple(row[:4]) for row in found.tolist()]
    assert len(told) == len(set(told))
    assert set(told) == met_in_python(queries, contents, sieve, own)
    for a, c, _, _, h in found.tolist():
        assert h <= len(queries[a][0] ^ contents[c][0])


@pytest.mark.parametrize("equal", [0, 1])
def test_an_equal_content_is_not_met(equal: int) -> None:
    """It is told without being judged."""
    one, yes = np.zeros(1, np.int64), np.ones(2, np.bool_)
    found = meeting.find_stored(
        meeting.KeyRanges(one, yes[:1], one, one + 2), yes[:1], meeting.Entries(np.arange(2), yes),
        meeting.Contents(np.arange(2), np.zeros(2, np.int64), np.zeros((2, 4), np.uint64)),
        meeting.Queries(one + meeting.EVERYONE, one + equal, one, np.zeros((1, 4), np.uint64)),
        meeting.Sieve(0, 0.5, 0, False),
    )  # fmt: skip
    assert found[:, 1].tolist() == [1 - equal]
