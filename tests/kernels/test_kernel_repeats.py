"""Winnowing and classes of equal places against plain Python, bit for bit, on any number of threads."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from roughly.kernels import repeats
from roughly.kernels.hashing import mix
from roughly.kernels.repeats import PlaceArrays

MASK = (1 << 64) - 1
MULTIPLIER = 0x9E3779B97F4A7C15
MULTIPLIER_SIGNED = np.int64(MULTIPLIER - (1 << 64))


def gram_hash(tokens: list[int]) -> int:
    h = 0
    for token in tokens:
        h = (h * MULTIPLIER + token) & MASK
    return int(mix(np.uint64(h)))


def fingerprints(tokens: list[int], k: int, w: int) -> list[tuple[int, int]]:
    """(place, hash): of every window of w grams the one with the least hash, the rightmost of several."""
    hashes = [gram_hash(tokens[at : at + k]) for at in range(len(tokens) - k + 1)]
    chosen = []
    for start in range(len(hashes) - w + 1):
        best = min(range(start, start + w), key=lambda at: (hashes[at], -at))
        if not chosen or chosen[-1] != best:
            chosen.append(best)
    return [(at, hashes[at]) for at in chosen]


def collection(seed: int) -> tuple[list[list[int]], npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    draw = random.Random(seed)
    words = [draw.getrandbits(32) for _ in range(40)]
    documents = [[draw.choice(words) for _ in range(draw.randrange(0, 60))] for _ in range(30)]
    documents += [documents[3], documents[4] + documents[5], [words[0]] * 50]
    offsets = np.cumsum([0, *(len(document) for document in documents)]).astype(np.int64)
    return documents, np.array([token for some in documents for token in some], np.uint32), offsets


def bits(words: npt.NDArray[np.uint64]) -> set[int]:
    return set(repeats.list_bits(words).tolist())


@pytest.mark.parametrize(("k", "w"), [(1, 1), (2, 3), (5, 4), (8, 9)])
@pytest.mark.parametrize("threads", [1, 4])
def test_winnowing_as_the_twin(k: int, w: int, threads: int) -> None:
    documents, tokens, offsets = collection(k)
    once, twice = np.zeros(16, np.uint64), np.zeros(16, np.uint64)
    repeats.mark_fingerprints(tokens, offsets, k, w, once, twice, threads)
    seen: dict[int, int] = defaultdict(int)
    for document in documents:
        for _, h in fingerprints(document, k, w) if len(document) >= k + w - 1 else []:
            seen[h % 1024] += 1
    assert bits(once) == set(seen)
    assert bits(twice) == {slot for slot, count in seen.items() if count > 1}
    starts = np.zeros(len(tokens) // 64 + 1, np.uint64)
    repeats.mark_starts(tokens, offsets, k, w, twice, starts, threads)
    expected = set()
    least = k + w - 1
    for document, base in zip(documents, offsets.tolist(), strict=False):
        for place, h in fingerprints(document, k, w) if len(document) >= least else []:
            if seen[h % 1024] > 1:
                first, last = max(0, place + k - least), min(place, len(document) - least)
                expected |= {base + at for at in range(first, last + 1)}
    assert bits(starts) == expected
    grams: dict[int, int] = defaultdict(int)
    hashes = {at: gram_hash([int(token) for token in tokens[at : at + least]]) for at in expected}
    for h in hashes.values():
        grams[h % 2048] += 1
    once, twice = np.zeros(32, np.uint64), np.zeros(32, np.uint64)
    repeats.mark_grams(tokens, offsets, least, starts, once, twice, threads)
    repeats.clear_starts(tokens, offsets, least, starts, twice, threads)
    assert bits(starts) == {at for at, h in hashes.items() if grams[h % 2048] > 1}
    places = repeats.list_bits(starts)
    assert repeats.gram_keys(tokens, places, least, threads).tolist() == [hashes[at] for at in places.tolist()]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 300, 200_000])
def test_first_places_as_the_twin(count: int, threads: int) -> None:
    draw = np.random.default_rng(2)
    keys = draw.integers(0, 1 + count // 3, count) * MULTIPLIER_SIGNED
    keys[: count // 2] = 7  # one key has most of the places
    rows = np.column_stack([keys, 5 + np.arange(count)])
    first_of: dict[int, int] = {}
    expected = [first_of.setdefault(key, place) for key, place in rows.tolist()]
    repeats.first_places(rows, threads)
    assert rows[:, 0].tolist() == expected and rows[:, 1].tolist() == list(range(5, 5 + count))
    firsts = np.zeros(count + 1, np.int64)
    repeats.put_firsts(rows[::-1, 0].copy(), (rows[::-1, 1] - 5).astype(np.uint32), 5, firsts, threads)
    assert firsts.tolist() == [*expected, 5 + count]


@pytest.mark.parametrize("threads", [1, 3])
def test_shares_keep_their_order(threads: int) -> None:
    share = np.random.default_rng(3).integers(0, 5, 150_000).astype(np.uint32)
    number = np.arange(len(share))
    rows = np.empty(len(share), np.int64), np.empty(len(share), np.uint32)
    begins = repeats.sort_by_share(share, number, (number + 1).astype(np.uint32), 6, rows, threads)
    order = np.argsort(share, kind="stable")
    assert np.array_equal(rows[0], order) and np.array_equal(rows[1], order + 1)
    assert begins.tolist() == np.searchsorted(share[order], np.arange(7)).tolist()


def places_of(starts: list[int], least: int, firsts: list[int], lengths: list[int] | None = None) -> PlaceArrays:
    return PlaceArrays(*(np.array(values, np.int64) for values in (starts, lengths or [])), least, np.array(firsts))


def test_wrong_classes_are_found() -> None:
    tokens = np.array([1, 2, 3, 1, 2, 4, 1, 2, 3], np.uint32)
    assert repeats.check_classes(tokens, places_of([0, 3, 6], 2, [0, 0, 0]), 0, 3, 2).tolist() == []
    assert repeats.check_classes(tokens, places_of([0, 3, 6], 3, [0, 0, 0]), 0, 3, 2).tolist() == [1]
    assert repeats.check_classes(tokens, places_of([0, 3, 6], 3, [0, 0, 0]), 2, 3, 2).tolist() == []
    assert repeats.check_classes(tokens, places_of([0, 3, 6], 0, [0, 0, 0], [3, 3, 2]), 0, 3, 1).tolist() == [1, 2]


def counted(
    offsets: npt.NDArray[np.int64], places: PlaceArrays, count: int, blocks: list[int], threads: int
) -> repeats.ClassArrays:
    """The counts of all classes, from blocks of places that begin and end between documents."""
    rows = repeats.ClassArrays(*(np.zeros(count + 1, np.uint32) for _ in range(2)), np.zeros(count + 1, np.uint8))
    for begin, end in pairwise(blocks):
        repeats.count_classes(offsets, places, begin, end, rows, threads)
    sums = (np.cumsum(differences, dtype=np.uint32)[:-1] for differences in rows[:2])
    return repeats.ClassArrays(*sums, rows.breaks[:-1])


def room(starts: Sequence[int] | npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    words = len(starts) // 64 + 1
    return np.zeros(words, np.uint64), np.zeros(words, np.uint32)


@pytest.mark.parametrize("threads", [1, 3])
def test_counts_of_many_places(threads: int) -> None:
    """More places than are counted together, in documents that repeat themselves."""
    draw = np.random.default_rng(11)
    offsets = np.concatenate([[0], np.cumsum(draw.integers(0, 40, 3_000))])
    tokens = draw.integers(0, 12, offsets[-1])
    starts = np.concatenate([np.arange(begin, max(begin, end - 1)) for begin, end in pairwise(offsets.tolist())])
    keys = 12 * tokens[starts] + tokens[starts + 1]
    _, first, class_of = np.unique(keys, return_index=True, return_inverse=True)
    places = PlaceArrays(starts, repeats.NO_LENGTHS, 2, first[class_of])
    places, count = repeats.number_classes(places, [(0, len(starts))], threads, room(starts))
    numbers = repeats.class_numbers(places, 0, len(starts))
    assert count == len(first) and numbers.min() == 0
    classes = counted(offsets, places, count, [0, len(starts)], threads)
    docs = np.searchsorted(offsets, starts, "right")
    assert np.array_equal(classes.places, np.bincount(numbers))
    held = np.unique(numbers * len(offsets) + docs) // len(offsets)
    assert np.array_equal(classes.documents, np.bincount(held))
    goes_on = np.append((np.diff(starts) == 1) & (np.diff(places.firsts) == 1), False)
    assert set(np.flatnonzero(classes.breaks).tolist()) == set(numbers[~goes_on].tolist())
    walked = []
    for number_of_threads in (1, threads):
        kept = repeats.KeptArrays(np.zeros(count, np.int64), np.zeros(len(starts) // 64 + 1, np.uint64))
        order, flags, used = np.arange(len(offsets) - 1), np.zeros(len(offsets) - 1, np.uint8), np.ones(count, np.uint8)
        rules = repeats.WalkRules(1, False)
        walked.append(repeats.walk_copies(offsets, order, flags, places, used, kept, rules, number_of_threads))
    assert all(np.array_equal(one, other) for one, other in zip(*walked, strict=True))
    for start, length, witness in walked[0][0].tolist():
        assert np.array_equal(tokens[start : start + length], tokens[witness : witness + length])


@pytest.mark.parametrize("block", [1, 3, 1000])
def test_counts_of_classes_as_the_twin(block: int) -> None:
    documents, tokens, offsets = collection(9)
    least = 2
    starts = [at for begin, end in pairwise(offsets.tolist()) for at in range(begin, end - least + 1)]
    grams = [tuple(tokens[at : at + least].tolist()) for at in starts]
    first_of: dict[tuple[int, ...], int] = {}
    firsts = [first_of.setdefault(gram, at) for at, gram in enumerate(grams)]
    places, count = repeats.number_classes(
        places_of(starts, least, firsts), [(0, 9), (9, len(starts))], 2, room(starts)
    )
    repeated = sorted(at for at, gram in enumerate(grams) if first_of[gram] == at and grams.count(gram) > 1)
    number_of = {first: number for number, first in enumerate(repeated)}
    assert count == len(repeated)
    assert repeats.class_numbers(places, 3, len(starts)).tolist() == [number_of.get(first, -1) for first in firsts[3:]]
    blocks = [0, *np.searchsorted(starts, offsets[block:-1:block]).tolist(), len(starts)]
    classes = counted(offsets, places, count, blocks, 2)
    held = [{tuple(document[at : at + least]) for at in range(len(document) - least + 1)} for document in documents]
    for first, number in number_of.items():
        assert classes.places[number] == grams.count(grams[first])
        assert classes.documents[number] == sum(grams[first] in some for some in held)
    used = (classes.places >= 2).astype(np.uint8)
    found = repeats.list_passages(places, used, classes, 0, len(starts))
    covered = sum(tokens - least + 1 for tokens in found[:, 1].tolist())  # every repeated class is in one passage
    assert covered == np.count_nonzero(used)
    removed = np.array([[starts[at], 1, 0] for at in range(40, 60, 7) if firsts[at] in number_of], np.int64)
    rows = repeats.repeated_runs(offsets, places, used, removed, 0, len(starts))
    assert rows[rows[:, 2] >= 0].tolist() == removed.tolist() and (np.diff(rows[:, 0]) > 0).all()
    tokens_of = {token for start, length, _ in rows.tolist() for token in range(start, start + length)}
    assert tokens_of == {start + at for start, first in zip(starts, firsts, strict=True) if first in number_of
                         for at in range(least)}  # fmt: skip
    assert rows[:, 1].sum() == len(tokens_of)


def test_files_grow_by_pieces(tmp_path: Path) -> None:
    data = np.arange(1000).astype(np.uint8)
    with (tmp_path / "file").open("wb", buffering=0) as file:
        repeats.append_in_pieces(file.fileno(), data, 64)
        repeats.append_in_pieces(file.fileno(), data[:0], 64)
        repeats.append_in_pieces(file.fileno(), data[:10], 64)
    assert (tmp_path / "file").read_bytes() == data.tobytes() + data[:10].tobytes()
    with (tmp_path / "file").open("rb") as closed, pytest.raises(OSError, match="Bad file descriptor"):
        repeats.append_in_pieces(closed.fileno(), data, 64)


def test_mistakes_of_callers_are_refused() -> None:
    tokens, offsets, words = np.zeros(4, np.uint32), np.array([0, 4], np.int64), np.zeros(4, np.uint64)
    with pytest.raises(ValueError, match="power of two"):
        repeats.mark_fingerprints(tokens, offsets, 1, 1, np.zeros(3, np.uint64), np.zeros(3, np.uint64), 1)
    with pytest.raises(ValueError, match="bit per token"):
        repeats.mark_starts(tokens, offsets, 1, 1, np.zeros(4, np.uint64), np.zeros(0, np.uint64), 1)
    with pytest.raises(ValueError, match="within the tokens"):
        repeats.gram_keys(tokens, np.array([2], np.int64), 3, 1)
    with pytest.raises(ValueError, match="itself or one before"):
        repeats.check_classes(tokens, places_of([0, 1], 1, [1, 1]), 0, 2, 1)
    with pytest.raises(ValueError, match="places must exist"):
        repeats.check_classes(tokens, places_of([0, 1], 1, [0, 1]), 0, 3, 1)
    one, two = np.zeros(1, np.int64), np.array([2], np.uint32)
    with pytest.raises(ValueError, match="shares must exist"):
        repeats.sort_by_share(two, one, two, 2, (one, two), 1)
    with pytest.raises(ValueError, match="in the block"):
        repeats.put_firsts(one, two, 1, one, 1)
    with pytest.raises(ValueError, match="power of two of slots"):
        repeats.find_numbers([np.zeros(3, np.uint64)], words)
    with pytest.raises(ValueError, match="rise"):
        repeats.mark_fingerprints(tokens, np.array([0, 5], np.int64), 1, 1, words, words, 1)


def test_tokens_are_numbered_while_others_look() -> None:
    """Each hash has one number, on any thread, in tables that follow each other; 0 is a hash as well."""
    draw = np.random.default_rng(5)
    words = np.append(draw.integers(0, 1 << 63, 3_000).astype(np.uint64), np.uint64(0))
    hashes = words[draw.integers(0, len(words), 40_000)]
    tables = [np.zeros(64, np.uint64)]
    numbers = repeats.find_numbers(tables, hashes)
    assert (numbers == (1 << 32) - 1).all()
    done = used = 0
    with ThreadPoolExecutor(2) as pool:
        seen = []
        while done < len(hashes):
            seen.append(pool.submit(repeats.find_numbers, list(tables), hashes))
            count, used = repeats.add_numbers(tables, hashes[done:], numbers[done:], used)
            done += count
            if done < len(hashes):
                assert used == len(tables[-1]) // 2
                tables.append(np.zeros(2 * len(tables[-1]), np.uint64))
                used = 0
        for some in seen:
            found = some.result()
            assert ((found == numbers) | (found == (1 << 32) - 1)).all()
    assert len(tables) > 5
    assert (
        len(np.unique(numbers)) == len(np.unique(hashes)) == len(np.unique(np.column_stack([numbers, hashes]), axis=0))
    )
    assert np.array_equal(repeats.find_numbers(tables, hashes), numbers)
