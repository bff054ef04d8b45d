"""Every declared experiment runs on a small collection, twice the same; shapes are checked, bad files told."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from lab_corpora import write_anything

from roughly.errors import InputMissing, OutputExists, SettingsError
from roughly.papers.answer_digests import run_trial, trial_file, trial_runner
from roughly.papers.expected_shapes import ExpectedShape, ShapeResult
from roughly.papers.experiment import parse_experiment
from roughly.papers.experiments import every, named, names
from roughly.papers.paper_table import PaperTable, TableColumn
from roughly.papers.protocols import PROTOCOLS
from roughly.papers.reproduction_page import digests_on, page, trial_digest
from roughly.papers.request import ExperimentFiles, ExperimentRequest, run_experiments
from roughly.papers.result_files import write
from roughly.papers.runner import ExperimentResult, ExperimentRunner
from roughly.papers.setup import lexicon_of
from roughly.tools.corpus import read_corpus

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trial_file(tmp_path_factory.mktemp("lab"))


@cache
def runner(file: str, number: int) -> ExperimentRunner:
    return trial_runner(file)


def run(name: str, file: str, number: int = 1) -> ExperimentResult:
    """The experiment on the small collection; experiments with one number share what they share."""
    return run_trial(name, runner(file, number))


@pytest.mark.parametrize("name", names())
def test_an_experiment_runs_and_runs_again_the_same(name: str, small: str, tmp_path: Path) -> None:
    first, second = run(name, small), run(name, small, 2)
    for number, result in enumerate((first, second)):
        write(result, tmp_path / str(number), figures=False)
        assert len(result.held) == len(named(name).expected) and all(held.seen for held in result.held)
    for file in ("table.md", "table.html", "table.json"):
        assert (tmp_path / "0" / file).read_bytes() == (tmp_path / "1" / file).read_bytes(), file
    told = json.loads((tmp_path / "0" / "table.json").read_text(encoding="utf-8"))
    assert told["experiment"] == name and told["tables"] and all(table["rows"] for table in told["tables"])
    assert told["seeds"] == ([0, 1] if named(name).random else [0])
    assert trial_digest(first) == digests_on(PAGE)[name]["trial"], (
        f"what {name} gives has changed: run python docs/make_reproduction.py CORPORA {name}"
    )


@pytest.mark.parametrize("name", names())
def test_a_file_says_what_stands_for_what_and_prints_what_the_paper_prints(name: str, small: str) -> None:
    experiment = named(name)
    assert experiment.expected and experiment.remarks and all(part.stands_for for part in experiment.parts)
    result = run(name, small)
    for shared in result.tables:
        rows = {str(row[0]) for row in shared.ours.rows}
        assert set(shared.paper) <= rows, f"the paper's rows {set(shared.paper) - rows} are not in the table"


def test_the_papers_have_all_their_tables_and_figures() -> None:
    wanted = {f"imatch-table{n}" for n in (2, 3, 4, 5, 6, 7, 8, 9, 11)} | {"imatch-figure3", "imatch-figure4"}
    wanted |= {f"kolcz-{own}" for own in ("figure2", "figure3", "figure4", "figure6", "table2", "table3", "table4")}
    wanted |= {f"conrad-table{n}" for n in (2, 4, 7, 8)} | {f"conrad-figure{n}" for n in (1, 2, 3, 4)}
    wanted |= {f"ye-figure{n}" for n in (1, 2, 3, 4)} | {"broder-phases", "kolcz-comparison"}
    assert set(names()) == wanted
    assert {experiment.protocol.name for experiment in every()} == set(PROTOCOLS)


GOOD = """
title = "t"
paper = "p"
about = "a"
protocol = "count"
[[corpus]]
role = "r"
file = "f.parquet"
stands_for = "s"
[[methods]]
name = "one"
method = "syntactic"
[[tables]]
of = "counts"
columns = ["Filtered"]
[[expected]]
says = "few"
within = [0, 10]
column = "Filtered"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('protocol = "count"', 'protocol = "guess"', "unknown protocol 'guess'; protocols are count"),
        ('method = "syntactic"', 'method = "magic"', "bad, one: method must be one of"),
        ('method = "syntactic"', 'method = "syntactic"\nlexicons = 3', "has no option 'lexicons'"),
        ('columns = ["Filtered"]', 'columns = ["Beauty"]', "count measures no 'Beauty'; it measures"),
        ('of = "counts"', 'of = "sums"', "count gives no table 'sums'; it gives counts"),
        ('title = "t"', 'titel = "t"', "unknown entry 'titel'"),
        ('title = "t"', "", "bad: title is missing"),
        ("within = [0, 10]", "grows = 1", "unknown entry 'grows'"),
        ("within = [0, 10]", "within = 10", "within takes a list of two, not 10"),
        ('says = "few"', "", "says is missing"),
        ('column = "Filtered"', "", "within needs a column"),
        ("[[tables]]", "[parameters]\nsize = 1\n[[tables]]", "count has no parameter 'size'; it has seed"),
        ('name = "one"', 'name = "one"\nnames = ["a", "b"]', "2 names for 1 rows"),
        ('stands_for = "s"', "", "corpus: stands_for is missing"),
        ("[[methods]]\nname = \"one\"\nmethod = \"syntactic\"\n", "", "count needs methods to compare"),
        ('says = "few"', 'says = "few"\ntable = "phases"', "expected: no table 'phases'; there are counts"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told(old: str, new: str, message: str) -> None:
    assert parse_experiment("good", GOOD).rows[0].name == "one"
    assert old in GOOD
    with pytest.raises(SettingsError, match="bad") as told:
        parse_experiment("bad", GOOD.replace(old, new))
    assert message in str(told.value)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    text = GOOD.replace('of = "counts"', 'of = "sums"').replace('method = "syntactic"', 'method = "magic"')
    with pytest.raises(SettingsError) as told:
        parse_experiment("bad", text)
    assert len(told.value.problems) == 2


def test_one_row_for_each_value_that_varies() -> None:
    text = GOOD.replace('name = "one"', 'name = "{filter}!"').replace(
        'method = "syntactic"', 'method = "syntactic"\nvary = { filter = ["sw", "stem"] }'
    )
    assert [row.name for row in parse_experiment("varied", text).rows] == ["sw!", "stem!"]


TABLE = PaperTable(
    "t",
    [
        TableColumn("k"),
        TableColumn("up", "count"),
        TableColumn("down", "count"),
        TableColumn("gaps", "count"),
        TableColumn("slow", "number"),
    ],
    [["a", 1, 9, None, 0.0], ["b", 2, 8, 5, 0.8], ["c", 3, 7, None, 1.0]],
)


@pytest.mark.parametrize(
    ("entry", "held"),
    [
        ({"rises": "up"}, True), ({"rises": "down"}, False), ({"falls": "down"}, True), ({"falls": "up"}, False),
        ({"rises": "down", "slack": 1.0}, True), ({"rises": "down", "rows": ["c", "b", "a"]}, True),
        ({"above": ["c", "a"], "column": "up"}, True), ({"above": ["a", "c"], "column": "up"}, False),
        ({"above": ["a", "a"], "column": "up"}, False),
        ({"level": ["a", "b"], "column": "up"}, False), ({"level": ["a", "b"], "column": "up", "slack": 1.0}, True),
        ({"beside": ["down", "up"]}, True), ({"beside": ["up", "down"]}, False),
        ({"within": [1, 3], "column": "up"}, True), ({"within": [1, 2], "column": "up"}, False),
        ({"within": [1, 2], "column": "up", "row": "b"}, True),
        ({"near": 0.5, "column": "up"}, True), ({"near": 0.1, "column": "up"}, False),
        ({"most": "c", "column": "up"}, True), ({"most": "a", "column": "up"}, False),
        ({"slows": "slow"}, True), ({"slows": "up"}, False),
        ({"rises": "gaps"}, None), ({"within": [0, 1], "column": "gaps", "row": "a"}, None),
        ({"beside": ["gaps", "up"], "row": "a"}, None), ({"most": "a", "column": "gaps"}, None),
    ],
)  # fmt: skip
def test_shapes_hold_or_do_not(entry: dict[str, object], held: bool | None) -> None:
    shape = ExpectedShape.parse({"says": "so", **entry}, "file")
    assert shape.check(TABLE, {"b": {"up": 2.3}}, "file").held is held


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"rises": "sideways"}, "no column 'sideways'; columns are k, up"),
        ({"above": ["a", "z"], "column": "up"}, "names the row 'z'; rows are a, b, c"),
        ({"within": [0, 1], "column": "k"}, "is about numbers, and 'a' is none"),
        ({"most": "z", "column": "up"}, "names the row 'z'"),
        ({"near": 1, "column": "down"}, "the paper's down is not in the file"),
    ],
)  # fmt: skip
def test_a_shape_that_names_what_is_not_there_is_an_error(entry: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ExpectedShape.parse({"says": "so", **entry}, "file").check(TABLE, {"b": {"up": 2}}, "file")


def test_the_page_refuses_shapes_that_cannot_be_told(small: str) -> None:
    result = run("ye-figure2", small)
    assert any(held.held is None for held in result.held)  # no long documents here
    with pytest.raises(SettingsError, match=r"ye-figure2: .*holds nothing"):
        page([result], {})


def test_the_paper_stands_beside_ours(small: str) -> None:
    result = run("imatch-table8", small)
    heads = [column.name for column in result.tables[0].beside.columns]
    at = heads.index("Units against I-Match")
    assert heads[at + 1] == "Units against I-Match, in the paper" and heads[-1] == "Time against I-Match, in the paper"
    assert [row[at + 1] for row in result.tables[0].beside.rows] == [1.0, 4.38, 4.38, None]
    two = run("imatch-table2", small).tables[0]
    assert two.paper["nothing"]["Percent Found as Duplicates, English"] == pytest.approx(0.622)  # 62.2 %, as a share


def test_figures_are_drawn_the_same_twice(small: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra lab")
    for name in ("kolcz-figure6", "conrad-table2", "ye-figure1"):
        for folder in ("one", "two"):
            write(run(name, small), tmp_path / name / folder)
        files = sorted((tmp_path / name / "one").glob("*.png"))
        assert files
        for file in files:
            data = file.read_bytes()
            assert data.startswith(b"\x89PNG") and data == (tmp_path / name / "two" / file.name).read_bytes()


def test_without_matplotlib_it_is_said_how_to_do_without(
    small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(SettingsError, match=r"pip install 'roughly\[lab\]', or leave them out with --no-figures"):
        write(run("kolcz-figure6", small), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    write(run("kolcz-figure6", small), tmp_path / "out", figures=False)
    assert (tmp_path / "out" / "table.md").exists()


@pytest.mark.slow
def test_collections_are_given_one_for_each_part(small: str, tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"conrad-table4 has 3 collections \(News, Science, Intellectual property\)"
    ):
        ExperimentRunner([small, small]).run(named("conrad-table4"))
    with pytest.raises(InputMissing, match=r"--corpora the folder that holds reuters21578\.parquet"):
        ExperimentRunner().run(named("imatch-table3"))
    with pytest.raises(SettingsError, match="conrad-table4 makes its own lexicons"):
        ExperimentRunner([small], lexicon=lexicon_of(read_corpus([small]))).run(named("conrad-table4"))
    few = ExperimentRunner([small], sample=20, changed={"documents": 4})
    assert few.run(named("imatch-table3")).corpora["collection"][1] == 20


def test_whole_labels_are_drawn_together(tmp_path: Path) -> None:
    write_anything(tmp_path / "f.parquet")
    text = GOOD.replace('stands_for = "s"', 'stands_for = "s"\nlabel_column = "title"\nwhole = true\ndocuments = 30')
    experiment = parse_experiment("whole", text)
    part = experiment.parts[0]
    own = ExperimentRunner(folder=tmp_path)
    drawn, everything = (
        own._corpus(experiment, 0, part),
        read_corpus([str(tmp_path / "f.parquet")], label_column="title"),
    )
    assert 20 <= len(drawn) <= 30
    for label in set(drawn.labels):
        assert drawn.labels.count(label) == everything.labels.count(label)


def test_changes_are_read_and_checked() -> None:
    asked = ExperimentRequest("kolcz-table2", ("seed=3", "filter=IDFR-I-1-99", "lexicons=[0, 2]"))
    assert asked.changed == {"seed": 3, "filter": "IDFR-I-1-99", "lexicons": [0, 2]}
    assert ExperimentRequest("all", ("queries=0.5",)).for_one(named("imatch-table9")) == {}
    with pytest.raises(SettingsError, match="no parameter 'colour'; parameters are"):
        ExperimentRequest("kolcz-table2", ("colour=red",))
    with pytest.raises(SettingsError, match="--set takes NAME=VALUE"):
        ExperimentRequest("kolcz-table2", ("seed",))
    with pytest.raises(SettingsError, match="seed must be a whole number, not 'x'"):
        ExperimentRunner(["nowhere"], changed={"seed": "x"}).run(named("kolcz-table2"))
    with pytest.raises(SettingsError, match="no experiment 'table-99'"):
        ExperimentRequest("table-99")


def test_rows_that_a_change_takes_away_leave_shapes_untold(small: str) -> None:
    own = ExperimentRunner([small], changed={"lexicons": [0, 1], "filter": "IDFR-I-1-99"})
    held = {shape.says: shape.held for shape in own.run(named("kolcz-table2")).held}
    assert held["no legitimate message is flagged"] is not None
    assert [says for says, own_ in held.items() if own_ is None] == [
        "ten lexicons find at least a fifth more than one (21 % and 52 % in the paper)"
    ]


def test_of_all_those_that_fail_are_told_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = write_anything(tmp_path / "mail.parquet")
    monkeypatch.setattr("roughly.papers.request.every", lambda: [named("conrad-figure1"), named("imatch-table7")])
    use = ExperimentFiles(output=tmp_path / "out", files=[str(mail)], figures=False)
    done = run_experiments(ExperimentRequest("all"), use)
    assert next(done)[0].experiment.name == "imatch-table7"  # conrad-figure1 draws 1,000 documents
    with pytest.raises(SettingsError, match=r"1 of 2 experiments could not be run; conrad-figure1: .*1,000 are drawn"):
        next(done)
    assert (tmp_path / "out" / "imatch-table7" / "table.html").exists()


def test_output_that_is_there_is_refused(small: str, tmp_path: Path) -> None:
    (tmp_path / "table.md").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists, match="--overwrite"):
        write(run("imatch-table7", small), tmp_path)
    write(run("imatch-table7", small), tmp_path, overwrite=True)
    assert (tmp_path / "table.md").read_text(encoding="utf-8") != "mine"


def test_a_word_for_what_cannot_be_told() -> None:
    assert [ShapeResult("", held, "").word for held in (True, False, None)] == [
        "holds",
        "does not hold",
        "is unknown",
    ]
