"""`dedupe --against` with a collection instead of an index."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly.errors import InputError, InputMissing, SettingsError

WORDS = "the quick brown fox jumps over the lazy dog and runs away from all of the hounds behind it"


def write(path: Path, texts: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in texts.items()))
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    other = " ".join(reversed(WORDS.split()))
    return write(tmp_path / "train.jsonl", {"a": WORDS, "b": WORDS.upper(), "c": other, "d": other, "e": "alone"})


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    return write(tmp_path / "test.jsonl", {"q": WORDS + "."})


def test_duplicates_of_the_collection_are_removed(tmp_path: Path, train: Path, test_set: Path) -> None:
    done = run_roughly("dedupe", train, "-o", tmp_path / "out", "--against", test_set, "--threshold", 0.9)
    assert done.returncode == 0, done.stderr
    assert f"against     2 of 5 removed (40.0 %): {test_set} has them" in done.stdout
    rows = {row["doc_id"]: row for row in pq.read_table(tmp_path / "out" / "documents.parquet").to_pylist()}
    assert {key for key, row in rows.items() if row["kept"]} == {"c", "e"}
    assert {key: row["kept_id"] for key, row in rows.items() if row["in_archive"]} == {"a": "q", "b": "q"}
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["against"]["removed"] == 2
    assert not list(Path(tempfile.gettempdir()).glob("roughly-against-*/collection.db"))


def test_only_against_keeps_duplicates_within(tmp_path: Path, train: Path, test_set: Path) -> None:
    done = run_roughly("dedupe", train, "-o", tmp_path / "out", "--against", test_set, "--only-against")
    assert done.returncode == 0, done.stderr
    kept = [json.loads(line)["id"] for line in (tmp_path / "out" / "kept" / "train.jsonl").read_text().splitlines()]
    assert kept == ["c", "d", "e"]
    for options in ({"method": "lexical"}, {"method": "identical"}, {"measure": "containment"}):
        result = roughly.dedupe(train, against=test_set, only_against=True, **options)
        expected = ["a", "b", "c", "d", "e"] if options.get("method") == "identical" else ["c", "d", "e"]
        assert sorted(result.kept_ids) == expected


def test_a_folder_is_a_collection(tmp_path: Path, train: Path, test_set: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    test_set.rename(folder / "test.jsonl")
    assert sorted(roughly.dedupe(train, against=folder).kept_ids) == ["c", "e"]
    assert sorted(roughly.dedupe(train, against=str(folder / "*.jsonl")).kept_ids) == ["c", "e"]


def test_what_is_refused(tmp_path: Path, train: Path) -> None:
    with pytest.raises(SettingsError, match="only_against needs"):
        roughly.dedupe(train, only_against=True)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputMissing, match="nothing to compare with"):
        roughly.dedupe(train, against=tmp_path / "empty.jsonl")
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "text": "x"}\nbroken\n')
    with pytest.raises(InputError, match="needs every record"):
        roughly.dedupe(train, against=tmp_path / "bad.jsonl")
    with pytest.raises(InputMissing):
        roughly.dedupe(train, against=tmp_path / "missing.jsonl")
