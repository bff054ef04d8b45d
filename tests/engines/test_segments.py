"""Segments of what was read: a run that stopped anywhere continues where its last whole segment ended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roughly import methods
from roughly.engines.local import segments
from roughly.engines.local.segments import Segments
from roughly.engines.workspace import Workspace
from roughly.pipeline import sign_all
from roughly.settings import ReadOptions, Settings
from roughly.sources import open_parts, parquet
from roughly.sources.part import Part


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Part]:
    """Two Parquet files whose row groups are cut into several pieces each; a segment ends within a row group."""
    monkeypatch.setattr(parquet, "LARGEST_GROUP", 1000)
    monkeypatch.setattr(parquet, "LARGEST_WHOLE", 0)
    monkeypatch.setattr(parquet, "SLICE", 2000)
    monkeypatch.setattr(segments, "SEGMENT_DOCUMENTS", 70)
    rng = np.random.default_rng(5)
    for name in ("a", "b"):
        texts = [" ".join(map(str, rng.integers(0, 99, int(rng.integers(1, 40))))) for _ in range(330)]
        pq.write_table(pa.table({"text": texts}), tmp_path / f"{name}.parquet", row_group_size=50)
    return open_parts([tmp_path / "a.parquet", tmp_path / "b.parquet"], ReadOptions(), tmp_path)


def stored(found: Segments) -> tuple[list[tuple[int, str]], list[list[int]]]:
    """The documents of all segments, by number and id, and their keys."""
    facts = pa.concat_tables([pq.read_table(path) for path in found.files("facts.parquet")])
    keys = [np.fromfile(file.path, np.uint64).tolist() for file in found.key_files()]
    return list(zip(facts["doc"].to_pylist(), facts["doc_id"].to_pylist(), strict=True)), keys


def read_into(found: Segments, parts: list[Part], threads: int, stop_after: int | None = None) -> None:
    start = found.cursor.part, found.cursor.chunk
    for number, signed in enumerate(sign_all(parts, methods.make(Settings()), Settings(), threads, start, 1 << 30)):
        if number == stop_after:
            found.stop()
            return
        found.add(signed)
    found.finish()


def test_a_stopped_reading_continues_within_a_file_of_large_row_groups(tmp_path: Path, parts: list[Part]) -> None:
    whole = Segments(Workspace(tmp_path / "whole", {}))
    read_into(whole, parts, 2)
    documents, keys = stored(whole)
    assert [number for number, _ in documents] == list(range(660))
    assert len(keys) == 7  # a segment ends with a row group: after 100 documents, not 70
    for pieces in (1, 5, 9, 14, 20):
        folder = tmp_path / f"stopped-{pieces}"
        read_into(Segments(Workspace(folder, {})), parts, 1, pieces)
        resumed = Segments(Workspace(folder, {}, resume=True))
        assert resumed.cursor.documents < 660
        read_into(resumed, parts, 3)
        assert stored(resumed) == (documents, keys), pieces
