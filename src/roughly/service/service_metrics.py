"""Counters and gauges for Prometheus, in a registry per application.

Routes are labels, never addresses: strangers choose addresses, and each would be counted for ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from roughly.errors import RoughlyError
from roughly.index import Index, Stats

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_STATS_SECONDS = 30.0
_COUNTERS = {
    "documents_checked": "Documents that were matched without being stored.",
    "documents_added": "Documents that were acknowledged as added, updated or unchanged.",
    "documents_refused": "Documents of a batch that were refused.",
    "transactions": "Transactions in which documents were added; one may hold those of many requests.",
}


class Metrics:
    """Requests, their duration, and the size of the index."""

    def __init__(self, index: Index | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._index, self._clock = index, clock
        self._stats: tuple[float, Stats] | None = None
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "roughly_requests", "Requests that were answered.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "roughly_request_seconds", "Seconds from a request to the end of its answer.", ("route",),
            buckets=BUCKETS, registry=registry,
        )  # fmt: skip
        self._in_progress = Gauge("roughly_requests_under_way", "Requests being answered.", registry=registry)
        self._counters = {name: Counter(f"roughly_{name}", text, registry=registry) for name, text in _COUNTERS.items()}
        memory = Gauge("roughly_memory_bytes", "Resident memory of the process.", registry=registry)
        memory.set_function(lambda: float(psutil.Process().memory_info().rss))
        started = Gauge("roughly_started_seconds", "Start of the process, in seconds since 1970.", registry=registry)
        started.set_to_current_time()

    def begin_request(self) -> None:
        """Count a request that has arrived."""
        self._in_progress.inc()

    def end_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._in_progress.dec()
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count(self, name: str, by: int = 1) -> None:
        """Add to one of the counters: documents checked, added or refused, transactions."""
        self._counters[name].inc(by)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self)

    def collect(self) -> Iterator[Metric]:
        """All metrics, without the time at which each counter was created."""
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
        if self._index is not None:
            yield from self._index_metrics(self._index)

    def _index_metrics(self, index: Index) -> Iterator[Metric]:
        """The size of the index. Counting a million documents takes a while, so a count is kept for half a minute."""
        now, up = self._clock(), 1
        try:
            if self._stats is None or now - self._stats[0] > _STATS_SECONDS:
                self._stats = (now, index.stats())
        except RoughlyError:
            up = 0
        yield GaugeMetricFamily("roughly_index_up", "Whether the database of the index answers.", up)
        if up and self._stats is not None:
            for name in ("documents", "contents", "revoked", "clusters", "keys", "bytes"):
                value = getattr(self._stats[1], name)
                yield GaugeMetricFamily(f"roughly_index_{name}", f"The index: {name}.", value)
