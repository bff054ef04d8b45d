"""Every reader takes linear time: twice the hostile input, at most two and a half times the work."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

from hostile_inputs import FILES, PAGES
from reading import read
from roughly.errors import InputError
from roughly.text.markup import PageText, strip_column

LEAST = 0.05
"""Seconds of CPU below which two times are too short to compare."""
MOST = 2.5


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """The best of some tries: other processes can only make it slower."""
    once = twice = math.inf
    for _ in range(6):
        once, twice = min(once, cost(work, size)), min(twice, cost(work, 2 * size))
        if twice <= max(LEAST, MOST * once):
            return
    pytest.fail(f"{once:.3f} s for {size}, {twice:.3f} s for {2 * size}")


def cost(work: Callable[[int], object], size: int) -> float:
    gc.collect()
    gc.freeze()  # objects of other tests would be gone through again and again
    start = time.process_time()
    work(size)
    taken = time.process_time() - start
    gc.unfreeze()
    return taken


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


@pytest.mark.parametrize("part", get_args(PageText))
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.slow
def test_html(name: str, part: PageText) -> None:
    def work(size: int) -> None:
        strip_column(pa.array([PAGES[name](size)]), np.ones(1, np.bool_), part)

    work(1)  # imports
    assert_linear(work, 20_000)
