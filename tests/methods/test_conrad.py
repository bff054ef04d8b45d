"""Conrad 2003: signatures of rare terms, term vectors, and candidates that miss no pair."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.statistics_twins import hash_of, lexicon_of
from roughly.errors import SettingsError
from roughly.methods.rare_terms import RareTerms
from roughly.methods.term_vector import TermVector
from roughly.text.canonical import Tokens, tokenise, words

LETTERS = [a + b + c for a in "bcdfghk" for b in "aeiou" for c in "lmnrst"]  # 210 words


def make_texts(seed: int = 1, count: int = 80) -> list[str]:
    dice = random.Random(seed)
    weights = [1 / (1 + i) for i in range(len(LETTERS))]
    return [" ".join(dice.choices(LETTERS, weights, k=dice.randint(40, 120))) for _ in range(count)]


TEXTS = make_texts()
STATISTICS = lexicon_of([*TEXTS, "in at 1988 x2", "in at 1988 x2", "in at 1988 x2", "in at 1988 x2", "in at 1988 x2"])


def tokens(texts: list[str]) -> Tokens:
    return tokenise(pa.array(texts, pa.large_string()))


def keys(method: RareTerms, texts: list[str]) -> list[int]:
    return method.sign(tokens(texts)).keys.values[:, 0].tolist()


def top(text: str, count: int, most_idf: float = 1.0) -> list[str]:
    """The terms of highest idf, as the paper describes them."""
    found = []
    for word in dict.fromkeys(words(text)):
        df = STATISTICS.frequency(word)
        if df >= 5 and word.isalpha() and len(word) >= 3:
            idf = np.log((STATISTICS.documents + 0.5) / df) / np.log(STATISTICS.documents + 1)
            if idf <= most_idf:
                found.append((df, -(hash_of(word) >> 32), word))
    return [word for _, _, word in sorted(found)[:count]]


def test_the_rarest_terms_are_those_of_highest_idf() -> None:
    method = RareTerms(lexicon=STATISTICS, most_idf=0.55)
    found, places, counts = method.rarest(tokens(TEXTS))
    for d, text in enumerate(TEXTS):
        expected = top(text, 6, 0.55)
        assert found[d, : counts[d]].tolist() == [hash_of(word) for word in expected]
        assert places[d, : counts[d]].tolist() == [words(text).index(word) for word in expected]


def test_places_count_relative_to_the_first_and_in_bins() -> None:
    text = TEXTS[0]
    exact, wide = RareTerms(lexicon=STATISTICS), RareTerms(lexicon=STATISTICS, bin=25)
    assert keys(exact, [text])[0] == keys(exact, ["in at 1988 x2 " + text + " at"])[0] != 0
    rare = top(text, 6)
    listed = words(text)
    firsts = sorted(listed.index(word) for word in rare)
    moved = " ".join([*listed[: firsts[0] + 1], "at", *listed[firsts[0] + 1 :]])  # all but the first move by one
    assert keys(exact, [text]) != keys(exact, [moved])
    offsets = [listed.index(word) - firsts[0] for word in rare]
    stays = all(-(-o // 25) == -(-(o + (o > 0)) // 25) for o in offsets)
    assert (keys(wide, [text]) == keys(wide, [moved])) == stays
    assert keys(RareTerms(lexicon=STATISTICS, bin=1000), [text]) == keys(
        RareTerms(lexicon=STATISTICS, bin=1000), [moved]
    )


def test_too_few_terms_give_no_key() -> None:
    method = RareTerms(lexicon=STATISTICS)
    assert keys(method, ["bal bam in at 1988 x2", "", "bal"]) == [0, 0, 0]
    assert keys(RareTerms(lexicon=STATISTICS, terms=2), ["bal bam", "bal bam x2"])[0] != 0
    judge = method.judge()
    assert (judge.on, judge.measure, judge.threshold, judge.lengths) == ("keys", "common", 1, 0.05)


def common(a: set[int], b: set[int]) -> int:
    return len(a & b)


def vectors(method: TermVector, texts: list[str]) -> list[set[int]]:
    made = method.sign(tokens(texts)).sketch
    assert all(
        (np.diff(made.values[a:b].astype(object)) > 0).all() for a, b in itertools.pairwise(made.offsets) if b > a
    )
    return [set(made.values[a:b].tolist()) for a, b in itertools.pairwise(made.offsets.tolist())]


def candidates(method: TermVector, texts: list[str]) -> set[tuple[int, int]]:
    made = method.sign(tokens(texts)).keys
    assert made.offsets is not None and made.probes is not None and made.probes.all()
    owners: dict[int, list[int]] = {}
    for d, (a, b) in enumerate(itertools.pairwise(made.offsets.tolist())):
        for value in made.values[a:b].tolist():
            owners.setdefault(value, []).append(d)
    return {pair for docs in owners.values() for pair in itertools.combinations(sorted(set(docs)), 2)}


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 30), st.data())
def test_no_pair_is_lost(seed: int, terms: int, data: st.DataObject) -> None:
    """Candidates hold every pair that shares enough, short documents included."""
    needed = data.draw(st.integers(1, terms))
    method = TermVector(lexicon=STATISTICS, terms=terms, shared=needed, min_terms=min(terms, 3), min_df=2)
    dice = random.Random(seed)
    texts = [" ".join(dice.sample(LETTERS[:40], dice.randint(1, 25))) for _ in range(12)]
    texts += [" ".join(words(text)[1:]) for text in texts]
    made, found = vectors(method, texts), candidates(method, texts)
    for i, j in itertools.combinations(range(len(texts)), 2):
        if common(made[i], made[j]) >= needed:
            assert (i, j) in found
    for vector in made:
        assert len(vector) in (0, terms)


def test_a_vector_holds_the_terms_of_highest_idf() -> None:
    method = TermVector(lexicon=STATISTICS, terms=20, shared=16, min_terms=20)
    for text, vector in zip(TEXTS, vectors(method, TEXTS), strict=True):
        expected = top(text, 20)
        assert vector == ({hash_of(word) for word in expected} if len(expected) == 20 else set())


def test_short_documents_share_their_part() -> None:
    method = TermVector(lexicon=STATISTICS, terms=60, shared=48, min_terms=5)
    rare = top(" ".join(LETTERS), 30)
    a, b, c = vectors(method, [" ".join(rare[:20]), " ".join(rare[4:24]), " ".join(rare[:20])])
    assert len(a) == len(b) == 60 and a == c
    assert common(a, b) == 48  # 16 of 20 terms, three times each
    assert vectors(method, ["bal bam bar"]) == [set()]


def test_the_judge_and_the_probability() -> None:
    method = TermVector(lexicon=STATISTICS)
    judge = method.judge()
    assert (judge.on, judge.measure, judge.threshold) == ("sketch", "common", 48)
    assert (judge.dates, judge.lengths, method.prefix) == (42, 0.2, 13)
    assert method.candidate_probability(0.8) == 1.0 and 0 < method.candidate_probability(0.1) < 0.9
    assert method.describe()["lexicon"] == method.eligible.fingerprint != STATISTICS.fingerprint


def test_wrong_settings_are_told_together() -> None:
    with pytest.raises(SettingsError) as caught:
        TermVector(lexicon=STATISTICS, shared=61, min_terms=0, dates=-1, lengths=2, min_df=0)
    assert len(caught.value.problems) == 5
    with pytest.raises(SettingsError) as caught:
        RareTerms(lexicon=STATISTICS, terms=0, most_idf=2, bin=0, lengths=-1, min_df=0, norm="x")
    assert len(caught.value.problems) == 6
