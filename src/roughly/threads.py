"""Work on several threads: results in the order of the items, or as they come.

Results in order do not depend on the number of threads.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def map_in_order(
    function: Callable[[T], R],
    items: Iterable[T],
    threads: int,
    ahead: int = 0,
    stop: threading.Event | None = None,
) -> Iterator[R]:
    """Map over items on several threads, a bounded number ahead; results come in the items' order.

    At most `ahead` items are at work or done and not yet taken (0 = two per thread). Where the caller fails or is
    interrupted, `stop` is set before running work is waited for.
    """
    if threads <= 1:
        yield from map(function, items)
        return
    ahead = ahead or 2 * threads + 1
    pending: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="roughly")
    try:
        for item in items:
            pending.append(pool.submit(function, item))
            if len(pending) >= ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        if stop is not None:
            stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def read_ahead(items: Iterable[T], threads: int) -> Iterator[T]:
    """The same items, made on a thread of their own, a bounded number ahead; with one thread, on the caller's."""
    return map_as_completed(iter, [items], min(threads, 2))


def map_as_completed(work: Callable[[T], Iterator[R]], items: Iterable[T], threads: int) -> Iterator[R]:
    """What `work` yields for the items, one thread per item, a bounded number ahead, in no particular order."""
    if threads <= 1:
        for item in items:
            yield from work(item)
        return
    found: queue.Queue[R | BaseException | None] = queue.Queue(threads)
    stop = threading.Event()
    todo = iter(items)
    taking = threading.Lock()

    def give(result: R | BaseException | None) -> bool:
        while not stop.is_set():
            try:
                found.put(result, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def run() -> None:
        try:
            while not stop.is_set():
                with taking:
                    item = next(todo, stop)
                if item is stop or not all(give(result) for result in work(item)):  # type: ignore[arg-type]
                    break
        except BaseException as problem:  # handed to the caller, who raises it
            give(problem)
        else:
            give(None)

    workers = [threading.Thread(target=run, daemon=True, name=f"roughly-{i}") for i in range(threads)]
    for worker in workers:
        worker.start()
    try:
        left = threads
        while left:
            result = found.get()
            if isinstance(result, BaseException):
                raise result
            if result is None:
                left -= 1
            else:
                yield result
    finally:
        stop.set()
        for worker in workers:
            worker.join()


class BackgroundTasks:
    """Pieces of work on threads of their own while the caller continues, a bounded number at a time."""

    def __init__(self, most: int = 1) -> None:
        self._most = max(1, most)
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: deque[Future[None]] = deque()

    def do(self, work: Callable[[], None]) -> None:
        """Start a piece of work when fewer than `most` are running; an error of an older one is raised here."""
        while len(self._under_way) >= self._most:
            self._under_way.popleft().result()
        self._pool = self._pool or ThreadPoolExecutor(self._most, thread_name_prefix="roughly-background")
        self._under_way.append(self._pool.submit(work))

    def finish(self) -> None:
        """Wait for all running work, and for the threads to end; raises the first error.

        What a finaliser closes must have no threads any more: it may run while Python starts a thread, with the lock
        that ending one needs.
        """
        while self._under_way:
            self._under_way.popleft().result()
        self._end_threads()

    def abandon(self) -> None:
        """Wait for the running work and ignore its result: the caller has failed already."""
        self._under_way.clear()
        self._end_threads()

    def _end_threads(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
