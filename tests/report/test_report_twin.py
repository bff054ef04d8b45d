"""The JSON twin holds what the page shows, and the page can be drawn again from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from filled_report import RUN, filled
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.errors import InputError, InputMissing, OutputError
from roughly.report import PairSample, RunData, read_report, render, twin_path, write_report
from roughly.report.twin import from_json, to_json


def test_page_and_twin_are_written_whole(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report(filled(), page)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json"]
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    twin = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert twin["format"] == "roughly-report"
    assert twin["run"] == RUN
    assert twin["by_source"][0] == {
        "source": "site-01.example",
        "documents": 10,
        "removed": 1,
        "removed_bytes": 1_000,
    }
    assert twin["largest"][0]["min_resemblance"] == 0.62
    assert twin["above"][0]["left_id"] == "a-1"
    assert sum(twin["resemblance"]["counts"]) == 5_871


def test_the_page_drawn_from_the_twin_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    long = "".join(f"sentence number {n}. " for n in range(2_000))
    pair = PairSample("a", "b", long + "end", long.replace("1500", "x") + "end", 0.8, 0.9, 0.9)
    data = filled(above=[pair])
    write_report(data, tmp_path / "report.html")
    again = read_report(tmp_path / "report.html")
    assert again == data.bounded() == read_report(tmp_path / "report.json")
    write_report(again, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "report.html").read_bytes()
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "report.json").read_bytes()


@settings(max_examples=50, deadline=None)
@given(
    text=st.text(st.characters(codec=None, exclude_categories=[])),
    numbers=st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**9))),
    score=st.floats(0, 1),
    extra=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
)
def test_round_trip_of_anything(text: str, numbers: list[tuple[int, int]], score: float, extra: object) -> None:
    data = RunData(
        run={"settings": {"extra": extra}, text: text},
        cluster_sizes=numbers,
        resemblance=((0.0, 0.5, 1.0), (3, 4)),
        by_source=[(text, 3, 2, 1), (None, 1, 0, 0)],
        largest=[(text, 3, None, score, text)],
        below=[PairSample(text, "b", text, text + "c", score, score, score)],
    )
    bounded = data.bounded()
    assert from_json(to_json(data)) == bounded
    assert bounded.bounded() == bounded
    assert render(bounded) == render(data)


def test_a_number_that_is_not_finite_is_null() -> None:
    assert json.loads(to_json(RunData(run={"seconds": float("nan"), "x": [float("inf")]})))["run"] == {
        "seconds": None,
        "x": [None],
    }


def test_all_problems_are_named_at_once() -> None:
    pair = PairSample("a", "b", "", "", float("nan"), 1.5, 0.5)
    with pytest.raises(InputError) as caught:
        filled(resemblance=([0.5, 0.4], [1, 2]), kinds=[("exact", -1)], largest=[("a", 2, 1.2, 0.5, "")], above=[pair])
    for problem in (
        "resemblance has 2 edges for 2 counts",
        "must be finite and ascend",
        "kinds contains a negative",
        "largest[0].min_resemblance is 1.2",
        "above[0].resemblance is nan",
        "above[0].containment is 1.5",
    ):
        assert problem in str(caught.value)


def test_what_json_cannot_say_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"run\.settings\.keep\[1\] contains a object"):
        RunData(run={"settings": {"keep": ["first", object()]}}).bounded()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is not the twin of a report"),
        ('{"format": "roughly-report", "version": 2}', "version 2"),
        ('{"format": "roughly-report", "version": 1, "run": {}}', "lacks a part"),
    ],
)
def test_a_file_that_is_no_twin_is_refused(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        read_report(tmp_path / "report.html")
    assert "report.json" in str(caught.value)


def test_a_missing_twin_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match=r"report\.json does not exist"):
        read_report(tmp_path / "report.html")


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot write .*missing.*report\.html"):
        write_report(filled(), tmp_path / "missing" / "report.html")
    (tmp_path / "report.json").mkdir()
    with pytest.raises(OutputError, match=r"cannot write .*report\.json"):
        write_report(filled(), tmp_path / "report.html")
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("name", ["run.html", "report.json"])
def test_the_twin_never_falls_on_another_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"name it report\.html"):
        write_report(filled(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert twin_path(tmp_path / "report.html") == tmp_path / "report.json"
