"""`roughly.Sweeps`: dated crawls of pages in an index (Broder 1997, §6.2, 6.4, 6.5).

>>> sweeps = roughly.Sweeps(index)
>>> sweeps.add("crawl.warc.gz", date="2024-03-31")
>>> sweeps.lost("http://a.org/old.html").found
>>> sweeps.changes().intervals
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from roughly.amounts import records_were
from roughly.declarations import gather
from roughly.index.index import Index
from roughly.index.sweeps.changes import Changes, changes
from roughly.index.sweeps.copies import MINIMUM, Copies, copies
from roughly.index.sweeps.lost import Lost, lost
from roughly.index.sweeps.sweep import Sweep, SweepWriter, SweptPage, drop, sweeps_of, versions_of
from roughly.model import Reject
from roughly.option_types import ReadingOptions
from roughly.settings import ReadOptions
from roughly.sources import open_data
from roughly.sources.part import Part


class Sweeps:
    """The sweeps of an index."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def __iter__(self) -> Iterator[Sweep]:
        return iter(sweeps_of(self.index))

    def add(self, data: Any, *, date: str, redo: bool = False, **reading: Unpack[ReadingOptions]) -> Sweep:
        """Add the pages of a crawl: files with urls, or documents in any form that `roughly.dedupe` accepts.

        The same call continues an interrupted sweep; with `redo` its pages are removed first. Several files of one day
        are one sweep. `reading` are the options of `roughly.sources.ReadOptions`.
        """
        given = isinstance(data, str | os.PathLike)
        several = isinstance(data, list | tuple) and data and all(isinstance(d, str | os.PathLike) for d in data)
        paths = [data] if given else data if several and _are_files(data) else None
        sweep, rejects = run_sweep(
            self.index, None if paths else data, paths, date=date, redo=redo, reading=gather(ReadOptions, reading)
        )
        if rejects:
            first = rejects[0]
            warnings.warn(
                f"{records_were(len(rejects))} left out; the first: {first.file}, {first.record}: {first.reason}",
                stacklevel=2,
            )
        return sweep

    def drop(self, date: str) -> int:
        """Remove a sweep with all its pages; returns how many there were."""
        return drop(self.index, date)

    def versions(self, url: str) -> list[SweptPage]:
        """The versions of a page, the earliest first."""
        return versions_of(self.index, url)

    def lost(self, url: str, *, limit: int = 10) -> Lost:
        """Where the page of a url is now."""
        return lost(self.index, url, limit=limit)

    def copies(self, document: Any, *, minimum: float = MINIMUM, limit: int | None = None) -> Copies:
        """Whole and partial copies of a document, given by its id, its url, or as a mapping with a `text`."""
        return copies(self.index, document, minimum=minimum, limit=limit)

    def changes(self) -> Changes:
        """How pages changed from each sweep to the next."""
        return changes(self.index)


def _are_files(paths: Sequence[Any]) -> bool:
    return all("\n" not in os.fspath(path) and (Path(path).exists() or "://" in os.fspath(path)) for path in paths)


def run_sweep(
    index: Index,
    data: Any,
    paths: Sequence[str | os.PathLike[str]] | None,
    *,
    date: str,
    redo: bool = False,
    reading: ReadOptions,
    temp: Path | None = None,
) -> tuple[Sweep, list[Reject]]:
    """Read a crawl and add it; (the sweep, the rejected records)."""
    with tempfile.TemporaryDirectory(prefix="roughly-sweep-", dir=temp) as spool:
        parts = open_data(data, paths, reading, Path(spool))
        writer = SweepWriter(index, date, redo=redo)
        for part in parts:
            _read(part, writer)
        for part in parts:  # a page may be unchanged since another file of the same sweep
            if hasattr(part, "revisits"):
                writer.revisit(part.revisits())
        return writer.finish(), writer.rejects


def _read(part: Part, writer: SweepWriter) -> None:
    for chunk in part.chunks():
        parsed = part.parse(chunk)
        writer.rejects += parsed.rejects
        documents = parsed.batch.to_pylist()
        if part.format == "warc":
            without_page = _without_page(chunk.data.pages)
            writer.leave_out(len(without_page))
            documents = [document for document in documents if document["row"] not in without_page]
        writer.add(documents, part.name)


def _without_page(pages: Any) -> set[int]:
    """The rows of HTTP responses that do not contain the page: errors and redirections."""
    from roughly.sources.http import is_http, status_of

    return {page.row for page in pages if is_http(page.block) and status_of(page.block) not in (None, 200, 203, 206)}
