"""Work on several threads: results in the order of the work, or as they come.

What is done with results in that order does not depend on the number of threads.
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


def map_in_order(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Map over items on several threads, a bounded number ahead; results come in the items' order."""
    if threads <= 1:
        yield from map(function, items)
        return
    pending: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="roughly")
    try:
        for item in items:
            pending.append(pool.submit(function, item))
            if len(pending) > 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def map_as_completed(work: Callable[[T], Iterator[R]], items: Iterable[T], threads: int) -> Iterator[R]:
    """What `work` yields for the items, a thread an item, a bounded number ahead, in no particular order."""
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


class BackgroundTask:
    """One piece of work at a time, done on a thread of its own while the caller goes on."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: Future[None] | None = None

    def do(self, work: Callable[[], None]) -> None:
        """Start a piece of work, once the one before is done; what went wrong with that one is raised here."""
        self.finish()
        self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix="roughly-behind")
        self._under_way = self._pool.submit(work)

    def finish(self) -> None:
        """Wait for the work under way; raises what went wrong with it."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def abandon(self) -> None:
        """Wait for the work under way, and forget how it ended: the caller has failed already."""
        self._under_way = None
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
