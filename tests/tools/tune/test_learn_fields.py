"""`tune --learn` compares titles, hosts, sources and dates where that is better on unseen labels."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from roughly.cli.app import app
from roughly.errors import SettingsError
from roughly.job.settings_file import read_settings
from roughly.tools.tune.sample_fields import columns_of, known_fields
from roughly.verdict import FIELDS, Verdict

DAY = date(2024, 1, 1)


def bulletins(count: int, told_apart_by: str) -> list[dict[str, Any]]:
    """Bulletins of four templates, each sent three times. What tells the sets of a template apart is the date, the
    title or the host; all else is drawn at random."""
    chance = random.Random(6)
    templates = [[f"{name}{n}" for n in range(40)] for name in ("storm", "flood", "heat", "snow")]
    rows: list[dict[str, Any]] = []
    for number in range(count):
        for copy in range(3):
            words = list(templates[number % 4])
            for _ in range(2):
                words[chance.randrange(40)] = f"other{chance.randrange(500)}"
            day, title, host = (number if told_apart_by == name else None for name in ("date", "title", "host"))
            apart = chance.randrange(3) + 40 * day if day is not None else chance.randrange(40 * count)
            named = f"bulletin number{chance.randrange(count) if title is None else title} of the service"
            on = chance.randrange(8) if host is None else host
            rows.append({
                "id": f"{number:02}-{copy}", "text": " ".join(words), "set": f"set {number}", "title": named,
                "url": f"https://h{on}.example/{number}/{copy}", "date": str(DAY + timedelta(apart)),
            })  # fmt: skip
    return rows


def tuned(rows: Sequence[dict[str, Any]], folder: Path, *more: str) -> dict[str, Any]:
    source, labels = folder / "rows.jsonl", folder / "labels.csv"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labels.write_text("id,cluster\n" + "".join(f"{row['id']},{row['set']}\n" for row in rows), encoding="utf-8")
    given = ["tune", str(source), "--methods", "minhash", "--try", "threshold=0.7", "--learn", "--threads", "1", *more]
    if "--label-column" not in more:
        given += ["--labels", str(labels)]
    done = CliRunner().invoke(app, [*given, "-o", str(folder / "best.toml"), "--overwrite", "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("field", "comparison"), [("date", "days"), ("title", "title"), ("host", "same_host")])
def test_what_tells_sets_apart_is_learnt(field: str, comparison: str, tmp_path: Path) -> None:
    rows = bulletins(16, field)
    found = tuned(rows, tmp_path)
    without = tuned([{n: row[n] for n in ("id", "text", "set")} for row in rows], tmp_path)
    assert not FIELDS.keys() & without["learned"]["weights"].keys()
    weights = {name: sum(both) for name, both in found["learned"]["weights"].items()}
    assert max(weights, key=lambda name: weights[name]) == comparison
    assert found["learned"]["unseen"]["f1"] > 0.9 > without["learned"]["unseen"]["f1"] + 0.3
    assert found["study"]["weights"][0]["comparison"] == comparison
    tuned(rows, tmp_path)
    settings = read_settings(tmp_path / "best.toml")
    assert comparison in Verdict.parse(settings["verdict"]).names
    run = ["dedupe", str(tmp_path / "rows.jsonl"), "-o", str(tmp_path / "out"), "--threads", "1", "--settings"]
    done = CliRunner().invoke(app, [*run, str(tmp_path / "best.toml")])
    assert done.exit_code == 0, done.output
    measured = ["evaluate", str(tmp_path / "out"), "--labels", str(tmp_path / "labels.csv"), "--json"]
    f1 = json.loads(CliRunner().invoke(app, measured).stdout)["pairs"]["f1"]
    assert f1 == pytest.approx(found["learned"]["score"]["f1"], abs=0.03)


def test_equal_texts_of_other_sets_are_learnt_apart(tmp_path: Path) -> None:
    """By their texts alone, all similar documents are equal and nothing could be learnt."""
    chance = random.Random(2)
    rows = [
        {"id": f"{n}-{copy}", "text": " ".join(f"w{n % 3}x{m}" for m in range(30)), "set": f"s{n}",
         "date": str(DAY + timedelta(60 * n + chance.randrange(3)))}
        for n in range(12) for copy in range(3)
    ]  # fmt: skip
    found = tuned(rows, tmp_path)
    assert found["learned"]["weights"]["days"] and found["learned"]["unseen"]["f1"] == 1.0
    assert found["settings"] == found["learned"]["settings"]


def test_a_label_is_not_compared_with_itself(tmp_path: Path) -> None:
    rows = bulletins(8, "date")
    by_title = tuned([row | {"title": row["set"]} for row in rows], tmp_path, "--label-column", "title")
    assert "title" not in by_title["learned"]["weights"]
    by_source = tuned([row | {"source": row["set"]} for row in rows], tmp_path)
    assert not {"same_source", "other_source"} & by_source["learned"]["weights"].keys()


def test_columns_are_compared_where_they_tell_documents_apart() -> None:
    rows: dict[str, list[str | None]] = {
        "title": ["A b", "b, a!", None], "url": ["http://a.example/1", "https://A.example/2", "none"],
        "source": ["x", "y", None], "date": ["2024-01-01", "soon", "1 January 2024"],
    }  # fmt: skip
    wanted = columns_of(learns=True, by_column=False)
    found = known_fields(rows, ["set:1", "set:2", None], wanted)
    assert found is not None and found.columns == {"source"} and not found.fields.titles.values.size
    assert known_fields(rows, ["set:x", "set:y", None], wanted) is None, "the source is the label"
    assert "url" not in columns_of(learns=True, by_column=True) and not columns_of(learns=False, by_column=False)


def test_columns_of_other_names_are_compared(tmp_path: Path) -> None:
    named = {"title": "Schlagzeile", "date": "versandt"}
    rows = bulletins(16, "title")
    renamed = [{named.get(name, name): value for name, value in row.items()} for row in rows]
    assert "title" not in tuned(renamed, tmp_path)["learned"]["weights"], "a name that is not known"
    found = tuned(renamed, tmp_path, "--title-column", "Schlagzeile", "--date-column", "versandt")
    assert found["learned"] == tuned(rows, tmp_path)["learned"]


def test_dates_are_read_as_they_are_written(tmp_path: Path) -> None:
    rows = bulletins(16, "date")
    written = [row | {"date": date.fromisoformat(row["date"]).strftime("%d/%m/%Y")} for row in rows]
    found = tuned(written, tmp_path)  # 13/01/2024 is read, and 03/04/2024 is not
    warned = [one for one in found["warnings"] if "--date-format" in one]
    assert len(warned) == 1 and "unread, such as '0" in warned[0], found["warnings"]
    found = tuned(written, tmp_path, "--date-format", "%d/%m/%Y")
    assert not [one for one in found["warnings"] if "--date-format" in one]
    assert found["learned"]["weights"] == tuned(rows, tmp_path)["learned"]["weights"]
    tuned(written, tmp_path, "--date-format", "%d/%m/%Y")
    assert read_settings(tmp_path / "best.toml")["date_format"] == "%d/%m/%Y"


@pytest.mark.parametrize(("given", "said"), [
    (["--learn", "--title-column", "t"], "--title-column has no meaning with --learn without labels"),
    (["--learn", "--date-format", "%d/%m/%Y"], "--date-format has no meaning with --learn without labels"),
    (["--label-column", "set", "--url-column", "u"], "leave --url-column out"),
    (["--sampling", "--source-column", "s"], "--source-column has no meaning with --sampling"),
    (["--label-column", "set", "--date-format", "%d"], "that contains the year"),
])  # fmt: skip
def test_columns_that_would_not_be_compared_are_refused(given: list[str], said: str, tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text('{"id": "a", "text": "some words", "set": "1"}\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["tune", str(source), *given])
    assert isinstance(done.exception, SettingsError) and said in str(done.exception)
