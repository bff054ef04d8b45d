"""Every reader takes linear time: twice the hostile input, at most two and a half times the work."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile_inputs import FILES, PAGES
from reading import read
from roughly.errors import InputError
from roughly.text.markup import strip

LEAST = 0.05
"""Seconds of CPU below which two times are too short to compare."""
MOST = 2.5


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """The best of some tries: other processes can only make it slower."""
    for _ in range(4):
        once, twice = cost(work, size), cost(work, 2 * size)
        if twice <= max(LEAST, MOST * once):
            return
    pytest.fail(f"{once:.3f} s for {size}, {twice:.3f} s for {2 * size}")


def cost(work: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    work(size)
    return time.process_time() - start


@pytest.mark.parametrize("name", FILES)
@pytest.mark.slow
def test_readers(name: str, tmp_path: Path) -> None:
    size, make = FILES[name]
    path = tmp_path / name

    def work(size: int) -> None:
        path.write_bytes(make(size))
        try:
            read(path)
        except InputError as refused:
            assert name in str(refused)

    work(10)  # imports
    assert_linear(work, size)


@pytest.mark.parametrize("main_only", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_html(name: str, main_only: bool) -> None:
    strip("<p>x</p>", main_only)
    assert_linear(lambda size: strip(PAGES[name](size), main_only), 20_000)
