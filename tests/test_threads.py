"""Work on several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from roughly.threads import as_they_come, in_order


def twice(item: int) -> Iterator[int]:
    yield item
    yield item + 1000


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_everything_comes_once(threads: int) -> None:
    assert sorted(as_they_come(twice, range(300), threads)) == sorted([*range(300), *range(1000, 1300)])
    assert list(in_order(lambda item: -item, range(300), threads)) == [-item for item in range(300)]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_problem_reaches_the_caller_and_ends_the_threads(threads: int) -> None:
    def work(item: int) -> Iterator[int]:
        yield item
        if item == 7:
            raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"):
        list(as_they_come(work, range(1000), threads))
    assert not [t for t in threading.enumerate() if t.name.startswith("roughly-")]


def test_a_caller_who_stops_early_ends_the_threads() -> None:
    results = as_they_come(twice, range(10**9), 2)
    next(results)
    results.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("roughly-")]
