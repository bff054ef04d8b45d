"""Kept lines, copied from file to file on several threads."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels.line_copy import copy_lines


def copied(data: bytes, cuts: list[int], keep: list[bool], threads: int, before: bytes = b"") -> tuple[int, bytes]:
    """Where the copy ends and what it holds; `cuts` are the numbers of lines of each block."""
    lines = data.splitlines(keepends=True)
    blocks, row, offset = [], 0, 0
    for count in cuts:
        size = sum(len(line) for line in lines[row : row + count])
        blocks.append((row, count, offset, size))
        row, offset = row + count, offset + size
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as target:
        source.write(data)
        source.flush()
        target.write(before)
        target.flush()
        given_blocks = np.array(blocks, np.int64).reshape(-1, 4)
        end = copy_lines(source.fileno(), target.fileno(), given_blocks, np.array(keep, np.bool_), len(before), threads)
        target.seek(0)
        return end, target.read()


@given(
    st.lists(st.lists(st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"").replace(b"\r", b"") + b"\n"))),
    st.lists(st.booleans(), max_size=60),
    st.integers(1, 4),
    st.booleans(),
)
def test_the_kept_lines_in_their_order(blocks: list[list[bytes]], keep: list[bool], threads: int, cut: bool) -> None:
    lines = [line for block in blocks for line in block]
    if cut and lines and len(lines[-1]) > 1 and blocks[-1]:
        lines[-1] = lines[-1][:-1]
    # splitlines knows other ends of lines than the line feed, so they are spelled out
    lines = [bytes(byte if byte == 10 or byte > 32 else 97 for byte in line) for line in lines]
    expected = b"".join(line for line, kept in zip(lines, keep, strict=False) if kept)
    end, found = copied(b"".join(lines), [len(block) for block in blocks], keep, threads, b"before")
    assert found == b"before" + expected and end == len(found)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_many_blocks_that_are_kept_wholly_partly_and_not_at_all(threads: int) -> None:
    rng = np.random.default_rng(5)
    lines = [b"x" * int(size) + b"\n" for size in rng.integers(1, 300, 20_000)]
    shares = np.repeat(rng.choice([0.0, 0.5, 1.0], 200), 100)
    keep = (rng.random(20_000) < shares).tolist()
    end, found = copied(b"".join(lines), [100] * 200, keep, threads)
    assert found == b"".join(line for line, kept in zip(lines, keep, strict=True) if kept) and end == len(found)


@pytest.mark.parametrize(("count", "size"), [(4, 9), (2, 9), (3, 12), (3, 6)])
def test_a_file_that_has_other_lines_is_told(count: int, size: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"ab\ncd\nef\n")
    keep = np.array([True, False] * 4)
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("wb") as target:
        for before in (0, 5):  # whole blocks before it
            blocks = np.array([[0, 3, 0, 9]] * before + [[0, count, 0, size]] + [[0, 3, 0, 9]] * 5)
            assert copy_lines(source.fileno(), target.fileno(), blocks, keep, 0, 3) == -1
        blocks = np.array([[0, 3, 0, 9]] * 2)
        assert copy_lines(source.fileno(), target.fileno(), blocks, keep, 0, 3) == 12


def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"ab\ncd\n" * 1000)
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with (tmp_path / "a").open("rb") as source, pytest.raises(OSError, match="space left") as problem:
            copy_lines(source.fileno(), full, np.array([[0, 2000, 0, 6000]]), np.ones(2000, np.bool_), 0, 2)
    finally:
        os.close(full)
    assert problem.value.errno == errno.ENOSPC


def test_mistakes_of_the_caller_are_refused() -> None:
    keep = np.ones(3, np.bool_)
    with pytest.raises(TypeError, match="four columns"):
        copy_lines(0, 1, np.zeros((2, 3), np.int64), keep, 0, 1)
    with pytest.raises(ValueError, match="a block is"):
        copy_lines(0, 1, np.array([[0, -1, 0, 3]]), keep, 0, 1)
    with pytest.raises(TypeError, match="keep"):
        copy_lines(0, 1, np.zeros((0, 4), np.int64), np.ones(3, np.uint8), 0, 1)  # type: ignore[arg-type]
