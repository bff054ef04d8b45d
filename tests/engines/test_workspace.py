"""Artefacts of a run are whole, or are built again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from roughly.engines import workspace
from roughly.engines.workspace import IDENTITY, Workspace, checksum
from roughly.errors import RoughlyError
from roughly.temporary_space import delete_folder


def artefact(folder: Path, size: int) -> Workspace:
    made = Workspace(folder, {"version": 1})
    made.path("a.bin").write_bytes(b"x" * size)
    made.commit("a", [made.path("a.bin")], {"n": size})
    return made


@pytest.mark.parametrize("size", [0, 10, 1 << 22])
def test_an_artefact_is_found_by_who_goes_on(size: int, tmp_path: Path) -> None:
    artefact(tmp_path / "w", size)
    assert Workspace(tmp_path / "w", {"version": 1}, resume=True).found("a") == {"n": size}


@pytest.mark.parametrize("left", [b"", b"x" * 9, b"y" * 10, b"x" * 11])
def test_one_that_did_not_reach_the_disk_is_built_again(left: bytes, tmp_path: Path) -> None:
    made = artefact(tmp_path / "w", 10)
    made.path("a.bin").write_bytes(left)
    assert made.found("a") is None


@pytest.mark.parametrize("left", [b"", b"{", bytes(100), b'{"files": {}}'])
def test_a_marker_that_did_not_reach_the_disk_counts_for_nothing(left: bytes, tmp_path: Path) -> None:
    made = artefact(tmp_path / "w", 10)
    made.path("a.done").write_bytes(left)
    assert made.found("a") is None


def test_no_artefact_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    made = artefact(tmp_path / "w", 1 << 22)
    assert len(waits) == 2 and made.found("a") is not None  # the identity and its folder


@pytest.fixture
def _small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_RANGE", 1000)
    monkeypatch.setattr(workspace, "_BLOCK", 300)


@pytest.mark.usefixtures("_small_ranges")
@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 12_345])
def test_the_checksum_does_not_depend_on_threads_and_sees_every_byte(size: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    data = np.random.default_rng(size).bytes(size)
    path.write_bytes(data)
    whole = checksum(path)
    assert whole == checksum(path, 3) == checksum(path, 50)
    for at in {0, size // 2, size - 1} if size else set():
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert checksum(path, 3) != whole
    path.write_bytes(data + b"\0")
    assert checksum(path) != whole


@pytest.mark.usefixtures("_small_ranges")
def test_an_artefact_is_found_until_it_is_damaged_or_discarded(tmp_path: Path) -> None:
    at_work = Workspace(tmp_path / "work", {"a": 1}, threads=2)
    assert at_work.found("numbers") is None
    at_work.save("numbers", {"n": np.arange(5000)}, {"x": 7})
    assert at_work.found("numbers") == {"x": 7}
    resumed = Workspace(tmp_path / "work", {"a": 1}, resume=True)
    assert resumed.found("numbers") == {"x": 7} and resumed.array("numbers", "n").sum() == 12_497_500
    file = tmp_path / "work" / "numbers.n.npy"
    data = bytearray(file.read_bytes())
    data[20_000] ^= 1
    file.write_bytes(data)
    assert Workspace(tmp_path / "work", {"a": 1}, resume=True).found("numbers") is None
    at_work.discard("numbers")
    assert at_work.found("numbers") is None


def test_what_a_kill_leaves_of_a_deletion_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "work"
    made = Workspace(folder, {"version": 1})
    made.save("a", {"n": np.arange(3)}, {})
    (folder / "spill").mkdir()
    (folder / "spill" / "block").write_bytes(b"x")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", lambda *_, **__: None)  # killed before the last step
        delete_folder(folder, IDENTITY)
    assert [path.name for path in folder.rglob("*") if path.is_file()] == [IDENTITY]
    assert Workspace(folder, {"version": 1}, resume=True).found("a") is None
    (folder / IDENTITY).unlink()  # or in that step
    assert Workspace(folder, {"version": 1}, resume=True).found("a") is None
    (folder / "foreign").write_text("of somebody")
    (folder / IDENTITY).unlink()
    with pytest.raises(RoughlyError, match="is not an unfinished run"):
        Workspace(folder, {"version": 1}, resume=True)
