"""Suggestions: the threshold lies in the gap if there is one, and shingles follow from the texts."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import roughly
from roughly.cli.app import app
from roughly.errors import InputError, SettingsError
from roughly.job.settings_file import read_settings


def collection(changed: list[float], length: int = 120, seed: int = 1) -> list[dict[str, str]]:
    """For each share a text, and a copy with that share of its words changed."""
    chance = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(5000)]
    rows = []
    for number, share in enumerate(changed):
        base = [chance.choice(vocabulary) for _ in range(length)]
        copy = [chance.choice(vocabulary) if chance.random() < share else word for word in base]
        rows += [{"id": f"{number}a", "text": " ".join(base)}, {"id": f"{number}b", "text": " ".join(copy)}]
    return rows


def test_the_threshold_lies_in_the_gap() -> None:
    found = roughly.suggest(collection([0.01] * 40 + [1.0] * 40), pairs=3, threads=1)
    assert found.gap is not None and found.gap[0] < found.settings["threshold"] < found.gap[1]
    assert found.settings["shingle_size"] == 5 and 0.2 < found.removed < 0.3
    assert len(found.above) == 3 and all(one.resemblance >= found.settings["threshold"] for one in found.above)
    assert sum(found.histogram) == 160 - found.equal
    documents = collection([0.01] * 40 + [1.0] * 40)
    removed = sum(not row["kept"] for row in roughly.dedupe(documents, **found.settings).documents.to_pylist())
    assert removed == round(found.removed * 160)


def test_without_a_gap_the_default_is_suggested_and_said() -> None:
    shares = [n / 100 for n in range(1, 100)]
    for documents in (collection(shares, 60) + collection(shares, 60, 2), collection([1.0] * 20)):
        documents = [row | {"id": str(n)} for n, row in enumerate(documents)]
        found = roughly.suggest(documents, threads=1)
        assert found.gap is None and found.settings["threshold"] == 0.8
        assert any("judge" in reason for reason in found.reasons)


def test_shingles_follow_from_the_texts() -> None:
    short = roughly.suggest(collection([0.1] * 20, 12), threads=1)
    assert short.settings["shingle_size"] == 2 and "shingle_unit" not in short.settings
    chinese = [
        {"id": str(n), "text": "".join(chr(0x4E00 + (n * 37 + k * 11) % 3000) for k in range(80))} for n in range(20)
    ]
    assert roughly.suggest(chinese, threads=1).settings["shingle_unit"] == "character"


def test_the_kind_of_collection_is_said() -> None:
    """Pages of one template, in German and Russian beside English."""
    chance = random.Random(2)
    template = "this is the page of a shop that you have found and it is one of all those for which the following holds"
    pages = [f"{template} {' '.join(str(chance.random())[2:9] for _ in range(12))}" for _ in range(40)]
    found = roughly.suggest([{"id": str(n), "text": text} for n, text in enumerate(pages)], threads=1)
    assert found.kind.english == 1.0 and found.kind.scripts == {"Latin": 1.0}
    assert 0.4 < found.kind.template < 0.8 and any("one template" in reason for reason in found.reasons)
    others = ["Die Würde des Menschen ist unantastbar", "Все люди рождаются свободными и равными"] * 10
    mixed = [{"id": f"{n:02}", "text": f"{text} {n} {n * n}"} for n, text in enumerate(others)]
    found = roughly.suggest(mixed, threads=1)
    assert found.kind.english == 0 and list(found.kind.scripts) == ["Cyrillic", "Latin"]
    assert any("few texts are English" in reason for reason in found.reasons)
    assert found.to_dict()["kind"]["scripts"]["Latin"] == pytest.approx(0.48, abs=0.05)


def test_the_command(tmp_path: Path) -> None:
    source, output = tmp_path / "documents.jsonl", tmp_path / "best.toml"
    lines = (json.dumps(row) + "\n" for row in collection([0.01] * 30 + [1.0] * 30))
    source.write_text("".join(lines), encoding="utf-8")
    run = CliRunner().invoke
    done = run(app, ["suggest", str(source), "-o", str(output), "--pairs", "2"])
    assert done.exit_code == 0, done.output
    assert "letters     Latin 100 %; 0 % of the texts are English" in done.stdout
    assert "suggested   threshold=" in done.stdout and "just below the threshold" in done.stdout
    found = json.loads(run(app, ["suggest", str(source), "--json"]).stdout)
    assert found["settings"] == read_settings(output) and len(found["above"]) == 10
    assert run(app, ["dedupe", str(source), "-o", str(tmp_path / "out"), "--settings", str(output)]).exit_code == 0
    source.write_text(json.dumps({"id": "a", "text": "alone"}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="fewer than two"):
        run(app, ["suggest", str(source)], catch_exceptions=False)
    with pytest.raises(SettingsError):
        run(app, ["suggest", str(source), "--sample", "1"], catch_exceptions=False)
