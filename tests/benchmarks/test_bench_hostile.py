"""The benchmark of hostile files does what it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks import hostile


def test_hostile_and_damaged_files_do_no_harm(tmp_path: Path) -> None:
    names = ["nested.eml", "one value, zstd.parquet", "a link to itself", "/dev/zero as a file", "endless.jsonl.gz"]
    found = hostile.run(names, 28, 2, tmp_path)
    assert found["hostile"]["files"] == len(names) and found["damaged"]["files"] == 28
    assert not found["hostile"]["problems"] and not found["damaged"]["problems"]
    assert len(list(hostile.rows(found))) == 4
