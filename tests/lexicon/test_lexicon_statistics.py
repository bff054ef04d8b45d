"""idf, thresholds, Spearman's coefficient, and the lexicon that comes with the package."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from lexicon_twins import TEXTS, frequencies

from roughly import lexicon
from roughly.errors import InputError, SettingsError
from roughly.lexicon.lexicon_comparison import spearman
from roughly.lexicon.make_default import TARGET, make


def collection(counts: dict[str, int], documents: int) -> lexicon.Lexicon:
    """A lexicon in which each term stands in so many of the documents."""
    return lexicon.build([" ".join(t for t, n in counts.items() if i < n) for i in range(documents)])


def idf(held: lexicon.Lexicon, term: str, norm: str) -> float:
    return float(held.idf_of(np.array([held.frequency(term)], np.uint32), norm)[0])


def test_both_normalisations_by_hand() -> None:
    held = collection({"all": 1000, "some": 100, "few": 10, "one": 1}, 1000)
    # eq. 1: lg(1000.5/10) / lg(1001) = 2.000217 / 3.000434, and so on
    assert idf(held, "few", "conrad") == pytest.approx(0.666643, abs=1e-6)
    assert idf(held, "one", "conrad") == pytest.approx(0.999928, abs=1e-6)
    assert idf(held, "all", "conrad") == pytest.approx(0.0000723, abs=1e-7)
    # lg(1000/n) is 0, 1, 2, 3: scaled to [0, 1] that is n thirds
    assert [idf(held, term, "imatch") for term in ("all", "some", "few", "one")] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    without = held.with_thresholds(min_df=10)
    assert idf(without, "few", "imatch") == pytest.approx(1)
    assert idf(without, "few", "conrad") == idf(held, "few", "conrad")


def test_idf_by_hash_and_of_what_is_not_there() -> None:
    held = collection({"a": 4, "b": 2, "c": 1}, 5)
    hashes = np.append(held.table.hashes, np.uint64(12345))
    for norm in ("conrad", "imatch"):
        values = held.idf(hashes, norm)
        assert np.array_equal(values[:3], held.idf_of(held.table.counts, norm))
        assert math.isnan(values[3])
    with pytest.raises(SettingsError, match="norm must be one of conrad, imatch"):
        held.idf(hashes, "other")


def test_where_all_terms_are_equally_common() -> None:
    held = collection({"a": 2, "b": 2}, 3)
    assert held.idf_of(held.table.counts, "imatch").tolist() == [0, 0]


def test_thresholds_when_used_and_for_good() -> None:
    counts = frequencies(TEXTS)
    held = lexicon.build(TEXTS)
    for options in (
        {"min_df": 2},
        {"min_length": 5},
        {"letters_only": True},
        {"min_df": 2, "letters_only": True, "min_length": 3},
    ):
        wanted = {
            word: count
            for word, count in counts.items()
            if count >= options.get("min_df", 1)
            and len(word) >= options.get("min_length", 1)
            and (not options.get("letters_only") or is_letters(word))
        }
        assert 0 < len(wanted) < len(counts)
        used, pruned = held.with_thresholds(**options), lexicon.prune(held, **options)  # type: ignore[arg-type]
        assert dict(used.terms()) == dict(pruned.terms()) == wanted
        assert len(used) == len(pruned) == len(wanted)
        assert used.facts == pruned.facts
        assert np.array_equal(used.frequencies(held.table.hashes), pruned.frequencies(held.table.hashes))
        assert lexicon.prune(used).fingerprint == pruned.fingerprint
        assert used.fingerprint != held.fingerprint
    assert held.with_thresholds() is held


def is_letters(word: str) -> bool:
    return not any(c.isnumeric() or c == "…" for c in word)


def test_thresholds_only_become_tighter() -> None:
    held = lexicon.build(TEXTS).with_thresholds(min_df=2)
    assert held.with_thresholds(min_length=4).facts.thresholds == lexicon.Thresholds(min_df=2, min_length=4)
    with pytest.raises(SettingsError) as caught:
        held.with_thresholds(min_df=0, min_length=-1)
    assert len(caught.value.problems) == 2


def test_asking_for_what_is_no_term() -> None:
    held = lexicon.build(TEXTS)
    with pytest.raises(InputError, match="is 2 tokens, don, t"):
        held.frequency("don't")
    with pytest.raises(InputError, match="holds no token"):
        held.frequency("?!")


def test_the_commonest_terms() -> None:
    counts = frequencies(TEXTS)
    wanted = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    held = lexicon.build(TEXTS)
    for count in (0, 1, 7, len(wanted), 10_000):
        assert held.top(count) == wanted[:count]


def conrad_equation_2(left: list[int], right: list[int]) -> float:
    """Spearman's coefficient with ties as Conrad 2003 prints it."""
    n = len(left)
    x, y = scipy.stats.rankdata(left), scipy.stats.rankdata(right)
    f, g = (sum(t**3 - t for t in Counter(side).values()) for side in (left, right))
    top = 1 - 6 / (n**3 - n) * (float(((x - y) ** 2).sum()) + f / 12 + g / 12)
    return top / math.sqrt(1 - f / (n**3 - n)) / math.sqrt(1 - g / (n**3 - n))


def as_counts(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint32)


def test_spearman_by_hand() -> None:
    # ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: (1 − 6/60 · (0.5 + 6/12)) / √(1 − 6/60)
    assert spearman(as_counts([1, 2, 2, 4]), as_counts([1, 3, 2, 4])) == pytest.approx(0.9 / math.sqrt(0.9))
    assert spearman(as_counts([1, 5, 9]), as_counts([7, 8, 9])) == pytest.approx(1)
    assert spearman(as_counts([1, 5, 9]), as_counts([9, 8, 7])) == pytest.approx(-1)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=40))
def test_spearman_is_the_paper_s(pairs: list[tuple[int, int]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    found = spearman(as_counts(left), as_counts(right))
    if len(set(left)) == 1 or len(set(right)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(conrad_equation_2(left, right), abs=1e-9)
        assert found == pytest.approx(scipy.stats.spearmanr(left, right).statistic)


def test_comparing_lexicons() -> None:
    left = collection({"a": 1, "b": 2, "c": 2, "d": 4, "gone": 3, "away": 1}, 4)
    right = collection({"a": 1, "b": 3, "c": 2, "d": 4, "new": 5}, 6)
    found = left.compare(right)
    assert found.spearman == pytest.approx(0.9 / math.sqrt(0.9))
    assert (found.common, found.added, found.lost) == (4, 1, 2)
    assert found.commonest_added == (("new", 5),)
    assert found.commonest_lost == (("gone", 3), ("away", 1))
    assert (found.left_terms, found.right_terms, found.left_documents, found.right_documents) == (6, 5, 4, 6)
    other = right.compare(left)
    assert (other.spearman, other.added, other.lost) == (found.spearman, 2, 1)
    assert left.compare(left).spearman == pytest.approx(1)
    assert left.compare(collection({"x": 1}, 1)).spearman is None
    with_thresholds = left.with_thresholds(min_df=2).compare(right.with_thresholds(min_df=2))
    assert (with_thresholds.common, with_thresholds.lost) == (3, 1)


def test_the_default_lexicon_is_english() -> None:
    held = lexicon.default()
    assert held is lexicon.default()
    assert (held.documents, len(held)) == (271_298, 161_660)
    assert [word for word, _ in held.top(5)] == ["the", "to", "a", "and", "of"]
    assert held.frequency("the") == 242_619
    assert held.frequency("government") > held.frequency("parliament") > held.frequency("prevarication") >= 0
    assert held.table.counts.min() == 5
    assert TARGET.stat().st_size < 5_000_000
    values = held.idf(held.table.hashes)
    assert 0 < values.min() < values.max() < 1


def test_the_default_lexicon_holds_hashes_of_its_terms() -> None:
    held = lexicon.default()
    words = [word for word, _ in held.terms()]
    assert len(set(words)) == len(words) == len(held)
    again = lexicon.build(words)
    assert np.array_equal(again.table.hashes, held.table.hashes)


@pytest.mark.corpora
def test_the_default_lexicon_is_made_of_the_counts(corpora: Path, tmp_path: Path) -> None:
    make(corpora / "lexicon" / "df_english_mixed.tsv.zst", tmp_path / "english.lexicon")
    assert (tmp_path / "english.lexicon").read_bytes() == TARGET.read_bytes()
