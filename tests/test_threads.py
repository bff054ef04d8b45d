"""Work on several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from roughly.threads import BackgroundTasks, map_as_completed, map_in_order, read_ahead


def twice(item: int) -> Iterator[int]:
    yield item
    yield item + 1000


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_everything_comes_once(threads: int) -> None:
    assert sorted(map_as_completed(twice, range(300), threads)) == sorted([*range(300), *range(1000, 1300)])
    assert list(map_in_order(lambda item: -item, range(300), threads)) == [-item for item in range(300)]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_problem_reaches_the_caller_and_ends_the_threads(threads: int) -> None:
    def work(item: int) -> Iterator[int]:
        yield item
        if item == 7:
            raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"):
        list(map_as_completed(work, range(1000), threads))
    assert not [t for t in threading.enumerate() if t.name.startswith("roughly-")]


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_no_more_items_are_taken_than_allowed(ahead: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while taken < 50:
            taken += 1
            yield taken

    for done, _ in enumerate(map_in_order(lambda item: item, items(), 2, ahead)):
        assert taken <= done + ahead
    assert taken == 50


def test_work_under_way_is_stopped_where_the_caller_fails() -> None:
    stop = threading.Event()

    def work(item: int) -> int:
        if item:
            assert stop.wait(60), "nobody stopped it"
        return item

    with pytest.raises(ValueError, match="enough"):
        for _ in map_in_order(work, range(8), 2, stop=stop):
            raise ValueError("enough")
    assert stop.is_set()


def test_a_caller_who_stops_early_ends_the_threads() -> None:
    results = map_as_completed(twice, range(10**9), 2)
    next(results)
    results.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("roughly-")]


def test_work_behind_is_done_one_by_one_and_in_order() -> None:
    done: list[int] = []
    behind = BackgroundTasks()
    for number in range(20):
        behind.do(partial(done.append, number))
        assert len(done) >= number  # the one before has ended
    behind.finish()
    assert done == list(range(20))


def test_what_goes_wrong_behind_is_raised_at_the_next_call() -> None:
    def fail() -> None:
        raise OSError("the disk is full")

    behind = BackgroundTasks()
    behind.do(fail)
    with pytest.raises(OSError, match="full"):
        behind.do(lambda: None)
    behind.do(fail)
    behind.abandon()  # the caller has failed already
    behind.finish()


@pytest.mark.parametrize("count", [1, 2, 8])
def test_what_is_read_ahead_comes_in_order_and_fails_where_it_failed(count: int) -> None:
    def items() -> Iterator[int]:
        yield from range(50)
        raise ValueError("at 50")

    taken: list[int] = []
    with pytest.raises(ValueError, match="at 50"):
        for item in read_ahead(items(), count):
            taken.append(item)
    assert taken == list(range(50))
    ahead = read_ahead(iter(range(1000)), count)
    assert next(ahead) == 0
    ahead.close()  # type: ignore[attr-defined]
