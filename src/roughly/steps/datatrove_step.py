"""A step of a datatrove pipeline: documents in, those that are kept out.

    >>> LocalPipelineExecutor(pipeline=[JsonlReader("in"), DatatroveDeduplicator(threshold=0.8), JsonlWriter("out")])

Documents are read in batches, which share an index: in memory, or a file that all ranks share (`archive`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Unpack

from datatrove.pipeline.base import PipelineStep

from roughly.errors import RoughlyWarning
from roughly.index.storage.store import MEMORY
from roughly.option_types import DedupeOptions
from roughly.steps.deduplicator import Deduplicator

AT_ONCE = 10_000


class DatatroveDeduplicator(PipelineStep):  # type: ignore[misc]
    """Removes documents that resemble an earlier one; `at_once` documents are compared at a time."""

    type = "🫂 - DEDUP"
    name = "roughly"

    def __init__(self, *, archive: str = MEMORY, at_once: int = AT_ONCE, **options: Unpack[DedupeOptions]) -> None:
        super().__init__()
        self.deduplicator, self.at_once = Deduplicator(archive=archive, **options), at_once

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """The documents that are kept."""
        if world_size > 1 and self.deduplicator.archive == MEMORY:
            warnings.warn("each rank compares its own documents only; name a file: archive=…", RoughlyWarning, 2)
        remaining = iter(data)
        while documents := list(islice(remaining, self.at_once)):
            with self.track_time("batch"):
                keep = self.deduplicator.mask([{"text": document.text} for document in documents])
            for document, is_kept in zip(documents, keep.tolist(), strict=True):
                self.stat_update("forwarded" if is_kept else "dropped")
                if is_kept:
                    self.update_doc_stats(document)
                    yield document
