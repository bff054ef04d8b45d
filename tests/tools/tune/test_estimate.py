"""A verdict without labels: what it finds, what it refuses, and that runs take it as any other."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import roughly
from roughly.cli.app import app
from roughly.errors import SettingsError
from roughly.tools.tune.estimate import COMPARED, fit_classes
from roughly.verdict import COMPARISONS, Verdict


def stories(count: int, copies: int, common_words: int = 60) -> list[dict[str, str]]:
    """Texts of common and own words; copies have some words replaced."""
    chance = random.Random(1)
    common = [f"common{n}" for n in range(common_words)]
    rows = []
    for number in range(count):
        own = [chance.choice(common) if chance.random() < 0.6 else f"own{chance.randrange(4000)}" for _ in range(90)]
        for copy in range(1 + copies * (number % 2)):
            words = [f"new{chance.randrange(4000)}" if copy and chance.random() < 0.08 else word for word in own]
            rows.append({"id": f"{number}-{copy}", "text": " ".join(words), "story": str(number)})
    return rows


def test_the_command_finds_a_verdict_that_dedupe_takes(tmp_path: Path) -> None:
    rows, run = stories(60, 1), CliRunner().invoke
    source, best, out = tmp_path / "a.jsonl", tmp_path / "best.toml", tmp_path / "out"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run(app, ["tune", str(source), "--learn", "-o", str(best), "--threads", "1"])
    assert done.exit_code == 0, done.output
    assert "no labels" in done.stdout and "verdict estimated without labels" in done.stdout
    done = run(app, ["dedupe", str(source), "-o", str(out), "--settings", str(best), "--threads", "1"])
    assert done.exit_code == 0, done.output
    shown = run(app, ["show", str(out), "documents", "--format", "jsonl"]).stdout.splitlines()
    found = {row["doc_id"]: row["cluster_id"].partition("-")[0] for row in map(json.loads, shown)}
    assert found == {row["id"]: row["story"] for row in rows}
    assert sum(not json.loads(row)["kept"] for row in shown) == 30
    reasons = run(app, ["show", str(out), "pairs", "--format", "jsonl"]).stdout.splitlines()
    assert len(reasons) == 30 and "adds_word_pairs" in json.loads(reasons[0])


def test_it_needs_no_scipy_and_is_the_same_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    rows = stories(40, 1)
    found = roughly.tune(rows, learn=True, threads=1)
    assert found.estimated is not None and found.tried == [] and found.recommended is None
    assert found.settings() == found.estimated.trial.values == found.to_dict()["settings"]
    again = roughly.tune(rows[::-1], learn=True, threads=2)
    assert again.settings() == found.settings()
    assert all(min(a, b) >= 0 for _, a, b in found.estimated.verdict.weights)


@pytest.mark.parametrize(
    "rows", [stories(60, 0), stories(60, 0, 9), [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}]]
)
def test_one_class_is_said_and_nothing_is_written(rows: list[dict[str, str]], tmp_path: Path) -> None:
    source, best = tmp_path / "a.jsonl", tmp_path / "best.toml"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = CliRunner().invoke(app, ["tune", str(source), "--learn", "-o", str(best), "--threads", "1"])
    assert done.exit_code == 3 and not best.exists()
    assert "duplicates cannot be distinguished from other pairs" in done.stderr and "add --labels" in done.stderr
    assert "recommended nothing" in done.stdout


def test_classes_that_were_drawn_are_found() -> None:
    """Comparisons drawn independently within two classes, as the model has them."""
    stream = np.random.default_rng(3)
    same = np.arange(4000) < 400
    compared = np.where(same[:, None], stream.beta(6, 2, (4000, 13)), stream.beta(2, 6, (4000, 13)))
    verdict, accepted = fit_classes(compared)
    assert (accepted == same).mean() > 0.995 and set(verdict.names) == set(COMPARED)
    assert Verdict.parse(str(verdict)) == verdict
    flat = compared.copy()
    flat[:, list(COMPARISONS).index("numbers")] = stream.random(4000)
    weights = {name: a + b for name, a, b in fit_classes(flat)[0].weights}
    assert weights.get("numbers", 0.0) < 0.1 * weights["words"], "what does not differ between classes has no weight"


def test_what_needs_labels_is_refused_without(tmp_path: Path) -> None:
    for more in ({"precision": 0.9}, {"methods": ["minhash"]}, {"values": {"threshold": [0.5]}}, {"threshold": 0.5}):
        with pytest.raises(SettingsError, match="no meaning with learn=… without labels"):
            roughly.tune(["one fine day"], learn=True, **more)
    (tmp_path / "a.txt").write_text("one", encoding="utf-8")
    with pytest.raises(SettingsError, match="--report shows a learned verdict on labels"):
        CliRunner().invoke(
            app, ["tune", str(tmp_path), "--learn", "--report", str(tmp_path / "a.html")], catch_exceptions=False
        )
