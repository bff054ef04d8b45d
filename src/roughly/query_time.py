"""How long the queries of a request may take: set where requests come in, obeyed where databases are queried."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context

from roughly.errors import QueryTooSlow

_END_AGAIN = 0.05
"""Seconds after which a query is ended once more: one that has not begun yet does not notice the first time."""
_limit: ContextVar[Callable[[], float] | None] = ContextVar("query_limit", default=None)


def limit_queries(seconds_left: Callable[[], float]) -> None:
    """From now on, queries of this task and of the threads that it starts are ended when no seconds are left."""
    _limit.set(seconds_left)


def seconds_left() -> float:
    """Seconds until a query is ended; infinite if no request waits for the answer."""
    limit = _limit.get()
    return math.inf if limit is None else limit()


def too_slow() -> QueryTooSlow:
    """The error for a query that was ended."""
    return QueryTooSlow("the query takes too long; ask for less: fewer words, a narrower filter, another order")


@contextmanager
def ended_in_time(end: Callable[[], None]) -> Iterator[None]:
    """Call `end`, which ends the query that runs within, when no seconds are left."""
    left = seconds_left()
    if left == math.inf:
        yield
        return
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        wait = max(left, 0.0)
        while not done.wait(wait):
            if seconds_left() > 0:  # the answer has begun, or the request has more time
                wait = min(seconds_left(), 60.0)
                continue
            late.set()
            end()
            wait = _END_AGAIN

    watching = threading.Thread(target=copy_context().run, args=(watch,), daemon=True)
    watching.start()
    try:
        yield
    except BaseException as problem:
        if late.is_set():
            raise too_slow() from problem
        raise
    finally:
        done.set()
        watching.join()
