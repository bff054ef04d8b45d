"""The one thread that adds documents. Requests that come while it is at work wait together and go in together.

An index has one writer at a time, and a transaction costs a wait for the disk whether it holds one document or a
thousand. So those that wait are added in one transaction, and each request is told what became of its own. Nobody is
told before the disk has it; whoever is not told may add the same again, since adding twice is adding once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from roughly.errors import InputError
from roughly.index import Added, Index
from roughly.index.incoming import from_mappings
from roughly.index.matching.signed_batch import storable
from roughly.service.error_responses import busy
from roughly.service.metrics import Metrics

AT_ONCE = 2_000
MOST_WAITING = 64_000_000  # bytes of text
Document = Mapping[str, Any]


@dataclass(frozen=True)
class _Job:
    documents: Sequence[Document]
    size: int
    told: Future[list[Added]] = field(default_factory=Future)


def check_storable(documents: Sequence[Document]) -> None:
    """Refuse documents that no index can hold, before they go in with those of others."""
    storable(from_mappings(list(documents)))


class Writer:
    """A queue of documents, and the thread that empties it."""

    def __init__(self, index: Index, metrics: Metrics) -> None:
        self._index, self._metrics = index, metrics
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._closed = False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def add(self, documents: Sequence[Document]) -> Future[list[Added]]:
        """Put documents in the queue; the future tells what became of them, once the disk has them.

        They must have passed `check_storable`.
        """
        job = _Job(documents, sum(len(document["text"]) for document in documents))
        with self._change:
            if self._closed:
                raise busy(5, "the service is shutting down", "try again when it is back")
            if self._jobs and self._waiting + job.size > MOST_WAITING:
                raise busy(1, "too many documents wait to be added", "try again in a moment; this one was not added")
            self._jobs.append(job)
            self._waiting += job.size
            self._change.notify()
        return job.told

    def close(self) -> None:
        """Take no more, add all that wait, and stop."""
        with self._change:
            self._closed = True
            self._change.notify()
        self._thread.join()

    def _run(self) -> None:
        while jobs := self._next():
            wanted = [job for job in jobs if job.told.set_running_or_notify_cancel()]
            if wanted:
                self._together(wanted)

    def _next(self) -> list[_Job]:
        """All that wait, up to a number; none: it is over."""
        with self._change:
            while not self._jobs and not self._closed:
                self._change.wait()
            taken: list[_Job] = []
            count = 0
            while self._jobs and (not taken or count + len(self._jobs[0].documents) <= AT_ONCE):
                job = self._jobs.popleft()
                taken.append(job)
                count += len(job.documents)
                self._waiting -= job.size
            return taken

    def _together(self, jobs: list[_Job]) -> None:
        documents = [document for job in jobs for document in job.documents]
        try:
            added = self._index.add(documents, at_once=max(1, len(documents)))
        except InputError as problem:
            if len(jobs) == 1:
                jobs[0].told.set_exception(problem)
                return
            for job in jobs:  # one of them is at fault, and only that one is told so
                self._together([job])
            return
        except BaseException as problem:
            for job in jobs:
                job.told.set_exception(problem)
            return
        self._metrics.count("transactions")
        self._metrics.count("documents_added", len(added))
        at = 0
        for job in jobs:
            job.told.set_result(added[at : at + len(job.documents)])
            at += len(job.documents)
