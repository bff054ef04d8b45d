"""Features of any object: the same hashes from Python, Arrow and Parquet; clusters as their sets say."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly.errors import DuplicateIds, InputError, InputMissing, SettingsError
from roughly.features import custom
from roughly.sources import json_bytes
from roughly.sources.feature_lists import feature_hashes
from roughly.text.canonical import Tokens


def hash_features(features: Any) -> Tokens:
    return Tokens(*feature_hashes(features))


def test_python_and_arrow_hash_alike() -> None:
    for rows, kind in (
        ([[1, -2, 2**62], [], [7, 7]], pa.int64()),
        ([["a", "ü", ""], ["a"], []], pa.string()),
        ([[0.5, 1e300], [], [2.0]], pa.float64()),
        ([[b"a", b"\xff"], [b""], []], pa.binary()),
    ):
        plain = hash_features(rows)
        for column in (pa.array(rows, pa.list_(kind)), pa.chunked_array([pa.array(rows, pa.large_list(kind))])):
            other = hash_features(column)
            assert other.hashes.tolist() == plain.hashes.tolist()
            assert other.offsets.tolist() == plain.offsets.tolist() == [0, *_running(rows)]
    sliced = pa.array([[9], [1, 2], [3]], pa.list_(pa.int64())).slice(1)
    assert hash_features(sliced).hashes.tolist() == hash_features([[1, 2], [3]]).hashes.tolist()


def _running(rows: list[list[object]]) -> list[int]:
    return [sum(len(row) for row in rows[: at + 1]) for at in range(len(rows))]


def test_features_of_other_kinds_differ() -> None:
    kinds = [1, "1", b"1", 1.0, (1,), ("1",), (1, 1), ((1, 1),), ("1", "1"), ("11",), "t1:1"]
    assert len(set(hash_features([kinds]).hashes.tolist())) == len(kinds)
    assert hash_features([[True]]).hashes.tolist() == hash_features([[1]]).hashes.tolist()


def test_clusters_of_features() -> None:
    ids = ["a", "b", "c", "d"]
    rows = [[1, 2, 3, 4, 5], [1, 2, 3, 4], [9, 8, 7], [8]]
    found = roughly.cluster_features(ids, rows, threshold=0.8)
    assert found.clusters == {"a": ["a", "b"]}
    assert found.kept_ids == ["a", "c", "d"]
    inside = roughly.cluster_features(ids, rows, threshold=1.0, measure="containment")
    assert inside.clusters == {"a": ["a", "b"], "c": ["c", "d"]}
    row = inside.removed.to_pylist()[0]
    assert (row["doc_id"], row["kept_id"], row["containment"], row["contained_in"]) == ("b", "a", 1.0, 0.8)


def test_order_counts_with_larger_shingles_only() -> None:
    rows = [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]]
    assert roughly.cluster_features([1, 2], rows, threshold=0.9).clusters == {"1": ["1", "2"]}
    assert roughly.cluster_features([1, 2], rows, threshold=0.1, shingle_size=2).clusters == {}


def test_sampled_features() -> None:
    rows = [list(range(2000)), list(range(20, 2020)), list(range(5000, 7000))]
    for sketch in ("mod:10", "min:100", "adaptive"):
        assert roughly.cluster_features("abc", rows, threshold=0.8, sketch=sketch).clusters == {"a": ["a", "b"]}


def test_a_parquet_file_of_features(tmp_path: Path) -> None:
    path = tmp_path / "features.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], "features": [["x", "y"], ["y", "x"], ["z"]]}), path)
    assert roughly.cluster_features(path, threshold=0.9).clusters == {"1": ["1", "2"]}
    with pytest.raises(InputError, match="no column 'values'; it has id, features"):
        roughly.cluster_features(path, features_column="values")
    with pytest.raises(InputMissing, match="no such file"):
        roughly.cluster_features(tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_text("no", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        roughly.cluster_features(tmp_path / "bad.parquet")


def nested(depth: int) -> tuple[Any, ...]:
    found: tuple[Any, ...] = ()
    for _ in range(depth):
        found = (found,)
    return found


@pytest.mark.parametrize(
    ("ids", "rows", "error", "words"),
    [
        (["a"], [[1], [2]], SettingsError, "1 ids and features of 2 objects"),
        (["a", "a"], [[1], [2]], DuplicateIds, "'a' for one"),
        (["a"], ["word"], InputError, "object 0 are str, not a list"),
        (["a"], [[{1}]], InputError, "a number, a string, bytes or a tuple of these, not set"),
        (["a"], pa.array([1]), InputError, "must be a list column, not int64"),
        (["a"], pa.array([None], pa.list_(pa.int64())), InputError, "1 objects have no list"),
        (["a"], pa.array([[None]], pa.list_(pa.int64())), InputError, "1 features are null"),
        (["a"], None, SettingsError, "or the path of a Parquet file"),
        (["a"], [[nested(2000)]], InputError, "tuples nested more than 100 deep"),
        (["a"], [[10**5000]], InputError, "more digits than Python writes"),
        (["\ud800"], [[1]], InputError, "half of a character"),
        (["a"], 5, SettingsError, "ids and features are lists"),
        (5, [[1]], SettingsError, "ids and features are lists"),
    ],
)
def test_features_that_make_no_sense_are_refused(ids: object, rows: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        roughly.cluster_features(ids, rows)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"id": "a", "features": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested more than 100 deep"),
        (
            b'{"id": "a", "features": ' + b'[1, "]]]\\\\", ' * 20_000 + b"1" + b"]" * 20_000 + b"}",
            "nested more than 100",
        ),
        (b'{"id": "\\"", "features": ' + b'{"a": [' * 20_000 + b"1" + b"]}" * 20_000 + b"}", "nested more than 100"),
        (b'{"id": {"a": 1}, "features": [1]}', "cannot be read as JSON lines"),
        (b'{"id": null, "features": [1]}', "1 object without an id"),
        (b'{"id": "\xff", "features": [1]}', "cannot be read as JSON lines"),
        (b'{"id": "a", "features": [["\xff"]]}', "cannot be read as JSON lines"),
        (b'{"id": "a", "\xff": 1, "features": [1]}', "cannot be read as JSON lines"),
    ],
)
@pytest.mark.parametrize("is_long", [False, True])
def test_lines_that_would_end_the_process_are_refused(
    line: bytes, words: str, is_long: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_long:  # a file that is read in pieces
        monkeypatch.setattr(custom, "_SMALL", 10)
    for name, data in (("f.jsonl", line), ("f.jsonl.gz", gzip.compress(line))):
        (tmp_path / name).write_bytes(data + b"\n" if name == "f.jsonl" else data)
        with pytest.raises(InputError, match=words):
            roughly.cluster_features(tmp_path / name)


def test_brackets_in_strings_are_not_nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_bytes, "_AT_ONCE", 3)  # a piece may end behind a backslash
    line = '{"id": "a", "features": ["' + "[" * 1000 + '\\"[\\\\", "' + '\\"[' * 500 + '"]}\n'
    (tmp_path / "f.jsonl").write_text(line + line.replace('"a"', '"b"'), encoding="utf-8")
    assert roughly.cluster_features(tmp_path / "f.jsonl").clusters == {"a": ["a", "b"]}


def test_a_damaged_file_of_features_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b'{"id": "a", "features": [1]}\n' * 1000)
    (tmp_path / "f.jsonl.gz").write_bytes(whole[:-9])
    with pytest.raises(InputError, match="truncated gzip"):
        roughly.cluster_features(tmp_path / "f.jsonl.gz")


def test_features_on_the_command_line(tmp_path: Path) -> None:
    lines = tmp_path / "stored.jsonl"
    lines.write_text('{"id": "a", "items": ["x", "y", "z"]}\n{"id": "c", "items": ["q"]}\n')
    table = tmp_path / "new.parquet"
    pq.write_table(pa.table({"id": ["b"], "items": [["z", "y", "x"]]}), table)
    done = run_roughly("cluster", str(lines), str(table), "--features", "items", "--threshold", "0.9")
    assert done.returncode == 0 and done.stdout.splitlines()[1:] == ["a\ta", "b\ta"], done.stderr
    runs = run_roughly("cluster", str(lines), str(table), "--features", "items", "--shingle-size", "2")
    assert runs.stdout.splitlines() == ["doc_id\tcluster_id"]  # the order counts
    told = run_roughly("cluster", str(lines), "--features", "items", "--json").stdout
    assert json.loads(told)["documents"] == 2 and "fingerprint" not in json.loads(told)
    numbers = tmp_path / "numbers.jsonl"
    numbers.write_text('{"id": "n", "items": [1, 2]}\n')
    refused = run_roughly("cluster", str(lines), str(numbers), "--features", "items")
    assert refused.returncode != 0 and "the files have features of different types" in refused.stderr
    refused = run_roughly("cluster", str(lines), "--features", "items", "--text", str(lines))
    assert refused.returncode != 0 and "leave --text out" in refused.stderr
    refused = run_roughly("cluster", str(lines), "--features", "nothing")
    assert refused.returncode != 0 and "has no column 'nothing'; it has id, items" in refused.stderr
