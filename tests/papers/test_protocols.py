"""Protocols against plain definitions: what they count, form and compare is what a few lines of Python say."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from lab_corpora import CORPUS, VOCABULARY, make_corpus, write_anything

from roughly.errors import InputError, SettingsError, TooManyPairs
from roughly.features.sampling import Sampling
from roughly.methods.super_shingles import SuperShingles
from roughly.papers.detectors import signatures
from roughly.papers.paper_table import PaperTable
from roughly.papers.protocols import PROTOCOLS, phases, work
from roughly.papers.protocols import result_lists as results
from roughly.papers.protocols.prepared import prepare
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, MethodRow, words_of
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import tokenise, words
from roughly.tools.corpus import Corpus, read_corpus


@pytest.fixture(scope="module")
def anything(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return read_corpus([str(write_anything(tmp_path_factory.mktemp("lab") / "any.parquet"))], label_column="label")


def run(
    name: str, corpora: dict[str, Corpus], rows: list[MethodRow] | None = None, **changed: Any
) -> ExperimentOutcome:
    protocol = PROTOCOLS[name]
    return protocol.run(ExperimentCase(corpora, rows or [], protocol.parameters_of(changed, "test")))


def cells(table: PaperTable, column: str) -> dict[str, Any]:
    at = table.place(column, "test")
    return {str(row[0]): row[at] for row in table.rows}


@pytest.mark.parametrize("common", [1000, 3])
def test_the_phases_form_the_pairs_and_clusters_of_the_definition(anything: Corpus, common: int) -> None:
    found = run("phases", {"p": anything}, sketch="mod:3", shingle_size=2, common=common).tables
    tokens = tokenise(anything.texts)
    sketch = Sampling.parse("mod:3").apply(tokens, 2)
    sets = [set(sketch.values[a:b].tolist()) for a, b in itertools.pairwise(sketch.offsets.tolist())]
    texts = [tuple(words(text)) for text in anything.texts.to_pylist()]
    leaders = [i for i, text in enumerate(texts) if text not in texts[:i]]
    owners: dict[int, list[int]] = {}
    for i in leaders:
        for value in sets[i]:
            owners.setdefault(value, []).append(i)
    usable = [own for own in owners.values() if 1 < len(own) <= common]
    pairs = Counter(pair for own in usable for pair in itertools.combinations(sorted(own), 2))
    out, given = cells(found["phases"], "Out"), cells(found["phases"], "In")
    assert out["Sketching"] == sum(map(len, sets)) and out["Duplicate elimination"] == len(leaders)
    assert given["ID-ID pair formation"] == len(usable)
    assert out["ID-ID pair formation"] == sum(pairs.values()) and out["ID-ID merging"] == len(pairs)
    sizes = [sum(len(owners[v]) <= common for v in own) if i in leaders else 0 for i, own in enumerate(sets)]
    near = [(a, b) for (a, b), c in pairs.items() if c >= 0.5 * (sizes[a] + sizes[b] - c)]
    assert out["Cluster formation"] == len(near) > 0
    root = {i: texts.index(text) for i, text in enumerate(texts)}
    for a, b in near:
        old, new = root[b], root[a]
        root = {i: new if own == old else own for i, own in root.items()}
    members = Counter(root.values())
    assert cells(found["clusters"], "Clusters")["Clusters"] == sum(n > 1 for n in members.values())
    assert cells(found["clusters"], "Documents")["Clusters"] == sum(n for n in members.values() if n > 1)
    assert cells(found["phases"], "Bytes")["ID-ID merging"] == 12 * len(pairs)


def test_too_many_triples_are_refused(anything: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "MOST", 10)
    with pytest.raises(TooManyPairs, match="triples would be formed, more than 10; say less with --set common="):
        run("phases", {"p": anything}, sketch="all")


def test_work_is_counted_by_definition() -> None:
    rows = [
        MethodRow("terms", {"method": "imatch", "lexicon": "collection"}),
        MethodRow("shingles", {"method": "shingles", "shingle_size": 10, "sketch": "mod:5"}),
    ]
    found = run("work", {"c": CORPUS}, rows)
    texts = [words(text) for text in CORPUS.texts.to_pylist()]
    hashed, keys = cells(found.tables["work"], "Units hashed"), cells(found.tables["work"], "Keys")
    assert hashed["terms"] == sum(len(set(text)) for text in texts)
    assert hashed["shingles"] == sum(max(len(text) - 9, 1) for text in texts)
    assert keys["terms"] == len(texts) and keys["shingles"] == len(Sampling.parse("mod:5").apply(
        tokenise(CORPUS.texts), 10).values)  # fmt: skip
    assert cells(found.tables["work"], "Tokens read")["terms"] == sum(map(len, texts))
    assert list(found.seconds) == ["terms", "shingles"]
    short = tokenise(pa.array(["a b", "", "a b c d"], pa.large_string()))
    assert work.units(SuperShingles(2, shingle_size=3), short) == 1 + 0 + 2


def test_what_outlasts_changes_is_eq_1_and_not_eq_6() -> None:
    made = make_corpus(200, 3)
    found = run(
        "perturbation", {"c": made}, documents=150, filter="IDFR-I-1-99", changes=[1, 2, 3], lexicons=[1, 50]
    ).tables  # fmt: skip
    for changes, measured, by_1, by_6 in found["shares"].rows:
        n = int(str(changes))
        assert by_1 == pytest.approx(3.0**-n) and by_6 == pytest.approx((2 / 3) ** n)
        # lexicons of one document share its changed terms' fates only by chance; documents share terms, so be generous
        assert abs(measured - by_1) < 4 * math.sqrt(by_1 * (1 - by_1) / 150) < by_6 - by_1
    survived = found["survival"]
    assert survived.rows[1][4] > survived.rows[0][4]  # two changed, measured
    printed = {row[0]: row[1:] for row in found["expected"].rows}
    assert printed["L = 1,000, eq. 6 as printed"][:2] == [
        pytest.approx(2.23, abs=0.005),
        pytest.approx(7.44, abs=0.005),
    ]
    with pytest.raises(InputError, match="documents of 6 terms that IDFR-I-1-99 keeps; 999 are needed"):
        run("perturbation", {"c": made}, documents=999, filter="IDFR-I-1-99", changes=[1])


def test_a_changed_portion_is_all_that_differs(anything: Corpus) -> None:
    rows = [MethodRow("all terms", {"method": "syntactic"}), MethodRow("near", {"method": "minhash", "threshold": 0.5})]
    for filling in ("rare", "text"):
        found = run("passage", {"c": anything}, rows, documents=8, lengths=[1, 20], filling=filling).tables["found"]
        near = cells(found, "near")
        assert near["1"] == 1.0 >= near["20"]
        assert cells(found, "all terms")["20"] == 0.0
    with pytest.raises(SettingsError, match="filling must be one of rare, text"):
        run("passage", {"c": anything}, rows, filling="poems")
    with pytest.raises(InputError, match="documents of 4000 words or more; 8 are needed"):
        run("passage", {"c": anything}, rows, documents=8, lengths=[1000])


def test_lists_and_true_sets_by_definition(anything: Corpus) -> None:
    one = results.query(anything, 10, "0", "overlap", 0.8)
    sets = [set(words(text)) for text in anything.texts.to_pylist()]
    assert len(one.lists) == 10
    for best, true in zip(one.lists, one.true, strict=True):
        assert len(set(best)) == len(best) <= results.FOUND
        root = {i: i for i in best}
        for a, b in itertools.combinations(best, 2):
            if len(sets[a] & sets[b]) >= 0.8 * max(len(sets[a]), len(sets[b])) - 1e-9:
                old, new = root[b], root[a]
                root = {i: new if own == old else own for i, own in root.items()}
        groups: dict[int, set[int]] = {}
        for i, own in root.items():
            groups.setdefault(own, set()).add(i)
        assert {frozenset(g) for g in groups.values() if len(g) > 1} == set(true)
    assert len(one.sets) > 3
    with pytest.raises(SettingsError, match="measure must be one of overlap, cosine"):
        run("results", {"c": anything}, measure="taste")
    with pytest.raises(InputError, match="title of 3 words; 999 are needed"):
        results.query(anything, 999, "0", "overlap", 0.8)


def test_kinds_add_up_and_agreement_is_told_apart(anything: Corpus) -> None:
    rows = [MethodRow("vectors", {"method": "term-vector", "min_terms": 1, "min_df": 1, "dates": "none"})]
    tables = run("results", {"c": anything}, rows, queries=12, rounds=["one", "two"]).tables
    for column in ("Sets, one", "Documents, two"):
        assert sum(cells(tables["kinds"], column).values()) == pytest.approx(1)
    sizes, agreed = cells(tables["sizes"], "one"), cells(tables["agreement"], "one")
    assert sizes["Total"] == sum(n for name, n in sizes.items() if name != "Total") == agreed["Sets to find"]
    parts = ("Agreement, the same set", "Agreement in part", "Misses (False Negatives)")
    assert sum(agreed[name] for name in parts) == agreed["Sets to find"]
    assert sum(cells(tables["misses"], "one").values()) == agreed["Misses (False Negatives)"]
    # the default lexicon knows none of these words, so nothing is signed and that is the reason
    assert cells(tables["misses"], "one")["too few terms for a signature"] == agreed["Misses (False Negatives)"]


def test_a_lexicon_that_grows(anything: Corpus) -> None:
    made = make_corpus(300, 9)
    dated = Corpus(
        made.name, made.ids, made.texts, made.titles, [f"2002-01-{1 + i % 28:02}" for i in range(300)], made.labels
    )
    tables = run(
        "growing", {"a": dated, "b": dated}, documents=50, lengths=[1, 5], shares=[[0.5, 0.75]]
    ).tables  # fmt: skip
    assert set(tables) == {"all", "domain 1", "domain 2", "correlations"}
    assert tables["domain 1"].rows == tables["domain 2"].rows  # the same documents, drawn with the same seed
    for row in tables["all"].rows:
        assert row[1] == 2 * tables["domain 1"].rows[tables["all"].rows.index(row)][1]
        assert all(same >= listed for same, listed in zip(row[2:5], row[5:8], strict=True))
    still = run("growing", {"a": dated}, documents=50, lengths=[1, 5], shares=[[1.0, 1.0]]).tables
    assert all(cell == 1.0 for row in still["all"].rows for cell in row[2:])
    assert cells(still["correlations"], "Spearman, Aug–Oct")["Alpha-only"] == 1.0
    with pytest.raises(SettingsError, match="two numbers for each of 1 collections"):
        run("growing", {"a": dated}, documents=50, shares=[[1.0]])
    with pytest.raises(InputError, match="1,000 are drawn of them; say fewer with --set documents="):
        run("growing", {"a": dated})


def test_sampling_by_groups() -> None:
    dice = random.Random(5)
    texts = []
    for length in (60, 60, 60, 300, 300, 300):
        listed = [dice.choice(VOCABULARY) for _ in range(length)]
        for copy in range(8):
            own = list(listed)
            for _ in range(copy):
                own[dice.randrange(length)] = dice.choice(VOCABULARY)
            texts.append(" ".join(own))
    none = [None] * len(texts)
    corpus = Corpus("c", [f"{i:03}" for i in range(len(texts))], pa.array(texts, pa.large_string()), none, none, none)
    tables = run("sampling", {"c": corpus}, shingle_size=3, bounds=[100], thresholds=[0.5, 0.8]).tables
    assert sum(cells(tables["groups"], "Share of documents").values()) == pytest.approx(1)
    assert sum(cells(tables["groups"], "Share of shingles").values()) == pytest.approx(1)
    assert [row[0] for row in tables["precision 1/4"].rows] == ["0.5", "0.8"]
    for name in ("precision 1/4", "recall 1/16"):
        values = [cell for row in tables[name].rows for cell in row[1:] if cell is not None]
        assert values and all(0 <= value <= 1 for value in values)
    for row in tables["shares"].rows:
        assert row[1] <= row[2] + 1e-9 and row[3] <= row[4] + 1e-9
    ranks = list(cells(tables["ranks"], "Words").values())
    assert ranks == sorted(ranks) and ranks[0] == 60 and ranks[-1] == 300


def test_super_shingles_of_more_than_64(tmp_path: Path) -> None:
    """Values of a sample are distinct and sorted, so a super shingle may be longer than a shingle of tokens."""
    dice = random.Random(2)
    base = [f"w{dice.randrange(10**6)}" for _ in range(3000)]
    other = [*base[:1500], "changed", *base[1501:]]
    texts = pa.array([" ".join(base), " ".join(other), " ".join(reversed(base))], pa.large_string())
    method = SuperShingles(100, shingle_size=5, sampling=Sampling.parse("mod:10"), short="keep")
    keys = method.sign(tokenise(texts)).keys
    own = [set(keys.values[a:b].tolist()) for a, b in itertools.pairwise(keys.offsets.tolist())]
    samples = method.sampling.apply(tokenise(texts), 5)
    assert [len(s) for s in own] == [max(n - 99, 0) for n in np.diff(samples.offsets).tolist()]
    assert own[0] & own[1] and not own[0] & own[2]


def test_methods_are_compared_on_one_truth(anything: Corpus) -> None:
    rows = [
        MethodRow("one", {"method": "imatch", "filter": "IDFR-I-1-99", "norm": "imatch", "lexicon": "collection"}),
        MethodRow("mega", {"method": "mega-shingles"}),
    ]
    found = run("comparison", {"pages": anything, "lexicon": anything}, rows, queries=1.0, cosine=0.9).tables["scores"]
    prepared = prepare(anything, copies=True)
    sets = [set(words(text)) for text in prepared.texts.to_pylist()]

    def near(a: set[str], b: set[str]) -> bool:
        return len(a & b) >= 0.9 * math.sqrt(len(a) * len(b))

    places = range(len(sets))
    true = {a: {b for b in places if b != a and near(sets[a], sets[b])} for a in places}
    keys = signatures(rows[1].make(), TextBatch(prepared.texts))
    matched = {a: {b for b in true if b != a and (keys[a] == keys[b]).any() and keys[a].any()} for a in true}
    recall = [len(matched[a] & true[a]) / len(true[a]) for a in true if true[a]]
    assert cells(found, "Recall")["mega"] == pytest.approx(np.mean(recall)) and 0 < np.mean(recall) < 1
    assert cells(found, "Signatures per document") == {"one": 1, "mega": 15}


def test_words_of_a_corpus_are_its_tokens(anything: Corpus) -> None:
    known = words_of(anything)
    assert [known.words(place) for place in range(3)] == [words(text) for text in anything.texts.to_pylist()[:3]]
    owners = Counter(word for text in anything.texts.to_pylist() for word in set(words(text)))
    assert known.rare(2) == sorted(word for word, count in owners.items() if count <= 2)
