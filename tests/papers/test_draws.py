"""Several draws: means with ranges, shapes held to all draws, and seeds that change what they should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_corpora import write_anything

from roughly.errors import InputMissing
from roughly.papers import answer_digests, command, draws
from roughly.papers.answer_digests import answers_digest, run_trial, trial_file, trial_runner
from roughly.papers.draws import mean_seconds, mean_table, shape_of_all
from roughly.papers.expected_shapes import ShapeResult
from roughly.papers.experiments import every, named
from roughly.papers.page_check import check_page
from roughly.papers.paper_table import PaperTable, TableColumn
from roughly.papers.reproduction_page import differences, digests_on, page, trial_digest
from roughly.papers.result_files import markdown, seconds_table
from roughly.papers.runner import ExperimentRunner
from roughly.papers.setup import MethodRow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
COLUMNS = [TableColumn("Method"), TableColumn("Found", "percent"), TableColumn("False", "count")]


def table(found: float | None, false: int, note: str = "") -> PaperTable:
    return PaperTable("t", COLUMNS, [["DSC", found, false]], [note] if note else [])


def test_cells_are_means_with_the_least_and_the_most() -> None:
    mean = mean_table([table(0.2, 3), table(0.4, 3), table(None, 3)], (0, 1, 2))
    assert mean.rows[0][0] == "DSC" and mean.rows[0][1] == pytest.approx(0.3) and mean.rows[0][2] == 3
    assert mean.ranges == [[None, (0.2, 0.4), None]]
    assert "| DSC | 30.0% (20.0%–40.0%) | 3 |" in mean.markdown()
    assert "Means of 3 draws (seeds 0 to 2)" in mean.notes[-1] and "Counts" not in mean.notes[-1]
    assert mean.to_dict()["ranges"] == [{"Found": [0.2, 0.4]}]
    assert mean.chosen(["Found"], "x").ranges == [[None, (0.2, 0.4)]]
    assert mean_table([table(0.2, 3, "7 queries"), table(0.4, 3, "9 queries")], (0, 1)).notes[-1].endswith("of seed 0.")
    same = mean_table([table(0.2, 3), table(0.2, 3)], (0, 1))
    assert same.ranges == () and same.notes == []  # nothing varies, so nothing is said of draws
    assert mean_table([table(0.2, 3)], (5,)) == table(0.2, 3)


def test_a_shape_holds_only_if_it_does_in_all_draws() -> None:
    def of(*held: bool | None) -> ShapeResult:
        return shape_of_all([ShapeResult("s", own, "1 against 2") for own in held], ShapeResult("s", True, "seen"))

    assert of(True, True).word == "holds" and of(False, False).word == "does not hold"
    mixed = of(True, False, True)
    assert mixed.held is None and mixed.word == "depends on the draw"
    assert mixed.sentence == "s, in 2 of 3 draws (seen)"
    assert of(True, None).held is True  # a draw that cannot decide does not count
    assert shape_of_all([ShapeResult("s", None, "no")] * 2, ShapeResult("s", None, "no")).word == "is unknown"


def test_seconds_are_means_and_deviations() -> None:
    assert mean_seconds([{"a": 1.0, "b": 1.0}, {"a": 3.0}]) == {"a": (2.0, 1.0), "b": (1.0, 0.0)}


def test_experiments_that_draw_are_run_with_ten_seeds() -> None:
    assert draws.SEEDS == 10 == command.SEEDS == ExperimentRunner().seeds
    fixed = {experiment.name for experiment in every() if not experiment.random}
    assert fixed == {"imatch-table2", "imatch-table9"}  # no method of theirs samples


def test_a_seed_changes_samples_and_lexicons() -> None:
    assert not MethodRow("a", {"method": "syntactic"}).random
    assert not MethodRow("a", {"method": "imatch"}).random
    for settings in ({"method": "shingles"}, {"method": "imatch", "lexicons": 3}, {"method": "mega-shingles"}):
        row = MethodRow("a", settings)
        assert row.random and row.make(seed=1) != row.make(seed=2) and row.make(seed=0) == row.make()


def test_a_run_says_its_seeds_and_prints_its_seconds(tmp_path: Path) -> None:
    own = ExperimentRunner([str(write_anything(tmp_path / "c.parquet"))], seeds=3, changed={"seed": 4})
    result = own.run(named("imatch-table7"))
    assert result.seeds == (4, 5, 6) and result.document()["seeds"] == [4, 5, 6]
    assert "| DSC |" in seconds_table(result) and "means of 3 draws" in seconds_table(result)
    assert "Processor" not in markdown(result, [])  # files are the same in every run
    json.dumps(result.document())


def test_a_changed_hash_changes_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.kernels import sketches

    before, samples = answers_digest(), sketches.samples
    answers_digest.cache_clear()
    assert answers_digest() == before

    def changed(hashes, *others):  # type: ignore[no-untyped-def]
        return samples(hashes ^ 1, *others)

    monkeypatch.setattr(sketches, "samples", changed)
    answers_digest.cache_clear()
    assert answers_digest() != before
    answers_digest.cache_clear()


def test_a_changed_rule_or_another_form_changes_the_digest_of_a_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from roughly.kernels import imatch

    file, demands, shown = trial_file(tmp_path), imatch.Demands, TableColumn.shown

    def digest() -> str:
        return trial_digest(run_trial("imatch-table9", trial_runner(file)))

    printed = digests_on(PAGE)["imatch-table9"]["trial"]
    with monkeypatch.context() as changed:
        changed.setattr(imatch, "Demands", lambda least, *others: demands(least + 1, *others))
        assert digest() != printed
    with monkeypatch.context() as changed:
        changed.setattr(TableColumn, "shown", lambda self, cell: shown(self, cell).removesuffix(".0%"))
        assert digest() != printed


def test_figures_are_written_alike_whatever_the_last_digits_of_a_machine() -> None:
    share = TableColumn("Found", "percent")
    assert share.shown(0.0625) == share.shown(0.0625 + 1e-16) == share.shown(0.0625 - 1e-16) == "6.2%"
    assert TableColumn("n = 50", "number").shown(932_403_182.29) == "932,403,182.29"  # as Kołcz's Table 4 prints it


def test_the_check_names_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = trial_runner(trial_file(tmp_path))
    result = run_trial("imatch-table7", small)
    text = page([result], {"imatch-table7": "0" * 16})
    assert digests_on(text)["imatch-table7"]["answers"] == answer_digests.answers_digest()
    assert differences(result, text) == []
    old = next(line for line in text.splitlines() if line.startswith("| DSC |"))
    changed = text.replace(old, old.replace("| DSC | ", "| DSC | 9", 1))
    assert {line[0] for line in differences(result, changed)} == {"+", "-"}
    file = tmp_path / "reproduction.md"
    file.write_text(text.replace("inputs ", "inputs 0", 1).replace("0" * 17, "0" * 16), encoding="utf-8")
    monkeypatch.setattr("roughly.papers.page_check.ExperimentRunner", lambda folder: small)
    (found,) = check_page("imatch-table7", tmp_path, file)
    assert found[0] == "imatch-table7"
    with pytest.raises(InputMissing, match=r"no such page: .*; name it with --page"):
        list(check_page("imatch-table7", tmp_path, tmp_path / "nowhere.md"))
