"""What a run writes to disk for its own use is counted, and refused before the disk is full."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import roughly as package
from roughly.engines.local.database import Database
from roughly.errors import DiskFull, SettingsError
from roughly.settings import Resources
from roughly.temporary_space import RESERVE, LockedFolder, TemporarySpace
from stream_texts import prose

ROWS = [{"id": str(n), "text": f"{prose(n % 10, 200)} {n}"} for n in range(40)]


def fill(folder: Path, size: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "file").write_bytes(bytes(size))


def test_files_in_all_folders_count(tmp_path: Path) -> None:
    space = TemporarySpace(1000, tmp_path / "a", tmp_path / "b", tmp_path / "none")
    assert space.left() == 1000
    fill(tmp_path / "a", 300)
    fill(tmp_path / "b", 100)
    fill(tmp_path / "b" / "within", 50)
    (tmp_path / "b" / "link").symlink_to(tmp_path / "a" / "file")
    link = len(str(tmp_path / "a" / "file"))
    assert space.used() == 450 + link and space.left() == 550 - link
    space.check(500 - link)
    with pytest.raises(DiskFull, match=r"temporary files take .* --temp-limit allows .*Raise it and run again"):
        space.check(600)


def test_without_a_limit_a_reserve_of_each_disk_stays_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = 100 * RESERVE

    def usage(path: Path) -> shutil._ntuple_diskusage:
        assert Path(path).exists()
        return shutil._ntuple_diskusage(1000 * RESERVE, 1000 * RESERVE - free, free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    space = TemporarySpace(None, tmp_path / "not" / "made", output=tmp_path)
    assert space.left() == 99 * RESERVE
    free = 2 * RESERVE
    space.check(RESERVE)
    with pytest.raises(DiskFull, match=r"the disk is full except for a reserve \(2,048.0 MB are free\)"):
        space.check(RESERVE + 1)
    free = 10 << 20
    assert TemporarySpace(None, tmp_path).left() == 9 << 20  # a small disk keeps a tenth


@pytest.mark.parametrize("command", ["dedupe", "passages"])
def test_a_run_that_was_refused_continues_with_more(
    command: str, tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    path, out = jsonl(ROWS), tmp_path / "out"
    refused = roughly(command, path, "-o", out, "--temp-limit", "10KB")
    assert refused.returncode == 1 and not out.exists()
    assert refused.stderr.startswith("error: temporary files take") and "Raise it and continue" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    done = roughly(command, path, "-o", out, "--temp-limit", "1GB", "--resume")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("*.partial")) == []
    whole = roughly(command, path, "-o", tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    assert (out / "documents.parquet").read_bytes() == (tmp_path / "whole" / "documents.parquet").read_bytes()


def test_what_is_written_to_another_folder_counts_too(tmp_path: Path, jsonl: Callable) -> None:
    (tmp_path / "temp").mkdir()
    with pytest.raises(DiskFull, match=r"temp_limit=… allows"):
        package.dedupe(jsonl(ROWS), temp=tmp_path / "temp", temp_limit=5000, lexicon="collection", method="imatch")
    assert list((tmp_path / "temp").iterdir()) == []


def test_input_that_is_stored_counts(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    content = jsonl(ROWS).read_bytes()
    done = roughly("dedupe", "-", "--format", "jsonl", "-o", tmp_path / "out", "--temp-limit", "10KB", stdin=content)
    assert done.returncode == 1 and "input that can be read only once is stored on disk" in done.stderr

    def rows() -> Iterator[dict[str, str]]:
        yield from ROWS

    with pytest.raises(DiskFull, match="read only once"):
        package.dedupe(rows(), temp_limit=1000)


def test_an_import_counts_its_keys(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    assert roughly("dedupe", jsonl(ROWS), "-o", tmp_path / "run").returncode == 0
    where = tmp_path / "a.db"
    refused = roughly("index", "import", where, tmp_path / "run", "--temp-limit", "1KB")
    assert refused.returncode == 1 and "temporary files take" in refused.stderr
    assert not list(tmp_path.glob("a.db*"))
    with pytest.raises(DiskFull, match="temporary files take"):
        package.Index.import_run(tmp_path / "run", where, temp=tmp_path, temp_limit="1KB")
    assert roughly("index", "import", where, tmp_path / "run", "--temp-limit", "1GB").returncode == 0


def test_a_collection_to_compare_with_counts(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    known = jsonl(ROWS[:20], "known.jsonl")
    done = roughly("dedupe", jsonl(ROWS), "-o", tmp_path / "out", "--against", known, "--temp-limit", "10KB")
    assert done.returncode == 1 and "temporary files take" in done.stderr


def test_the_database_spills_no_more_than_there_is_room_for(tmp_path: Path) -> None:
    base = Database(memory=32 << 20, threads=1, spill=tmp_path / "spill", room=lambda: 1 << 20)
    with pytest.raises(DiskFull, match="spill more than --temp-limit"):
        base.rows("SELECT max(n) FROM (SELECT i AS n, hash(i)::VARCHAR || i AS t FROM range(3000000) t(i) ORDER BY t)")
    base.rest()


@pytest.mark.parametrize("limit", [0, -1, "many", 1.5])
def test_a_limit_is_a_size(limit: object) -> None:
    with pytest.raises(SettingsError, match=r"temp_limit must be|not a size"):
        Resources(temp_limit=limit)  # type: ignore[arg-type]
    assert Resources(temp_limit="2MB").temp_limit == 2 << 20  # type: ignore[arg-type]


KILLED = """
import os, pathlib, sys
from roughly.temporary_space import LockedFolder
folder = LockedFolder("own-")
pathlib.Path(folder.name, "file").touch()
print(folder.name, flush=True)
sys.stdin.read()
os._exit(9)
"""


def test_a_folder_is_deleted_by_the_next_process_when_its_own_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": os.environ | {"TMPDIR": str(tmp_path)}}
    with subprocess.Popen([sys.executable, "-c", KILLED], text=True, **pipes) as process:  # type: ignore[call-overload]
        old = Path(process.stdout.readline().strip())
        assert old.parent == tmp_path and old.stat().st_mode & 0o777 == 0o700
        (tmp_path / "own-link").symlink_to(tmp_path)
        os.utime(old, (0, 0))
        with LockedFolder("own-"):
            assert (old / "file").exists()  # its process lives
        process.communicate("")
    new = tmp_path / "own-new"
    new.mkdir()  # its process is about to lock it
    with LockedFolder("own-") as own:
        assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "own-link", new, Path(own)])
