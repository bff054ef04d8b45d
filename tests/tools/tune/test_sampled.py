"""Tuning: precision and recall as counted by hand, ratios that keep what is asked, and Ye's findings on real text."""

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

from roughly.cli.app import app
from roughly.errors import InputError, InputMissing, OutputExists, SettingsError
from roughly.features.sampling import Sampling
from roughly.features.sketch import Sketch
from roughly.job.settings_file import read_sampling, read_settings, write_settings
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.adaptive import LEAST, StudySample, check, default_bounds, study
from roughly.tools.tune.curves import chart, draw
from roughly.tools.tune.sampling_ratios import SamplingChoice, SamplingRequest, tune


def copies(documents: int = 160, seed: int = 3) -> list[str]:
    """Short and long documents, each with near copies around the threshold."""
    chance = random.Random(seed)
    texts = []
    for _ in range(documents // 4):
        length = chance.choice([40, 90, 300, 700, 1500])
        base = [f"w{chance.randrange(10**6)}" for _ in range(length)]
        texts.append(" ".join(base))
        for _ in range(3):
            words = list(base)
            for _ in range(max(1, int(length * chance.choice([0.002, 0.005, 0.01, 0.02])))):
                words[chance.randrange(length)] = f"x{chance.randrange(10**6)}"
            texts.append(" ".join(words))
    return texts


def tuned(texts: list[str], **asked: object) -> SamplingChoice:
    return tune(texts, None, SamplingRequest(**asked), resources=Resources(threads=1), reading=ReadOptions())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> SamplingChoice:
    return tuned(copies(), precision=0.8, recall=0.5, threshold=0.8)


def random_sets(seed: int) -> tuple[Sketch, np.ndarray]:
    random = np.random.default_rng(seed)
    base = [np.unique(random.integers(0, 2**64, n, dtype=np.uint64)) for n in (12, 30, 30, 80)]
    groups = [b for b in base for _ in range(3)]
    groups = [np.unique(np.r_[g[random.random(len(g)) < 0.8], g[:2]]) for g in groups]
    offsets = np.r_[0, np.cumsum([len(g) for g in groups])].astype(np.int64)
    return Sketch(np.concatenate(groups), offsets), np.array([len(g) for g in groups])


def test_the_study_counts_what_a_loop_over_pairs_counts() -> None:
    sets, tokens = random_sets(1)
    sample = StudySample.of(sets, tokens, 1000)
    held = [
        set(sample.sets.values[a:b].tolist()) for a, b in itertools.pairwise(sample.sets.offsets)
    ]  # fmt: skip
    bounds, thresholds = (15, 40), (0.5, 0.7)
    got = study(sample, bounds, thresholds, levels=3)
    right, wrong = np.zeros((3, 4, 2)), np.zeros((3, 4, 2))
    true = np.zeros((3, 2))
    for a, b in itertools.combinations(range(len(held)), 2):
        longer = max(sample.tokens[a], sample.tokens[b])
        group = 0 if longer <= 15 else 1 if longer <= 40 else 2
        for t, threshold in enumerate(thresholds):
            is_true = len(held[a] & held[b]) / len(held[a] | held[b]) >= threshold
            true[group, t] += is_true
            for level in range(4):
                for trial in range(2**level):
                    x, y = ({v for v in held[d] if v >> (64 - level) == trial} for d in (a, b))
                    if x & y and len(x & y) / len(x | y) >= threshold:
                        (right if is_true else wrong)[group, level, t] += 1
    assert got.right.tolist() == right.tolist()
    assert got.wrong.tolist() == wrong.tolist()
    assert got.true.tolist() == true.tolist()
    assert true.sum() > 5 and wrong.sum() > 5


def test_checking_is_the_first_trial_of_the_study() -> None:
    sets, tokens = random_sets(2)
    sample = StudySample.of(sets, tokens, 1000)
    for level in range(4):
        done = check(sample, Sampling("adaptive", 0, ((10**6, 0.5**level),)), (), 0.6)
        assert done.share == pytest.approx(0.5**level, abs=0.1)
        if level == 0:
            assert (done.overall_precision, done.overall_recall) == (1, 1)


def test_the_ratios_chosen_keep_what_is_asked(found: SamplingChoice) -> None:
    at = found.study.at(0.8)
    assert len(found.levels) == len(found.study.names)
    enough = [g for g in range(len(found.levels)) if found.study.true[g, at] >= LEAST]
    assert len(enough) >= 3
    for group in enough:
        level = found.levels[group]
        assert found.study.precision[group, level, at] >= 0.8
        assert found.study.recall[group, level, at] >= 0.5
        for finer in range(level + 1, len(found.study.ratios)):
            assert not found.study.keeps(group, finer, at, 0.8, 0.5)
    assert found.share < 1
    assert found.share <= found.study.ratios[found.uniform]


def test_groups_without_evidence_take_the_ratio_of_shorter_ones() -> None:
    sets, tokens = random_sets(3)
    got = study(StudySample.of(sets, tokens, 1000), (5, 40, 500), (0.5,))
    levels = got.choose(0.5, 0.5)
    assert got.true[0, 0] == got.true[3, 0] == 0
    assert levels[0] == 0
    assert levels[3] == levels[2]


def test_settings_written_are_read_back(found: SamplingChoice, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    write_settings(path, found.settings(), "a comment\nof two lines")
    assert path.read_text(encoding="utf-8").startswith("# a comment\n# of two lines\nmethod = ")
    assert read_settings(path) == found.settings()
    sampling, size = read_sampling(path)
    assert (sampling.groups, size) == (found.study.groups(found.levels), 10)
    bounds = found.study.bounds
    for group, level in enumerate(found.levels):
        longest = bounds[group] if group < len(bounds) else 10**9
        assert sampling.ratio(longest) == 0.5**level
    with pytest.raises(OutputExists, match="--overwrite"):
        write_settings(path, {}, "")
    with pytest.raises(InputMissing, match="roughly tune"):
        read_settings(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = [", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as TOML"):
        read_settings(tmp_path / "bad.toml")
    (tmp_path / "other.toml").write_text('name = "a \\"quoted\\" one"', encoding="utf-8")
    with pytest.raises(SettingsError, match="`roughly tune --sampling` writes both"):
        read_sampling(tmp_path / "other.toml")


def test_curves_are_pictures(found: SamplingChoice, tmp_path: Path) -> None:
    drawn = draw(found.study, 0.8, tmp_path / "curves")
    names = ["precision-4.svg", "recall-4.svg", "precision-16.svg", "recall-16.svg", "share.svg"]
    assert [path.name for path in drawn] == names
    for path in drawn:
        root = ET.fromstring(path.read_text(encoding="utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) >= 2
    assert "polyline" not in chart("Nothing", [], "x", "y").split("</style>")[1]


def test_numbers_of_threads_do_not_matter(found: SamplingChoice) -> None:
    asked = SamplingRequest(precision=0.8, recall=0.5, threshold=0.8)
    again = tune(copies(), None, asked, resources=Resources(threads=3), reading=ReadOptions(batch_size=11))
    assert again.to_dict() == found.to_dict()


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "sample.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in copies(80)), encoding="utf-8")
    run = CliRunner().invoke
    output = tmp_path / "settings.toml"
    arguments = ["tune", str(file), "--sampling", "-o", str(output), "--threshold", "0.8", "--groups", "100,400"]
    done = run(app, [*arguments, "--curves", str(tmp_path / "curves")])
    assert done.exit_code == 0, done.output
    assert "over 400" in done.stdout and "of them processed" in done.stdout
    assert len(read_settings(output)["groups"]) <= 3
    with pytest.raises(OutputExists):
        run(app, arguments, catch_exceptions=False)
    told = json.loads(run(app, [*arguments, "--overwrite", "--json"]).stdout)
    assert told["settings"] == read_settings(output)
    assert [group["tokens"] for group in told["groups"]] == ["1–100", "101–400", "over 400"]
    sketched = run(app, ["sketch", str(file), "-o", str(tmp_path / "s"), "--settings", str(output), "--json"])
    assert json.loads(sketched.stdout)["settings"]["groups"] == read_settings(output)["groups"]
    for bad in (["--precision", "0"], ["--recall", "2"], ["--groups", "a"], ["--groups", "9,3"], ["--common", "1"]):
        with pytest.raises(SettingsError):
            run(app, ["tune", str(file), "--sampling", *bad], catch_exceptions=False)


def test_samples_that_teach_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fewer than two documents"):
        tuned(["only one"])
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(InputMissing):
        tune(None, [empty], SamplingRequest(), resources=Resources(threads=1), reading=ReadOptions())


def test_bounds_double_up_to_the_longest() -> None:
    assert default_bounds(np.array([5, 450])) == (100, 200, 400)
    assert default_bounds(np.array([5])) == ()


def test_short_documents_suffer_and_adaptive_ratios_help_on_real_news(corpora: Path) -> None:
    """Ye 2008, §5 and §6, on Reuters-21578."""
    import pyarrow.parquet as pq

    texts = pq.read_table(corpora / "reuters21578.parquet", columns=["text"])["text"].fill_null("")
    found = tuned(texts.cast(pa.string()).to_pylist(), precision=0.8, recall=0.5, threshold=0.6)
    at = found.study.at(0.6)
    precision, recall = found.study.precision[:, :, at], found.study.recall[:, :, at]
    sixteenth = precision[:4, 4]
    assert (np.diff(sixteenth) > 0).all()  # the longer, the better
    assert sixteenth[0] < 0.5 < 0.8 < sixteenth[3]
    assert (np.diff(precision[:4], axis=1) < 0.05).all()  # the smaller the ratio, the worse
    assert recall[:4, :5].min() > 0.6  # as the paper has it for 1/16 (§5.2)
    assert found.share < 0.5 * found.study.ratios[found.uniform]
    assert found.checked.overall_precision >= 0.8


def test_documents_without_words_are_not_exact_duplicates(tmp_path: Path) -> None:
    texts = [*copies(), "", "…", " ", "the same", "the same"]
    source = tmp_path / "documents.jsonl"
    source.write_text("".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts)))
    told = CliRunner().invoke(app, ["tune", str(source), "--sampling"])
    assert "1 exact duplicates collapsed; 3 without words left out" in told.stdout
    found = json.loads(CliRunner().invoke(app, ["tune", str(source), "--sampling", "--json"]).stdout)
    assert (found["collapsed"], found["empty"]) == (1, 3)
    source.write_text('{"id": "1", "text": "no pair"}\n{"id": "2", "text": "of anything"}\n')
    told = CliRunner().invoke(app, ["tune", str(source), "--sampling"])
    assert "as it runs  precision –, recall –" in told.stdout
