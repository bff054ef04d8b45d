"""Syntactic filters: all 32 combinations against plain Python, and what each of them means."""

from __future__ import annotations

import gzip
import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexicon_twins import SMART, TEXTS, filtered

from roughly.errors import SettingsError
from roughly.text import filters as text_filters
from roughly.text.canonical import Tokens, tokenise
from roughly.text.filters import NAMES, FilteredVocabulary, Filters, stop_words

COMBINATIONS = [",".join(names) for size in range(6) for names in itertools.combinations(NAMES, size)]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def policies() -> list[str]:
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line)["text"] for line in stream][:60]


def expected(texts: list[str], names: str) -> Tokens:
    return tokenise(pa.array([" ".join(filtered(text, names.split(","))) for text in texts]))


def check(found: Tokens, wanted: Tokens) -> None:
    assert np.array_equal(found.offsets, wanted.offsets)
    assert np.array_equal(found.hashes, wanted.hashes)


def test_there_are_32_combinations() -> None:
    assert len({str(Filters.parse(names)) for names in COMBINATIONS}) == 32


@pytest.mark.parametrize("names", COMBINATIONS)
def test_a_combination_against_plain_python(names: str, policies: list[str]) -> None:
    texts = [*TEXTS, *policies[:40]]
    check(Filters.parse(names).apply(pa.array(texts)), expected(texts, names))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(COMBINATIONS),
    st.lists(st.text(alphabet="abeingsyl AB1é\u0301东½'", max_size=60), min_size=1, max_size=5),
)
def test_any_texts(names: str, texts: list[str]) -> None:
    check(Filters.parse(names).apply(pa.array(texts, pa.large_string())), expected(texts, names))


def test_the_order_of_names_does_not_matter() -> None:
    assert Filters.parse(" stem , SW") == Filters.parse("sw,stem") == Filters(("stem", "sw"))
    assert str(Filters.parse("stem,sw")) == "sw,stem"
    assert hash(Filters.parse("stem,sw")) == hash(Filters.parse("sw,stem"))
    assert not Filters.parse("") and not Filters.parse("nothing")
    with pytest.raises(SettingsError) as caught:
        Filters.parse("sw,steem,tl26")
    assert len(caught.value.problems) == 2


def test_the_length_filters_at_their_edges() -> None:
    short, long = Filters.parse("tg5"), Filters.parse("tl25")
    assert [short.keeps("a" * n) for n in (1, 4, 5, 26)] == [False, False, True, True]
    assert [long.keeps("a" * n) for n in (1, 25, 26)] == [True, True, False]
    assert short.keeps("éééé1") and not short.keeps("éééé")  # characters, not bytes


def test_special_characters() -> None:
    plain = Filters.parse("nosc")
    for word in ("abc", "x86", "été", "हिन्दी", "東", "١٢٣"):
        assert plain.keeps(word), word
    for word in ("2½", "⑴", "…"):
        assert not plain.keeps(word), word


def test_porter_s_own_examples() -> None:
    pairs = {
        "caresses": "caress", "ponies": "poni", "cats": "cat", "agreed": "agre", "plastered": "plaster",
        "motoring": "motor", "hopping": "hop", "falling": "fall", "happy": "happi", "relational": "relat",
        "conditional": "condit", "adjustable": "adjust", "controll": "control", "roll": "roll",
        "is": "is", "s": "s", "東": "東",
    }  # fmt: skip
    assert {word: Filters.parse("stem").word(word) for word in pairs} == pairs


def test_filters_look_at_the_term_before_it_is_stemmed() -> None:
    assert Filters.parse("tg5,stem").word("motoring") == "motor"
    assert Filters.parse("tg5,stem").word("hopping") == "hop"
    assert Filters.parse("sw,stem").word("having") is None
    assert Filters.parse("sw").word("hav") == "hav"


def test_the_stop_list() -> None:
    listed = SMART.read_text(encoding="utf-8").splitlines()
    assert len(listed) == len(set(listed)) == 570
    assert {"the", "of", "would", "isn", "t", "ll"} <= stop_words()
    assert {word for word in listed if "'" not in word} <= stop_words()
    assert len(stop_words()) == 541


@pytest.mark.corpora
def test_the_stop_list_is_smart_s(corpora: Path) -> None:
    lines = (corpora / "lexicon" / "smart_stopwords_571.txt").read_text(encoding="utf-8").split()
    assert set(lines) == set(SMART.read_text(encoding="utf-8").split())


def test_threads_do_not_disturb_each_other(policies: list[str]) -> None:
    filters = Filters.parse("sw,stem")
    batches = [pa.array(policies[i : i + 10]) for i in range(0, len(policies), 10)]
    one = [filters.apply(batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        many = list(pool.map(filters.apply, batches))
    for a, b in zip(one, many, strict=True):
        check(a, b)


def test_forgetting_changes_nothing(policies: list[str]) -> None:
    sieve = FilteredVocabulary(Filters.parse("sw,stem"))
    for text in policies[:30]:
        numbers, offsets = sieve.number(pa.array([text]))
        check(Tokens(sieve.vocabulary.hashes[numbers], offsets), expected([text], "sw,stem"))
        sieve.clear()


def test_more_terms_than_are_remembered() -> None:
    count = text_filters._REMEMBERED + 10
    batch = pa.array([" ".join(map(str, range(first, first + 50_000))) for first in range(0, count, 50_000)])
    for _ in range(2):
        found = Filters.parse("tl25").apply(batch)
        assert np.array_equal(found.hashes, tokenise(batch).hashes)
