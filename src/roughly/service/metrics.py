"""Counters for Prometheus, in its text format (version 0.0.4): written here, since it is a page of code.

Names of routes are labels, never addresses: strangers choose addresses, and each would be counted for ever.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable

import psutil

from roughly.errors import RoughlyError
from roughly.index import Index, Stats

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_STATS_SECONDS = 30.0


class Metrics:
    """What was asked, how long it took, and how much there is."""

    def __init__(self, index: Index | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._index, self._clock = index, clock
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._seconds: dict[str, list[float]] = defaultdict(lambda: [0.0] * (len(BUCKETS) + 2))
        self._counts: dict[str, int] = defaultdict(int)
        self._under_way = 0
        self._stats: tuple[float, Stats] | None = None
        self._started = time.time()

    def begun(self) -> None:
        """A request has come."""
        with self._lock:
            self._under_way += 1

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        """It was answered."""
        with self._lock:
            self._under_way -= 1
            self._requests[method, route, status] += 1
            row = self._seconds[route]
            row[bisect_left(BUCKETS, seconds)] += 1
            row[-1] += seconds

    def count(self, name: str, by: int = 1) -> None:
        """Count something else: documents checked, added, transactions."""
        with self._lock:
            self._counts[name] += by

    def text(self) -> str:
        """All of it, as Prometheus reads it."""
        with self._lock:
            lines = [*self._told_requests(), *self._told_seconds(), *self._told_counts()]
        lines += self._told_index()
        memory = psutil.Process().memory_info().rss
        lines += _gauge("roughly_memory_bytes", "Memory of the process that is resident.", memory)
        lines += _gauge("roughly_started_seconds", "When the process started, in seconds since 1970.", self._started)
        return "\n".join(lines) + "\n"

    def _told_requests(self) -> list[str]:
        lines = _head("roughly_requests_total", "Requests that were answered.", "counter")
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{_quoted(method)}",route="{_quoted(route)}",status="{status}"'
            lines.append(f"roughly_requests_total{{{labels}}} {count}")
        return lines + _gauge("roughly_requests_under_way", "Requests being answered.", self._under_way)

    def _told_seconds(self) -> list[str]:
        name = "roughly_request_seconds"
        lines = _head(name, "Seconds from a request to the end of its answer.", "histogram")
        for route, row in sorted(self._seconds.items()):
            so_far = 0.0
            for limit, count in zip((*map(str, BUCKETS), "+Inf"), row[:-1], strict=True):
                so_far += count
                lines.append(f'{name}_bucket{{route="{_quoted(route)}",le="{limit}"}} {so_far:.0f}')
            lines.append(f'{name}_sum{{route="{_quoted(route)}"}} {row[-1]:.6f}')
            lines.append(f'{name}_count{{route="{_quoted(route)}"}} {so_far:.0f}')
        return lines

    def _told_counts(self) -> list[str]:
        lines = []
        for name, count in sorted(self._counts.items()):
            lines += [
                *_head(f"roughly_{name}_total", _HELP.get(name, name), "counter"),
                f"roughly_{name}_total {count}",
            ]
        return lines

    def _told_index(self) -> list[str]:
        """How much the index holds; counting a million takes a while, so for half a minute it is not done again."""
        if self._index is None:
            return []
        now = self._clock()
        try:
            if self._stats is None or now - self._stats[0] > _STATS_SECONDS:
                self._stats = (now, self._index.stats())
        except RoughlyError:
            return _gauge("roughly_index_up", "Whether the database of the index answers.", 0)
        lines = _gauge("roughly_index_up", "Whether the database of the index answers.", 1)
        told = self._stats[1].to_dict()
        for name in ("documents", "contents", "revoked", "clusters", "keys", "bytes"):
            lines += _gauge(f"roughly_index_{name}", f"The index: {name}.", told[name])
        return lines


_HELP = {
    "documents_checked": "Documents that were matched without being stored.",
    "documents_added": "Documents that were acknowledged as added, updated or unchanged.",
    "documents_refused": "Documents of a batch that were refused.",
    "transactions": "Transactions in which documents were added; one may hold those of many requests.",
}


def _head(name: str, said: str, kind: str) -> list[str]:
    return [f"# HELP {name} {said}", f"# TYPE {name} {kind}"]


def _gauge(name: str, said: str, value: float) -> list[str]:
    return [*_head(name, said, "gauge"), f"{name} {value}"]


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
