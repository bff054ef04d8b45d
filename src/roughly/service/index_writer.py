"""The one thread that adds documents. Requests that arrive while it is busy are added together.

An index has one writer at a time, and a transaction waits for the disk whether it contains one document or a thousand.
So waiting documents are added in one transaction, and each request gets the results for its own documents. No result is
returned before the documents are on disk; a client without an answer may add the same documents again, since adding
twice has the same effect as adding once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import field
from typing import Any

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.index import Added, Index
from roughly.index.incoming import from_mappings
from roughly.index.matching.signed_batch import storable
from roughly.service.error_responses import retry_later
from roughly.service.service_metrics import Metrics
from roughly.settings import ReadOptions

BATCH_DOCUMENTS = 2_000
MOST_WAITING = 64_000_000  # bytes of text
DocumentFields = Mapping[str, Any]


@dataclass(frozen=True)
class _Job:
    documents: Sequence[DocumentFields]
    size: int
    result: Future[list[Added]] = field(default_factory=Future)


def check_storable(documents: Sequence[DocumentFields], reading: ReadOptions, *, named: bool = True) -> None:
    """Refuse documents that the index cannot store, before they are added together with those of other requests."""
    storable(from_mappings(list(documents), reading, named=named))


class IndexWriter:
    """A queue of documents, and the thread that empties it."""

    def __init__(self, index: Index, metrics: Metrics) -> None:
        self._index, self._metrics = index, metrics
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._closed = False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    @property
    def reading(self) -> ReadOptions:
        """How the index reads documents."""
        return self._index.settings.reading()

    def add(self, documents: Sequence[DocumentFields]) -> Future[list[Added]]:
        """Queue documents that have passed `check_storable`; the future has the results once they are on disk."""
        job = _Job(documents, sum(len(document["text"]) for document in documents))
        with self._change:
            if self._closed:
                raise retry_later(5, "the service is shutting down", "try again when it is back")
            if self._jobs and self._waiting + job.size > MOST_WAITING:
                raise retry_later(
                    1, "too many documents are waiting to be added", "try again in a moment; this one was not added"
                )
            self._jobs.append(job)
            self._waiting += job.size
            self._change.notify()
        return job.result

    def close(self) -> None:
        """Accept no more documents, add all that are waiting, and stop."""
        with self._change:
            self._closed = True
            self._change.notify()
        self._thread.join()

    def _run(self) -> None:
        while jobs := self._next_jobs():
            wanted = [job for job in jobs if job.result.set_running_or_notify_cancel()]
            if wanted:
                self._add_together(wanted)

    def _next_jobs(self) -> list[_Job]:
        """All waiting jobs, up to a number of documents; empty at the end."""
        with self._change:
            while not self._jobs and not self._closed:
                self._change.wait()
            jobs: list[_Job] = []
            count = 0
            while self._jobs and (not jobs or count + len(self._jobs[0].documents) <= BATCH_DOCUMENTS):
                job = self._jobs.popleft()
                jobs.append(job)
                count += len(job.documents)
                self._waiting -= job.size
            return jobs

    def _add_together(self, jobs: list[_Job]) -> None:
        documents = [document for job in jobs for document in job.documents]
        try:
            added = self._index.add(documents, at_once=max(1, len(documents)))
        except InputError as problem:
            if len(jobs) == 1:
                jobs[0].result.set_exception(problem)
                return
            for job in jobs:  # only the request at fault gets the error
                self._add_together([job])
            return
        except BaseException as problem:
            for job in jobs:
                job.result.set_exception(problem)
            return
        self._metrics.count("transactions")
        self._metrics.count("documents_added", len(added))
        at = 0
        for job in jobs:
            job.result.set_result(added[at : at + len(job.documents)])
            at += len(job.documents)
