"""`roughly.dedupe` from Python: what it takes, what it gives back, and another threshold without hashing again."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from roughly.errors import InputError, SettingsError

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."
ROWS = [
    {"id": "a", "text": ROSE, "stars": 5},
    {"id": "b", "text": ROSE.upper(), "stars": 4},
    {"id": "c", "text": "Something else entirely, with nothing in common but the language.", "stars": 3},
]


def in_any_form() -> Iterator[tuple[str, object]]:
    yield "dicts", ROWS
    yield "generator", (row for row in ROWS)
    yield "pyarrow", pa.Table.from_pylist(ROWS)
    yield "reader", pa.Table.from_pylist(ROWS).to_reader()
    yield "pandas", pandas.DataFrame(ROWS)
    yield "polars", polars.DataFrame(ROWS)


@pytest.mark.parametrize(
    ("name", "data"), list(in_any_form()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_takes_documents_in_any_form(name: str, data: object) -> None:
    result = roughly.dedupe(data)
    assert result.kept_ids == ["a", "c"]
    assert result.removed.to_pylist() == [
        {
            "doc_id": "b", "cluster_id": "a", "kept": False, "kept_id": "a",
            "resemblance": 1.0, "containment": 1.0, "contained_in": 1.0, "kind": "exact",
        }
    ]  # fmt: skip
    assert result.clusters.to_pylist()[0]["size"] == 2
    assert result.pairs.select(["left_id", "right_id", "witness"]).to_pylist() == [
        {"left_id": "b", "right_id": "a", "witness": True}
    ]
    assert result.summary["counts"]["removed"] == 1
    assert result.to_arrow().num_rows == 3
    assert "2 kept" in repr(result)


def test_takes_texts_and_numbers_them() -> None:
    assert roughly.dedupe([ROSE, "another text", ROSE]).kept_ids == ["0", "1"]


def test_the_report_of_a_run_in_memory_is_written_when_it_is_asked_for() -> None:
    from roughly.report import read_report

    changed = ROSE.replace("more than once", "twice")
    result = roughly.dedupe([ROSE, changed, ROSE, "another text"], threshold=0.6)
    assert not list(result.folder.glob("report.*"))
    higher = result.rethreshold(1.0)
    assert higher.kept_ids == ["0", "1", "3"]
    assert result.report == result.folder / "report.html" and result.report.read_text(encoding="utf-8")
    shown = read_report(result.report)
    assert list(shown.cluster_sizes) == [(3, 1)] and len(shown.above) == 1
    with pytest.raises(SettingsError, match="no report; run dedupe at that threshold"):
        _ = higher.report


@pytest.mark.parametrize("threshold_first", [False, True])
def test_the_folder_of_texts_in_memory_has_what_a_run_writes(tmp_path: Path, threshold_first: bool) -> None:
    texts = [ROSE, ROSE.replace("more than once", "twice"), ROSE, "another text"]
    written = roughly.dedupe(texts, output=tmp_path / "out", threshold=0.6)
    result = roughly.dedupe(texts, threshold=0.6)
    if threshold_first:
        assert result.rethreshold(1.0).kept_ids == ["0", "1", "3"]
    assert result.kept_ids == written.kept_ids == ["0", "3"] and result.equal_ids == ["2"]
    assert result.filter(texts) == [ROSE, "another text"]
    tables = sorted(path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.parquet"))
    assert len(tables) == 5
    for path in tables:
        assert (result.folder / path).read_bytes() == (tmp_path / "out" / path).read_bytes(), path


def test_the_report_shows_only_texts_that_were_read(jsonl: Callable, tmp_path: Path) -> None:
    path = jsonl(ROWS)
    result = roughly.dedupe(path)
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(InputError, match="changed while it was being read"):
        _ = result.report
    written = roughly.dedupe(path, output=tmp_path / "out", on_duplicate_id="number")
    assert written.report == tmp_path / "out" / "report.html" and written.report.exists()


def test_takes_a_path_or_several(jsonl: Callable) -> None:
    one, two = jsonl(ROWS[:1], "one.jsonl"), jsonl(ROWS[1:], "two.jsonl")
    assert roughly.dedupe(str(one)).kept_ids == ["a"]
    assert roughly.dedupe(paths=[one, two]).kept_ids == ["a", "c"]
    assert roughly.dedupe(one.parent / "*.jsonl").kept_ids == ["a", "c"]


def test_extra_columns_are_carried_through(tmp_path: Path) -> None:
    roughly.dedupe(ROWS, output=tmp_path / "out")
    kept = pq.read_table(tmp_path / "out" / "kept")
    assert kept.to_pylist() == [ROWS[0], ROWS[2]]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["counts"]["kept"] == 2


def test_temporary_folders_go_with_the_result() -> None:
    result = roughly.dedupe(ROWS)
    higher = result.rethreshold(0.9)
    folders = result.folder, higher.folder
    assert all(folder.exists() for folder in folders)
    del result, higher
    gc.collect()
    assert not any(folder.exists() for folder in folders)


def test_another_threshold_equals_a_run_with_the_same_keys(policies: list[dict]) -> None:
    options = {"bands": 16, "rows": 6}
    low = roughly.dedupe(policies, threshold=0.7, **options)
    for threshold in (0.7, 0.8, 0.95, 1.0):
        again, fresh = low.rethreshold(threshold), roughly.dedupe(policies, threshold=threshold, **options)
        assert again.documents.equals(fresh.documents)
        assert again.pairs.equals(fresh.pairs)
        assert again.clusters.equals(fresh.clusters)
        assert again.summary["counts"]["removed"] == fresh.summary["counts"]["removed"]
    assert low.documents.num_rows == len(policies)
    with pytest.raises(roughly.RoughlyError, match=r"from 0\.7"):
        low.rethreshold(0.6)


def test_mistakes_are_told_at_once() -> None:
    with pytest.raises(roughly.RoughlyError, match=r"threshold must be.*recall must be"):
        roughly.dedupe(ROWS, threshold=3, recall=3)
    with pytest.raises(roughly.RoughlyError, match="either data or paths"):
        roughly.dedupe()
    with pytest.raises(roughly.RoughlyError, match="text_column="):
        roughly.dedupe([{"id": "a", "words": "no text here"}])


def test_settings_round_trip_and_have_a_fingerprint() -> None:
    settings = roughly.Settings(threshold=0.7, keep="newest, longest")
    assert roughly.Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert settings.fingerprint() != roughly.Settings().fingerprint()
    assert roughly.Settings().fingerprint() == roughly.Settings().fingerprint()
    with pytest.raises(roughly.RoughlyError, match="unknown setting 'treshold'"):
        roughly.Settings.from_dict({"treshold": 1})


def test_a_misspelt_option_is_answered_with_the_nearest() -> None:
    for options, near in (
        ({"treshold": 0.8}, "threshold"),
        ({"text_colum": "body"}, "text_column"),
        ({"ouput": "x"}, "output"),
        ({"Memory": "4GB"}, "memory"),
    ):
        with pytest.raises(roughly.RoughlyError, match=rf"unknown option '\w+'. Did you mean {near}\?"):
            roughly.dedupe(ROWS, **options)
    with pytest.raises(roughly.RoughlyError, match="Did you mean measure"):
        roughly.truth(ROWS, mesure="cosine")
    with pytest.raises(roughly.RoughlyError, match="Did you mean lexicons"):
        roughly.Settings.gather({"method": "imatch", "lexicon s": 3})
    with pytest.raises(roughly.RoughlyError, match=r"unknown option 'xyz'$"):
        roughly.dedupe(ROWS, xyz=1)


def test_errors_name_options_as_python_has_them(tmp_path: Path) -> None:
    with pytest.raises(roughly.RoughlyError, match=r"Name it with text_column=…$"):
        roughly.dedupe([{"id": "a", "words": "no text here"}])
    with pytest.raises(roughly.RoughlyError, match=r"id_column=…, or number them with on_duplicate_id='number'"):
        roughly.dedupe([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}])
    with pytest.raises(roughly.RoughlyError, match=r"verify pairs \(verify=True\)") as told:
        roughly.dedupe(ROWS, method="imatch", measure="containment")
    assert "--" not in str(told.value)
    with pytest.raises(roughly.RoughlyError, match=r"add engine='spark'"):
        roughly.dedupe(ROWS, master="local")


def test_commands_in_messages_stay_commands() -> None:
    from roughly.python_words import with_keywords

    told = with_keywords("raise --memory, or `roughly tune --sampling`; choose --text-column NAME or --pairs all")
    assert told == "raise memory=…, or `roughly tune --sampling`; choose text_column=… or pairs='all'"
    assert with_keywords("continue with --resume") == "continue with --resume"


@pytest.mark.parametrize("kind", ["list", "file", "folder"])
def test_a_result_has_no_threads(kind: str, tmp_path: Path) -> None:
    """Its finaliser would wait for them to end, and wait for ever where it runs while Python starts a thread."""
    (tmp_path / "in.txt").write_text("one two three four five\nsix seven eight nine ten\n", encoding="utf-8")
    data = {"list": ["one two three four five", "six seven eight nine ten"], "file": tmp_path / "in.txt"}
    before = threading.enumerate()
    result = roughly.dedupe(data.get(kind, tmp_path), threads=2)
    assert len(result.rethreshold(0.9).kept_ids) == len(result.kept_ids) > 0
    assert not len(result.pairs)
    assert [one.name for one in threading.enumerate() if one not in before and one.name != "roughly-closing"] == []
