"""Arrays in files: their pages are given back while a kernel runs, and what is looked up in them is not copied."""

from __future__ import annotations

import mmap
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from roughly.engines.workspace import Workspace
from roughly.meter import mapped_pages
from roughly.tools.passages import document_ids
from roughly.tools.passages.document_ids import repeated_ids
from roughly.tools.passages.mapped_arrays import MappedArrays, positions

SIZE = 1 << 26


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="this system cannot be asked to take pages back")
def test_pages_are_given_back_without_being_asked(tmp_path: Path) -> None:
    maps = MappedArrays(Workspace(tmp_path / "work", {}), 1 << 20)
    before = mapped_pages()[0]
    array = maps.new("numbers", np.int64, SIZE // 8)
    array[:] = np.arange(len(array))
    assert mapped_pages()[0] > before + SIZE // 2
    with maps.watched():
        until = time.monotonic() + 30
        while mapped_pages()[0] > before + SIZE // 8 and time.monotonic() < until:
            time.sleep(0.01)
    assert mapped_pages()[0] <= before + SIZE // 8
    assert np.array_equal(array, np.arange(len(array))), "pages come back with what was written"


def test_positions_are_those_of_numpy() -> None:
    rows = np.array([[1, 9], [4, 9], [4, 9], [7, 9]])
    values = [0, 1, 2, 4, 5, 7, 8]
    assert positions(rows[:, 0], values) == np.searchsorted(rows[:, 0], values).tolist()


def test_a_large_memory_looks_at_more_rows_at_once(tmp_path: Path) -> None:
    work = Workspace(tmp_path / "work", {})
    assert [MappedArrays(work, memory).at_once(1 << 16) for memory in (1 << 10, 1 << 28, 1 << 40)] == [
        1 << 10,
        1 << 13,
        1 << 16,
    ]


def test_ids_of_equal_hashes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = pa.array(["b", "a", "c", "a", "b", "a"])
    assert repeated_ids(ids).to_pylist() == ["b", "a"]
    assert repeated_ids(ids[:3]).to_pylist() == []
    monkeypatch.setattr(document_ids, "_hashes", lambda some: np.zeros(len(some), np.uint64))
    assert repeated_ids(ids).to_pylist() == ["b", "a"]
    assert repeated_ids(ids[:3]).to_pylist() == []
