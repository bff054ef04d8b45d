"""Links that someone else puts where a run writes or deletes, and disks that fill up while one file is written."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roughly import temporary_space
from roughly.sources.streams import replacing, unfinished_name
from roughly.temporary_space import delete_folder
from stream_texts import prose


@pytest.fixture
def treasure(tmp_path: Path) -> Iterator[Path]:
    """A folder of someone that nothing may change."""
    folder = tmp_path / "treasure"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).write_text("precious")
    yield folder
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a": "precious", "b": "precious"}


def test_a_link_in_place_of_a_temporary_folder_is_not_followed(
    treasure: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary_space, "_MUCH", 1)
    link, own = tmp_path / "link", tmp_path / "own"
    link.symlink_to(treasure)
    delete_folder(link)
    own.mkdir()
    (own / "file").write_text("mine")
    (own / "inside").symlink_to(treasure)
    delete_folder(own)
    assert not own.exists()


def test_a_link_under_the_name_of_an_unfinished_file_is_not_followed(treasure: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.with_name(unfinished_name(path.name)).symlink_to(treasure / "a")
    with replacing(path) as file:
        file.write(b"mine")
    assert path.read_bytes() == b"mine" and not path.is_symlink()


@pytest.mark.parametrize("output", ["out", "kept.csv"])
@pytest.mark.parametrize("target", ["treasure", "treasure/a", "nothing"])
@pytest.mark.parametrize("option", ["--overwrite", "--resume", "--quiet"])
def test_a_link_in_place_of_an_unfinished_run_is_refused(
    output: str, target: str, option: str, treasure: Path, tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    link = tmp_path / f"{output}.partial"
    link.symlink_to(tmp_path / target)
    done = roughly("dedupe", jsonl([{"id": "a", "text": "x y z"}]), "-o", tmp_path / output, option)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("is not a folder of its own; delete it, or move it away"), done.stderr
    assert link.is_symlink() and not (tmp_path / "nothing").exists()


@contextlib.contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("name", ["kept.csv", "kept.parquet", "kept.jsonl.gz"])
def test_a_disk_that_is_full_before_one_file_is_written(
    name: str, tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    """The disk has room for what the run needs itself, or not even that: nothing is half-written, and it continues."""
    source = jsonl([{"id": f"d{number}", "text": prose(number, 300)} for number in range(600)])
    assert roughly("dedupe", source, "-o", tmp_path / name).returncode == 0
    refused = 0
    with small_disk(tmp_path / "disk", "64m") as disk:
        for size in (300, 900, 1_500, 2_100, 2_700):
            subprocess.run(["mount", "-o", f"remount,size={size}k", str(disk)], check=True)
            options = ("-o", disk / name, "--temp", tmp_path, "--temp-limit", "1GB")
            done = roughly("dedupe", source, *options, *(["--resume"] if refused else []))
            if not done.returncode:
                break
            refused += 1
            assert done.stderr.startswith("error: ") and "disk is full; nothing was written" in done.stderr
            assert [path.name for path in disk.iterdir()] == [f"{name}.partial"]
        assert refused
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        if not (disk / name).exists():
            done = roughly("dedupe", source, *options, "--resume")
            assert done.returncode == 0, done.stderr
        assert (disk / name).read_bytes() == (tmp_path / name).read_bytes()
