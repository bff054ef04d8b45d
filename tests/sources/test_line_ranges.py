"""Files of lines read by ranges: no line is lost, read twice or misnumbered, whoever reads which range when."""

from __future__ import annotations

import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.errors import InputError, InputMissing
from roughly.kernels.lines import read_chosen_lines, read_line_range
from roughly.sources.files import local_file
from roughly.sources.landmarks import blocks_of
from roughly.sources.line_ranges import LineRanges

LINES = st.lists(st.text(alphabet="ab\r\t", max_size=12).map(str.encode), max_size=20)


def ranges_of(path: Path, step: int, first: int = 0, longest: int = 1 << 20) -> LineRanges:
    return LineRanges(local_file(path, path.name), first, path.stat().st_size, step, longest)


def read_all(ranges: LineRanges, order: list[int], threads: int) -> dict[int, bytes]:
    """The lines of all ranges by their row."""

    def one(number: int) -> dict[int, bytes]:
        lines = ranges.read(number)
        row = ranges.first_row(number)
        starts = [0, *lines.ends.tolist()]
        data = lines.data.tobytes()
        return {row + i: data[start:end] for i, (start, end) in enumerate(pairwise(starts))}

    with ThreadPoolExecutor(threads) as pool:
        return {row: line for found in pool.map(one, order) for row, line in found.items()}


@given(LINES, st.booleans(), st.integers(1, 40), st.integers(0, 5), st.randoms())
def test_every_line_is_in_one_range_whatever_their_size_and_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends: bool, step: int, head: int, rng: random.Random
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "lines"
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    path.write_bytes(b"#" * head + data)
    ranges = ranges_of(path, step, head)
    order = [found.number for found in ranges.ranges]
    rng.shuffle(order)
    assert read_all(ranges, order, threads=3) == dict(enumerate(_split(data)))
    marks = ranges.landmarks()
    assert marks is not None and b"".join(path.read_bytes()[m.offset : m.offset + m.nbytes] for m in marks) == data
    rows = np.array([row for row in range(len(_split(data))) if rng.random() < 0.4], np.int64)
    chosen, chosen_ends, is_other, _, _ = read_chosen_lines(bytes(path), blocks_of(marks), rows)
    assert not is_other and chosen.tobytes() == b"".join(_split(data)[row] for row in rows)
    assert chosen_ends.tolist() == np.cumsum([len(_split(data)[row]) for row in rows]).tolist()


def _split(data: bytes) -> list[bytes]:
    """Lines end with a line feed and nothing else."""
    pieces = [piece + b"\n" for piece in data.split(b"\n")]
    pieces[-1] = pieces[-1][:-1]
    return [piece for piece in pieces if piece]


def test_ranges_that_nobody_reads_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"".join(b"%d\n" % i for i in range(10_000)))
    ranges = ranges_of(path, 1000)
    lines = ranges.read(30)
    assert int(lines.data.tobytes().split(b"\n")[0]) == ranges.first_row(30)
    other = pickle.loads(pickle.dumps(ranges))
    assert other.landmarks() is None and other.first_row(30) == ranges.first_row(30)
    for one in (ranges, other):
        one.first_row(len(one.ranges))
    assert other.landmarks() == ranges.landmarks() is not None


def test_a_reader_that_fails_leaves_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"line\n" * 1000)
    ranges = ranges_of(path, 100)
    path.write_bytes(b"line\n" * 999)
    failures: list[BaseException] = []

    def read(number: int) -> None:
        try:
            ranges.read(number)
            ranges.first_row(number)
        except InputError as error:
            failures.append(error)

    threads = [threading.Thread(target=read, args=(number,)) for number in (40, 3, 17)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(failures) == 3 and all("changed while it was being read" in str(error) for error in failures)
    path.unlink()
    with pytest.raises(InputMissing, match="it was there when the run began"):
        ranges.read(0)


def test_a_line_that_is_too_long_is_counted_but_not_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\n" + b"b" * 1000 + b"\nc\n" + b"d" * 1000)
    ranges = ranges_of(path, 10, longest=100)
    assert read_all(ranges, list(range(len(ranges.ranges))), 2) == {0: b"a\n", 2: b"c\n"}
    assert ranges.first_row(len(ranges.ranges) - 1) == 4


def test_wrong_ranges_are_the_callers_mistake(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x\n")
    for first, start, stop in ((1, 0, 2), (0, 2, 1), (-1, 0, 1)):
        with pytest.raises(ValueError, match="a range begins"):
            read_line_range(bytes(path), first, start, stop, 10)
    with pytest.raises(OSError, match="shorter"):
        read_chosen_lines(bytes(path), np.array([[0, 1, 0, 100]], np.int64), np.array([0], np.int64))
