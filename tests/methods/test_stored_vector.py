"""Conrad's 184 bytes, the comparison that stops early, and signatures under lexicons that grow."""

from __future__ import annotations

import random
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from methods.statistics_twins import lexicon_of
from methods.test_conrad import LETTERS, STATISTICS, TEXTS, make_texts, tokens, vectors
from roughly import lexicon
from roughly.errors import InputError, SettingsError
from roughly.methods.growing_lexicon import signature_stability
from roughly.methods.stored_vector import Numbers, compare, pack, store, unpack
from roughly.methods.term_vector import TermVector

NUMBERS = st.lists(st.integers(0, 2**24 - 2), max_size=60, unique=True)
DATES = st.none() | st.dates(date(1890, 4, 15), date(2069, 9, 17))


@given(DATES, st.integers(0, 100_000), NUMBERS)
def test_there_and_back_in_184_bytes(when: date | None, length: int, terms: list[int]) -> None:
    data = pack(when, length, terms)
    assert len(data) == 184
    stored = unpack(data)
    assert (stored.date, stored.length, list(stored.terms)) == (when, min(length, 65535), sorted(terms))
    if terms:
        assert sum(stored.repeats) == 60


def test_what_does_not_fit_is_refused() -> None:
    for wrong, words in [
        (lambda: pack(None, -1, []), "cannot have -1 tokens"),
        (lambda: pack(None, 1, range(61)), "holds 60 terms, not 61"),
        (lambda: pack(None, 1, [2**24 - 1]), "do not fit three bytes"),
        (lambda: pack(None, 1, [3, 3]), "occurs twice"),
        (lambda: pack(date(1890, 4, 14), 1, []), "dates go from 1890-04-15 to 2069-09-17"),
        (lambda: pack(date(2069, 9, 18), 1, []), "2069-09-18 does not fit two bytes"),
        (lambda: unpack(b"x" * 183), "184 bytes, not 183"),
        (lambda: unpack(b"\0" * 184), "damaged"),
    ]:
        with pytest.raises(InputError, match=words):
            wrong()
    with pytest.raises(SettingsError, match="from 1 to 60"):
        compare(pack(None, 1, []), pack(None, 1, []), common=61)


def edited(text: str, dice: random.Random) -> str:
    listed = text.split()
    for _ in range(dice.randint(0, 12)):
        listed[dice.randrange(len(listed))] = dice.choice(LETTERS)
    return " ".join(listed[: len(listed) - dice.randint(0, 30)])


def test_the_early_verdict_is_that_of_the_vectors() -> None:
    dice = random.Random(4)
    texts = [text for text in TEXTS for text in (text, edited(text, dice))] + ["bal bam"]
    days = [date(2003, 1, 1) + timedelta(dice.randrange(80)) if dice.random() < 0.8 else None for _ in texts]
    method = TermVector(lexicon=STATISTICS, min_terms=5)
    stored = store(method, tokens(texts), days, Numbers(method.eligible))
    made, sizes = vectors(method, texts), np.diff(tokens(texts).offsets)
    verdicts, looked = [], []
    for i in range(len(texts)):
        for j in range(max(0, i - 30), i):
            near = days[i] is not None and days[j] is not None and abs((days[i] - days[j]).days) <= 42
            near = near and abs(sizes[i] - sizes[j]) <= 0.2 * max(sizes[i], sizes[j])
            shared = len(made[i] & made[j])
            for common in (30, 48):
                found = compare(stored[i], stored[j], common=common)
                assert found.duplicates == (shared >= common and near)
                assert found == compare(stored[j], stored[i], common=common)
                verdicts.append(found.duplicates)
                if near:
                    looked.append(found.compared)
    assert 20 < sum(verdicts) < len(verdicts) - 20
    assert max(looked) < 120 and np.mean(looked) < 60  # it does stop early
    assert compare(stored[-1], stored[-1]).duplicates is False  # too few terms: no vector


def test_numbers_are_by_rarity() -> None:
    method = TermVector(lexicon=STATISTICS)
    numbers = Numbers(method.eligible)
    found, _, counts = method.rarest(tokens(TEXTS))
    for d in range(len(TEXTS)):
        listed = numbers.of(found[d, : counts[d]]).tolist()
        assert listed == sorted(listed)
    assert sorted(numbers._numbers.tolist()) == list(range(len(method.eligible)))
    with pytest.raises(InputError, match="not in the lexicon"):
        numbers.of(np.array([12345], np.uint64))
    with pytest.raises(SettingsError, match="60 terms"):
        store(TermVector(lexicon=STATISTICS, terms=30, shared=20), tokens([""]), [None], numbers)


def test_signatures_under_growing_lexicons() -> None:
    grown = [*TEXTS, *make_texts(2, 30), *make_texts(3, 60)]
    lexicons = [(name, lexicon_of(grown[:size])) for name, size in (("aug", 80), ("sep", 110), ("oct", 170))]
    found = signature_stability(tokens(TEXTS), lexicons, longest=12)
    assert [(k.before, k.after) for k in found[::12]] == [("aug", "sep"), ("sep", "oct"), ("aug", "oct")]
    assert [k.length for k in found[:12]] == list(range(1, 13))
    for kept in found:
        assert kept.same_order <= kept.same_terms <= kept.documents <= len(TEXTS)
    assert found[11].same_order < found[0].same_order < found[0].documents  # longer ones change more often
    same = signature_stability(tokens(TEXTS), [("a", STATISTICS), ("b", STATISTICS)], longest=5)
    assert all(k.same_order == k.documents > 0 for k in same)
    with pytest.raises(SettingsError, match="two lexicons"):
        signature_stability(tokens(TEXTS), lexicons[:1])
    with pytest.raises(SettingsError, match="names of their own"):
        signature_stability(tokens(TEXTS), [lexicons[0], lexicons[0]])


def test_unknown_dates_have_one_verdict_in_runs_and_in_stored_signatures() -> None:
    dice = random.Random(3)
    story = [word for word, _ in lexicon.default().top(3000)[1000:]]
    first = dice.sample(story, 120)
    texts = [" ".join(first), " ".join([*first, "and", "more"]), " ".join([*first, "still", "longer"])]
    dates = [date(2003, 1, 1), None, date(2003, 1, 9)]
    rows = [
        {"id": str(n), "text": t, "date": d and d.isoformat()}
        for n, (t, d) in enumerate(zip(texts, dates, strict=True))
    ]
    method = TermVector(lexicon=lexicon.default())
    stored = store(method, tokens(texts), dates, Numbers(method.eligible))
    verdicts = {(i, j) for i in range(3) for j in range(i) if compare(stored[i], stored[j]).duplicates}
    found = roughly.dedupe(rows, method="term-vector", pairs="all").pairs
    pairs = zip(found["left_id"].to_pylist(), found["right_id"].to_pylist(), strict=True)
    assert {tuple(sorted(map(int, pair), reverse=True)) for pair in pairs} == verdicts == {(2, 0)}
    undated = [{key: value for key, value in row.items() if key != "date"} for row in rows]
    assert len(roughly.dedupe(undated, method="term-vector", pairs="all").pairs) == 3
    assert compare(stored[1], stored[0], dates=None).duplicates
