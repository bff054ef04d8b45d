"""I-Match and its filters: what is kept is what the paper's prose says, by words and not by hashes."""

from __future__ import annotations

import math
import random

import numpy as np
import pyarrow as pa
import pytest

from methods.statistics_twins import hash_of, lexicon_of
from roughly import lexicon
from roughly.errors import SettingsError
from roughly.lexicon import Lexicon
from roughly.methods import secret, stability
from roughly.methods.imatch import IMatch
from roughly.methods.syntactic import Syntactic
from roughly.methods.term_filters import TABLE_IX, TermFilter
from roughly.text.canonical import words
from roughly.text.filters import Filters

WORDS = [f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(120)]


def make_texts(seed: int = 1, count: int = 60) -> list[str]:
    """Texts in which word i stands in about count / (i + 1) documents."""
    dice = random.Random(seed)
    return [" ".join(w for i, w in enumerate(WORDS) if dice.random() < 1 / (1 + i / 4)) for _ in range(count)]


TEXTS = make_texts()
STATISTICS = lexicon_of(TEXTS)
FREQUENCIES = dict(STATISTICS.terms())


def keys(method: IMatch | Syntactic, texts: list[str]) -> np.ndarray:
    column = pa.array(texts, pa.large_string())
    return method.sign((method.filters or Filters()).apply(column)).keys.values


def kept(name: str, text: str, norm: str, statistics: Lexicon) -> set[str]:
    """What a filter of the paper keeps, from its description."""
    known = [w for w in set(words(text)) if FREQUENCIES.get(w)]
    found = statistics.idf_of(np.array([FREQUENCIES[w] for w in known], np.uint32), norm).tolist()
    idf, hashes = dict(zip(known, found, strict=True)), {w: hash_of(w) for w in known}
    ordered = sorted(known, key=lambda w: (idf[w], hashes[w]))  # commonest first
    parts = name.split("-")
    n, shares = len(ordered), [int(part) for part in parts[2:]]
    if parts[0] == "Doc":
        cut = math.floor(shares[0] * n / 100)
        return set(ordered[cut:] if parts[1] == "L" else ordered[: n - cut])
    if parts[0] == "DocR":
        first, last = (math.floor(share * n / 100) for share in shares)
        inner = set(ordered[first:last])
        return inner if parts[1] == "I" else set(ordered) - inner
    low, high = shares[0] / 100, shares[-1] / 100
    test = {
        "L": lambda x: x >= low, "H": lambda x: x <= low,
        "I": lambda x: low <= x <= high, "O": lambda x: x <= low or x >= high,
    }[parts[1]]  # fmt: skip
    return {w for w in known if test(idf[w])}


@pytest.mark.parametrize("norm", ["conrad", "imatch"])
@pytest.mark.parametrize("name", [*TABLE_IX, "IDFR-I-20-30", "Doc-L-33"])
def test_each_filter_keeps_what_the_paper_says(name: str, norm: str) -> None:
    method = IMatch(lexicon=STATISTICS, filter=name, norm=norm)
    texts = [*TEXTS[:12], "waa", "waa wab", "unknown words only", ""]
    left = [" ".join(sorted(kept(name, text, norm, STATISTICS))) for text in texts]
    found, expected = keys(method, texts)[:, 0], keys(Syntactic(), left)[:, 0]
    assert (found == 0).tolist() == (expected == 0).tolist()
    for i in range(len(texts)):
        for j in range(i):
            assert (found[i] == found[j]) == (expected[i] == expected[j]), (name, i, j)


def test_the_signature_is_a_function_of_the_terms_kept() -> None:
    method = IMatch(lexicon=STATISTICS, filter="IDFR-I-20-80")
    text = TEXTS[0]
    inside = kept("IDFR-I-20-80", text, "conrad", STATISTICS)
    only = " ".join(sorted(inside, reverse=True))
    assert keys(method, [text])[0, 0] == keys(method, [only + " " + only + " neverseen"])[0, 0] != 0


def test_the_52_names_in_both_spellings() -> None:
    assert len(set(TABLE_IX)) == 52
    for name in TABLE_IX:
        parsed = TermFilter.parse(name)
        assert str(parsed) == name
        assert TermFilter.parse(parsed.in_table) == parsed == TermFilter.parse(name.upper())
    assert TermFilter.parse("Doc-l-f9") == TermFilter.parse("Doc-L-90")
    assert TermFilter.parse("IDFR-I-f2f8") == TermFilter.parse(" idfr-i-20-80 ")
    assert TABLE_IX[:2] == ("Doc-H-10", "Doc-H-20") and TermFilter.parse(TABLE_IX[0]).in_table == "Doc-h-f1"


@pytest.mark.parametrize(
    "name", ["", "IDF", "IDF-L-0", "IDF-L-100", "IDFR-I-80-20", "Doc-X-10", "DocR-I-10", "f1", None]
)
def test_an_unknown_filter_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(SettingsError, match=r"unknown term filter .*Doc-L-10 … Doc-L-90.*DocR-I-20-80"):
        IMatch(lexicon=STATISTICS, filter=name)


def test_rejection_and_the_secondary_lexicon() -> None:
    """Kołcz 2008, fig. 1: two long foreign texts around one English banner."""
    banner = "this message has been scanned for viruses please visit our site"
    english = lexicon.default()
    first = " ".join(f"hallo{i} gestern{i}" for i in range(40)) + " jahrhundertelang " + banner
    second = " ".join(f"leider{i} handy{i}" for i in range(40)) + " wahrscheinlich " + banner
    plain = IMatch(lexicon=english, filter="IDFR-I-10-40")
    assert len(set(keys(plain, [first, second])[:, 0])) == 1
    strict = IMatch(lexicon=english, filter="IDFR-I-10-40", min_share=0.2)
    assert keys(strict, [first, second])[:, 0].tolist() == [0, 0]
    assert IMatch(lexicon=english, filter="IDFR-I-10-40", min_terms=40).describe()["min_terms"] == 40
    texts = ["the of quark lepton boson neutrino", "the of quark lepton boson photon"]
    needs = {"lexicon": english, "filter": "IDFR-I-1-20", "min_terms": 3}
    assert keys(IMatch(**needs), texts)[:, 0].tolist() == [0, 0]
    helped = keys(IMatch(**needs, secondary=True), texts)[:, 0]
    assert helped[0] != 0 and helped[1] != 0
    with pytest.raises(SettingsError, match="IDF-L-10 leaves no rarer terms"):
        IMatch(lexicon=english, filter="IDF-L-10", secondary=True)


def test_documents_without_a_signature() -> None:
    texts = ["zzz yyy", "yyy zzz zzz", "zzz", "", TEXTS[0]]
    silent = IMatch(lexicon=STATISTICS, lexicons=3)
    assert keys(silent, texts)[:4].any() == np.False_
    signed = keys(IMatch(lexicon=STATISTICS, lexicons=3, unsigned="all-terms"), texts)
    assert signed[0, 0] == signed[1, 0] != signed[2, 0] and not signed[3].any()
    assert not signed[:4, 1:].any()
    assert (signed[4] == keys(silent, texts)[4]).all()


def test_randomised_lexicons_by_simulation() -> None:
    """Eq. 1: of K signatures at least one outlasts n changes with probability 1 − (1 − pⁿ)^K; eq. 6 says otherwise."""
    dice = random.Random(5)
    method = IMatch(lexicon=STATISTICS, filter="IDFR-O-49-50", lexicons=4)
    known = [w for w in WORDS if STATISTICS.frequency(w) and kept("IDFR-O-49-50", w, "conrad", STATISTICS)]
    for changes in (1, 2, 3):
        before, after = [], []
        for _ in range(1500):
            chosen = dice.sample(known, 25)
            before.append(" ".join(chosen))
            after.append(" ".join(chosen[changes:]))
        shared = (keys(method, before) == keys(method, after)).any(axis=1).mean()
        expected = method.survival(changes)
        assert expected == pytest.approx(1 - (1 - 3.0**-changes) ** 4)
        # terms are few and lexicons fixed, so trials are not independent: three times the binomial error
        assert abs(shared - expected) < 3 * 4 * math.sqrt(expected * (1 - expected) / 1500), changes
        printed = 1 - (1 - (2 / 3) ** changes) ** 4
        assert changes == 1 or abs(shared - printed) > abs(shared - expected)


def test_the_stability_calculator() -> None:
    assert stability.survival(2, 10) == pytest.approx(1 - (1 - 1 / 9) ** 10)
    assert stability.survival(0, 0) == 1 and stability.survival(1, 0) == 0 and stability.survival(3, 7, 1.0) == 1
    assert stability.expected_lexicons(5) == pytest.approx(243)
    assert stability.expected_lexicons(2, terms=9) == pytest.approx((9 * 8) / (3 * 2))
    assert stability.expected_lexicons(3, terms=6) == math.inf
    for changes in range(1, 6):
        for wanted in (0.1, 0.5, 0.9, 0.99):
            fewest = stability.fewest_lexicons(changes, wanted)
            assert stability.survival(changes, fewest) >= wanted > stability.survival(changes, fewest - 1)
    dice = np.random.default_rng(3)  # lexicons of exactly M = 20 of 60 terms missing, n = 2 changed terms
    trials = [np.isin([0, 1], dice.choice(60, 20, replace=False)).all() for _ in range(20_000)]
    expected = stability.unaltered(2, 60)
    assert abs(np.mean(trials) - expected) < 4 * math.sqrt(expected * (1 - expected) / len(trials))
    for wrong in (
        lambda: stability.survival(-1, 2),
        lambda: stability.survival(1, 2, 1.5),
        lambda: stability.unaltered(3, 2),
    ):
        with pytest.raises(SettingsError):
            wrong()


def test_the_key_changes_which_terms_are_dropped_and_is_never_shown() -> None:
    key, other = b"0123456789abcdef secret", b"another secret of 24 byt"
    made = [keys(IMatch(lexicon=STATISTICS, lexicons=8, key=k), TEXTS) for k in (key, other, b"", key)]
    assert (made[0] == made[3]).all() and not (made[0] == made[1]).any() and not (made[0] == made[2]).any()
    method = IMatch(lexicon=STATISTICS, key=key)
    shown = f"{method!r} {method.describe()}"
    assert "secret" not in shown and key.hex() not in shown
    assert method.describe()["key"] == secret.key_digest(key) != secret.key_digest(other)
    assert IMatch(lexicon=STATISTICS).describe()["key"] is None
    assert secret.seed(key, "minhash") != secret.seed(other, "minhash") and 0 <= secret.seed(key, "x") < 2**63
    assert (
        secret.seeds(key, "a", 3).tolist()
        == secret.seeds(key, "a", 5).tolist()[:3]
        != secret.seeds(key, "b", 3).tolist()
    )
    assert secret.seeds(key * 9, "a", 1) != secret.seeds(key, "a", 1)  # longer than BLAKE2 takes
    with pytest.raises(SettingsError, match="16 bytes or more, not 5"):
        IMatch(lexicon=STATISTICS, key=b"short")


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        IMatch(
            lexicon=STATISTICS, filter="x", norm="y", lexicons=-1, dropped=2, min_terms=0, min_share=-1, unsigned="z",
            filters=Filters.parse("stem"), key="text",  # type: ignore[arg-type]
        )  # fmt: skip
    assert len(caught.value.problems) == 9
    assert any("has whole words, and the filters give stems" in line for line in caught.value.problems)
    with pytest.raises(SettingsError, match="lexicon must be a Lexicon"):
        IMatch(lexicon="news.lexicon")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="filters must be Filters"):
        Syntactic("stem")  # type: ignore[arg-type]


def test_syntactic() -> None:
    plain, stemmed = Syntactic(), Syntactic(Filters.parse("stem,sw"))
    texts = ["The cats run", "run cats the run", "A cat runs", "the of and", ""]
    assert len(set(keys(plain, texts)[:4, 0])) == 3 and keys(plain, texts)[4, 0] == 0
    found = keys(stemmed, texts)[:, 0]
    assert len(set(found[:3])) == 1 and found[3] == 0
    assert plain.judge().on == "keys" and plain.describe() == {"filters": "nothing"}


def test_batches_do_not_matter() -> None:
    method = IMatch(lexicon=STATISTICS, lexicons=5, filter="Doc-L-50")
    whole = keys(method, TEXTS)
    assert (np.concatenate([keys(method, [text]) for text in TEXTS]) == whole).all()
    assert (keys(method, TEXTS[::-1]) == whole[::-1]).all()
