"""Indexes that someone else has changed, and indexes that may only be read."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard

from roughly import Index
from roughly.errors import IndexDamaged, IndexRefused, OutputError
from roughly.index.storage import bodies
from roughly.index.upkeep import export

TEXTS = [f"the {n}. document of an index has words enough to be found again, and number {n} in it" for n in range(5)]


@pytest.fixture
def made() -> Iterator[Path]:
    """An index in a folder that every user may read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "a.db"
        with Index.create(path, search=True) as index:
            index.add([{"doc_id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)])
        yield path


@pytest.mark.parametrize(
    "planted",
    [
        "CREATE TRIGGER spy AFTER INSERT ON documents BEGIN DELETE FROM contents; END",
        "CREATE VIEW spy AS SELECT * FROM documents",
    ],
)
def test_triggers_and_views_are_refused(made: Path, planted: str) -> None:
    with sqlite3.connect(made) as connection:
        connection.execute(planted)
    connection.close()
    with pytest.raises(IndexRefused, match=r"has a (trigger|view) named 'spy', and an index has none"):
        Index.open(made)


def _repack(path: Path, body: bytes) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE bodies SET body = ?", [body])
    connection.close()


def test_a_text_that_unfolds_beyond_every_limit_is_refused(made: Path, tmp_path: Path) -> None:
    """A body of 55 KB that says it has more than a gigabyte: refused before anything is unfolded."""
    maker = zstandard.ZstdCompressor(write_content_size=True).compressobj(size=1_700_000_000)
    body = b"".join(maker.compress(b"a" * 17_000_000) for _ in range(100)) + maker.flush()
    assert len(body) < 200_000
    _repack(made, body)
    with Index.open(made) as index:
        with pytest.raises(IndexDamaged, match=r"says that it has 1,700,000,000 bytes, which no text has"):
            index.export(tmp_path / "out.parquet")
        with pytest.raises(IndexDamaged):
            index.text("d1")


@pytest.mark.parametrize(
    "body", [b"", b"no zstd", zstandard.compress(b"\xff\xfe not UTF-8"), zstandard.compress(b"x" * 99)[:-3]]
)
def test_damaged_texts_are_told(made: Path, tmp_path: Path, body: bytes) -> None:
    _repack(made, body)
    with Index.open(made) as index, pytest.raises(IndexDamaged, match="restore the index from a copy"):
        index.export(tmp_path / "out.parquet")


def test_texts_are_exported_a_bounded_number_of_bytes_at_once(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most: list[int] = []
    real: Callable[..., object] = bodies.unpack_texts
    monkeypatch.setattr(export, "_BYTES", 200)
    monkeypatch.setattr(export, "unpack_texts", lambda some: most.append(len(some)) or real(some))
    with Index.open(made) as index:
        assert index.export(tmp_path / "out.parquet") == 5
    assert max(most) <= 2
    assert pq.read_table(tmp_path / "out.parquet").column("text").to_pylist() == TEXTS


def _as_nobody(work: Callable[[], None]) -> int:
    """The exit code of work done by a user without rights; root may write everything."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("in_use", [False, True])
def test_an_index_that_may_not_be_written_can_be_read(made: Path, in_use: bool) -> None:
    def read() -> None:
        with Index.open(made) as index:
            assert index.query(TEXTS[1])[0].doc_id == "d1" and index.search("words").total == 5
            assert index.verify().whole
            with pytest.raises(OutputError, match="it is read-only"):
                index.remove("d1")

    writer = Index.open(made) if in_use else None
    if writer is not None:
        writer.add({"doc_id": "more", "text": "nothing that the others have"})
        for name in made.parent.iterdir():
            name.chmod(0o644)
    made.chmod(0o444)
    made.parent.chmod(0o555)
    try:
        assert _as_nobody(read) == 0
    finally:
        made.parent.chmod(0o755)
        made.chmod(0o644)
        if writer is not None:
            writer.close()
    with Index.open(made) as index:
        assert index.get("d1") is not None
