"""What the local engine writes: the same bytes for any number of threads, tables side by side or one by one."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from roughly.engines.local import database, kept_parts
from roughly.engines.local.database import Database, TableToWrite
from roughly.engines.local.kept_parts import copy_parts
from roughly.errors import DiskFull, Interrupted
from roughly.settings import ReadOptions
from roughly.sources import kept_table, parquet, records
from roughly.sources.open import open_parts
from roughly.sources.part import CopyBudget, Part


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, row groups and slices are tiny, so that there are many of each."""
    monkeypatch.setattr(database, "ROW_GROUP", 1000)
    monkeypatch.setattr(records, "BLOCK", 500)
    monkeypatch.setattr(records, "_COPIED_AT_ONCE", 3)
    monkeypatch.setattr(kept_table, "WRITTEN_GROUP", 4000)
    monkeypatch.setattr(parquet, "SLICE", 800)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_open_database_is_lent_to_the_next_run_without_tables(tmp_path: Path) -> None:
    first, second = (Database(memory=1 << 28, threads=2, spill=tmp_path / name) for name in "ab")
    first.view("numbers", "SELECT 7 AS n", held=True)
    opened = first.connection
    first.lend()
    assert second.connection is opened
    with pytest.raises(duckdb.CatalogException, match="numbers"):
        second.value("SELECT n FROM numbers")
    assert first.value("SELECT n FROM numbers") == 7 and first.connection is not opened
    first.lend()
    second.lend()  # one is enough
    with pytest.raises(duckdb.ConnectionException):
        opened.execute("SELECT 1")


def test_an_open_database_is_lent_on_though_its_folder_has_become_an_output(tmp_path: Path) -> None:
    roughly.dedupe(["a rose is a rose", "a rose is a rose", "something else"], output=tmp_path / "out")
    opened = database._idle[os.getpid()]
    roughly.dedupe(["a rose is a rose", "another"], output=tmp_path / "next")
    assert database._idle[os.getpid()] is opened


def test_a_database_that_has_spilled_is_not_lent_on(tmp_path: Path) -> None:
    first, second = (Database(memory=1 << 24, threads=1, spill=tmp_path / name) for name in "ab")
    for base in (first, second):
        assert base.value("SELECT count(DISTINCT i::VARCHAR) FROM range(400000) t(i)") == 400_000
        assert list((tmp_path / "a").iterdir()) == [] or base is first
        base.lend()


@pytest.mark.usefixtures("_small")
def test_tables_are_the_same_bytes_side_by_side_and_one_by_one(tmp_path: Path) -> None:
    queries = {
        "numbers": ("SELECT i AS n, i::VARCHAR AS name FROM range(12345) t(i) ORDER BY name", pa.int64()),
        "none": ("SELECT i AS n, i::VARCHAR AS name FROM range(0) t(i) ORDER BY name", pa.int64()),
        "even": ("SELECT name, n FROM (SELECT i AS n, 'x' || i AS name FROM range(3000) t(i)) ORDER BY n", pa.uint32()),
    }
    written = []
    for threads, at_once, memory in ((1, False, 1 << 20), (2, False, 1 << 20), (3, True, 1 << 14)):
        folder = tmp_path / f"{threads}-{at_once}"
        folder.mkdir()
        base = Database(memory=1 << 28, threads=threads, spill=tmp_path / "spill")
        tables = [
            TableToWrite(sql, folder / f"{name}.parquet", pa.schema({"n": kind, "name": pa.string()}))
            for name, (sql, kind) in queries.items()
        ]
        base.write(tables, memory, at_once=at_once)
        base.rest()
        written.append(files_of(folder))
    assert written[0] == written[1] == written[2] and len(written[0]) == 3
    groups = pq.ParquetFile(tmp_path / "3-True" / "numbers.parquet").metadata
    assert [groups.row_group(g).num_rows for g in range(groups.num_row_groups)] == [1000] * 12 + [345]


def test_a_full_disk_and_a_broken_query_are_told(tmp_path: Path) -> None:
    base = Database(memory=1 << 28, threads=2, spill=tmp_path / "spill")
    schema = pa.schema({"n": pa.int64()})
    full = TableToWrite("SELECT i AS n FROM range(200000) t(i)", Path("/dev/full"), schema)
    with pytest.raises(DiskFull):
        base.write([full], 1 << 20, at_once=False)
    broken = TableToWrite("SELECT error('seven') AS n", tmp_path / "b.parquet", schema)
    slow = TableToWrite("SELECT count(*) AS n FROM range(1000000000000)", tmp_path / "s.parquet", schema)
    with pytest.raises(Exception, match="seven"):
        base.write([broken, slow], 1 << 20, at_once=True)
    assert base.value("SELECT 7") == 7
    base.rest(wait=False)
    assert not base.is_awake and base.value("SELECT 8") == 8
    base.rest()


def parts_of(folder: Path) -> list[Part]:
    """Parts of every way to copy: blocks, row groups small and giant, a compressed file, a folder of texts."""
    rng = np.random.default_rng(3)
    records_of = [{"id": f"d{i}", "text": "word " * int(rng.integers(1, 40)), "n": i} for i in range(400)]
    table = pa.Table.from_pylist(records_of)
    folder.mkdir()
    lines = "".join(json.dumps(record) + "\n" for record in records_of)
    for number in range(5):
        (folder / f"{number}.jsonl").write_text(lines[: -1 if number == 1 else None])
    pq.write_table(table, folder / "small.parquet", row_group_size=30)
    pq.write_table(table, folder / "one.parquet")
    texts = folder / "texts"
    texts.mkdir()
    for number in range(400):
        (texts / f"{number:03d}.txt").write_text(f"text {number}")
    parts = open_parts([folder / f"{n}.jsonl" for n in range(5)], ReadOptions(), folder)
    parts += open_parts([folder / "small.parquet"], ReadOptions(), folder)
    parts += open_parts([folder / "one.parquet"], ReadOptions(), folder)
    parts += open_parts([texts], ReadOptions(), folder)
    for part in parts:
        for _ in part.chunks():
            pass
    return parts


def kept_rows(parts: list[Part]) -> Iterator[pa.RecordBatch]:
    rng = np.random.default_rng(4)
    for number in range(len(parts)):
        rows = np.flatnonzero(rng.random(400) < (0.7 if number != 2 else 0))
        for some in np.array_split(rows, 3):
            yield pa.record_batch({"part": np.full(len(some), number, np.uint32), "row": some})


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("giant", [False, True])
def test_copies_are_the_same_bytes_for_any_number_of_threads(
    giant: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if giant:
        monkeypatch.setattr(parquet, "LARGEST_GROUP", 2000)
        monkeypatch.setattr(parquet, "LARGEST_WHOLE", 0)
    parts = parts_of(tmp_path / "in")
    copies = []
    for threads, memory in ((1, 1 << 30), (2, 1 << 20), (4, 1 << 32)):
        folder = tmp_path / f"kept-{threads}"
        counts = list(copy_parts(parts, kept_rows(parts), folder, threads=threads, memory=memory))
        copies.append((counts, files_of(folder)))
    assert copies[0] == copies[1] == copies[2]
    assert pq.ParquetFile(tmp_path / "kept-4" / "small.parquet").num_row_groups > 3
    assert (tmp_path / "kept-4" / "2.jsonl").read_bytes() == b""


@pytest.mark.usefixtures("_small")
def test_copying_stops_soon_where_the_caller_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = parts_of(tmp_path / "in")
    begun = threading.Event()

    def endless(part: Part, rows: object, folder: Path, budget: CopyBudget) -> int:
        if part is parts[0]:
            return 0
        begun.set()
        while True:
            budget.check(0)

    monkeypatch.setattr(kept_parts, "copy_rows", endless)
    copied = copy_parts(parts, kept_rows(parts), tmp_path / "kept", threads=2, memory=1 << 32)
    assert next(copied) == 0 and begun.wait(60)
    copied.close()  # type: ignore[attr-defined]
    assert not [t for t in threading.enumerate() if t.name.startswith("roughly_")]


@pytest.mark.usefixtures("_small")
def test_every_way_to_copy_looks_whether_it_is_to_stop(tmp_path: Path) -> None:
    def stop(nbytes: int) -> None:
        raise Interrupted("stopped")

    for number, part in enumerate(parts_of(tmp_path / "in")):
        with pytest.raises(Interrupted):
            part.copy(np.ones(400, np.bool_), tmp_path / f"kept-{number}", CopyBudget(2, 1 << 30, stop))
        assert not files_of(tmp_path / f"kept-{number}"), "a part of a file is left"


def test_a_result_that_nobody_holds_any_more_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finaliser may run while a thread pool is locked: one more thread would wait for ever."""
    result = roughly.dedupe(["a b c d e f g h", "a b c d e f g h i"], threads=4)
    folder, started = result.folder, []
    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor.submit", lambda *given: started.append(given))
    monkeypatch.setattr("threading.Thread.start", started.append)
    del result
    gc.collect()
    assert not started and not folder.exists()


BEFORE_THREADS = """
import sys
import roughly
from roughly.threads import BackgroundTasks

do, seen = BackgroundTasks.do, []
BackgroundTasks.do = lambda self, work: (seen.append({"duckdb", "pandas"} <= set(sys.modules)), do(self, work))
roughly.dedupe(["a b c d e f g h", "a b c d e f g h i"], threads=2)
assert seen and all(seen), seen
"""


def test_libraries_are_imported_before_threads_are_at_work() -> None:
    """Imports by two threads at once may end in Python's `_DeadlockError`."""
    done = subprocess.run([sys.executable, "-c", BEFORE_THREADS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
