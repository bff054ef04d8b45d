"""The page of a learned verdict: its figures, and what it shows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from invoices import invoices
from roughly.cli.app import app
from roughly.errors import SettingsError
from roughly.report.data import PairSample
from roughly.report.verdict_page import VerdictData, WeightRow, WrongPair, render_verdict, write_verdict_page
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.draw import DrawSize, draw
from roughly.tools.tune.frontier import Goal
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.learn import LEARNED_PAIRS, Learning, is_recommended, learn
from roughly.tools.tune.reference import truth_of
from roughly.tools.tune.verdict_study import WRONG, calibrated, study_verdict


def learning_of(rows: list[dict[str, object]]) -> Learning:
    labels = SampleLabels.of_column("bill")
    sample = draw(
        rows, None, wanted=DrawSize(1000, 0, False, True), set_of=labels.take, resources=Resources(threads=1),
        reading=ReadOptions(url_column="bill"),
    )  # fmt: skip
    return Learning(sample, truth_of(sample, labels), 1, LEARNED_PAIRS)


def test_a_verdict_is_examined_on_labels_it_was_not_learnt_from(tmp_path: Path) -> None:
    rows = invoices(12)
    for place in (3, 10, 17):  # wrong labels
        rows[place]["bill"] = rows[place - 2]["bill"]
    learning = learning_of(rows)
    learned = learn(learning, Goal(), 0.2)
    assert learned is not None
    study = study_verdict(learning, learned)
    assert study.weights[0].comparison == "numbers"
    assert {row.comparison for row in study.weights} == set(learned.verdict.names)
    assert all(0 <= row.low < row.most < row.high for row in study.weights)
    assert sum(one.pairs for one in study.calibration) == int((learned.unseen_pairs.counts > 0).sum())
    recall = [one.recall for one in study.curve]
    assert recall == sorted(recall, reverse=True) and len(recall) == 19
    assert study.missed[0] > 0 and len(study.missed[1]) <= WRONG
    ids = {row["id"] for row in rows}
    assert {one.sample.left_id for one in study.missed[1]} <= ids
    write_verdict_page(study, tmp_path / "verdict.html")
    page = (tmp_path / "verdict.html").read_text(encoding="utf-8")
    assert "<script" not in page and "rare_words_held" in page and study.missed[1][0].sample.left_id in page
    assert study.to_dict()["missed"]["count"] == study.missed[0]


def test_a_verdict_of_some_sets_sees_no_label_of_others() -> None:
    learning = learning_of(invoices(16))
    half = np.arange(16) % 2 == 0
    learned = learn(learning, Goal(), 0.2, 0, half)
    assert learned is not None and learned.unseen.found > 0
    assert (learned.unseen_pairs.columns[~half] == 0).all()
    hidden = learning.ends(half).sum(axis=1) == 0
    assert hidden.any()
    learning.labels = replace(learning.labels, same=learning.labels.same ^ hidden)
    again = learn(learning, Goal(), 0.2, 0, half)
    assert again is not None and again.verdict == learned.verdict and again.unseen == learned.unseen
    assert again.tried.trial == learned.tried.trial and learned.verdict != learn(learning, Goal(), 0.2).verdict  # type: ignore[union-attr]


def test_where_few_sets_have_most_pairs_a_verdict_must_be_clearly_better() -> None:
    learned = learn(learning_of(invoices(12)), Goal(), 0.2)
    assert learned is not None

    def recommended(own: list[float], without: list[float], pairs: list[float]) -> bool:
        columns = [np.column_stack((found, pairs, pairs)) for found in (own, without)]
        return is_recommended(
            replace(learned, unseen_pairs=replace(learned.unseen_pairs, columns=columns[0])), columns[1]
        )

    alike, uneven = [2.0] * 20, [200.0, 100.0] + [2.0] * 18
    better, worse = [2.0] * 10 + [1.0] * 10, [1.0] * 11 + [2.0] * 9
    assert recommended(better, worse, alike) and recommended(worse, worse, alike)
    assert not recommended(worse, better, alike)
    assert not recommended([120.0, 80.0] + [2.0] * 18, [150.0, 40.0] + [2.0] * 18, uneven)
    assert recommended([180.0, 90.0] + [2.0] * 18, [120.0, 55.0] + [1.0] * 18, uneven)


def test_few_listed_pairs_that_stand_for_many_teach_a_verdict(tmp_path: Path) -> None:
    learning = learning_of(invoices(24))
    same = learning.labels.same
    drawn = [*np.flatnonzero(same)[:10], *np.flatnonzero(~same)[::60]]
    names = [(learning.sample.ids[a], learning.sample.ids[b]) for a, b in learning.documents[drawn]]
    lines = [f"{a},{b},{int(same[n])},{1 if same[n] else 60}" for n, (a, b) in zip(drawn, names, strict=True)]
    (tmp_path / "pairs.csv").write_text("left_id,right_id,same,weight\n" + "\n".join(lines) + "\n", encoding="utf-8")
    labels = SampleLabels.read(tmp_path / "pairs.csv")
    listed = replace(learning.sample, sets=[labels.of_id(name) for name in learning.sample.ids])
    _, probabilities, used = learning.with_truth(truth_of(listed, labels)).fit()
    assert used == len(drawn) < 40
    assert np.median(probabilities[same]) > 0.5 > probabilities[~same].max()


def test_calibration_by_ranges() -> None:
    probability, same = np.array([0.05, 0.08, 0.95, 1.0]), np.array([False, True, True, True])
    low, high = calibrated(probability, same, np.array([3.0, 1.0, 1.0, 1.0]))
    assert (low.pairs, low.probability, low.same) == (2, pytest.approx(0.0575), 0.25)
    assert (high.pairs, high.probability, high.same) == (2, pytest.approx(0.975), 1.0)


def test_the_page_escapes_what_documents_hold() -> None:
    pair = WrongPair(0.9, PairSample("<i>", "b", "<script>one two", "one two three", 0.5, 0.5, 0.5))
    data = VerdictData(
        prior=-1, probability=0.5, threshold=0.2, shingle_size=2, f1=0.5, pairs=3, calibration=[], curve=[],
        weights=[WeightRow("words", "resemblance", 1.0, 0.5, 1.5)], wrongly_same=(1, [pair]), missed=(0, []),
    )  # fmt: skip
    page = render_verdict(data)
    assert "<script" not in page and "<i>&lt;i&gt;" not in page and "the same by the verdict: 1" in page


def test_a_report_needs_a_verdict(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "b"}\n', encoding="utf-8")
    arguments = ["tune", str(tmp_path / "a.jsonl"), "--report", str(tmp_path / "a.html")]
    with pytest.raises(SettingsError, match="add --learn"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_without_a_verdict_the_command_says_that_no_page_is_written(tmp_path: Path) -> None:
    rows = [{"id": n, "text": f"one two three four {n // 2}", "set": n // 2} for n in range(6)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page = tmp_path / "a.html"
    arguments = ["tune", str(tmp_path / "a.jsonl"), "--label-column", "set", "--methods", "minhash", "--learn"]
    done = CliRunner().invoke(app, [*arguments, "--try", "threshold=0.5", "--report", str(page), "--threads", "1"])
    assert "a verdict is not learnt from 3 true sets" in done.stderr, done.output
    assert f"no verdict was learnt, so {page} is not written" in done.stderr and not page.exists()
