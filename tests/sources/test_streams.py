"""Reading and writing bytes: compression, bounded pieces, whole files or none."""

from __future__ import annotations

import errno
import gzip
import io
import os
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.errors import DiskFull, InputError, OutputError
from roughly.sources.streams import Compression, Reader, replacing


def packed(pieces: list[bytes], compression: Compression | None) -> bytes:
    pack = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, None: bytes}[compression]
    return b"".join(pack(piece) for piece in pieces)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=50), min_size=1, max_size=5), st.sampled_from(["gzip", "zstd"]), st.integers(1, 64))
def test_members_begin_where_the_reader_says(pieces: list[bytes], compression: Compression, size: int) -> None:
    data = packed(pieces, compression)
    reader = Reader(io.BytesIO(data), "x")
    starts, out = [reader.member_start()], b""
    while piece := reader.read(size):
        assert len(piece) <= size
        out += piece
        if (place := reader.member_start()) is not None:
            starts.append(place)
    assert out == b"".join(pieces) and reader.damage is None
    expected = [
        len(packed(pieces[:number], compression))
        for number in range(len(pieces) + 1)
        if number == 0 or pieces[number - 1]
    ]
    assert [place for place in starts if place in expected] == starts
    assert reader.position == len(data)


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=300), st.sampled_from(["gzip", "zstd"]), st.data())
def test_every_cut_is_noticed_and_what_came_before_is_right(
    content: bytes, compression: Compression, data: st.DataObject
) -> None:
    whole = packed([content], compression)
    cut = data.draw(st.integers(4, len(whole) - 1))
    reader = Reader(io.BytesIO(whole[:cut]), "x")
    out = reader.read_block(1 << 20)
    assert content.startswith(out)
    assert reader.damage == f"truncated {compression} at byte {cut}"
    assert reader.read(10) == b""


def test_what_follows_a_gzip_file_is_noticed() -> None:
    reader = Reader(io.BytesIO(gzip.compress(b"content") + b"more"), "x")
    assert reader.read_block(100) == b"content"
    assert reader.damage is not None and "bytes after the end of the gzip data" in reader.damage


@pytest.mark.parametrize("compression", ["gzip", None])
def test_a_bomb_is_handed_out_in_pieces(compression: Compression | None) -> None:
    reader = Reader(io.BytesIO(packed([bytes(50_000_000)], compression)), "x")
    total = 0
    while piece := reader.read(1 << 16):
        assert len(piece) <= 1 << 16
        total += len(piece)
    assert total == 50_000_000


def test_the_name_must_not_lie() -> None:
    with pytest.raises(InputError, match="the name says gzip, but the content is not gzip"):
        Reader(io.BytesIO(b"plain"), "x.jsonl.gz")
    assert Reader(io.BytesIO(gzip.compress(b"content")), "x.jsonl").read(100) == b"content"


@pytest.mark.parametrize("compression", ["gzip", "zstd", None])
def test_written_files_appear_whole_or_not_at_all(compression: Compression | None, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    with replacing(path, compression) as out:
        out.write(b"first ")
        assert not path.exists()
        out.write(b"second")
    with Reader(path.open("rb"), "file") as reader:
        assert reader.read_block(100) == b"first second" and reader.compression == compression
    with pytest.raises(RuntimeError), replacing(path, compression) as out:
        out.write(b"half")
        raise RuntimeError
    with Reader(path.open("rb"), "file") as reader:
        assert reader.read_block(100) == b"first second"
    assert [found.name for found in path.parent.iterdir()] == ["file"]


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="cannot be written"), replacing(tmp_path / "file" / "below"):
        pass


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match="file: no space left"), replacing(tmp_path / "file"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not list(tmp_path.iterdir())
