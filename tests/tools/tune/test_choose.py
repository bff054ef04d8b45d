"""Choosing: trials do what dedupe does, figures are as counted by hand, and the choice is the same every time."""

from __future__ import annotations

import itertools
import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import roughly
from roughly.cli.app import app
from roughly.cluster.leader_pairs import expanded
from roughly.errors import InputError, InputMissing, SettingsError, TooManyPairs
from roughly.job.settings_file import read_settings
from roughly.methods.presets import PRESETS
from roughly.options import METHODS
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.choose import choose
from roughly.tools.tune.draw import Draw, DrawnSample, DrawSize, draw
from roughly.tools.tune.frontier import Goal, Tried, frontier, nearest
from roughly.tools.tune.grid import Trial, parse_others, trials
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.reference import ExactPairs, LabelledPairs, LabelledSets, Score, exact_pairs, score
from roughly.tools.tune.selection import Selection
from roughly.tools.tune.show import draw as draw_pictures
from roughly.tools.tune.show import lines, recommended_lines, unseen_lines
from roughly.tools.tune.trial import TrialBench, TrialOutcome
from roughly.tools.tune.tune_result import TuneRequest, TuneResult

ONE = Resources(threads=1)


def families(count: int = 40, seed: int = 5) -> tuple[list[str], list[str], list[str]]:
    """(ids, texts, true set): families of near copies, some of them equal, and documents alone."""
    chance = random.Random(seed)
    words = [f"w{i}" for i in range(3000)]
    ids, texts, sets = [], [], []
    for number in range(count):
        base = [chance.choice(words) for _ in range(chance.choice([30, 80, 200]))]
        for copy in range(chance.choice([1, 1, 2, 3])):
            own = list(base)
            for _ in range(copy * max(1, len(base) // 40)):
                own[chance.randrange(len(own))] = chance.choice(words)
            ids.append(f"d{number:03}-{copy}")
            texts.append(" ".join(own))
            sets.append(f"s{number}")
    return ids, texts, sets


def sample_of(ids: list[str], texts: list[str], sets: list[str], share: float = 1.0) -> DrawnSample:
    return DrawnSample(ids, pa.array(texts, pa.large_string()), [None] * len(ids), list(sets), share, len(ids))


def labelled(unlisted: str = "unknown", pairs: list[tuple[str, str, bool]] | None = None) -> SampleLabels:
    return SampleLabels(Path("x"), {}, unlisted, pairs)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("choose")
    ids, texts, sets = families()
    documents = folder / "documents.jsonl"
    lines_ = (json.dumps({"id": i, "text": t}) + "\n" for i, t in zip(ids, texts, strict=True))
    documents.write_text("".join(lines_), encoding="utf-8")
    labels = folder / "labels.csv"
    rows = (f"{i},{s}\n" for i, s in zip(ids, sets, strict=True))
    labels.write_text("id,cluster\n" + "".join(rows), encoding="utf-8")
    return documents, labels


def tried_of(precision: float, recall: float, size: float, name: str = "x") -> Tried:
    made = Score(recall * precision, recall, precision) if precision else Score(0, 0, 1)
    columns = np.array([[made.both, made.found, made.true]])
    return Tried(Trial(name, {"method": "lexical", "name": name}), made, 0.1, size, columns)


def test_every_method_has_a_grid_and_every_trial_can_be_made() -> None:
    found = trials()
    assert [t.preset for t in found if t.preset] == [n for n, p in PRESETS.items() if "verdict" not in p.settings]
    assert len({t.name for t in found}) == len(found)
    assert {t.settings.method for t in found} == set(METHODS)
    near = [t.values["threshold"] for t in trials(["minhash"], threshold=0.77, shingle_size=4, presets=False)]
    assert near == [0.7, 0.77, 0.8]
    asked = trials(["minhash", "imatch"], parse_others(["threshold=0.66,0.71", "lexicons=3"]))
    assert {t.values.get("threshold", 0.66) for t in asked} == {0.66, 0.71}
    assert {t.values.get("lexicons", 3) for t in asked} == {3}
    assert parse_others(["filter=sw,stem", "filter=tg5"]) == {"filter": ["sw,stem", "tg5"]}
    assert parse_others(["verify=true", "sketch=mod:8", "recall=0.9"]) == {
        "verify": [True], "sketch": ["mod:8"], "recall": [0.9],
    }  # fmt: skip
    for bad in (
        {"methods": ["none"]},
        {"others": {"nothing": [1]}},
        {"methods": ["lexical"], "others": {"recall": [1]}},
    ):
        with pytest.raises(SettingsError):
            trials(**bad)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=r"threshold=0\.7"):
        parse_others(["threshold"])


def test_pairs_of_families_are_all_there() -> None:
    equal = np.array([0, 1, 0, 3, 1, 0])
    found = {tuple(sorted(p)) for p in expanded(np.array([[0, 1]]), equal).tolist()}
    want = set(itertools.product([0, 2, 5], [1, 4])) | {(0, 2), (0, 5), (2, 5), (1, 4)}
    assert found == {tuple(sorted(p)) for p in want}
    with pytest.raises(TooManyPairs, match="--sample"):
        expanded(np.array([[0, 1]]), equal, limit=9)


@pytest.mark.parametrize("method", list(METHODS))
def test_a_trial_finds_what_dedupe_finds(method: str) -> None:
    ids, texts, _ = families(30)
    texts += [texts[0].upper() + "!", texts[5], "", " "]
    ids += ["x1", "x2", "x3", "x4"]
    order = sorted(range(len(ids)), key=lambda i: ids[i])
    sample = sample_of([ids[i] for i in order], [texts[i] for i in order], ["-"] * len(ids))
    bench = TrialBench(sample, ONE)
    asked = trials([method])
    for trial in (asked[0], asked[-1]):
        outcome = bench.run(trial.settings)
        table = pa.table({"id": ids, "text": texts})
        result = roughly.dedupe(table, threads=1, **dict(trial.values))
        want = dict(
            zip(result.documents["doc_id"].to_pylist(), result.documents["cluster_id"].to_pylist(), strict=True)
        )
        assert {i: sample.ids[g] for i, g in zip(sample.ids, outcome.group.tolist(), strict=True)} == want, trial.name
        assert outcome.bytes >= 16 and outcome.cpu >= 0


def test_a_lexicon_of_the_collection_is_counted() -> None:
    ids, texts, sets = families(12)
    texts[3] = " ".join(sorted(texts[0].split()))  # the same terms in another order
    outcome = TrialBench(sample_of(ids, texts, sets), ONE).run(
        Trial("", {"method": "imatch", "lexicon": "collection"}).settings
    )
    assert outcome.group[3] == outcome.group[0]


def test_every_pair_of_the_exact_method_is_the_truth() -> None:
    ids, texts, sets = families(40)
    texts[7] = texts[3]
    sample = sample_of(ids, texts, sets)
    true = exact_pairs(sample, 0.7, 5, ONE)
    brute = {
        (a, b) for a, b in itertools.combinations(range(len(ids)), 2) if roughly.resemblance(texts[a], texts[b]) >= 0.7
    }
    assert {tuple(sorted(pair)) for pair in true.tolist()} == brute and len(brute) > 10
    outcome = TrialBench(sample, ONE).run(
        Trial("", {"method": "minhash", "threshold": 0.7, "recall": 0.9999}).settings, every_pair=True
    )
    truth = ExactPairs(len(ids), true)
    found = score(truth.columns(outcome))
    assert found.precision == 1.0
    assert (found.recall or 0) > 0.98


def by_hand(group: list[int], pairs: set[tuple[int, int]]) -> tuple[float, float]:
    """Precision and recall of the pairs that a grouping makes."""
    found = [p for p in itertools.combinations(range(len(group)), 2) if group[p[0]] == group[p[1]]]
    both = sum(p in pairs for p in found)
    return both / len(found), both / len(pairs)


def test_scores_on_sets_and_pairs_are_as_counted_by_hand() -> None:
    chance = random.Random(2)
    group = [chance.randrange(12) for _ in range(60)]
    names = [f"s{chance.randrange(15)}" for _ in range(60)]
    outcome = TrialOutcome(np.array(group), None, 0.0, 0.0)
    ids = [f"{n:02}" for n in range(60)]
    pairs = {p for p in itertools.combinations(range(60), 2) if names[p[0]] == names[p[1]]}
    for unlisted in ("unknown", "different", "ignore"):
        truth = LabelledSets(sample_of(ids, [""] * 60, names), labelled(unlisted))
        got = score(truth.columns(outcome))
        assert (got.precision, got.recall) == pytest.approx(by_hand(group, pairs))
        assert got.true == 2 * len(pairs) and truth.true_sets == sum(names.count(n) > 1 for n in set(names))
    listed = [
        (ids[a], ids[b], names[a] == names[b])
        for a, b in chance.sample(list(itertools.combinations(range(60), 2)), 300)
    ]
    judged = LabelledPairs(sample_of(ids, [""] * 60, ["all"] * 30 + ["rest"] * 30), labelled("ignore", listed))
    got = score(judged.columns(outcome))
    hits = [(group[int(a)] == group[int(b)], same) for a, b, same in listed]
    assert got.precision == sum(f and s for f, s in hits) / sum(f for f, _ in hits)
    assert got.recall == sum(f and s for f, s in hits) / sum(s for _, s in hits)
    same = [one for one in listed if one[2]]
    complete = LabelledSets(sample_of(ids, [""] * 60, ids), labelled("different", same))
    true = {(int(a), int(b)) for a, b, _ in same}
    got = score(complete.columns(outcome))
    assert (got.precision, got.recall) == pytest.approx(by_hand(group, true))


def test_what_labels_do_not_list_is_read_in_three_ways() -> None:
    """Documents 0 to 3 are labelled (two sets), 4 to 7 are not."""
    ids = [str(n) for n in range(8)]
    names = ["a", "a", "b", "b", None, None, None, None]
    group = np.array([0, 0, 2, 3, 0, 5, 5, 5])  # 0 and 1 with the unlabelled 4; 5, 6 and 7 together
    outcome = TrialOutcome(group, None, 0.0, 0.0)
    precision = {}
    for unlisted in ("unknown", "different", "ignore"):
        sample = DrawnSample(ids, pa.array([""] * 8, pa.large_string()), [None] * 8, list(names), 1.0, 8)
        got = score(LabelledSets(sample, labelled(unlisted)).columns(outcome))
        assert got.recall == 0.5
        precision[unlisted] = got.precision
    assert precision == {"unknown": 1 / 3, "different": pytest.approx(1 / 6), "ignore": 1.0}
    sample.outside = 0.5  # each unlabelled document stands for two
    assert score(LabelledSets(sample, labelled("unknown")).columns(outcome)).precision == 1 / 5


def test_pairs_of_one_set_that_are_not_listed_are_unknown() -> None:
    ids, listed = ["a", "b", "c", "d"], [("a", "b", True), ("b", "c", True)]
    sample = DrawnSample(ids, pa.array([""] * 4, pa.large_string()), [None] * 4, ["s", "s", "s", None], 1.0, 4)
    together = TrialOutcome(np.zeros(4, np.int64), None, 0.0, 0.0)
    got = score(LabelledSets(sample, labelled("unknown", listed)).columns(together))
    assert (got.both, got.found, got.true) == (4, 4 + 6, 4)  # a and c do not count; each with d is wrong
    got = score(LabelledSets(sample, labelled("different", listed)).columns(together))
    assert (got.both, got.found, got.true) == (4, 12, 4)


def test_the_draw_depends_on_names_only_and_takes_whole_sets() -> None:
    ids, texts, sets = families(60)
    own = dict(zip(ids, sets, strict=True))

    def drawn(size: int, order: list[int], seed: int = 0) -> DrawnSample:
        table = pa.table({"id": [ids[i] for i in order], "text": [texts[i] for i in order]})
        reading = ReadOptions(batch_size=7)
        return draw(
            table, None, wanted=DrawSize(size, seed), set_of=lambda i, _: own.get(i), resources=ONE, reading=reading
        )

    straight, turned = list(range(len(ids))), list(range(len(ids)))[::-1]
    small = drawn(40, straight)
    assert small.ids == drawn(40, turned).ids == sorted(small.ids)
    assert 30 <= len(small) <= 40
    assert {i for i in ids if own[i] in set(small.sets)} == set(small.ids)  # sets are whole
    assert set(small.ids) <= set(drawn(60, straight).ids)
    assert drawn(40, straight, 1).ids != small.ids
    assert small.share == len(set(small.sets)) / 60
    assert drawn(10**6, straight).share == 1.0


def test_what_is_held_while_reading_does_not_change_the_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(9)
    rows = [(f"d{n}", f"s{chance.randrange(120)}") for n in range(600)]

    def drawn(slack: int) -> list[str]:
        monkeypatch.setattr("roughly.tools.tune.draw._SLACK", slack)
        draw = Draw(50, 0)
        most = 0
        for name, own in rows:
            place = draw.place(own)
            if place is not None:
                draw.add(place, name, "", None, own)
                most = max(most, len(draw.rows))
        draw.prune()
        assert draw.share == len({row[0] for row in draw.rows}) / len({own for _, own in rows})
        assert most <= 2 * 50 + slack + 1
        return sorted(row[1] for row in draw.rows)

    want = drawn(10**6)
    assert 40 <= len(want) <= 50
    for slack in (0, 7, 100):
        assert drawn(slack) == want
        chance.shuffle(rows)


def test_a_sample_of_sets_does_not_flatter_precision() -> None:
    """Wrong pairs between sets are rarer in a sample than true ones within; the weights put it right."""
    chance = random.Random(4)
    sets = [n // 2 for n in range(4000)]  # 2,000 sets of two
    group = np.array([s // 5 for s in sets])  # found: five sets together, so 1 of 9 partners is right
    estimates, naive = [], []
    for _ in range(20):
        keep = set(chance.sample(range(2000), 400))
        rows = [n for n in range(4000) if sets[n] in keep]
        sample = sample_of([f"{n:04}" for n in rows], [""] * len(rows), [str(sets[n]) for n in rows], 0.2)
        for share, into in ((0.2, estimates), (1.0, naive)):
            sample.share = share
            truth = LabelledSets(sample, labelled())
            got = score(truth.columns(TrialOutcome(group[rows], None, 0.0, 0.0)))
            into.append(got.precision or 0.0)
    assert np.mean(estimates) == pytest.approx(1 / 9, rel=0.05)
    assert np.mean(naive) > 0.3


def test_the_frontier_and_what_is_recommended() -> None:
    listed = [
        tried_of(0.9, 0.9, 100), tried_of(0.9, 0.9, 200), tried_of(1.0, 0.5, 50), tried_of(0.6, 1.0, 100),
        tried_of(0.0, 0.0, 1), tried_of(0.95, 0.89, 90),
    ]  # fmt: skip
    assert frontier(listed) == [True, False, True, True, False, True]
    for goal, best in (
        (Goal(precision=0.96), 2), (Goal(recall=0.9), 0), (Goal(precision=0.55, recall=0.85), 5), (Goal(slack=0.5), 2),
        (Goal(precision=1.0, recall=0.9), None),
    ):  # fmt: skip
        assert Selection(listed, goal).best() == best
    assert nearest(listed, Goal(precision=1.0, recall=0.9)) == 5
    for bad in ({"precision": 0}, {"recall": 2.0}, {"slack": -1}):
        with pytest.raises(SettingsError):
            Goal(**bad)  # type: ignore[arg-type]


def chosen_of(documents: Path, **asked: object) -> TuneResult:
    return choose(None, [documents], TuneRequest(**asked), resources=ONE, reading=ReadOptions())  # type: ignore[arg-type]


def without_cost(chosen: TuneResult) -> dict[str, object]:
    values = chosen.to_dict()
    for one in values["tried"]:
        one.pop("cpu_seconds_per_mb")
    return values


def test_choosing_twice_is_choosing_once(collection: tuple[Path, Path]) -> None:
    documents, labels = collection
    asked = {"trials": trials(["lexical", "minhash", "imatch"]), "labels": labels}
    first = chosen_of(documents, **asked)
    again = choose(
        None, [documents], TuneRequest(**asked), resources=Resources(threads=3), reading=ReadOptions(batch_size=5)  # type: ignore[arg-type]
    )  # fmt: skip
    assert without_cost(first) == without_cost(again)
    assert first.recommended is not None and first.recommended.score.f1 > 0.9
    assert first.to_dict()["unseen"]["f1"] is not None
    assert "F1" in unseen_lines(first)[0] and recommended_lines(first)[0].startswith("recommended ")
    assert len(lines(first, everything=True)) == len(first.tried) + 1


def test_pictures_have_every_trial(collection: tuple[Path, Path], tmp_path: Path) -> None:
    chosen = chosen_of(collection[0], trials=trials(["lexical", "minhash"], threshold=0.8))
    for path in draw_pictures(chosen, tmp_path / "pictures"):
        root = ET.fromstring(path.read_text(encoding="utf-8"))
        assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == len(chosen.tried) + 1


def test_no_trial_begins_after_the_budget(collection: tuple[Path, Path]) -> None:
    chosen = chosen_of(collection[0], trials=trials(["lexical", "minhash"]), budget=0)
    assert [one.trial.name for one in chosen.tried] == ["lexical"]
    assert len(chosen.left_out) == len(trials(["lexical", "minhash"])) - 1
    assert any("--budget" in warning for warning in chosen.warnings)


def test_labels_that_do_not_fit_are_refused(collection: tuple[Path, Path], tmp_path: Path) -> None:
    documents, _ = collection
    strange = tmp_path / "strange.csv"
    strange.write_text("id,cluster\nd001-0,a\nnobody,a\nd001-1,a\n", encoding="utf-8")
    with pytest.raises(InputError, match="nobody"):
        chosen_of(documents, trials=trials(["lexical"]), labels=strange)
    chosen = chosen_of(documents, trials=trials(["lexical"]), labels=strange, ignore_unknown=True)
    assert any("1 document of the labels is not" in warning for warning in chosen.warnings)
    chosen = chosen_of(documents, trials=trials(["lexical"]), labels=strange, ignore_unknown=True, unlisted="different")
    assert any("labels are complete" in warning for warning in chosen.warnings)
    strange.write_text("id,cluster\nnobody,a\n", encoding="utf-8")
    with pytest.raises(InputError, match="names no document of the input"):
        chosen_of(documents, trials=trials(["lexical"]), labels=strange, ignore_unknown=True)
    with pytest.raises(InputMissing):
        chosen_of(documents, trials=trials(["lexical"]), labels=tmp_path / "none.csv")
    for bad in ({"sample": 1}, {"held_back": 1.0}, {"budget": -1}, {"unlisted": "x"}, {"trials": []}):
        with pytest.raises(SettingsError):
            TuneRequest(**({"trials": trials(["lexical"])} | bad))  # type: ignore[arg-type]


def test_the_command_writes_settings_that_dedupe_takes(collection: tuple[Path, Path], tmp_path: Path) -> None:
    documents, labels = (str(path) for path in collection)
    output, run = tmp_path / "best.toml", CliRunner().invoke
    arguments = [
        "tune",
        documents,
        "--labels",
        labels,
        "--methods",
        "lexical,minhash,super-shingles",
        "-o",
        str(output),
    ]
    done = run(app, [*arguments, "--curves", str(tmp_path / "pictures"), "--precision", "0.9"])
    assert done.exit_code == 0, done.output
    assert "on unseen labels" in done.stdout and "on labels not chosen on precision" in done.stdout
    assert (tmp_path / "pictures" / "frontier.svg").exists()
    told = json.loads(run(app, [*arguments, "--overwrite", "--json", "--precision", "0.9"]).stdout)
    assert told["settings"] == read_settings(output)
    found = run(app, ["dedupe", documents, "-o", str(tmp_path / "out"), "--settings", str(output)])
    assert found.exit_code == 0, found.output
    measured = json.loads(run(app, ["evaluate", str(tmp_path / "out"), "--labels", labels, "--json"]).stdout)
    best = next(one for one in told["tried"] if one["name"] == told["recommended"])
    assert measured["pairs"]["f1"] == pytest.approx(best["score"]["f1"])


def test_what_cannot_be_reached_is_said_and_not_written(collection: tuple[Path, Path], tmp_path: Path) -> None:
    documents, labels = (str(path) for path in collection)
    output = tmp_path / "best.toml"
    arguments = ["tune", documents, "--labels", labels, "--methods", "minhash", "--recall", "0.999", "-o", str(output)]
    arguments += ["--try", "threshold=0.8"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 3
    assert "recommended nothing" in done.stdout and "nearest: minhash threshold=0.8" in done.stdout
    assert not output.exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--sampling", "--labels", "l.csv"], ["--sampling", "--methods", "minhash"], ["--groups", "100"],
        ["--common", "9"], ["--labels", "l.csv", "--threshold", "0.7"], ["--held-back", "0.2"],
        ["--unlisted", "ignore"], ["--methods", "nothing"], ["--try", "threshold"], ["--precision", "2"],
        ["--markup", "x"],
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(options: list[str]) -> None:
    with pytest.raises(SettingsError):
        CliRunner().invoke(app, ["tune", "x.jsonl", *options], catch_exceptions=False)


def test_on_newsgroups_no_preset_beats_what_is_recommended(corpora: Path) -> None:
    """With the cross-posts of 20 Newsgroups as labels."""
    methods = ["identical", "lexical", "minhash", "shingles", "super-shingles", "mega-shingles", "word-lsh"]
    asked = TuneRequest(
        trials=trials(methods),
        labels=corpora / "newsgroups20_clusters.csv", sample=4000,
    )  # fmt: skip
    chosen = choose(
        None, [corpora / "newsgroups20.parquet"], asked, resources=Resources(), reading=ReadOptions(), listener=None
    )
    presets = {one.trial.preset: one.score.f1 for one in chosen.tried if one.trial.preset}
    papers = {name: own.settings["method"] for name, own in PRESETS.items() if "verdict" not in own.settings}
    assert set(presets) == {name for name, method in papers.items() if method in methods}
    assert chosen.recommended is not None
    assert chosen.recommended.score.f1 >= max(presets.values())


def test_from_python(collection: tuple[Path, Path]) -> None:
    documents, labels = collection
    found = roughly.tune(documents, labels=labels, methods=["lexical", "minhash"], values={"threshold": [0.6, 0.9]})
    assert [one.trial.values.get("threshold") for one in found.tried] == [None, *[0.6] * 3, *[0.9] * 3]
    assert found.settings() == {"method": "minhash", "threshold": 0.6, "shingle_size": 3}
    table = pa.table({"text": families(10)[1]})
    assert roughly.tune(table, methods=["minhash"], threads=1).truth == "exact"
    with pytest.raises(SettingsError, match="either data or paths"):
        roughly.tune()
