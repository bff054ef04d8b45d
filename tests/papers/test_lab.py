"""The lab: its parts against plain definitions, its tables twice the same, its figures as the papers have them."""

from __future__ import annotations

import itertools
import json
import math
import random
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lab_corpora import CORPUS, make_corpus, write_mail

from commands import run_roughly
from roughly.errors import InputError, SettingsError
from roughly.methods.imatch import IMatch
from roughly.methods.minhash import MinHash
from roughly.methods.rare_terms import RareTerms
from roughly.methods.term_filters import TABLE_IX, TermFilter
from roughly.methods.term_vector import TermVector
from roughly.papers.blanks import Blanks
from roughly.papers.contrived_copies import contrive
from roughly.papers.cosine_truth import cosine_neighbours
from roughly.papers.detectors import Groups, by_method
from roughly.papers.experiments import named, names
from roughly.papers.paper_table import PaperTable, TableColumn
from roughly.papers.protocols import PROTOCOLS
from roughly.papers.protocols.prepared import prepare
from roughly.papers.runner import ExperimentRunner
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, MethodRow, lexicon_of
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import tokenise, words
from roughly.text.filters import Filters
from roughly.tools.corpus import Corpus, read_corpus
from roughly.tools.metrics.families import score_family
from roughly.tools.metrics.query_scores import score_queries
from roughly.tools.perturb.word_edits import changed


def test_contrived_duplicates_are_the_same_for_one_seed() -> None:
    first, again, other = (contrive(CORPUS, seed=s, alpha=5) for s in (3, 3, 4))
    assert first.corpus.texts.equals(again.corpus.texts) and not first.corpus.texts.equals(other.corpus.texts)
    assert first.originals == other.originals and not {0, 1} & set(first.originals)  # those two are equal
    assert len(first.corpus) == 60 + 100 and first.family(0) == [first.originals[0], *range(60, 70)]
    lengths = np.diff(tokenise(CORPUS.texts).offsets)
    far = [i for i in range(2, 60) if i not in first.originals]
    gap = np.abs(lengths - lengths.mean())
    assert gap[first.originals].max() <= gap[far].min() + 1e-9


def test_what_a_change_does() -> None:
    listed = [f"w{i}" for i in range(3000)]
    dice = random.Random(1)
    out = changed(listed, ["new"], dice, 10, 5)
    added, removed = out.count("new"), len(set(listed) - set(out))
    kept = [w for w in out if w != "new"]
    flipped = sum(int(a[1:]) > int(b[1:]) for a, b in itertools.pairwise(kept))
    for seen in (added, removed, flipped):
        assert abs(seen - 50) < 4 * math.sqrt(50)  # 300 draws, one half of them change, a third of these each
    assert changed(listed, ["new"], dice, 10, 10) == listed
    assert changed(["a", "b"], ["x"], random.Random(2), 1, 0) != ["a", "b"]


def test_added_words_come_from_where_they_should() -> None:
    own = contrive(CORPUS, added="document", every=2, alpha=0)
    for number, original in enumerate(own.originals):
        base = set(words(CORPUS.texts[original].as_py()))
        assert all(set(words(own.corpus.texts[c].as_py())) <= base for c in own.copies[number])
    common, rare = (contrive(CORPUS, added=name, every=2, alpha=0) for name in ("text", "terms"))
    assert not common.corpus.texts.equals(rare.corpus.texts)
    with pytest.raises(SettingsError, match="added must be one of terms, text, document"):
        contrive(CORPUS, added="nowhere")
    with pytest.raises(InputError, match="10 are needed"):
        contrive(make_corpus(8))


def test_cosine_by_its_definition() -> None:
    texts = [*CORPUS.texts.to_pylist()[:20], "", CORPUS.texts[5].as_py() + " extra"]
    sets = [set(words(text)) for text in texts]
    found = dict(cosine_neighbours(tokenise(pa.array(texts, pa.large_string())), range(22), 0.5))
    for i, a in enumerate(sets):
        near = [
            j for j, b in enumerate(sets) if i != j and a & b and len(a & b) / math.sqrt(len(a) * len(b)) >= 0.5 - 1e-12
        ]
        assert found[i].tolist() == near
    assert 21 in found[5]


def test_scores_of_queries() -> None:
    spam = np.array([True] * 5 + [False] * 3)
    results = [({1, 2, 5}, {1, 2, 3, 4}), (set(), {3}), ({4}, set())]
    scores = score_queries(results, spam)
    assert scores.queries == 2 and scores.recall == pytest.approx((0.5 + 0) / 2)
    assert scores.precision == pytest.approx((1 + 0) / 2)
    assert scores.utility == pytest.approx(((2 - 100) + 0 + 1) / 3) and scores.legitimate == 1
    empty = score_queries([], spam)
    assert (empty.recall, empty.precision, empty.utility) == (None, None, None)


def test_scores_of_families() -> None:
    group = np.array([0, 0, 2, 3, 0, 2, 6])
    score = score_family(group, [0, 1, 2, 3])
    assert (score.found, score.clusters, score.false) == (0.5, 3, 2)  # as LA123190-0013 in Tables III and IV
    groups = Groups(group, np.zeros(7, np.bool_))
    assert (groups.duplicates, groups.clusters, groups.largest) == (5, 2, 3)


def run_protocol(
    name: str, corpora: dict[str, Corpus], rows: list[MethodRow] | None = None, **changed: object
) -> ExperimentOutcome:
    protocol = PROTOCOLS[name]
    return protocol.run(ExperimentCase(corpora, rows or [], protocol.parameters_of(changed, "test")))


def rows_of(name: str) -> list[MethodRow]:
    return list(named(name).rows)


def test_the_order_of_table_ii() -> None:
    listed = [row.name for row in rows_of("imatch-table2")]
    filters = [set(str(row.settings["filter"]).split(",")) - {""} for row in rows_of("imatch-table2")]
    assert len(set(listed)) == 32 and listed[:5] == ["nothing", "sw", "tg5", "tg5,sw", "tl25"]
    assert listed[8:10] == ["nosc", "nosc,sw"] and listed[16] == "stem" and listed[31] == "stem,nosc,tl25,tg5,sw"
    assert filters == [set(name.split(",")) - {"nothing"} for name in listed]


def test_table_ii_and_ix() -> None:
    two = run_protocol("count", {"made": CORPUS}, rows_of("imatch-table2")).tables["counts"]
    shown = two.chosen(["Percentage of Original Lexicon", "Percent Found as Duplicates"], "test")
    assert len(two.rows) == 32 and shown.rows[0][1:] == [1.0, pytest.approx(1 / 60)]
    nine = run_protocol("count", {"made": CORPUS}, rows_of("imatch-table9")).tables["counts"]
    assert len(nine.rows) == 53 and nine.rows[1][0] == "Doc-h-f1"
    assert [row[0] for row in nine.rows[1:]] == [TermFilter.parse(name).in_table for name in TABLE_IX]
    heads = [column.name for column in nine.columns]
    for row in nine.rows:
        cell = dict(zip(heads, row, strict=True))
        assert cell["Post Doc Num"] + cell["Filtered"] == 60
        assert cell["Dup Hash"] + cell["Dup Title"] == cell["Dup Total"] >= (cell["Filtered"] == 0)
        assert cell["Dup Total"] < 2 or cell["Max Cluster"] >= 2
    assert dict(zip(heads, nine.rows[0], strict=True))["Dup Title"] == 1


def test_tokens_cut_at_blanks() -> None:
    texts = ["the end. of it", "the end of it.", "the end of it", "", "", "running /usr/bin/x run"]
    blanks = Blanks(pa.array(texts, pa.large_string()))
    assert blanks.duplicates(Filters()) == 0
    assert blanks.duplicates(Filters(("nosc",))) == 0  # end. and it. are dropped, so no two are equal
    assert blanks.duplicates(Filters(("nosc", "tg5"))) == 0  # nothing is left of them, and nothing equals nothing
    assert blanks.left(Filters(("nosc",))) == pytest.approx(6 / 9)
    assert blanks.left(Filters(("stem",))) == pytest.approx(8 / 9)  # running, run
    twice = Blanks(pa.array(["one more. word", "word one again.", "one word"], pa.large_string()))
    assert twice.duplicates(Filters(("nosc",))) == pytest.approx(2 / 3)


def test_any_method_is_a_detector() -> None:
    lexicon = lexicon_of(CORPUS)
    texts = TextBatch(CORPUS.texts)
    for method in (
        IMatch(lexicon=lexicon, lexicons=3),
        RareTerms(lexicon=lexicon, min_df=1, most_idf=1.0),
        TermVector(lexicon=lexicon, min_df=1, terms=20, shared=16, min_terms=5),
        MinHash(0.8, 0.99, 5, 20, 5),
    ):
        found = by_method(method)(texts)
        assert found.group[1] == 0 and found.clusters >= 1, method.name


def test_families_are_found_better_with_more_lexicons() -> None:
    rows = rows_of("imatch-table3")
    tables = run_protocol("contrived", {"made": CORPUS}, rows, alpha=7).tables
    average = {row[0]: row[1:] for row in tables["average"].rows}
    assert list(average) == ["DSC", "DSC-SS-2", "DSC-SS-4", "DOC-L-90", "IDF-L-10", "IDF-L-10 + 10"]
    assert average["IDF-L-10 + 10"][0] > average["IDF-L-10"][0]
    assert average["IDF-L-10 + 10"][1] < average["IDF-L-10"][1]
    for row in tables["found"].rows:
        assert all(round(11 * cell, 6) == round(11 * cell) != 1 for cell in row[1:])  # never one document alone
    assert tables["found by variant"].rows == []


def test_preparation_of_mail() -> None:
    none = [None] * 4
    texts = ["One two33 three four five1 sixth seventh", "abc de f", "other words than those above here", ""]
    corpus = Corpus("m", list("abcd"), pa.array([*texts[:3], texts[0]], pa.large_string()), none, none, none)
    made = prepare(corpus)
    assert made.ids == ["a", "c"] and made.texts[0].as_py() == "three four five1 sixth seventh"


def test_recall_grows_with_the_lexicons(tmp_path: Path) -> None:
    corpus = read_corpus([str(write_mail(tmp_path / "mail.parquet"))], label_column="label")
    found = run_protocol(
        "spam", {"mail": corpus, "lexicon": make_corpus(300, 5)}, queries=1.0, filter="IDFR-I-1-99"
    ).tables["recall"]
    recalls = [row[1] for row in found.rows]
    assert [row[0] for row in found.rows] == ["1", "1 + 1-bag", "1 + 2-bag", "1 + 5-bag", "1 + 10-bag"]
    assert recalls == sorted(recalls) and recalls[-1] > recalls[0]
    assert found.rows[0][2] == 0 and all(row[5] == 0 for row in found.rows)
    ham = Corpus("m", corpus.ids, corpus.texts, corpus.titles, corpus.dates, ["ham"] * len(corpus))
    with pytest.raises(InputError, match="no document with the label 'spam'"):
        run_protocol("spam", {"mail": ham})


def test_recall_by_lexicons_on_any_documents() -> None:
    made = contrive(CORPUS, alpha=7, added="document").corpus
    found = run_protocol(
        "lexicons", {"pages": made, "lexicon": make_corpus(300, 5)}, queries=1.0, filter="IDFR-I-1-99"
    ).tables["recall"]
    assert len(found.columns) == 8 and [row[0] for row in found.rows][-1] == "1 + 10-bag"
    for place in (2, 5):
        recalls = [row[place] for row in found.rows]
        assert recalls == sorted(recalls) and recalls[-1] > recalls[0]
    assert all(0 <= cell <= 1 for row in found.rows for cell in row[2:])


def test_a_table_is_square_and_says_nothing_of_time() -> None:
    table = PaperTable("t", [TableColumn("a"), TableColumn("b", "percent")], [["x|y", 0.5], ["z", None]], ["note"])
    assert table.markdown().splitlines()[2:6] == ["| a | b |", "|---|---:|", "| x\\|y | 50.0% |", "| z | – |"]
    assert "seconds" not in table.to_dict() and table.to_dict()["rows"][0] == {"a": "x|y", "b": 0.5}
    with pytest.raises(ValueError, match="1 cells under 2 columns"):
        PaperTable("t", [TableColumn("a"), TableColumn("b")], [["x"]])
    counts = TableColumn("c", "count")
    assert [counts.shown(cell) for cell in (3, 3.0, 0.6, 1234.5)] == ["3", "3", "0.6", "1,234"]  # means of counts


def run_lab(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run_roughly("lab", *arguments)


def test_the_command_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    mail = write_mail(tmp_path / "mail.parquet")
    for name in ("one", "two"):
        done = run_lab("run", "kolcz-table2", "--corpus", mail, "-o", tmp_path / name, "--set", "filter=IDFR-I-1-99")
        assert done.returncode == 0, done.stderr
        assert "| 1 + 10-bag |" in done.stdout and "holds: recall rises with every lexicon" in done.stdout
    for file in ("table.md", "table.json", "table.html"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    written = json.loads((tmp_path / "one" / "table.json").read_text(encoding="utf-8"))
    assert written["experiment"] == "kolcz-table2" and written["parameters"]["filter"] == "IDFR-I-1-99"
    assert "mean and standard deviation of the draws" in (tmp_path / "one" / "seconds.json").read_text(encoding="utf-8")
    again = run_lab("run", "kolcz-table2", "--corpus", mail, "-o", tmp_path / "one")
    assert again.returncode == 1 and "--overwrite" in again.stderr
    wrong = run_lab("run", "table-99", "--corpus", mail, "-o", tmp_path / "x")
    assert wrong.returncode == 2 and "experiments are broder-phases" in wrong.stderr
    unknown = run_lab("run", "kolcz-table2", "--corpus", mail, "-o", tmp_path / "x", "--set", "colour=1")
    assert unknown.returncode == 2 and "no parameter 'colour'" in unknown.stderr and "cosine" in unknown.stderr
    nothing = run_lab("run", "kolcz-table2", "-o", tmp_path / "x")
    assert nothing.returncode != 0 and "--corpora the folder that holds spamassassin.parquet" in nothing.stderr


def test_the_list_names_every_experiment_and_show_says_what_it_is() -> None:
    done = run_lab("list", "--json")
    assert [row["name"] for row in json.loads(done.stdout)] == list(names())
    shown = run_lab("show", "kolcz-table2").stdout
    for words_ in (
        "protocol    spam",
        "parameter   cost = 100.0",
        "collection  mail: spamassassin",
        "expected    recall",
    ):
        assert words_ in shown


@pytest.mark.slow
def test_mail_as_in_the_paper(corpora: Path) -> None:
    """Recall grows with K, no legitimate message is flagged (Kołcz 2008, Tables 2 and 3)."""
    result = ExperimentRunner(folder=corpora).run(named("kolcz-table3"))
    assert [held.held for held in result.held] == [True] * len(result.held)


@pytest.mark.slow
def test_figures_1_to_4_as_in_the_paper(corpora: Path) -> None:
    """About one signature in six changes at length one, and more the longer it is."""
    runner = ExperimentRunner(folder=corpora, seeds=3)
    for number in (2, 4):
        held = {own.says: own.held for own in runner.run(named(f"conrad-figure{number}")).held}
        assert held["roughly one in six at a length of one (taken as a fourteenth to a quarter)"]
        assert held["over two months fewer stay than over one"]
