"""The search: clusters read off scored pairs are those of dedupe, and what is chosen is the middle of what is best."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import roughly
from roughly.cli.app import app
from roughly.errors import InputError, SettingsError
from roughly.features.shingle_sets import shingle_sets
from roughly.kernels.scored_pairs import posting_lists, scored_block, threshold_clusters
from roughly.settings import Resources, Settings
from roughly.text.canonical import characters, tokenise, words
from roughly.tools.labels import LabelPairs, read_labels
from roughly.tools.tune.draw import DrawnSample
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.grid import named_trial
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.reference import score
from roughly.tools.tune.scored_sample import ScoredSample
from roughly.tools.tune.selection import Selection, interval_figures
from roughly.tools.tune.trial import TrialBench


def texts_of(count: int, seed: int) -> list[str]:
    """Texts of which many share passages, some are equal and some are within others."""
    chance = random.Random(seed)
    names = [f"w{chance.randrange(400)}" for _ in range(2000)]
    made: list[str] = []
    for _ in range(count):
        own = [chance.choice(names) for _ in range(chance.choice([3, 20, 60]))]
        if made and chance.random() < 0.7:
            own = chance.choice(made).split()
            for _ in range(chance.randrange(6)):
                own[chance.randrange(len(own))] = chance.choice(names)
            own = own[: chance.randrange(1, len(own) + 1)] if chance.random() < 0.3 else own
        made.append(" ".join(own))
    return made


def sample_of(texts: list[str]) -> DrawnSample:
    ids = [f"{n:04}" for n in range(len(texts))]
    return DrawnSample(ids, pa.array(texts, pa.large_string()), [None] * len(ids), list(ids), 1.0, len(ids))


@pytest.mark.parametrize("unit", ["word", "character"])
def test_scored_pairs_are_all_pairs_and_their_shared_values(unit: str) -> None:
    texts = pa.array(texts_of(60, 1), pa.large_string())
    sets = shingle_sets(tokenise(texts) if unit == "word" else characters(texts), 3)
    own = [set(sets.values[sets.offsets[d] : sets.offsets[d + 1]].tolist()) for d in range(len(sets))]
    lists, sizes = posting_lists(sets.values, sets.offsets), np.diff(sets.offsets)
    blocks = [scored_block(start, min(start + 7, 60), lists, sizes, (0.0, 0.0)) for start in range(0, 60, 7)]
    found = {(d, k): c for pairs, _ in blocks for d, k, c in pairs.tolist()}
    want = {(d, k): len(own[d] & own[k]) for d in range(60) for k in range(d) if own[d] & own[k]}
    assert found == want
    histogram = sum(more for _, more in blocks)
    assert histogram.sum(axis=1).tolist() == [len(want)] * 2  # type: ignore[union-attr]
    some, _ = scored_block(0, 60, lists, sizes, (0.5, 2.0))
    assert {(d, k) for d, k, _ in some.tolist()} == {
        (d, k) for (d, k), c in want.items() if c / len(own[d] | own[k]) >= 0.5
    }


def test_clusters_at_thresholds_by_hand() -> None:
    offsets, others = np.array([0, 0, 1, 2, 4]), np.array([0, 1, 0, 2], np.int32)
    scores = np.array([0.9, 0.6, 0.6, 0.7])  # 1–0 0.9, 2–1 0.6, 3–0 0.6, 3–2 0.7
    steps = np.array([0.5, 0.65, 0.95])
    assert threshold_clusters(offsets, others, scores, steps, linked=False).tolist() == [
        [0, 0, 2, 2], [0, 0, 2, 2], [0, 1, 2, 3],
    ]  # fmt: skip
    assert threshold_clusters(offsets, others, scores, steps, linked=True).tolist() == [
        [0, 0, 0, 0], [0, 0, 2, 2], [0, 1, 2, 3],
    ]  # fmt: skip
    with pytest.raises(ValueError, match="better"):
        threshold_clusters(np.array([0, 1]), np.array([0], np.int32), np.ones(1), steps, linked=True)


@pytest.mark.parametrize("unit", ["word", "character"])
@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_clusters_read_off_scores_are_those_of_a_run(unit: str, measure: str, cluster: str) -> None:
    sample = sample_of(texts_of(120, 3))
    scored = ScoredSample(sample, 2, 10**6)
    pairs, bench = scored.score(unit, 3), TrialBench(sample, Resources(threads=1))
    steps = [0.1, 0.35, 0.6, 0.8, 1.0]
    groups = scored.groups(pairs, measure, steps, linked=cluster == "components")
    for threshold, group in zip(steps, groups, strict=True):
        values = {"threshold": threshold, "shingle_size": 3, "shingle_unit": unit, "measure": measure}
        trial = named_trial({"method": "minhash", "recall": 0.999999, "cluster": cluster, **values})
        assert bench.run(trial.settings).group.tolist() == group.tolist(), trial.name


def test_pairs_below_the_floor_are_left_out_and_none_above() -> None:
    sample = sample_of(texts_of(120, 4))
    everything, some = ScoredSample(sample, 1, 10**6).score("word", 1), ScoredSample(sample, 2, 300).score("word", 1)
    for measure, floor in some.floors.items():
        above = everything.scores[measure] >= floor
        assert (some.scores[measure] >= floor).sum() == above.sum() <= 300
        assert floor > everything.floors[measure]


def test_shingles_of_characters_do_not_see_spaces() -> None:
    texts = pa.array(["Über-all, 中文 ok", "überall中文ok", ""], pa.large_string())
    found = characters(texts)
    first, second = (found.hashes[found.offsets[i] : found.offsets[i + 1]].tolist() for i in (0, 1))
    assert first == second and found.offsets[3] == found.offsets[2]
    assert len(first) == len("".join(words("u¨berall中文ok"))) + 1  # the mark of ü is a character of its own
    table = pa.table(
        {"id": ["a", "b", "c"], "text": ["data base systems are here", "database sys tems are here", "no"]}
    )
    found_pairs = roughly.dedupe(table, threshold=0.9, shingle_size=4, shingle_unit="character", threads=1).pairs
    assert found_pairs["resemblance"].to_pylist() == [1.0]
    assert not roughly.dedupe(table, threshold=0.9, shingle_size=4, threads=1).pairs.num_rows
    assert Settings().to_dict().keys().isdisjoint({"shingle_unit"})
    with pytest.raises(SettingsError, match="character"):
        Settings(method="imatch", shingle_unit="character")


def tried_at(thresholds: list[float], f1: list[float], sets: int = 40, **values: object) -> list[Tried]:
    """Trials of one family whose recall is this F1 with a precision of 1, on sets of two."""
    made = []
    for threshold, one in zip(thresholds, f1, strict=True):
        hits = np.arange(sets) < round(sets * one / (2 - one))
        columns = np.column_stack((2 * hits, 2 * hits, np.full(sets, 2))).astype(np.float64)
        trial = named_trial({"method": "minhash", "threshold": threshold, "shingle_size": 5, **values})
        made.append(Tried(trial, score(columns), 0.0, 100.0, columns))
    return made


def test_ties_take_the_middle_of_the_widest_plateau() -> None:
    steps = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    listed = tried_at(steps, [0.2, 0.4, 1, 1, 1, 1, 1, 0.5, 0.1])
    listed += tried_at(steps, [1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1], cluster="components")
    selection = Selection(listed, Goal())
    best = selection.best()
    assert best is not None and listed[best].trial.threshold == 0.5 and "cluster" not in listed[best].trial.values
    assert selection.is_on_edge(0) == (True, False) and selection.is_on_edge(8) == (False, True)


def test_few_labels_choose_the_simplest_setting_within_the_noise() -> None:
    for sets, chosen in ((12, 5), (200, 2)):
        listed = tried_at([0.5, 0.6], [0.93, 0.90], sets) + tried_at([0.4, 0.5], [0.97, 0.95], sets, shingle_size=2)
        best = Selection(listed, Goal()).best()
        assert best is not None and listed[best].trial.values["shingle_size"] == chosen
    far = tried_at([0.5], [0.5], 12) + tried_at([0.4], [0.97], 12, shingle_size=2)
    best = Selection(far, Goal()).best()
    assert best is not None and far[best].trial.values["shingle_size"] == 2


@pytest.mark.parametrize(("sets", "chance_of"), [(12, 0.9), (30, 0.6), (30, 0.97), (150, 0.85)])
def test_intervals_hold_the_truth_as_often_as_they_say(sets: int, chance_of: float) -> None:
    """Sets of two or three documents that are found whole with some chance, some with a wrong document."""
    stream = np.random.default_rng(7)
    sizes, wrong = stream.choice([2, 3], 200_000), stream.random(200_000) < 0.1
    hit = stream.random(200_000) < chance_of
    true = sizes * (sizes - 1)
    both = true * hit
    columns = np.column_stack((both, both + 2 * sizes * wrong, true)).astype(np.float64)
    f1 = score(columns).f1
    held = 0
    for _ in range(200):
        drawn = columns[stream.integers(0, len(columns), sets)]
        interval = interval_figures(drawn)["f1"]
        held += interval is not None and interval.low <= f1 <= interval.high
    assert held >= 186  # 95 % of 200 are 190, of which three standard deviations are 9


def test_intervals_hold_the_truth_where_few_sets_have_most_pairs() -> None:
    """Sets of 2 to 200 documents: a draw of 60 has few of the large ones, which have nearly all pairs."""
    stream = np.random.default_rng(12)
    sizes = np.minimum(np.ceil(2 * stream.random(100_000) ** -0.8), 200)
    true = sizes * (sizes - 1)
    both = true * (stream.random(100_000) < np.where(sizes > 10, 0.5, 0.9))
    columns = np.column_stack((both, both + true * (stream.random(100_000) < 0.3), true))
    f1, held = score(columns).f1, 0
    for _ in range(100):
        interval = interval_figures(columns[stream.integers(0, len(columns), 60)])["f1"]
        held += interval is not None and interval.low <= f1 <= interval.high
    assert held >= 88  # 95 of 100, less three standard deviations


def test_unseen_scores_are_not_better_than_chance_where_labels_are_noise() -> None:
    """With forty trials whose sets are right at random, the best looks far better than it is."""
    stream, listed = np.random.default_rng(3), []
    for number in range(40):
        hits = stream.random(60) < 0.5
        columns = np.column_stack((2 * hits, 2 * hits, np.full(60, 2))).astype(np.float64)
        trial = named_trial({"method": "minhash", "threshold": 0.5, "shingle_size": 5, "seed": number})
        listed.append(Tried(trial, score(columns), 0.0, 1.0, columns))
    selection = Selection(listed, Goal())
    best, unseen = selection.best(), selection.unseen(0.2)
    assert best is not None and unseen is not None
    assert listed[best].score.recall > 0.6  # type: ignore[operator]
    assert abs((score(unseen).recall or 0) - 0.5) < 0.08


def test_labels_as_people_have_them(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"

    def read(text: str) -> SampleLabels:
        path.write_text(text, encoding="utf-8")
        return SampleLabels.read(path)

    found = read("id_a,id_b,label\na,b,duplicate\nb,c,distinct\nc,d,distinct\n")
    assert found.unlisted == "ignore" and any("column label" in note for note in found.notes)
    assert found.sets["a"] == found.sets["b"] and len(set(found.sets.values())) == 3  # different pairs do not connect
    assert read("left_id,right_id,human\na,b,yes\na,c,no\n").unlisted == "ignore"
    for column, value in (("topic", "sport"), ("score", "0.9")):
        other = read(f"left_id,right_id,{column}\na,b,{value}\n")
        assert other.unlisted == "unknown" and f"the column {column}" in other.notes[0]
    assert read("left_id,right_id,resemblance,weight\na,b,0.9,1\n").notes == []
    assert read("left_id,right_id,label\na,b,match\nb,c,nonmatch\n").unlisted == "ignore"
    sets = read("id,cluster\na,1\nb,1\nc,\nd,\n")
    assert set(sets.sets) == {"a", "b"} and "2 rows of" in sets.notes[0]
    revised = read("left_id,right_id,label\na,b,revised\n")
    assert revised.unlisted == "unknown" and any("all pairs count as the same" in note for note in revised.notes)
    chained = read("left_id,right_id,same\na,b,1\nb,c,1\na,c,0\n")
    assert any("1 pair of" in note and "connect" in note for note in chained.notes)
    weighted = read("left_id,right_id,same,weight\na,b,1,2.5\na,c,0,10\n")
    assert weighted.weights == [2.5, 10.0]
    for text, problem in (
        ("left_id,right_id,same\na,b,1\nb,a,0\n", "both as the same and as different"),
        ("left_id,right_id,same\na,b,0\n", "nothing to find"),
        ("left_id,right_id,one,two\na,b,1,yes\na,c,0,no\n", "--same-column"),
        ("left_id,right_id,same,weight\na,b,1,0\n", "above 0"),
        (
            "left_id,right_id,same\na,b,1\na,c,unsure\n",
            "column same: 1 row is 'unsure', neither of same, .* leave such",
        ),
        ("left_id,right_id,same\na,b,1\na,c,\na,d,\n", "column same: 2 rows, one of them empty, are neither of same"),
        ("left_id,right_id\na,\n", "column right_id: 1 row is empty"),
        ("id,cluster\na,1\na,2\n", "1 document is in more than one row, 'a' for one; .* keep one row"),
        ("id,cluster\na,\n", "no row has a value, so nothing is labelled"),
        ('{"left_id": "a", "right_id": "b"}\n', "is JSON, and labels are CSV or Parquet; convert it"),
    ):
        with pytest.raises(InputError, match=problem):
            read(text)
    path.write_text("left_id,right_id,one,two\na,b,1,yes\na,c,0,no\n", encoding="utf-8")
    given = read_labels(path, same_column="two")
    assert isinstance(given, LabelPairs) and given.same is not None and given.same.tolist() == [True, False]


def test_what_cannot_be_learnt_says_what_to_label(tmp_path: Path) -> None:
    texts = [f"{text} {copy}" for text in texts_of(12, 9) for copy in ("one", "two")]
    rows = [{"id": f"d{n}", "text": text, "own": str(n), "half": str(n // 2)} for n, text in enumerate(texts)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labels = tmp_path / "labels.csv"
    labels.write_text("left_id,right_id\n" + "".join(f"d{n},d{n + 1}\n" for n in range(0, 24, 2)), encoding="utf-8")
    options = ["tune", str(path), "--labels", str(labels), "--methods", "identical", "--learn"]
    done = CliRunner().invoke(app, [*options, "--unlisted", "ignore"], catch_exceptions=False)
    assert done.exit_code == 3 and "of 1 setting none finds two documents that are the same" in done.stdout
    assert "all similar pairs are the same by the labels, so no verdict can be learnt; label different" in done.stderr


def test_the_command_with_a_column_of_labels_among_documents_without(tmp_path: Path) -> None:
    chance = random.Random(5)
    vocabulary = [f"w{n}" for n in range(3000)]
    rows = []
    for number in range(70):
        base = [chance.choice(vocabulary) for _ in range(60)]
        for copy in range(2):
            own = [chance.choice(vocabulary) if chance.random() < 0.12 * copy else word for word in base]
            name = f"set {number}" if number < 45 else None
            rows.append({"id": f"{number}-{copy}", "text": " ".join(own), "family": name})
    rows += [{"id": "empty", "text": "", "family": "set 1"}, {"id": "dots", "text": "…", "family": None}]
    documents, output = tmp_path / "documents.jsonl", tmp_path / "best.toml"
    documents.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = ["tune", str(documents), "--label-column", "family", "-o", str(output), "--json", "--threads", "2"]
    done = CliRunner().invoke(app, [*arguments, "--methods", "minhash,lexical"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert "45 sets of two or more" in found["counted"] and "50 without a label" in found["counted"]
    assert any("2 documents without words" in warning for warning in found["warnings"])
    assert found["unseen"]["f1"] > 0.95 and found["trials"] > 800
    assert found["settings"]["threshold"] < 0.6
    again = CliRunner().invoke(app, [*arguments, "--methods", "minhash,lexical", "--overwrite"])
    first, second = json.loads(done.stdout), json.loads(again.stdout)
    for one in (*first["tried"], *second["tried"]):
        one.pop("cpu_seconds_per_mb")
    assert first == second
