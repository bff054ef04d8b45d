"""Sketches of whole inputs: sources → text → tokens → sampled shingles, chunk by chunk on several threads, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.fast_dataclass import dataclass
from roughly.features.sketch import Ints, Sketch
from roughly.features.sketch_store import SketchFacts
from roughly.meter import Meter
from roughly.model import Reject
from roughly.signing.text_batch import TextBatch
from roughly.sources.part import Chunk, Part
from roughly.text.markup import page_text
from roughly.threads import map_in_order

Batch = tuple[pa.Array, Ints, Sketch]


@dataclass
class Sketched:
    """Counts of what was written, for people and for run.json."""

    folder: Path
    facts: SketchFacts
    documents: int = 0
    values: int = 0
    tokens: int = 0
    empty: int = 0  # documents without a sampled shingle
    text_bytes: int = 0
    seconds: float = 0.0
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "settings": self.facts.to_dict(), "fingerprint": self.facts.fingerprint(), "documents": self.documents,
            "tokens": self.tokens, "values": self.values, "empty": self.empty, "text_bytes": self.text_bytes,
            "seconds": self.seconds, "rejected": len(self.rejects),
            "rejects": [{"file": r.file, "record": r.record, "reason": r.reason} for r in self.rejects[:100]],
            "guesses": self.notes,
        }  # fmt: skip


def sketch_parts(
    parts: Sequence[Part], facts: SketchFacts, threads: int, done: Sketched, meter: Meter
) -> Iterator[Batch]:
    """(ids, tokens, sketch) of each chunk of documents, in order; `done` counts them."""

    def make(item: tuple[Part, Chunk]) -> tuple[Batch, int, int, list[Reject]]:
        part, chunk = item
        parsed = part.parse(chunk)
        texts = TextBatch(parsed.batch.column("text"), parsed.batch.column("markup"), page_text(facts.main_text))
        sketched = facts.sampling.apply(texts.tokens, facts.shingle_size)
        batch = parsed.batch.column("doc_id"), texts.lengths, sketched
        return batch, chunk.nbytes, texts.text_bytes, parsed.rejects

    items = ((part, chunk) for part in parts for chunk in part.chunks())
    with meter.stage("sketch", sum(part.size or 0 for part in parts), "bytes") as stage:
        for batch, nbytes, text_bytes, rejects in map_in_order(make, items, threads):
            sizes = np.diff(batch[2].offsets)
            done.documents += len(sizes)
            done.tokens += int(batch[1].sum())
            done.values += int(sizes.sum())
            done.empty += int((sizes == 0).sum())
            done.text_bytes += text_bytes
            done.rejects += rejects
            stage.bytes += nbytes
            meter.advance(stage, stage.bytes)
            yield batch
